#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives each kernel one nest of loops over threads, around all that its blocks do, and lets the
// threads of a block meet where one needs what another has computed:
//
//     gpu_block for b in [0, +n):                     gpu_block for b in [0, +n):
//         allocate f in Auto, of 34 float32               allocate f in GPUShared, of 34 float32
//         produce f:                                      gpu_thread for t in [0, +34):
//             gpu_thread for i in [0, +34):        ->         produce f:
//                 f[i] = in[b*32 + i]                             f[t] = in[b*32 + t]
//         consume f:                                          gpu_barrier()
//             gpu_thread for x in [0, +32):                   consume f:
//                 out[b*32 + x] = f[x] + f[x + 2]                 if t < 32:
//                                                                     out[b*32 + t] = f[t] + f[t +
//                                                                     2]
//
// Each nest of loops over threads (a leaf) becomes the body for those threads that it has
// iterations for; the block has as many threads in each dimension as the largest leaf has
// iterations. In a kernel with roles (warp_roles.h) those are the consumers, behind whom stand the
// producer's. A leaf of fewer dimensions is run where the missing indices are 0, as are statements
// of a block that are in no loop over threads.
//
// A barrier is placed only between two statements of which one writes a buffer that the other
// accesses, before a serial loop for what was done before it, and in the loop where the next
// iteration needs it. None is between parts of one production of a first definition, which write
// an element with one value, nor for storage of which each thread has its own elements
// (thread_elements.h).
//
// Storage at the level of a block is shared (Auto, GPUShared), and outside of the loops over
// threads; Stack and Register are each thread's own.
ir::Stmt canonical_kernels(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
