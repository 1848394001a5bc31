#pragma once

#include "common/image.h"
#include "resize/kernel.h"

#include <cstdint>

namespace tessera::apps {

// The picture `factor` times as large (rounded down), each value a mean of those around its place
// that the kernel weights. The kernel is as wide as the pixels of the coarser picture. Integers are
// rounded, floats end at 0 and 1.
Image<uint8_t> resize_reference(const Image<uint8_t> &input, float factor, ResizeKernel kernel);
Image<uint16_t> resize_reference(const Image<uint16_t> &input, float factor, ResizeKernel kernel);
Image<float> resize_reference(const Image<float> &input, float factor, ResizeKernel kernel);

}  // namespace tessera::apps
