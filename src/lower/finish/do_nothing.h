#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Changes nothing.
//
//     f[0] = 1    ->    f[0] = 1
ir::Stmt do_nothing(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
