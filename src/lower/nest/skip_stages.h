#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Computes a function only if something that reads it will run.
//
//     produce f: f(x) = ...                      produce f: if n > 3: f(x) = ...
//     consume f:                          ->     consume f:
//       g(x) = select(n > 3, f(x), 0)              g(x) = select(n > 3, f(x), 0)
//
// Conditions count that are known before the function is computed: of branches and selects, in
// terms of parameters, of the loops around, of images and of functions that have been computed. A
// condition on what changes in loops further in counts if it holds for any of their values.
// Functions that are copied ahead in a kernel, by all of its threads, are always copied.
ir::Stmt skip_stages(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
