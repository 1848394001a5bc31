#pragma once

#include "common/image.h"

#include <cstdint>

namespace tessera::apps {

// Products of two matrices, each stored row by row: result(x, y) = sum of a(k, y) * b(x, k).
Image<int32_t> widening_gemm_reference(const Image<uint8_t> &a, const Image<int8_t> &b);

// The same of bfloat16s, each given as its bits.
Image<float> widening_gemm_reference(const Image<uint16_t> &a, const Image<uint16_t> &b);

// The upper half of a float, rounded to the nearest, ties to even: no infinity, no NaN.
uint16_t to_bfloat16(float value);
float from_bfloat16(uint16_t bits);

}  // namespace tessera::apps
