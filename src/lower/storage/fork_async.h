#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Runs a function whose storage is marked async on a thread of its own: the loops between its
// storage and its computation are run twice at the same time, once for the producer and once for
// its consumers.
//
//     realize f async:               realize f:
//       for y:                         let ready = semaphore(0), free = semaphore(n)
//         produce f          ->        fork:
//         consume f                      for y: acquire(free, 1): produce f; release(ready, 1)
//                                        for y: acquire(ready, 1): consume f; release(free, 1)
//
// The two sides are those of split_production.h, as are n, without which `free` is not there, and
// the CompileError if both sides would compute another function into the same storage.
ir::Stmt fork_async(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
