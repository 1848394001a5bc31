#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives storage within kernels the constant extents that always suffice, where they are known: its
// strides are then numbers, and what a thread has for itself can be in registers. A tile at the end
// of a guarded loop has fewer rows than the others, but not less memory.
//
//     realize f([0, +min(n - x*4, 6)])      ->      realize f([0, +6])
ir::Stmt constant_extents_in_kernels(const ir::Stmt &s, const Context &context);

// The same of what is computed ahead (async) alone: how large a slot of a ring buffer is has to be
// known before the copies are begun.
ir::Stmt constant_extents_of_copies_ahead(const ir::Stmt &s);

}  // namespace tessera::lower
