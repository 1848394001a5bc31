#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Decides how updates below Atomic are protected. Those that only parallel loops over pure
// variables surround need nothing. An update of one value, or of several that do not read each
// other, is left to the machine's atomic instructions. Any other gets an array of mutexes, made
// around the outermost parallel loop that can get in its way.
//
//     parallel for r in [0, +n):           let m = tessera_mutex_array_create(...)
//         atomic f:                  ->    parallel for r in [0, +n):
//             let v = f0[0]; f0[0] = f1[0]         atomic f mutexes m: ...
//             f1[0] = v
//
// The array goes with the let's scope, as runtime_calls.h says.
// On flat storage, before loops are vectorized: what needs a mutex is not.
ir::Stmt assign_mutexes(const ir::Stmt &s, const Context &context);

// Removes Atomic where nothing runs at the same time. After loops are vectorized, which wants to
// know that an update may be done in any order.
ir::Stmt remove_needless_atomics(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
