#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives storage in the memory of a block longer rows, where its threads get in one another's way
// otherwise: a bank of that memory gives a warp one word at a time.
//
//     realize f: {float32} in GPUShared            realize f: {float32} in GPUShared
//             over [0, +32], [0, +32]                      order 0 align 33, 1
//     ...                                  ->              over [0, +32], [0, +32]
//     gpu_thread for x in [0, +32):                ...
//         out(x) = f(y, x)
//
// Looks at what each warp accesses at once, by the loops over threads and the vectors around an
// access; coordinates that other values than these decide upon count as unknown. One dimension gets
// longer, by whole vectors, if that lowers the number of requests, takes a quarter more bytes at
// most (or 4 KiB in all), and the kernel's storage remains within what every device of the target
// has. Storage that the user has aligned stays as it is, and so does a kernel with tensor
// instructions or copies ahead. A warning says where at least four words of one bank are still
// wanted at once.
ir::Stmt pad_shared(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
