#include "runtime/cuda_context.h"
#include <algorithm>
#include <memory>

namespace tessera::cuda {

namespace {

constexpr int32_t most_dimensions = 5;
constexpr uint64_t aligned_to = 16;  // bytes: where an array and its rows begin

// A copy that a map is of, until the kernel has been launched that reads it.
struct KeptCopy {
    tessera_buffer_t memory = {};
    tessera_dimension_t words = {};
    std::unique_ptr<KeptCopy> next;
};
thread_local constinit std::unique_ptr<KeptCopy> kept_copies;

// An array on the device; distances are in bytes, from row to row and so on.
struct Array {
    uint64_t address, element_bytes;
    uint32_t rank;
    uint64_t extents[most_dimensions];
    int64_t distances[most_dimensions - 1];

    uint64_t row_bytes() const { return extents[0] * element_bytes; }
    bool is_aligned() const {
        return address % aligned_to == 0 &&
               std::all_of(distances, distances + rank - 1,
                           [](int64_t d) { return uint64_t(d) % aligned_to == 0; });
    }
    // Returns true if rows do not overlap, as far as a copy of rows can tell.
    bool has_rows(const Limits &limits) const {
        return rank < 2 || extents[1] < 2 ||
               (distances[0] >= int64_t(row_bytes()) && distances[0] <= limits.pitch);
    }
    // Returns the same array with so many more elements before each row, and dense rows, each from
    // a multiple of 16 bytes on.
    Array with_aligned_rows(uint64_t more) const {
        Array padded = *this;
        padded.extents[0] += more;
        uint64_t distance = (padded.row_bytes() + aligned_to - 1) / aligned_to * aligned_to;
        for (uint32_t d = 1; d < rank; d++) {
            padded.distances[d - 1] = int64_t(distance);
            distance *= extents[d];
        }
        return padded;
    }
    uint64_t bytes() const {  // of dense rows
        return rank < 2 ? row_bytes() : uint64_t(distances[rank - 2]) * extents[rank - 1];
    }
};

// Copies the rows of dimension 1 and of those above it that follow them without a gap, then the
// next ones.
Result copy_rows(const Scope &scope, const Array &from, const Array &to) {
    const uint64_t begin = to.row_bytes() - from.row_bytes();  // of a row
    uint32_t next = 1;
    uint64_t rows = 1;
    for (; next < from.rank; next++) {
        if (next > 1 && from.distances[next - 1] != from.distances[0] * int64_t(rows)) break;
        rows *= from.extents[next];
    }
    uint64_t planes = 1;
    for (uint32_t d = next; d < from.rank; d++) planes *= from.extents[d];
    for (uint64_t plane = 0; plane < planes; plane++) {
        uint64_t source = from.address, target = to.address + begin, rest = plane;
        for (uint32_t d = next; d < from.rank; d++) {
            source += uint64_t(from.distances[d - 1]) * (rest % from.extents[d]);
            target += uint64_t(to.distances[d - 1]) * (rest % from.extents[d]);
            rest /= from.extents[d];
        }
        Copy2D copy = {};
        copy.src_kind = copy.dst_kind = MemoryKind::Device;
        copy.src_device = source;
        copy.dst_device = target;
        copy.width = from.row_bytes();
        copy.height = rows;
        copy.src_pitch = rows > 1 ? uint64_t(from.distances[0]) : copy.width;
        copy.dst_pitch = rows > 1 ? uint64_t(to.distances[0]) : copy.width;
        if (Result r = scope.driver().copy_2d(&copy, scope.stream())) return r;
    }
    return result::success;
}

// Makes it an array with the same elements whose rows begin at multiples of 16 bytes, with so many
// zeros first.
int align(void *user_context, const Scope &scope, Array &array, uint64_t zeros) {
    Array padded = array.with_aligned_rows(zeros);
    auto kept = std::make_unique<KeptCopy>();
    constexpr uint64_t word = 8;
    kept->words = {0, int32_t((padded.bytes() + word - 1) / word), 1, 0};
    kept->memory.dimensions = 1;
    kept->memory.dim = &kept->words;
    kept->memory.type = {tessera_type_uint, 8 * word, 1};
    kept->memory.flags = tessera_buffer_flag_temporary;
    const auto *interface = tessera_cuda_device_interface();
    if (int error = tessera_device_malloc(user_context, &kept->memory, interface)) return error;
    padded.address = kept->memory.device;
    kept->next = std::move(kept_copies);
    kept_copies = std::move(kept);
    Result r = result::success;
    if (zeros > 0) r = scope.driver().fill(padded.address, 0, padded.bytes(), scope.stream());
    if (!r) r = copy_rows(scope, array, padded);
    array = padded;
    return scope.check(tessera_error_code_device_buffer_copy_failed, r,
                       Message() << "copying rows to multiples of 16 bytes on the GPU");
}

}  // namespace

void free_copies_of_maps(void *user_context) {
    while (kept_copies) {
        tessera_device_free(user_context, &kept_copies->memory);
        kept_copies = std::move(kept_copies->next);
    }
}

}  // namespace tessera::cuda

