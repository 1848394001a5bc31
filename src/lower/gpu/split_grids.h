#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Launches in parts what would have more blocks along y or z than a grid has, 65,535:
//
//     gpu_block for y in [a, +n):      ->      for part in [0, +(n + 65534)/65535):
//         gpu_block for x in ...                   let first = part*65535:
//                                                      gpu_block for y in [a + first,
//                                                              +min(n - first, 65535)):
//                                                          gpu_block for x in ...
//
// Those of a number that is known, and not larger, stay as they are.
ir::Stmt split_grids(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
