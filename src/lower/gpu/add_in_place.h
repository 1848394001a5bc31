#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Lets instructions add products to the Tile that they are added to afterwards, in place of sums
// that begin with zero and need registers of their own:
//
//     realize s in Tile:                            gpu_warp w: for y: for x:
//       produce s:                                    f(x, y) = f(x, y) * c(y)
//         gpu_warp w: for y: for x: s(x, y) = 0       gpu_warp w: tensorized for y, x, k:
//         gpu_warp w: tensorized for y, x, k:   ->      f(x, y) = f(x, y) + a(k, y) * b(x, k)
//           s(x, y) = s(x, y) + a(k, y) * b(x, k)
//       consume s:
//         gpu_warp w: for y: for x:
//           f(x, y) = f(x, y) * c(y) + s(x, y)
//
// That is done if nothing else reads the sums, and what they are added to is in MemoryType::Tile,
// too. Runs before share_tiles.
ir::Stmt add_in_place(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
