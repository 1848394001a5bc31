#pragma once

#include "common/image.h"

namespace tessera::apps {

// Bilateral filter of a grey picture in [0, 1] by a coarse grid over x, y and brightness. One
// cell of the grid spans `cell` pixels and `range` of brightness.
Image<float> bilateral_grid_reference(const Image<float> &input, int cell, float range);

}  // namespace tessera::apps
