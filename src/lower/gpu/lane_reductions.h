#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Lets the lanes of a row combine what they have, by shuffles, where each of them would update the
// same element:
//
//     gpu_thread for r in [0, +n):                gpu_thread for r in [0, +n):
//         gpu_lane for x in [0, +4):                  gpu_lane for x in [0, +4):
//             atomic f: f[r] = f[r] + g[x]    ->          let part = g[x]
//                                                         let other = shuffle_lanes(part, x ^ 2, 4)
//                                                         let two = part + other
//                                                         let others = shuffle_lanes(two, x ^ 1, 4)
//                                                         let all = two + others
//                                                         if x < 1:
//                                                             f[r] = f[r] + all
//
// It stays an Atomic where other rows may have the element, too. The loop has to have as many
// iterations as the rows have lanes, the element is the same for all of them, and so is what the
// update depends on: conditions and loops around. Whatever else there is remains as it was.
//
// Storage of a row whose values are the same for all lanes (lane_copies.h) becomes registers of
// each lane, which all compute them:
//
//     allocate f: float32[1] in Auto              allocate f: float32[1] in Tile
//     f[0] = 0.0                                  gpu_lane for lane in [0, +4): f[0] = 0.0
//     gpu_lane for x in [0, +4):          ->      gpu_lane for x in [0, +4):
//         atomic f: f[0] = f[0] + g[x]                ...
//                                                     f[0] = f[0] + all
ir::Stmt reduce_lanes(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
