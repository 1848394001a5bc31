#pragma once

#include "common/image.h"

namespace tessera::apps {

constexpr int conv_layer_channels = 128;  // of its input

// max(0, bias + filter * input): a 3x3 convolution of every input channel into every output
// channel. Dimensions: input (ci, x, y, n), filter (co, ci, x + 3 * y), result (co, x, y, n).
Image<float> conv_layer_reference(const Image<float> &input, const Image<float> &filter,
                                  const Image<float> &bias);

}  // namespace tessera::apps
