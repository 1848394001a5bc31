#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives buffers that kernels use memory on the device, and copies them to where they are used next.
//
//     allocate f: int32[n]                     allocate f: int32[n]
//         for i in [0, +n): f[i] = i               let f = device_buffer(address_of(f[0]), ..., n,
//         1) gpu_block for b in [0, +m):    ->        for i in [0, +n): f[i] = i
//             out[b] = f[b]                        mark_host_dirty(f)
//                                                  copy_to_device(f), copy_to_device(out)
//                                                  gpu_block for b in [0, +m): out[b] = f[b]
//                                                  mark_device_dirty(out)
//
// A copy is one only if the run finds that the other side's contents are newer. It stands before
// the largest statement that uses the buffer on one side only: not in a loop that can stay within
// it. A buffer that only kernels use has no memory on the host. Each error code is asserted to be
// 0.
//
// A buffer that a function in C uses on the device (on_device), or that is copied as a whole
// (device_buffer_copy), is passed as a part that has memory there, too (device_part).
//
// CompileError if iterations of a parallel loop, or tasks, use a buffer on both sides.
ir::Stmt place_device_copies(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
