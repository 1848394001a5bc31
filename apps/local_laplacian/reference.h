#pragma once

#include "common/image.h"

#include <cstdint>

namespace tessera::apps {

struct LocalLaplacianSettings {
    int pyramid_levels = 8;
    int brightness_levels = 8;  // pictures remapped, one for each level of brightness
    float alpha = 1.0f / 7;     // gain of detail
    float beta = 1;             // gain of large edges
};

// Local Laplacian filter: strengthen the detail of a picture and leave its large edges.
Image<uint16_t> local_laplacian_reference(const Image<uint16_t> &input,
                                          const LocalLaplacianSettings &settings);

}  // namespace tessera::apps
