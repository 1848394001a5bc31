#pragma once
#include "algebra/interval.h"

namespace tessera::algebra {

// Every non-trivial expression that occurs more than once (equal, not only shared) is computed
// once, by a Let at the root:
//
//     f(x + y * 2) + (x + y * 2)    ->    let t = x + y * 2 in f(t) + t
//
// Variables, constants, variable + constant and casts of variables are not worth it. Ramps, and
// conditions for all lanes, stay where they are used; what they are made of is shared.
// An expression that stands only inside a conditional operand of if_then_else stays there; one with
// effects is neither merged nor moved. Takes time linear in the number of distinct nodes.
Expr common_subexpression_elimination(const Expr &e);

// The same for each expression in the statement by itself. A Store's value and index (a Provide's
// values and arguments) share one LetStmt around it, and so do stores that follow one another
// (algebra/simple_stores.h).
Stmt common_subexpression_elimination(const Stmt &s);

}  // namespace tessera::algebra
