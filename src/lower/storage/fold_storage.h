#pragma once
#include "lower/context.h"

namespace tessera::lower {

// If a serial loop walks over a function in one direction, and each iteration touches at most a
// constant number of rows, stores only that many rows, used in turn.
//
//     realize f over [0, +n]:                      realize f over [0, +4 folded]:
//       for y in [0, +m):                 ->         for y in [0, +m):
//         produce f of [y - 1, y + 1]: f(y) = ...      produce f ...: f(y % 4) = ...
//         g(y) = f(y - 1) + f(y + 1)                   g(y) = f((y - 1) % 4) + f((y + 1) % 4)
//
// So does each loop further in, as long as the iterations of those around it touch no rows in
// common; further on, only what the user asks for is folded. The number is rounded up to a power of
// two, unless the user gives it with fold_storage, and has room for what splits compute beyond what
// is read. If a function is computed in several places, all of them use the same number. Runs
// before sliding_window, while the regions say what is read and not what is computed anew.
// Throws CompileError if the user asks for a fold that cannot be.
ir::Stmt fold_storage(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
