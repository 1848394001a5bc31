#pragma once
#include "lower/context.h"

namespace tessera::lower {

// If a function is stored outside of a serial loop and computed inside of it, computes in each
// iteration but the first only what the one before has not computed yet.
//
//     realize f:                                   realize f:
//       for y in [0, +n):                            for y in [0, +n):
//         let f.y.min = y - 1               ->         let f.y.min = select(y == 0, y - 1, y + 1)
//         let f.y.max = y + 1                          let f.y.max = y + 1
//         produce f of [f.y.min, f.y.max]: ...         produce f: ...
//
// Only in a dimension that alone depends on the loop, monotonically, and that updates do not mix;
// nor where updates mix another one along a loop further in. If splits round the region up, what an
// iteration adds is rounded up at its beginning. If no dimension depends on the loop, only its
// first iteration computes anything.
//
//     for y in [0, +n): produce f: ...  ->  for y in [0, +n): produce f: if y == 0: ...
//
// A scan (nest/scans.h) goes on from the point before: its region begins where the scan does.
// A loop of one iteration is looked through: what slides along a loop around it does so in it, too.
// A loop over a region that slides itself goes on where it has ended before.
// Each version of a specialized stage slides by itself. No loop slides that is around one along
// which the user wants a fold. Afterwards no production says which region is required of it.
ir::Stmt sliding_window(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
