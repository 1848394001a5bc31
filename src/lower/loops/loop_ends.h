#pragma once
#include "ir/expr.h"

namespace tessera::lower {

// e + offset, for a caller that cuts it to [first, end) by min and max; of the type of `first`.
//
// Made of coordinates alone, it is just that sum. A scalar argument may be any number, and a sum
// with it must not overflow: that is made in 64 bits and cut to the loop here.
ir::Expr place_in_loop(const ir::Expr &e, int offset, const ir::Expr &first, const ir::Expr &end);

}  // namespace tessera::lower
