// Values without pattern for tests: the same ones on every machine.
#pragma once

#include <cstdint>

namespace tessera::apps {

// A value in [-1, 1) that depends on `i` alone.
inline float scattered(uint32_t i) {
    i = (i ^ (i >> 15)) * 0x9e3779b1u;
    i = (i ^ (i >> 13)) * 0x7feb352du;
    return float((i ^ (i >> 16)) >> 8) / float(1 << 23) - 1;
}

}  // namespace tessera::apps
