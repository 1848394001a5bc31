#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives the lanes of a row registers for what they share, which is read by shuffles:
//
//     gpu_thread for r in [0, +n):              gpu_thread for r in [0, +n):
//         allocate f: float32[32] in Auto           allocate f: float32[1] in Tile
//         gpu_lane for x in [0, +32):               gpu_lane for x in [0, +32):
//             f[x] = in[r*32 + x]           ->          f[0] = in[r*32 + x]
//         gpu_lane for x in [0, +31):               gpu_lane for x in [0, +32):
//             out[r*31 + x] = f[x + 1]                  let other = shuffle_lanes(f[0], (x + 1) %
//             32, 32)
//                                                       if x < 31:
//                                                           out[r*31 + x] = other
//
// Element e is a register of lane (e / s) % w, for rows of w lanes each of which writes s
// neighbours: so it is done where each lane writes its own elements alone, by indices that are
// known. Each has up to 32 registers, and 128 where MemoryType::Register is asked for. A vector of
// a lane's own neighbours is one of its registers; others are not shuffled. All lanes come to a
// shuffle, also those that the loop has no iteration for: what is around it is the same for all.
// Whatever else there is remains as it was, and its storage is the block's memory.
ir::Stmt stripe_lanes(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
