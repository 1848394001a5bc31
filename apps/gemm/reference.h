#pragma once

#include "common/image.h"

namespace tessera::apps {

// The product of two matrices, each stored row by row: result(x, y) = sum of a(k, y) * b(x, k).
Image<float> gemm_reference(const Image<float> &a, const Image<float> &b);

}  // namespace tessera::apps
