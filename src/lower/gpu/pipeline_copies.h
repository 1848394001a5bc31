#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Returns true if the Func is copied ahead: it is computed asynchronously and has a ring buffer.
bool is_ring(const ir::Realize &r);

// Takes ring buffers that are computed asynchronously within a kernel out of the serial loop around
// their computation, unless hoist_storage says where they are.
ir::Stmt hoist_rings(const ir::Stmt &s, const Context &context);

// Runs copies into the memory of a block ahead of what uses them. If iterations of a loop copy into
// one of n slots of a ring buffer (async and ring_buffer(n)), the copies of n - 1 iterations are
// begun before it, and each iteration begins the one that is n - 1 later:
//
//     realize f copies n in GPUShared:        realize f in GPUShared pipelined:
//       for k in [0, +m):                       begin the copies of k = 0, ... n - 2
//         produce f:                            for k in [0, +m):
//           copy into slot k % n         ->       wait for the copy of k
//         use slot k % n                          gpu_barrier()
//                                                 begin the copy of k + n - 1
//                                                 use slot k % n
//
// All threads of the block copy, 16 bytes at a time (copy_async), or compute and store what is no
// copy. If instructions wgmma use the copies, one thread has the machine copy boxes (copy_tile),
// and a barrier in memory counts their bytes; the copy of k + n - 1 then comes after the use of k,
// whose instructions go on in the next iteration. What is no box of a buffer is copied or computed
// by all threads there, too, n - 2 iterations ahead.
//
// If the warps of the kernel have roles (warp_specialize), a producer begins copies into slots that
// are empty, and consumers arrive where they are done with one (warp_roles.h):
//
//     if gpu_is_producer():                           else:
//       for k in [0, +m):                             for k in [0, +m):
//         wait until slot k % n is empty                wait until slot k % n is full
//         begin the copy of k                           use slot k % n
//                                                       slot (k - 1) % n is empty
//
// Iterations are counted through all loops of the block around, so that copies run on into its next
// tile.
//
// Copies that are made once for a block, in no loop, are begun and waited for there; a producer
// begins them when it comes to them, in the block's next tile, too.
//
// Elements beyond those that an iteration computes are zero. The layout of a buffer that is an
// operand of instructions is in panels (panel_layout() in ir/layout.h).
//
// Storage in GPUSharedAsync without a ring buffer, which is only copied from memory of the device,
// is copied asynchronously by the threads that the schedule names, which wait at its end.
//
// CompileError if what is computed asynchronously in a kernel is no box of one definition, or is
// used in another way.
ir::Stmt pipeline_copies(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