using namespace tessera::cuda;
using tessera::Message;

namespace {

// The numbers of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (cuda.h).
constexpr int no_interleave = 0, promote_256_bytes = 3, fill_with_zeros = 0;
constexpr int32_t fewest_of_places = 3;

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
    bool has_places, is_stored;
    uint32_t rank;
    const int32_t *extents, *distances, *sizes, *steps, *first, *last;
    int32_t step, shift, swizzle;

    explicit Shape(const int32_t *shape)
        : has_places(shape[0] == 1), is_stored(shape[0] == 2), rank(uint32_t(shape[1])),
          extents(shape + 2), distances(extents + rank), sizes(distances + rank - 1),
          steps(sizes + 2), first(steps + places()), last(first + places()) {
        const int32_t *end = has_places ? last + places() : sizes + rank;
        step = end[0];
        shift = end[1];
        swizzle = end[2];
    }
    uint32_t places() const { return has_places ? rank - 2 : 0; }
};

int refuse(void *user_context, const Array &array, const Shape &s) {
    Message why;
    why << "a matrix of ";
    for (uint32_t i = 0; i < array.rank; i++) why << (i ? " x " : "") << array.extents[i];
    why << " elements of " << array.element_bytes << " bytes at " << array.address;
    for (uint32_t i = 0; i + 1 < array.rank; i++)
        why << (i ? " and " : ", with ") << array.distances[i];
    why << (array.rank > 1 ? " bytes from row to row," : ",") << " cannot be "
        << (s.is_stored ? "stored" : "copied") << " in ";
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
    if (s.is_stored) why << ": its address and its rows have to be at multiples of 16 bytes";
    return fail(user_context, why);
}

Result encode(const Driver &d, void *map, const Array &array, const Shape &s) {
    uint64_t strides[most_dimensions];
    uint32_t box[most_dimensions], steps[most_dimensions];
    for (uint32_t i = 0; i < s.rank; i++) {
        const bool is_of_places = i > 0 && i <= s.places();
        steps[i] = is_of_places ? uint32_t(s.steps[i - 1]) : 1;
        if (!s.has_places) box[i] = uint32_t(s.sizes[i]);
        if (i > 0) strides[i - 1] = uint64_t(array.distances[i - 1]);
    }
    auto *address = reinterpret_cast<void *>(array.address);
    const int type = data_type(int32_t(array.element_bytes)), swizzle = swizzle_of(s.swizzle);
    if (s.has_places)
        return d.encode_im2col(map, type, s.rank, address, array.extents, strides, s.first, s.last,
                               uint32_t(s.sizes[0]), uint32_t(s.sizes[1]), steps, no_interleave,
                               swizzle, promote_256_bytes, fill_with_zeros);
    return d.encode_tiled(map, type, s.rank, address, array.extents, strides, box, steps,
                          no_interleave, swizzle, promote_256_bytes, fill_with_zeros);
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
    const Shape s(shape);
    Array array{uint64_t(uintptr_t(address)), uint64_t(element_bytes), s.rank, {}, {}};
    for (uint32_t i = 0; i < s.rank; i++) {
        array.extents[i] = uint64_t(s.extents[i]);
        if (i > 0) array.distances[i - 1] = int64_t(s.distances[i - 1]) * element_bytes;
    }
    if (s.step != 1)
        return fail(
            user_context,
            Message() << "a matrix whose elements are " << s.step
                      << " elements apart cannot be copied in boxes: they have to be dense");
    if (swizzle_of(s.swizzle) < 0)
        return fail(user_context, Message() << "a tensor map swizzles rows of 32, 64 or 128 bytes, "
                                               "and not of "
                                            << s.swizzle);
    if (s.shift < 0)
        return fail(
            user_context,
            Message() << "boxes of a matrix begin at places of its rows that are no "
                         "multiples of 16 bytes apart: where the last tile of a row begins "
                         "earlier (TailStrategy::ShiftInwards, or Auto), promise with bound "
                         "or set_extent how many columns there are, or say "
                         "TailStrategy::GuardWithIf or RoundUp");
    if (s.has_places ? !scope.driver().encode_im2col : !scope.driver().encode_tiled)
        return fail(user_context, Message() << "the CUDA driver is too old: it has no tensor maps");
    if (s.shift != 0 || !array.is_aligned()) {
        // Stores to a copy would not reach the array.
        if (s.is_stored || !array.has_rows(scope.state().limits))
            return refuse(user_context, array, s);
        if (int error = align(user_context, scope, array, uint64_t(s.shift))) return error;
    }
    if (encode(scope.driver(), map, array, s) == result::success) return 0;
    return refuse(user_context, array, s);
}
}
