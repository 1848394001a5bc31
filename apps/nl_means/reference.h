#pragma once

#include "common/image.h"

namespace tessera::apps {

struct NlMeansSettings {
    int patch_size = 7;   // squared: what is compared
    int search_size = 7;  // squared: with the patches around these pixels
    float sigma = 0.12f;  // how different patches may be
};

// Non-local means: each pixel becomes a mean of those near it, weighted by how much what surrounds
// them resembles what surrounds it.
Image<float> nl_means_reference(const Image<float> &input, const NlMeansSettings &settings);

}  // namespace tessera::apps
