#pragma once

#include "common/image.h"

namespace tessera::apps {

// Returns, for each row: e^value over the sum of these.
Image<float> softmax_reference(const Image<float> &input);

}  // namespace tessera::apps
