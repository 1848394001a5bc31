#pragma once

#include "common/image.h"

namespace tessera::apps {

// The mean of the 3x3 square to the lower right of each place. The result is smaller than the input
// by two in each direction.
Image<float> blur_f32_reference(const Image<float> &input);

}  // namespace tessera::apps
