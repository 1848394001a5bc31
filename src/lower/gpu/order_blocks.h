#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Blocks in the order that gpu_order asks for, and so many as persistent says:
//
//     gpu_block for y in [0, +m) grouped 4:       gpu_block for b in [0, +m * n):
//         gpu_block for x in [0, +n):        ->       let group = b / (4*n)
//             f(x, y) = ...                           let rows = min(m - group*4, 4)
//                                                     let y = group*4 + b % (4*n) % rows
//                                                     let x = b % (4*n) / rows
//                                                     f(x, y) = ...
//
//     gpu_block for x in [0, +n) persistent 2:    let blocks = min(n, gpu_processors()*2)
//         f(x) = ...                         ->   gpu_block for b in [0, +blocks):
//                                                     let turns = (n - b + blocks - 1) / blocks
//                                                     for turn in [0, +turns):
//                                                         let x = b + turn*blocks
//                                                         f(x) = ...
//
// CompileError if the extents of the loops depend on one another, or there are not two to group.
ir::Stmt order_blocks(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
