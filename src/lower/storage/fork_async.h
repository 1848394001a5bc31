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
// `free` is there where later values overwrite earlier ones: n is the number of copies of a ring
// buffer, or 1 if the storage is folded, or computed in stages or by a function in C, or if some
// iterations produce nothing, so that two productions in a row might use one copy: then producer
// and consumer take turns. Throws CompileError if both sides would compute another function into
// the same storage.
ir::Stmt fork_async(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
