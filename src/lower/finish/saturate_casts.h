#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Spells out what casts of floats to integers of 32 and 64 bits give where the value may not fit:
// what is too large, and what is not a number, gives the largest integer that is such a float; what
// is too small the smallest. Machines differ there, but for what is too small for a signed integer.
// If all values of the operand are known to fit, nothing changes.
//
//     int32(f[x])     ->     int32(min(f[x], 2147483520.0))
ir::Stmt saturate_casts(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
