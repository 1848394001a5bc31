#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Has a serial loop within a kernel that runs its body on a condition, which holds in the
// iterations from one to another, run those alone. What is computed in the body is then computed in
// each iteration, so that it may slide along the loop, or be copied ahead:
//
//     for r in [0, +n):                     for r in [0, +min(n, b + 1)):
//         if r <= b:                  ->        ...
//             ...
ir::Stmt trim_conditions(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
