#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Marks the accesses of stages that stream_loads or stream_stores name, so that they bypass the
// caches.
//
//     for x in [0, +n): f[x] = g[x]      ->      for x in [0, +n): f[x streaming] = g[x]
ir::Stmt mark_streaming(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
