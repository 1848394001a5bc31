#include "runtime/cuda_context.h"

using namespace tessera::cuda;
using tessera::Message;

namespace {

// The numbers of cuTensorMapEncodeTiled (cuda.h).
constexpr int no_interleave = 0, promote_256_bytes = 3, fill_with_zeros = 0;
constexpr int32_t most_dimensions = 5;

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

// CUtensorMapSwizzle of so many bytes; -1 if there is none.
int swizzle_of(int32_t bytes) {
    switch (bytes) {
    case 0: return 0;
    case 32: return 1;
    case 64: return 2;
    case 128: return 3;
    default: return -1;
    }
}

int fail(void *user_context, const Message &why) {
    return why.raise(user_context, tessera_error_code_device_run_failed);
}

int refuse(void *user_context, void *address, int32_t element_bytes, uint32_t rank,
           const int32_t *extents, const int32_t *distances, const int32_t *sizes) {
    Message why;
    why << "a matrix of ";
    for (uint32_t i = 0; i < rank; i++) why << (i ? " x " : "") << extents[i];
    why << " elements of " << element_bytes << " bytes at " << uint64_t(uintptr_t(address));
    for (uint32_t i = 0; i + 1 < rank; i++)
        why << (i ? " and " : ", with ") << int64_t(distances[i]) * element_bytes;
    why << (rank > 1 ? " bytes from row to row," : ",") << " cannot be copied in boxes of ";
    for (uint32_t i = 0; i < rank; i++) why << (i ? " x " : "") << sizes[i];
    why << ": its address and its rows have to be at multiples of 16 bytes";
    return fail(user_context, why);
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
    if (shape[0] < 1 || shape[0] > most_dimensions)
        return fail(user_context, Message() << "a tensor map has 1 to " << most_dimensions
                                            << " dimensions, and not " << shape[0]);
    if (data_type(element_bytes) < 0)
        return fail(user_context, Message()
                                      << "a tensor map has elements of 1, 2, 4 or 8 bytes, and not "
                                      << element_bytes);
    const Scope scope(user_context);  // the driver wants a context, and uses nothing of it
    if (scope.error()) return scope.error();
    const Driver *d = &scope.driver();
    const auto rank = uint32_t(shape[0]);
    const int32_t *extents = shape + 1, *distances = extents + rank, *sizes = distances + rank - 1,
                  step = sizes[rank], swizzle = sizes[rank + 1];
    uint64_t dims[most_dimensions], strides[most_dimensions];
    uint32_t box[most_dimensions], steps[most_dimensions];
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = uint64_t(extents[i]);
        box[i] = uint32_t(sizes[i]);
        steps[i] = 1;
        if (i > 0) strides[i - 1] = uint64_t(int64_t(distances[i - 1]) * element_bytes);
    }
    if (step != 1)
        return fail(
            user_context,
            Message() << "a matrix whose elements are " << step
                      << " elements apart cannot be copied in boxes: they have to be dense");
    if (swizzle_of(swizzle) < 0)
        return fail(user_context, Message() << "a tensor map swizzles rows of 32, 64 or 128 bytes, "
                                               "and not of "
                                            << swizzle);
    if (!d->encode_tiled)
        return fail(user_context, Message() << "the CUDA driver is too old: it has no tensor maps");
    const Result r =
        d->encode_tiled(map, data_type(element_bytes), rank, address, dims, strides, box, steps,
                        no_interleave, swizzle_of(swizzle), promote_256_bytes, fill_with_zeros);
    if (r == result::success) return 0;
    return refuse(user_context, address, element_bytes, rank, extents, distances, sizes);
}
}
