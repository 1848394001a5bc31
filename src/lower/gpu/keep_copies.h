#pragma once
#include "ir/nodes.h"

namespace tessera::lower {

// Takes copies that are made ahead (async and ring_buffer) out of the serial loops of a kernel
// whose iterations would all copy the same, as the tiles of a persistent block do of weights:
//
//     for turn in [0, +m):                    realize f in GPUShared:
//       realize f in GPUShared:                 produce f: f(x, y, 0) = g(x, y)
//         produce f: f(x, y, 0) = g(x, y)  ->   for turn in [0, +m):
//         use f                                   use f
//
// What the loop or the kernel computes is not taken out, nor what is copied on a condition.
ir::Stmt keep_copies(const ir::Stmt &kernel);

}  // namespace tessera::lower
