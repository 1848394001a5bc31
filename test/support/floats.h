#pragma once
#include "ir/nodes.h"
#include <algorithm>
#include <cmath>

// How close a float is to the exact value.
namespace tessera::test {

// The value that is nearest in the type.
inline double in_type(Type t, double value) {
    ir::Expr e = ir::FloatImm::make(t, value);
    return e.as<ir::FloatImm>()->value;
}

inline bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Equal up to `ulps` units of the last place in the type, or tiny.
inline bool close(Type t, double got, double wanted, double ulps) {
    if (same(got, wanted)) return true;
    double epsilon = t.is_float8()    ? (t.code() == TypeCode::Float8E4M3 ? 1.0 / 8 : 1.0 / 4)
                     : t.is_bfloat()  ? 1.0 / 128
                     : t.bits() == 16 ? 1.0 / 1024
                     : t.bits() == 32 ? 0x1p-23
                                      : 0x1p-52;
    double least = t.is_float8()                      ? 0x1p-6
                   : t.bits() == 64                   ? 0x1p-1022
                   : t.bits() == 16 && !t.is_bfloat() ? 0x1p-14
                                                      : 0x1p-126;
    return std::fabs(got - wanted) <= ulps * epsilon * std::max(std::fabs(wanted), least);
}

}  // namespace tessera::test
