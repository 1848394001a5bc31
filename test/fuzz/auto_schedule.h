#pragma once
#include "build.h"

namespace tessera::fuzz {

// Gives a pipeline without a schedule one of the autoscheduler's: that of its rules, changed at
// random as its search does; of a plan with kernels, that of its rules for target_of_kernels(). The
// same for the same seed of the plan.
void schedule_automatically(const Plan &plan, Built &built);

// A target with a GPU, of one capability or another.
Target target_of_kernels(const Plan &plan);

}  // namespace tessera::fuzz
