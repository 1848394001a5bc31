#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Replaces every loop marked `unrolled` by one copy of its body per iteration.
//
//     unrolled for i in [0, +2): f[i] = i      ->      f[0] = 0; f[1] = 1
//
// A loop whose extent is not constant, but has a constant upper bound, gets that many copies, each
// below an `if`. Throws CompileError if the extent has no constant bound.
ir::Stmt unroll_loops(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
