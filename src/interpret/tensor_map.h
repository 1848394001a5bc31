#pragma once
#include "interpret/memory.h"
#include <vector>

namespace tessera::interpret {

// A tensor map, as tessera_cuda_tensor_map makes it: an array of `rank` dimensions, from an element
// of memory on, of which the machine copies boxes, with zeros for what is outside.
struct TensorMap {
    MemoryRef memory;
    int64_t first = 0;  // element
    std::vector<int64_t> extents, strides, box;
    int64_t shift = 0;  // coordinates along a row count from so many elements before it
    int64_t swizzle = 0;
    bool operator==(const TensorMap &) const = default;

    // `numbers`: the operands of the intrinsic tensor_map but for the first one. RuntimeError if
    // the machine has no such map.
    TensorMap(MemoryRef memory, int64_t first, const std::vector<int64_t> &numbers);

    int64_t elements_of_box() const;
    // Calls visit(number of the element in the box, place in memory), with a place of -1 for what
    // is outside of the array. `at`: the coordinates of the box's first element.
    template<typename Visit>
    void for_each_element(const std::vector<int64_t> &at, const Visit &visit) const {
        std::vector<int64_t> in_box(box.size(), 0);
        for (int64_t number = 0; number < elements_of_box(); number++) {
            visit(number, place_of(at, in_box));
            for (size_t d = 0; d < box.size() && ++in_box[d] == box[d]; d++) in_box[d] = 0;
        }
    }

private:
    int64_t place_of(const std::vector<int64_t> &at, const std::vector<int64_t> &in_box) const;
};

}  // namespace tessera::interpret
