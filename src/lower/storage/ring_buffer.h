#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives a function as many copies of its storage as it is to be hoisted with, allocated there and
// used in turn by the iterations of the loops inside.
//
//     hoist f copies n:                     realize f copies n over [0, +e], [0, +n]:
//       for y in [0, +m):          ->         for y in [0, +m):
//         realize f over [a, +e]:               f(x - a, y % n) = ...
//           f(x) = ...                          ... f(x - a, y % n)
//           ... f(x)
//
// Throws CompileError if the size of the storage is not bounded.
ir::Stmt add_ring_buffers(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
