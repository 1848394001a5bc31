#pragma once
#include "interpret/value.h"
#include <algorithm>

// Integers of twice the greatest width: no operation on two words overflows one.
namespace tessera::interpret {

__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

inline Wide wide_of(Type t, Word word) { return t.is_int() ? Wide(int64_t(word)) : Wide(word); }
inline Word wrap(Type t, Wide value) { return word_of_int(t, int64_t(value)); }
inline Wide lowest(Type t) { return t.is_int() ? -(Wide(1) << (t.bits() - 1)) : Wide(0); }
inline Wide highest(Type t) { return (Wide(1) << (t.bits() - t.is_int())) - 1; }
inline Word saturate(Type t, Wide value) {
    return wrap(t, std::clamp(value, lowest(t), highest(t)));
}

// Euclidean; by zero is zero.
inline Wide divide(Wide a, Wide b) {
    if (b == 0) return 0;
    Wide q = a / b;
    return a % b < 0 ? (b > 0 ? q - 1 : q + 1) : q;
}

// value * 2^count, rounded down; counts beyond the width shift everything out.
inline Wide shifted(Wide value, Wide count) {
    if (count <= -127) return value < 0 ? -1 : 0;
    if (count < 0) return value >> -count;
    return count >= 127 ? Wide(0) : Wide(UWide(value) << count);
}

// value * 2^-count, rounded to the nearest, halves up.
inline Wide rounding_shifted_right(Wide value, Wide count) {
    if (count <= 0) return shifted(value, -count);
    if (count >= 127) return 0;
    return (shifted(value, 1 - count) + 1) >> 1;
}

}  // namespace tessera::interpret
