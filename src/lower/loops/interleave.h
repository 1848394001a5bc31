#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Replaces vector accesses that skip over elements by dense ones and shuffles, where that is
// possible with what is known now:
//
//     f[ramp(b, 2, 4)] = a; f[ramp(b + 1, 2, 4)] = c   ->   f[ramp(b, 1, 8)] = interleave(a, c)
//     f[ramp(b * 2, 1, 4) / x4(2)]                     ->   shuffle(f[ramp(b, 1, 2)], [0, 0, 1, 1])
//     f[ramp(b, 1, 4) / x4(2)]                         ->   interleave(f[ramp(b / 2, 1, 2)],
//                                                                      f[ramp((b + 1) / 2, 1, 2)])
//     f[ramp(ramp(b, 1, 4), x4(4), 2)]                 ->   f[ramp(b, 1, 8)]
//     f[ramp(b * 2, 1, 4) / x4(2) * x4(2) + ramp(b * 2, 1, 4) % x4(2)] = a
//                                                      ->   f[ramp(b * 2, 1, 4)] = a
//
// Stores next to each other in a block are merged if none of them reads the buffer.
ir::Stmt interleave(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
