#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Shares the work on a Func that is stored in MemoryType::Tile among the threads that have its
// values in their registers. Each nest of loops over warps (or warpgroups) around a stage that
// writes or reads it gets a loop over the lanes, and its loops over rows and columns run over the
// elements of a lane:
//
//     realize f in Tile over [x0, +16], [y0, +16]:     realize f in Tile over [0, +8]:
//       gpu_warp for w in [0, +1):                       gpu_thread for w in [0, +1):
//         for y in [0, +16):                     ->        gpu_thread for lane in [0, +32):
//           for x in [0, +16):                               unrolled for h in [0, +2):
//             f(x + x0, y + w*16 + y0) = 0                     unrolled for j in [0, +2):
//                                                                unrolled for i in [0, +2):
//                                                                  f(j*4 + h*2 + i) = 0
//
// The layout of the instruction's sums (ir/instruction.h) says which elements a lane has, and in
// which of its registers.
//
// All nests have to share out the elements alike, so that each thread meets its own ones again.
// Loops that are marked by `tensorize` become a MachineOp around what they do. A stage that stores
// a Tile elsewhere, in elements of 8, 16 or 32 bits, does so by 16 bytes at a time (store_quads).
//
// CompileError if a nest has another form, or the sizes do not fit the instruction.
ir::Stmt share_tiles(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
