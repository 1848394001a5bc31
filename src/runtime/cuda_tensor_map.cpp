#include "runtime/cuda_context.h"

using namespace tessera::cuda;
using tessera::Message;

namespace {

// The numbers of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (cuda.h).
constexpr int no_interleave = 0, promote_256_bytes = 3, fill_with_zeros = 0;
constexpr int32_t most_dimensions = 5, fewest_of_places = 3;

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

// The argument `shape` of tessera_cuda_tensor_map.
struct Shape {
    bool has_places;
    uint32_t rank;
    const int32_t *extents, *distances, *sizes, *steps, *first, *last;
    int32_t step, swizzle;

    explicit Shape(const int32_t *shape)
        : has_places(shape[0] == 1), rank(uint32_t(shape[1])), extents(shape + 2),
          distances(extents + rank), sizes(distances + rank - 1), steps(sizes + 2),
          first(steps + places()), last(first + places()) {
        const int32_t *end = has_places ? last + places() : sizes + rank;
        step = end[0];
        swizzle = end[1];
    }
    uint32_t places() const { return has_places ? rank - 2 : 0; }
};

int refuse(void *user_context, void *address, int32_t element_bytes, const Shape &s) {
    Message why;
    why << "a matrix of ";
    for (uint32_t i = 0; i < s.rank; i++) why << (i ? " x " : "") << s.extents[i];
    why << " elements of " << element_bytes << " bytes at " << uint64_t(uintptr_t(address));
    for (uint32_t i = 0; i + 1 < s.rank; i++)
        why << (i ? " and " : ", with ") << int64_t(s.distances[i]) * element_bytes;
    why << (s.rank > 1 ? " bytes from row to row," : ",") << " cannot be copied in ";
    if (s.has_places) {
        why << s.sizes[1] << " places of " << s.sizes[0] << " channels";
        for (uint32_t i = 0; i < s.places(); i++)
            why << (i ? " and " : ", ") << s.steps[i] << " apart from " << s.first[i] << " on to "
                << s.last[i];
        why << " from the last one";
    } else {
        why << "boxes of ";
        for (uint32_t i = 0; i < s.rank; i++) why << (i ? " x " : "") << s.sizes[i];
    }
    why << ": its address and its rows have to be at multiples of 16 bytes";
    return fail(user_context, why);
}

Result encode(const Driver &d, void *map, void *address, int32_t element_bytes, const Shape &s) {
    uint64_t dims[most_dimensions], strides[most_dimensions];
    uint32_t box[most_dimensions], steps[most_dimensions];
    for (uint32_t i = 0; i < s.rank; i++) {
        const bool is_of_places = i > 0 && i <= s.places();
        dims[i] = uint64_t(s.extents[i]);
        steps[i] = is_of_places ? uint32_t(s.steps[i - 1]) : 1;
        if (!s.has_places) box[i] = uint32_t(s.sizes[i]);
        if (i > 0) strides[i - 1] = uint64_t(int64_t(s.distances[i - 1]) * element_bytes);
    }
    const int type = data_type(element_bytes), swizzle = swizzle_of(s.swizzle);
    if (s.has_places)
        return d.encode_im2col(map, type, s.rank, address, dims, strides, s.first, s.last,
                               uint32_t(s.sizes[0]), uint32_t(s.sizes[1]), steps, no_interleave,
                               swizzle, promote_256_bytes, fill_with_zeros);
    return d.encode_tiled(map, type, s.rank, address, dims, strides, box, steps, no_interleave,
                          swizzle, promote_256_bytes, fill_with_zeros);
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
    const int32_t fewest = shape[0] == 1 ? fewest_of_places : 1;
    if (shape[1] < fewest || shape[1] > most_dimensions)
        return fail(user_context, Message()
                                      << "a tensor map has " << fewest << " to " << most_dimensions
                                      << " dimensions, and not " << shape[1]);
    if (data_type(element_bytes) < 0)
        return fail(user_context, Message()
                                      << "a tensor map has elements of 1, 2, 4 or 8 bytes, and not "
                                      << element_bytes);
    const Scope scope(user_context);  // the driver wants a context, and uses nothing of it
    if (scope.error()) return scope.error();
    const Driver &d = scope.driver();
    const Shape s(shape);
    if (s.step != 1)
        return fail(
            user_context,
            Message() << "a matrix whose elements are " << s.step
                      << " elements apart cannot be copied in boxes: they have to be dense");
    if (swizzle_of(s.swizzle) < 0)
        return fail(user_context, Message() << "a tensor map swizzles rows of 32, 64 or 128 bytes, "
                                               "and not of "
                                            << s.swizzle);
    if (s.has_places ? !d.encode_im2col : !d.encode_tiled)
        return fail(user_context, Message() << "the CUDA driver is too old: it has no tensor maps");
    if (encode(d, map, address, element_bytes, s) == result::success) return 0;
    return refuse(user_context, address, element_bytes, s);
}
}
