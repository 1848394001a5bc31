#pragma once
#include "lower/gpu/private_storage.h"

namespace tessera::lower {

// Returns true if no thread of a block accesses an element of an allocation that another one does,
// so that none has to wait for another one over it:
//
//     gpu_thread x in [0, +32): for y in [1, +n): f[y*32 + x] = f[(y - 1)*32 + x] + g[y*32 + x]
//
// That is so if each index is the same multiples of the thread's coordinates, and a rest that does
// not depend on the thread, and no two threads are as far apart as two rests may be. `lets`: those
// around the allocation.
bool are_elements_of_one_thread_each(const ir::Allocate &a, const ThreadsOfBlock &threads,
                                     const LetScope &lets);

}  // namespace tessera::lower
