#pragma once
#include "ir/module.h"

namespace tessera::lower {

// Makes a function of each nest of loops over blocks, which code of a device is generated from:
//
//     for z in [0, +3):                          for z in [0, +3):
//         gpu_block for b in [0, +n):       ->       invoke "f.kernel.0"(n, 1, 1, 32, 1, 1, 0, n,
//         z,
//             gpu_thread for t in [0, +32): ...                          f)
//
// The host invokes a launch: its first arguments say how many blocks and threads there are, and how
// many bytes each block shares (kernel_loops.h); the others are what the kernel uses. Scalars are
// passed by value, buffers by the address of their first element on the device: of the struct that
// place_device_copies has made, or that the pipeline was called with.
//
// CompileError if the size of shared memory depends on the block, and has no bound that does not.
ir::Module outline_kernels(const ir::Module &module);

}  // namespace tessera::lower
