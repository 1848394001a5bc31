#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Takes constants out of the integers that have names within kernels, so that they end up in the
// offsets of loads and stores, and one name stands for many:
//
//     let r = i*8 + 1: f[r*32 + x] = ...         let r = i*8: f[r*32 + x + 32] = ...
//     let s = i*8 + 2: f[s*32 + x] = ...   ->                 f[r*32 + x + 64] = ...
//
ir::Stmt take_constants_out_of_lets(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
