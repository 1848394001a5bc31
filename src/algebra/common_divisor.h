#pragma once
#include <cstdint>
#include <numeric>

namespace tessera::algebra {

// The greatest common divisor, which is positive; 2^62 where it is 2^63, which no int64_t holds; of
// two zeros 0.
inline int64_t common_divisor(int64_t a, int64_t b) {
    auto magnitude = [](int64_t v) { return v < 0 ? 0 - uint64_t(v) : uint64_t(v); };
    uint64_t g = std::gcd(magnitude(a), magnitude(b));
    return g >> 63 ? int64_t(1) << 62 : int64_t(g);
}

}  // namespace tessera::algebra
