#include "runtime/device_impl.h"
#include "runtime/message.h"
#include <array>
#include <functional>
#include <mutex>
#include <utility>

using namespace tessera;

namespace {

using Interface = tessera_device_interface_t;

// Buffers share locks by their address; error handlers may come back for the same buffer.
std::recursive_mutex &lock_of(const tessera_buffer_t *buffer) {
    static auto &locks = *new std::array<std::recursive_mutex, 64>();
    return locks[std::hash<const void *>()(buffer) / sizeof(tessera_buffer_t) % locks.size()];
}

using Lock = std::lock_guard<std::recursive_mutex>;

// 0 if what the buffer says of itself can be true.
int check(void *user_context, const tessera_buffer_t *buffer, const char *routine) {
    if (!buffer) return tessera_error_buffer_is_null(user_context, routine);
    if (buffer->device && !buffer->device_interface) {
        return tessera_error_no_device_interface(user_context);
    }
    if (buffer->device_interface && !buffer->device) {
        return tessera_error_device_interface_no_device(user_context, routine);
    }
    if (buffer->host_dirty() && buffer->device_dirty()) {
        return tessera_error_host_and_device_dirty(user_context, routine);
    }
    return 0;
}

const tessera_device_interface_impl_t &impl_of(const tessera_buffer_t *buffer) {
    return *buffer->device_interface->impl;
}

void leave_device(tessera_buffer_t *buffer) {
    buffer->device = 0;
    buffer->device_interface = nullptr;
    buffer->set_device_dirty(false);
}

CopySide host_side(const tessera_buffer_t *buffer) { return {uint64_t(buffer->host), false}; }
CopySide device_side(const tessera_buffer_t *buffer) { return {buffer->device, true}; }

int allocate(void *user_context, tessera_buffer_t *buffer, const Interface *device_interface,
             const char *routine) {
    if (!device_interface) return tessera_error_no_device_interface(user_context);
    if (buffer->device) {
        if (buffer->device_interface == device_interface) return 0;
        return tessera_error_incompatible_device_interface(user_context, routine);
    }
    uint64_t handle = 0;
    if (int error = device_interface->impl->allocate(user_context, *buffer, handle)) return error;
    buffer->device = handle;
    buffer->device_interface = device_interface;
    return 0;
}

int copy_between(void *user_context, const Interface *device_interface, const CopyPlan &plan,
                 CopySide src, CopySide dst) {
    if (plan.bytes() == 0) return 0;
    if (src.on_device || dst.on_device) {
        return device_interface->impl->copy(user_context, plan, src, dst);
    }
    copy_on_host(plan, reinterpret_cast<const uint8_t *>(src.address),
                 reinterpret_cast<uint8_t *>(dst.address));
    return 0;
}

int copy_to_host(void *user_context, tessera_buffer_t *buffer) {
    if (!buffer->device_dirty()) return 0;
    if (!buffer->device_interface) return tessera_error_no_device_interface(user_context);
    if (!buffer->host && !is_empty(*buffer)) {
        return tessera_error_host_is_null(user_context, "to copy to the host");
    }
    if (int error =
            copy_between(user_context, buffer->device_interface, plan_copy(*buffer, *buffer),
                         device_side(buffer), host_side(buffer))) {
        return error;
    }
    buffer->set_device_dirty(false);
    return 0;
}

int copy_to_device(void *user_context, tessera_buffer_t *buffer, const Interface *device_interface,
                   const char *routine) {
    if (!device_interface) device_interface = buffer->device_interface;
    if (int error = allocate(user_context, buffer, device_interface, routine)) return error;
    if (!buffer->host_dirty()) return 0;
    if (!buffer->host && !is_empty(*buffer)) {
        return tessera_error_host_is_null(user_context, "to copy to the device");
    }
    if (int error = copy_between(user_context, device_interface, plan_copy(*buffer, *buffer),
                                 host_side(buffer), device_side(buffer))) {
        return error;
    }
    buffer->set_host_dirty(false);
    return 0;
}

int copy_into_host(void *user_context, tessera_buffer_t *src, tessera_buffer_t *dst) {
    const CopyPlan plan = plan_copy(*src, *dst);
    const bool from_host = src->host && !src->device_dirty();
    if (!dst->host) return tessera_error_host_is_null(user_context, "to copy to");
    if (!from_host && !src->device) {
        return tessera_error_host_is_null(user_context, "to copy from");
    }
    // The elements that are left out keep their newest value.
    if (!plan.fills_dst) {
        if (int error = copy_to_host(user_context, dst)) return error;
    }
    if (int error = copy_between(user_context, src->device_interface, plan,
                                 from_host ? host_side(src) : device_side(src), host_side(dst))) {
        return error;
    }
    dst->set_device_dirty(false);
    dst->set_host_dirty();
    return 0;
}

// Allocates dst on the device; where it is not overwritten it has its newest contents.
int prepare_on_device(void *user_context, tessera_buffer_t *dst, const Interface *device_interface,
                      bool is_filled, const char *routine) {
    const bool is_new = !dst->device;
    if (int error = allocate(user_context, dst, device_interface, routine)) return error;
    if (is_filled) return 0;
    if (is_new && dst->host) dst->set_host_dirty();
    return copy_to_device(user_context, dst, device_interface, routine);
}

int copy_into_device(void *user_context, tessera_buffer_t *src, const Interface *device_interface,
                     tessera_buffer_t *dst, const char *routine) {
    const bool src_on_it = src->device && src->device_interface == device_interface;
    const bool from_device = src_on_it && !src->host_dirty();
    if (!from_device && (!src->host || src->device_dirty())) {
        // Newest on a device of another kind: by way of a host's memory.
        if (src->host) {
            if (int error = copy_to_host(user_context, src)) return error;
        } else if (dst->host && src->device) {
            if (int error = copy_into_host(user_context, src, dst)) return error;
            return copy_to_device(user_context, dst, device_interface, routine);
        } else if (src->device) {
            return tessera_error_incompatible_device_interface(user_context, routine);
        } else {
            return tessera_error_host_is_null(user_context, "to copy from");
        }
    }
    const CopyPlan plan = plan_copy(*src, *dst);
    if (int error =
            prepare_on_device(user_context, dst, device_interface, plan.fills_dst, routine)) {
        return error;
    }
    if (int error =
            copy_between(user_context, device_interface, plan,
                         from_device ? device_side(src) : host_side(src), device_side(dst))) {
        return error;
    }
    dst->set_host_dirty(false);
    dst->set_device_dirty();
    return 0;
}

int alias(void *user_context, const tessera_buffer_t *src, int64_t offset, tessera_buffer_t *dst) {
    const uint64_t address = src->device + uint64_t(offset * element_bytes(src->type));
    if (int error = impl_of(src).share(user_context, src->device, address)) return error;
    dst->device = address;
    dst->device_interface = src->device_interface;
    dst->set_device_dirty(src->device_dirty());
    return 0;
}

int crop_failed(void *user_context, const char *why) {
    return (Message() << "Cannot crop a buffer on a device: " << why)
        .raise(user_context, tessera_error_code_device_crop_failed);
}

// 0 if `dst` can be an alias of a part of `src`, which has `dimensions` more.
int check_crop(void *user_context, const tessera_buffer_t *src, const tessera_buffer_t *dst,
               int dimensions) {
    if (dst->device) return crop_failed(user_context, "the crop has memory on a device already");
    if (src->dimensions != dst->dimensions + dimensions) {
        return crop_failed(user_context, "the numbers of dimensions do not agree");
    }
    if (src->type != dst->type) return crop_failed(user_context, "the types do not agree");
    return 0;
}

bool is_part(const tessera_dimension_t &s, const tessera_dimension_t &d) {
    if (d.extent <= 0) return true;
    return d.min >= s.min && int64_t(d.min) + d.extent <= int64_t(s.min) + s.extent &&
           (d.stride == s.stride || d.extent == 1);
}

int alias_part(void *user_context, const tessera_buffer_t *src, int left_out, int64_t offset,
               tessera_buffer_t *dst) {
    const bool nothing = is_empty(*dst);
    for (int i = 0, j = 0; i < src->dimensions; i++) {
        if (i == left_out) continue;
        const tessera_dimension_t &s = src->dim[i], &d = dst->dim[j++];
        if (!nothing && !is_part(s, d)) {
            return crop_failed(user_context, "it does not lie within the buffer, or has other "
                                             "strides");
        }
        offset += (int64_t(d.min) - s.min) * s.stride;
    }
    return alias(user_context, src, nothing ? 0 : offset, dst);
}

}  // namespace

