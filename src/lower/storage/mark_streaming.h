#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Marks the accesses that a loop streams, so that they bypass the caches. A loop of another stage
// within it streams what it says itself.
//
//     for x in [0, +n) streaming stores f:        for x in [0, +n) streaming stores f:
//         f[x] = g[x]                        ->       f[x streaming] = g[x]
ir::Stmt mark_streaming(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
