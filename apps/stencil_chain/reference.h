#pragma once

#include "common/image.h"

#include <cstdint>

namespace tessera::apps {

constexpr int stencil_chain_count = 32;

// `count` times the sum over 5x5 neighbours, each times its column and its row from 1 to 5, modulo
// 2^16. Outside, the edge of the picture is repeated (and not that of what the stages make of it).
Image<uint16_t> stencil_chain_reference(const Image<uint16_t> &input, int count);

}  // namespace tessera::apps
