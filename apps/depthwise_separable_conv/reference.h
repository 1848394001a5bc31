#pragma once

#include "common/image.h"

namespace tessera::apps {

constexpr int depthwise_channels = 32;  // of its input

// max(0, bias + pointwise * (depthwise * input)): a 3x3 convolution of each channel, zeros around
// it, then a 1x1 convolution of all channels. Dimensions: input (d, x, y, n), depthwise (d, x, y),
// pointwise (co, d), bias (co), result (co, x, y, n).
Image<float> depthwise_separable_conv_reference(const Image<float> &input,
                                                const Image<float> &depthwise,
                                                const Image<float> &pointwise,
                                                const Image<float> &bias);

}  // namespace tessera::apps
