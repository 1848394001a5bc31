#pragma once

#include "common/image.h"

#include <cstdint>

namespace tessera::apps {

// Box blur of 3x3: the mean of three along x, rounded down, then along y. The result is smaller
// than the input by two in each direction; a value is that of the square to its lower right.
Image<uint16_t> blur_reference(const Image<uint16_t> &input);

}  // namespace tessera::apps
