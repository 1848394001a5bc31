#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Writes min and max of floats as a comparison where one operand is known not to be a NaN. It comes
// second, as it is what is left if the other is a NaN: one instruction on x86, which is what this
// pass is for, where min and max that leave out any NaN are three. Other machines have these.
// Storage holds no NaN if none is ever stored: a maximum that begins with a number stays one.
//
//     f[0] = 0.0                         f[0] = 0.0
//     for r: f[0] = max(f[0], g[r])      for r: f[0] = select(g[r] > f[0], g[r], f[0])
ir::Stmt order_min_max(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