extern "C" {

int tessera_device_malloc(void *user_context, tessera_buffer_t *buffer,
                          const Interface *device_interface) {
    Lock lock(lock_of(buffer));
    if (int error = check(user_context, buffer, __func__)) return error;
    return allocate(user_context, buffer, device_interface, __func__);
}

int tessera_device_free(void *user_context, tessera_buffer_t *buffer) {
    Lock lock(lock_of(buffer));
    if (!buffer) return tessera_error_buffer_is_null(user_context, __func__);
    if (buffer->device && !buffer->device_interface) {
        return tessera_error_no_device_interface(user_context);
    }
    if (!buffer->device) {
        leave_device(buffer);
        return 0;
    }
    const uint64_t handle = buffer->device;
    const auto &impl = impl_of(buffer);
    leave_device(buffer);
    return impl.free(user_context, handle);
}

int tessera_device_sync(void *user_context, tessera_buffer_t *buffer) {
    if (int error = check(user_context, buffer, __func__)) return error;
    return buffer->device_interface ? impl_of(buffer).sync(user_context) : 0;
}

int tessera_device_sync_global(void *user_context, const Interface *device_interface) {
    if (!device_interface) return tessera_error_no_device_interface(user_context);
    return device_interface->impl->sync(user_context);
}

void tessera_device_release(void *user_context, const Interface *device_interface) {
    if (device_interface) device_interface->impl->release(user_context);
}

int tessera_copy_to_host(void *user_context, tessera_buffer_t *buffer) {
    Lock lock(lock_of(buffer));
    if (int error = check(user_context, buffer, __func__)) return error;
    return copy_to_host(user_context, buffer);
}

int tessera_copy_to_device(void *user_context, tessera_buffer_t *buffer,
                           const Interface *device_interface) {
    Lock lock(lock_of(buffer));
    if (int error = check(user_context, buffer, __func__)) return error;
    return copy_to_device(user_context, buffer, device_interface, __func__);
}

int tessera_device_and_host_malloc(void *user_context, tessera_buffer_t *buffer,
                                   const Interface *device_interface) {
    Lock lock(lock_of(buffer));
    if (int error = check(user_context, buffer, __func__)) return error;
    const bool had_host = buffer->host != nullptr;
    if (!had_host) {
        const uint64_t bytes = tessera_buffer_size_in_bytes(buffer);
        void *host = tessera_malloc(user_context, size_t(bytes));
        if (!host) return tessera_error_out_of_memory(user_context, nullptr, bytes);
        buffer->host = static_cast<uint8_t *>(host) - lowest_byte(*buffer);
    }
    int error = allocate(user_context, buffer, device_interface, __func__);
    if (error && !had_host) {
        tessera_free(user_context, buffer->host + lowest_byte(*buffer));
        buffer->host = nullptr;
    }
    return error;
}

int tessera_device_and_host_free(void *user_context, tessera_buffer_t *buffer) {
    Lock lock(lock_of(buffer));
    if (!buffer) return tessera_error_buffer_is_null(user_context, __func__);
    if (buffer->host) {
        tessera_free(user_context, buffer->host + lowest_byte(*buffer));
        buffer->host = nullptr;
        buffer->set_host_dirty(false);
    }
    return tessera_device_free(user_context, buffer);
}

int tessera_device_buffer_copy(void *user_context, tessera_buffer_t *src,
                               const Interface *dst_device_interface, tessera_buffer_t *dst) {
    if (src == dst) {
        return dst_device_interface
                   ? tessera_copy_to_device(user_context, dst, dst_device_interface)
                   : tessera_copy_to_host(user_context, dst);
    }
    std::recursive_mutex *first = &lock_of(src), *second = &lock_of(dst);
    if (std::less<>()(second, first)) std::swap(first, second);
    Lock one(*first), other(*second);
    if (int error = check(user_context, src, __func__)) return error;
    if (int error = check(user_context, dst, __func__)) return error;
    if (int error = check_copied_types(user_context, *src, *dst)) return error;
    if (plan_copy(*src, *dst).bytes() == 0) return 0;
    return dst_device_interface
               ? copy_into_device(user_context, src, dst_device_interface, dst, __func__)
               : copy_into_host(user_context, src, dst);
}

int tessera_device_crop(void *user_context, const tessera_buffer_t *src, tessera_buffer_t *dst) {
    Lock lock(lock_of(src));
    if (int error = check(user_context, src, __func__)) return error;
    if (int error = check(user_context, dst, __func__)) return error;
    if (!src->device) return 0;
    if (int error = check_crop(user_context, src, dst, 0)) return error;
    return alias_part(user_context, src, -1, 0, dst);
}

int tessera_device_slice(void *user_context, const tessera_buffer_t *src, int slice_dim,
                         int slice_pos, tessera_buffer_t *dst) {
    Lock lock(lock_of(src));
    if (int error = check(user_context, src, __func__)) return error;
    if (int error = check(user_context, dst, __func__)) return error;
    if (!src->device) return 0;
    if (int error = check_crop(user_context, src, dst, 1)) return error;
    if (slice_dim < 0 || slice_dim >= src->dimensions) {
        return crop_failed(user_context, "there is no such dimension to slice");
    }
    const tessera_dimension_t &d = src->dim[slice_dim];
    const int64_t steps = int64_t(slice_pos) - d.min;
    if (steps < 0 || steps >= d.extent) {
        return crop_failed(user_context, "the slice does not lie within the buffer");
    }
    return alias_part(user_context, src, slice_dim, steps * d.stride, dst);
}

int tessera_device_part(void *user_context, const tessera_buffer_t *whole, int64_t first,
                        tessera_buffer_t *part) {
    Lock lock(lock_of(whole));
    if (int error = check(user_context, whole, __func__)) return error;
    if (!whole->host) part->host = nullptr;
    part->set_host_dirty(whole->host_dirty());
    return whole->device ? alias(user_context, whole, first, part) : 0;
}

int tessera_device_release_crop(void *user_context, tessera_buffer_t *buffer) {
    Lock lock(lock_of(buffer));
    if (int error = check(user_context, buffer, __func__)) return error;
    if (!buffer->device) return 0;
    const uint64_t address = buffer->device;
    const auto &impl = impl_of(buffer);
    leave_device(buffer);
    return impl.unshare(user_context, address);
}

int tessera_device_wrap_native(void *user_context, tessera_buffer_t *buffer, uint64_t handle,
                               const Interface *device_interface) {
    Lock lock(lock_of(buffer));
    if (int error = check(user_context, buffer, __func__)) return error;
    if (!device_interface) return tessera_error_no_device_interface(user_context);
    if (buffer->device || !handle) {
        return (Message() << "Cannot wrap memory of a device: "
                          << (handle ? "the buffer has some already" : "its address is 0"))
            .raise(user_context, tessera_error_code_device_wrap_native_failed);
    }
    buffer->device = handle;
    buffer->device_interface = device_interface;
    return 0;
}

int tessera_device_detach_native(void *user_context, tessera_buffer_t *buffer) {
    Lock lock(lock_of(buffer));
    if (int error = check(user_context, buffer, __func__)) return error;
    buffer->device = 0;
    buffer->device_interface = nullptr;
    return 0;
}
}
