#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Allocates storage where HoistedStorage says instead of where it is used: as much as any iteration
// of the loops in between needs.
//
//     hoist f:                                  allocate f: int32[n + 9]
//         for x in [0, +n):               ->    for x in [0, +n): ...
//             allocate f: int32[x + 10] ...
//
// On flat storage. Throws CompileError if that has no bound, or if a parallel or
// vectorized loop is in between.
ir::Stmt hoist_storage(const ir::Stmt &s, const Context &context);

// Throws CompileError: a ring buffer is allocated where only one of its copies is used.
[[noreturn]] void refuse_idle_ring(Symbol func, const Location &written);

// Throws CompileError where iterations of the loop, out of which storage is taken, would share it
// at the same time.
void refuse_shared_storage(const ir::HoistedStorage &hoisted, const ir::For &loop);

}  // namespace tessera::lower
