#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Folds the storage of functions that slide along a loop while their regions begin at one point
// whatever the iteration, as those of scans do: what an iteration still reads of them is known only
// when each computes no more than what is new.
//
//     realize m over [-1, +n + 1]:                   realize m over [0, +2 folded]:
//       for r in [0, +n):                              for r in [0, +n):
//         let b = select(r == 0, -1, r)        ->        let b = select(r == 0, -1, r)
//         produce m in stages:                           produce m in stages:
//           for k in [b, +r - b + 1): m(k) = 0             for k in ...: m(k % 2) = 0
//           ...                                            ...
//         consume m: o() = m(r) - m(r - 1)               consume m: o() = m(r % 2) - m((r - 1) % 2)
//
// All accesses must be inside of the outermost loop around the production, which is serial and
// moves the points that it touches forward, at most a constant number in each iteration. Runs after
// sliding_window. Throws CompileError if the user asks for a fold that cannot be.
ir::Stmt fold_scans(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
