#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Finds out which vectors of elements kernels may access at once, in up to 16 bytes: those that lie
// at multiples of their size. A condition that depends on the run is asked before the launch, of
// which there are two then.
//
//     gpu_block for b in [0, +n):                   if out.min[0] % 4 == 0 && out.device % 16 == 0:
//         out[ramp(b*4 - out.min[0], 1, 4)] = v         gpu_block for b in [0, +n):
//                                             ->            out[ramp(...) aligned(4, 0)] = v
//                                                   else:
//                                                       gpu_block for b in [0, +n): ...
//
// Alignments are of the index of the first lane; the memory of every buffer itself is at a multiple
// of 16 bytes.
ir::Stmt align_vectors(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
