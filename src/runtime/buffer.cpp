#include "runtime/copy_plan.h"
#include <cstdlib>

using namespace tessera;

namespace {

uint64_t times(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// 0 if `dst` can be filled from `src`.
int check_copy(void *user_context, const tessera_buffer_t *src, const tessera_buffer_t *dst) {
    if (!src || !dst) return tessera_error_buffer_argument_is_null(user_context, "of a copy");
    if (int error = check_copied_types(user_context, *src, *dst)) return error;
    if (is_empty(*dst)) return 0;
    for (int i = 0; i < dst->dimensions; i++) {
        const tessera_dimension_t &s = src->dim[i], &d = dst->dim[i];
        if (d.min < s.min || int64_t(d.min) + d.extent > int64_t(s.min) + s.extent) {
            return tessera_error_access_out_of_bounds(user_context, "to copy from", i, d.min,
                                                      d.min + d.extent - 1, s.min,
                                                      s.min + s.extent - 1, "");
        }
    }
    if (!src->host && !src->device) return tessera_error_host_is_null(user_context, "to copy from");
    if (!dst->host) return tessera_error_host_is_null(user_context, "to copy to");
    return 0;
}

}  // namespace

extern "C" {

uint64_t tessera_buffer_number_of_elements(const tessera_buffer_t *buffer) {
    if (is_empty(*buffer)) return 0;
    uint64_t n = 1;
    for (int i = 0; i < buffer->dimensions; i++) n = times(n, uint64_t(buffer->dim[i].extent));
    return n;
}

uint64_t tessera_buffer_size_in_bytes(const tessera_buffer_t *buffer) {
    if (is_empty(*buffer)) return 0;
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
    auto *source = const_cast<tessera_buffer_t *>(src);
    if (!src->host) return tessera_device_buffer_copy(user_context, source, nullptr, dst);
    if (int error = tessera_copy_to_host(user_context, source)) return error;
    if (is_empty(*dst)) return 0;
    copy_on_host(plan_copy(*src, *dst), src->host, dst->host);
    dst->set_device_dirty(false);
    dst->set_host_dirty();
    return 0;
}
}
