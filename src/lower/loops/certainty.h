#pragma once
#include "algebra/bounds.h"

namespace tessera::lower {

// A scalar condition, free of the variables of the scope, under which this one holds in all lanes
// and for all values that the scope's variables take. Undefined if none is known.
//
//     ramp(x, 1, 8) + k < x8(n), k in [0, m]      ->      x + 7 + m - n < 0
ir::Expr certainly(const ir::Expr &condition, const algebra::IntervalScope &scope);

// A scalar condition that holds wherever this one may hold in some lane for some of these values.
// Undefined if none is known.
ir::Expr possibly(const ir::Expr &condition, const algebra::IntervalScope &scope);

}  // namespace tessera::lower
