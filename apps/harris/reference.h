#pragma once

#include "common/image.h"

namespace tessera::apps {

constexpr int harris_border = 3;  // the result lies this far inside the input

// Harris' measure of corners on the grey picture.
Image<float> harris_reference(const Image<float> &input);

}  // namespace tessera::apps
