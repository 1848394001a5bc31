#pragma once
#include "interpret/memory.h"
#include <vector>

namespace tessera::interpret {

// A tensor map, as tessera_cuda_tensor_map makes it: an array of `rank` dimensions, from an element
// of memory on, of which the machine copies boxes, with zeros for what is outside.
struct TensorMap {
    MemoryRef memory;
    int64_t first = 0;  // element
    std::vector<int64_t> extents, strides;
    std::vector<int64_t> box;  // of Im2col: channels and places
    int64_t shift = 0;         // coordinates along a row count from so many elements before it
    int64_t swizzle = 0;
    // Im2col: along each dimension of places, the step from one to the next, where they begin, and
    // where they end, beyond the extent.
    bool is_im2col = false;
    bool is_stored = false;  // what boxes are of is stored to
    std::vector<int64_t> steps, lower, upper;
    bool operator==(const TensorMap &) const = default;

    // `numbers`: the operands of the intrinsic tensor_map but for the first one. RuntimeError if
    // the machine has no such map.
    TensorMap(MemoryRef memory, int64_t first, const std::vector<int64_t> &numbers);

    size_t rank() const { return extents.size(); }
    int64_t elements_of_box() const;
    // Calls visit(number of the element in the box, place in memory), with a place of -1 for what
    // is outside of the array. `at`: the coordinates of the box's first element; `offsets`: of a
    // tap of Im2col. RuntimeError if the machine has no such box.
    template<typename Visit>
    void for_each_element(std::vector<int64_t> at, const std::vector<int64_t> &offsets,
                          const Visit &visit) const {
        check_box(at, offsets);
        if (is_im2col) {
            for (int64_t number = 0; number < elements_of_box(); number++) {
                if (number > 0 && number % box[0] == 0) next_place(at);
                visit(number, place_of_tap(at, offsets, number % box[0]));
            }
            return;
        }
        std::vector<int64_t> in_box(box.size(), 0);
        for (int64_t number = 0; number < elements_of_box(); number++) {
            visit(number, place_of(at, in_box));
            for (size_t d = 0; d < box.size() && ++in_box[d] == box[d]; d++) in_box[d] = 0;
        }
    }

private:
    void check_box(const std::vector<int64_t> &at, const std::vector<int64_t> &offsets) const;
    int64_t place_of(const std::vector<int64_t> &at, const std::vector<int64_t> &in_box) const;
    void next_place(std::vector<int64_t> &at) const;
    int64_t place_of_tap(const std::vector<int64_t> &at, const std::vector<int64_t> &offsets,
                         int64_t channel) const;
};

}  // namespace tessera::interpret
