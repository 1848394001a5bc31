#pragma once

#include "common/image.h"

namespace tessera::apps {

constexpr float layer_norm_epsilon = 1e-5f;  // added to the variance, which may be zero

// Each row moved and scaled to a mean of 0 and a variance of 1, times `scale` and plus `shift` of
// the column.
Image<float> layer_norm_reference(const Image<float> &input, const Image<float> &scale,
                                  const Image<float> &shift);

}  // namespace tessera::apps
