#pragma once
#include "algebra/interval.h"

namespace tessera::algebra {

// The value of one node whose operands are constants (numbers, or broadcasts of one), exactly as
// ir/nodes.h defines the operation; undefined if it has no such value here: an operand is not
// constant, the node reads memory or has effects, signed 32 or 64 bit arithmetic overflows, or a
// transcendental function would be evaluated at another precision than by the compiled program.
Expr fold_constants(const Expr &node);

}  // namespace tessera::algebra
