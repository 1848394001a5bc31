#include "runtime/cuda_context.h"

using namespace tessera::cuda;
using tessera::Message;

namespace {

// The numbers of cuTensorMapEncodeTiled (cuda.h).
constexpr int no_interleave = 0, swizzle_128_bytes = 3, promote_256_bytes = 3, fill_with_zeros = 0;
constexpr uint32_t matrix = 2;  // dimensions

// CUtensorMapDataType of an element that is copied as it is; -1 if there is none.
int data_type(int32_t element_bytes) {
    switch (element_bytes) {
    case 1: return 0;
    case 2: return 1;
    case 4: return 2;
    case 8: return 4;
    default: return -1;
    }
}

int fail(void *user_context, const Message &why) {
    return why.raise(user_context, tessera_error_code_device_run_failed);
}

}  // namespace

extern "C" {

int32_t tessera_cuda_processors(void *user_context) {
    const Scope scope(user_context);
    if (scope.error()) return 1;
    Device device = 0;
    int count = 0;
    const Driver &d = scope.driver();
    if (d.context_device(&device) ||
        d.device_attribute(&count, device_attribute::processors, device))
        return 1;
    return count;
}

int tessera_cuda_tensor_map(void *user_context, void *map, void *address, int32_t element_bytes,
                            const int32_t *shape) {
    const Scope scope(user_context);  // the driver wants a context, and uses nothing of it
    if (scope.error()) return scope.error();
    const Driver *d = &scope.driver();
    const int64_t row = int64_t(shape[2]) * element_bytes;
    const uint64_t dims[matrix] = {uint64_t(shape[0]), uint64_t(shape[1])};
    const uint64_t strides[matrix - 1] = {uint64_t(row)};
    const uint32_t box[matrix] = {uint32_t(shape[3]), uint32_t(shape[4])}, steps[matrix] = {1, 1};
    if (shape[5] != 1)
        return fail(
            user_context,
            Message() << "a matrix whose elements are " << shape[5]
                      << " elements apart cannot be copied in boxes: they have to be dense");
    if (!d->encode_tiled)
        return fail(user_context, Message() << "the CUDA driver is too old: it has no tensor maps");
    const Result r =
        d->encode_tiled(map, data_type(element_bytes), matrix, address, dims, strides, box, steps,
                        no_interleave, swizzle_128_bytes, promote_256_bytes, fill_with_zeros);
    if (r == result::success) return 0;
    return fail(user_context,
                Message() << "a matrix of " << shape[0] << " x " << shape[1] << " elements of "
                          << element_bytes << " bytes at " << uint64_t(uintptr_t(address))
                          << ", with " << row
                          << " bytes from row to row, cannot be copied in boxes of " << shape[3]
                          << " x " << shape[4]
                          << ": its address and its rows have to be at multiples of 16 bytes");
}
}
