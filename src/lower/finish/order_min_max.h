#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Writes min and max of floats as a comparison where one operand is known not to be a NaN. This
// operand comes second, so that it is the result if the other is a NaN. The comparison is one
// instruction on x86, where a min or max that leaves out any NaN takes three; the pass changes
// nothing for other machines, which have an instruction for it. Storage is known to hold no NaN if
// none is ever stored, so that a maximum that begins with a number stays one.
//
//     f[0] = 0.0                         f[0] = 0.0
//     for r: f[0] = max(f[0], g[r])      for r: f[0] = select(g[r] > f[0], g[r], f[0])
ir::Stmt order_min_max(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
