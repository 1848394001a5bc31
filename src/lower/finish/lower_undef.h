#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Stores of `undef`, the element that is there already, are not done.
//
//     f[x] = undef()                        ->      no_op
//     f[x] = select(x < 3, undef(), g[x])   ->      if !(x < 3): f[x] = g[x]
//     f[x] = 1 - select(x < 3, undef(), 0)  ->      if !(x < 3): f[x] = 1
ir::Stmt lower_undef(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
