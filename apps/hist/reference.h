#pragma once

#include "common/image.h"

#include <cstdint>

namespace tessera::apps {

// Equalize the histogram of the brightness, and keep the differences of colour.
Image<uint8_t> hist_reference(const Image<uint8_t> &input);

}  // namespace tessera::apps
