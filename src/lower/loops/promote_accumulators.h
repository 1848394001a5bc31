#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Keeps what a reduction adds to in storage of its own while its loops run, where each iteration
// adds to several elements that stand side by side in the code. Machine code then has them in
// registers, whatever the distance of the elements is in memory: a compiler that sees addresses
// alone does not know that they are different ones.
//
//                                                  realize f.sums: {float32} over [0, +8][0, +2]
//                                                   unrolled for v: vectorized for u:
//                                                       f.sums(u, v) = f(x + u, y + v)
//     for r of f reduction:                         for r of f reduction:
//         unrolled for v: vectorized for u:   ->        unrolled for v: vectorized for u:
//             f(x + u, y + v) =                             f.sums(u, v) =
//                 f(x + u, y + v) + g(r)                        f.sums(u, v) + g(r)
//                                                   unrolled for v: vectorized for u:
//                                                       f(x + u, y + v) = f.sums(u, v)
//
// The loops may have lets and guards in between, which stay around the copies; but no guard that
// depends on the reduction: where it never holds, the elements may lie outside of the storage.
// Accumulators for which a machine has too few registers are left alone, and so are those in a
// small storage of constant size, which is in registers already, and those in kernels.
ir::Stmt promote_accumulators(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
