#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Launches a kernel in parts if it may have more blocks along y or z than a grid can have, 65,535:
//
//     gpu_block for y in [a, +n):      ->      for part in [0, +(n + 65534)/65535):
//         gpu_block for x in ...                   let first = part*65535:
//                                                      gpu_block for y in [a + first,
//                                                              +min(n - first, 65535)):
//                                                          gpu_block for x in ...
//
// A kernel that is known to have no more stays as it is.
ir::Stmt split_grids(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
