#pragma once
#include "runtime/tessera_runtime.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::files {

// The contents of a file in memory: elements in a row, dimension 0 innermost. The dimensions of a
// picture are x, y and, unless it is plain grey, c: each channel is a plane.
struct Array {
    tessera_type_t type;
    std::vector<int> extents;
    std::vector<uint8_t> bytes;
    // Integers stand for the range from black to white.
    bool is_picture = false;
    // The parts of the file that are not here, in a sentence each: further pages, for example.
    std::vector<std::string> notes;

    Array() = default;
    // Zeros. Throws RuntimeError if there is no memory for so many.
    Array(tessera_type_t type, std::vector<int> extents);

    size_t number_of_elements() const;
    // The extent of a dimension; 1 if there is no such dimension.
    int extent(size_t dimension) const {
        return dimension < extents.size() ? extents[dimension] : 1;
    }
};

// "uint8", "bfloat16", ...
std::string name_of(tessera_type_t type);

// The product, or UINT64_MAX if it is larger.
uint64_t product_of(const std::vector<int> &extents);

}  // namespace tessera::files
