#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives a function scheduled with ring_buffer(n) n copies of its storage, allocated where
// hoist_storage says and used in turn by the iterations of the loops inside.
//
//     hoisted f:                            realize f over [0, +e], [0, +n]:
//       for y in [0, +m):          ->         for y in [0, +m):
//         realize f over [a, +e]:               f(x - a, y % n) = ...
//           f(x) = ...                          ... f(x - a, y % n)
//           ... f(x)
//
// Throws CompileError if the size of the storage is not bounded.
ir::Stmt add_ring_buffers(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
