#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Lets loops run only over the iterations that may do something, and removes what does nothing.
//
//     for x in [0, +n): if x < m: f[x] = 1    ->    for x in [0, +min(n, m)): if x < m: f[x] = 1
//     for x in [0, +n): f[0] = f[0] + select(x < m, g[x], 0)
//                                           ->    for x in [0, +min(n, m)): f[0] = f[0] + g[x]
//     for x in [0, +n): no_op                 ->    no_op
//     allocate f: int32[n]: g[0] = 1          ->    g[0] = 1
ir::Stmt trim_no_ops(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
