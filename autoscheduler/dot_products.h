#pragma once
#include "autoscheduler/machine.h"

namespace tessera::autoscheduler {

// How many products an instruction of the machine adds to a sum of this stage at once; 1: it has
// none for it.
//
// Before:  for k: f(x) += wide(a(k)) * wide(b(x, k))
// After:   for k in steps of a group: f(x) += all of the group (vectorized, atomic)
int64_t dot_group(const Graph &graph, const StageNode &stage, const Machine &machine);

}  // namespace tessera::autoscheduler
