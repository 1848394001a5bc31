#pragma once

#include "common/image.h"

namespace tessera::apps {

// Unsharp mask: each colour times the ratio by which the grey picture gains when its difference
// from a Gaussian blur (7x7 taps, sigma 1.5) is added to it once more.
Image<float> unsharp_reference(const Image<float> &input);

}  // namespace tessera::apps
