#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives allocations a constant size where a small one always suffices, so that they can live on the
// stack or in registers.
//
//     let n = min(m, 8)                       allocate f: int32[8]
//     allocate f: int32[n]              ->
//
// Throws CompileError if storage in registers has no constant bound.
ir::Stmt bound_small_allocations(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
