#pragma once

#include "common/image.h"

namespace tessera::apps {

constexpr int interpolate_levels = 10;

// Fill in a picture (red, green, blue, alpha) where alpha is below 1, from the levels of a pyramid,
// the finest one known. Returns the three colours.
Image<float> interpolate_reference(const Image<float> &input, int levels);

}  // namespace tessera::apps
