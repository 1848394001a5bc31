#pragma once
#include "files/array.h"
#include <string>

namespace tessera::run {

struct Comparison {
    size_t wrong = 0;        // how many elements differ by more than is allowed
    std::string difference;  // a sentence about the largest difference; "" if there is none
};

// Compares two arrays of the same type and extents: |computed - expected| may be up to tolerance +
// relative * |expected|. A NaN equals a NaN.
Comparison compare(const files::Array &computed, const files::Array &expected, double tolerance,
                   double relative);

}  // namespace tessera::run
