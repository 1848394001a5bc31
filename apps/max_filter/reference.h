#pragma once

#include "common/image.h"

namespace tessera::apps {

constexpr int max_filter_radius = 26;

// The largest value within a disc around each pixel: where dx^2 + dy^2 < (radius + 1/4)^2.
Image<float> max_filter_reference(const Image<float> &input, int radius);

}  // namespace tessera::apps
