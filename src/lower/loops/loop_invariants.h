#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Computes before a loop what is the same in all of its iterations: as far out as its operands are
// known.
//
//     for y in [0, +h): for x in [0, +w):           for y in [0, +h):
//         f[x + (y - b) * s] = a * c           ->       let t = (y - b) * s
//                                                       for x in [0, +w): f[x + t] = u
//     (and `let u = a * c` before the loop over y)
//
// Sums of integers are regrouped to that end. Expressions that read memory or have effects stay in
// their places.
ir::Stmt hoist_loop_invariants(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
