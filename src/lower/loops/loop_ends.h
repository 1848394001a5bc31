#pragma once
#include "ir/expr.h"

namespace tessera::lower {

// e + offset as a place in a loop over [first, end), of the type of `first`: what lies outside
// becomes the nearer end.
//
// Coordinates are small, so where e is made of nothing else it is returned as it is, for the caller
// to compare with the ends; a scalar argument may be any number, and a sum with it must not
// overflow.
ir::Expr place_in_loop(const ir::Expr &e, int offset, const ir::Expr &first, const ir::Expr &end);

}  // namespace tessera::lower
