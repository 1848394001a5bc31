#pragma once

#include "common/image.h"

namespace tessera::apps {

constexpr float iir_blur_alpha = 0.1f;

// Each value becomes `alpha` of itself and the rest of the blurred one before it: down, up, to the
// right and to the left, one after the other.
Image<float> iir_blur_reference(const Image<float> &input, float alpha);

}  // namespace tessera::apps
