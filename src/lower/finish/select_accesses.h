#pragma once
#include "base/target.h"
#include "ir/module.h"

namespace tessera::lower {

// Replaces vector loads and stores by ones that a CPU has: of neighbouring elements, and shuffles.
//
//     f[x8(i)]                                 ->  x8(f[i])
//     f[ramp(ramp(b, 1, 4), x4(9), 2)]         ->  concat(f[ramp(b, 1, 4)], f[ramp(b + 9, 1, 4)])
//     f[ramp(ramp(b, 99, 2), x2(1), 4)]        ->  interleave(f[ramp(b, 1, 4)],
//                                                             f[ramp(b + 99, 1, 4)])
//     f[ramp(ramp-free vector, x4(1), 2)]      ->  the elements of each lane by a load of two, and
//                                                  shuffles that transpose squares of them
//     f[ramp(b, 2, 4)]                         ->  shuffle of f[ramp(b, 1, 4)], f[ramp(b + 3, 1,
//     4)] f[ramp(ramp(b, 1, 4), x4(9), 2)] = v     ->  a store of each half of v
//
// No element is read that is not loaded, but for those in between with a stride of up to 4. Loads
// and stores of any other form, and those below Atomic, are left as they are: machines take them
// lane by lane.
ir::Module select_accesses(const ir::Module &module, const Target &target);

}  // namespace tessera::lower
