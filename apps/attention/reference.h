#pragma once

#include "common/image.h"

namespace tessera::apps {

// Returns, for each channel and each row of `query`, the mean of the rows of `value`, weighted by
// the softmax of the row's products with those of `key`, over the square root of their length.
// Causal: a row sees none after it.
Image<float> attention_reference(const Image<float> &query, const Image<float> &key,
                                 const Image<float> &value, bool causal = false);

}  // namespace tessera::apps
