#pragma once
#include "build.h"

namespace tessera::fuzz {

// Gives a pipeline without a schedule one of the autoscheduler's: that of its rules, changed at
// random as its search does. The same for the same seed of the plan.
void schedule_automatically(const Plan &plan, Built &built);

}  // namespace tessera::fuzz
