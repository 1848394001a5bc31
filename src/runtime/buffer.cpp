#include "runtime/message.h"
#include <algorithm>
#include <cstring>
#include <vector>

using tessera::Message;

namespace {

// One dimension of a copy; the strides count bytes.
struct Loop {
    int64_t extent, src_stride, dst_stride;
};

int64_t element_bytes(const tessera_type_t &type) {
    return int64_t((type.bits + 7) / 8) * type.lanes;
}

uint64_t times(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

bool is_empty(const tessera_buffer_t *buffer) {
    return std::any_of(buffer->dim, buffer->dim + buffer->dimensions,
                       [](const tessera_dimension_t &d) { return d.extent <= 0; });
}

// The loops of the copy, innermost (smallest steps in dst) first, those of one pass joined.
std::vector<Loop> copy_loops(const tessera_buffer_t *src, const tessera_buffer_t *dst) {
    int64_t bytes = element_bytes(dst->type);
    std::vector<Loop> loops;
    for (int i = 0; i < dst->dimensions; i++) {
        const tessera_dimension_t &s = src->dim[i], &d = dst->dim[i];
        if (d.extent > 1) loops.push_back({d.extent, s.stride * bytes, d.stride * bytes});
    }
    std::sort(loops.begin(), loops.end(), [](const Loop &a, const Loop &b) {
        return std::abs(a.dst_stride) < std::abs(b.dst_stride);
    });
    std::vector<Loop> joined{{1, bytes, bytes}};
    for (const Loop &loop : loops) {
        Loop &last = joined.back();
        bool continues = loop.src_stride == last.src_stride * last.extent &&
                         loop.dst_stride == last.dst_stride * last.extent;
        if (continues) {
            last.extent *= loop.extent;
        } else {
            joined.push_back(loop);
        }
    }
    if (joined.size() > 1 && joined[0].extent == 1) joined.erase(joined.begin());
    return joined;
}

void copy_row(const Loop &loop, int64_t bytes, const uint8_t *src, uint8_t *dst) {
    if (loop.src_stride == bytes && loop.dst_stride == bytes) {
        std::memcpy(dst, src, size_t(loop.extent * bytes));
        return;
    }
    for (int64_t i = 0; i < loop.extent; i++) {
        std::memcpy(dst + i * loop.dst_stride, src + i * loop.src_stride, size_t(bytes));
    }
}

void copy(const std::vector<Loop> &loops, size_t level, int64_t bytes, const uint8_t *src,
          uint8_t *dst) {
    const Loop &loop = loops[level];
    if (level == 0) return copy_row(loop, bytes, src, dst);
    for (int64_t i = 0; i < loop.extent; i++) {
        copy(loops, level - 1, bytes, src + i * loop.src_stride, dst + i * loop.dst_stride);
    }
}

// 0 if `dst` can be filled from `src`.
int check_copy(void *user_context, const tessera_buffer_t *src, const tessera_buffer_t *dst) {
    if (!src || !dst) return tessera_error_buffer_argument_is_null(user_context, "of a copy");
    if (src->dimensions != dst->dimensions) {
        return tessera_error_bad_dimensions(user_context, "to copy from", src->dimensions,
                                            dst->dimensions);
    }
    if (std::memcmp(&src->type, &dst->type, sizeof(src->type)) != 0) {
        return (Message() << "Cannot copy elements of type " << src->type << " to a buffer of "
                          << dst->type)
            .raise(user_context, tessera_error_code_bad_type);
    }
    if (is_empty(dst)) return 0;
    for (int i = 0; i < dst->dimensions; i++) {
        const tessera_dimension_t &s = src->dim[i], &d = dst->dim[i];
        if (d.min < s.min || int64_t(d.min) + d.extent > int64_t(s.min) + s.extent) {
            return tessera_error_access_out_of_bounds(user_context, "to copy from", i, d.min,
                                                      d.min + d.extent - 1, s.min,
                                                      s.min + s.extent - 1, "");
        }
    }
    if (!src->host) return tessera_error_host_is_null(user_context, "to copy from");
    if (!dst->host) return tessera_error_host_is_null(user_context, "to copy to");
    return 0;
}

int no_device(void *user_context, const tessera_buffer_t *buffer) {
    if (!buffer) return tessera_error_buffer_argument_is_null(user_context, "of a device copy");
    if (buffer->device || (buffer->flags & tessera_buffer_flag_device_dirty)) {
        return tessera_error_no_device_interface(user_context);
    }
    return 0;
}

}  // namespace

extern "C" {

uint64_t tessera_buffer_number_of_elements(const tessera_buffer_t *buffer) {
    if (is_empty(buffer)) return 0;
    uint64_t n = 1;
    for (int i = 0; i < buffer->dimensions; i++) n = times(n, uint64_t(buffer->dim[i].extent));
    return n;
}

uint64_t tessera_buffer_size_in_bytes(const tessera_buffer_t *buffer) {
    if (is_empty(buffer)) return 0;
    uint64_t elements = 1;
    for (int i = 0; i < buffer->dimensions; i++) {
        const tessera_dimension_t &d = buffer->dim[i];
        uint64_t reach = (uint64_t(d.extent) - 1) * uint64_t(std::abs(int64_t(d.stride)));
        if (__builtin_add_overflow(elements, reach, &elements)) return UINT64_MAX;
    }
    return times(elements, uint64_t(element_bytes(buffer->type)));
}

int tessera_buffer_copy(void *user_context, const tessera_buffer_t *src, tessera_buffer_t *dst) {
    if (int error = check_copy(user_context, src, dst)) return error;
    if (int error = tessera_copy_to_host(user_context, const_cast<tessera_buffer_t *>(src))) {
        return error;
    }
    if (is_empty(dst)) return 0;
    int64_t bytes = element_bytes(dst->type);
    const uint8_t *from = src->host;
    for (int i = 0; i < dst->dimensions; i++) {
        from += (int64_t(dst->dim[i].min) - src->dim[i].min) * src->dim[i].stride * bytes;
    }
    std::vector<Loop> loops = copy_loops(src, dst);
    copy(loops, loops.size() - 1, bytes, from, dst->host);
    dst->flags |= tessera_buffer_flag_host_dirty;
    return 0;
}

int tessera_copy_to_host(void *user_context, tessera_buffer_t *buffer) {
    if (buffer && !(buffer->flags & tessera_buffer_flag_device_dirty)) return 0;
    return no_device(user_context, buffer);
}

int tessera_copy_to_device(void *user_context, tessera_buffer_t *buffer,
                           const tessera_device_interface_t *) {
    if (!buffer) return no_device(user_context, buffer);
    return tessera_error_no_device_interface(user_context);
}

int tessera_device_malloc(void *user_context, tessera_buffer_t *buffer,
                          const tessera_device_interface_t *) {
    if (!buffer) return no_device(user_context, buffer);
    return tessera_error_no_device_interface(user_context);
}

int tessera_device_free(void *user_context, tessera_buffer_t *buffer) {
    return no_device(user_context, buffer);
}

int tessera_device_sync(void *user_context, tessera_buffer_t *buffer) {
    return no_device(user_context, buffer);
}
}
