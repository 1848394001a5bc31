#pragma once

#include "common/image.h"

namespace tessera::apps {

struct BilateralGridSettings {
    int cell = 8;        // pixels along a cell of the grid
    float range = 0.1f;  // of brightness that a cell spans
};

// Bilateral filter of a grey picture in [0, 1] by a coarse grid over x, y and brightness.
Image<float> bilateral_grid_reference(const Image<float> &input,
                                      const BilateralGridSettings &settings);

}  // namespace tessera::apps
