#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Replaces vectors that overlap, of which each but one crosses a line of the cache, by vectors side
// by side from the first of them on, and shuffles. Only vectors of a whole register, at three
// places or more; vectors of 16 lanes from b, b + 1 and b + 2 become
//
//     f[ramp(b, 1, 16)]
//     shuffle(f[ramp(b, 1, 16)], f[ramp(b + 16, 1, 16)], [1, 2, ..., 16])
//     shuffle(f[ramp(b, 1, 16)], f[ramp(b + 16, 1, 16)], [2, 3, ..., 17])
//
// What the last of them reads beyond what was read is padding of the allocation; of a buffer from
// outside, no more is read than before.
ir::Stmt split_overlapping_loads(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
