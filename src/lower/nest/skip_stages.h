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
// terms of parameters and of the loops around.
ir::Stmt skip_stages(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
