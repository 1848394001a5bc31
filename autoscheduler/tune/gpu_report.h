#pragma once
#include "autoscheduler/space/gpu_rules.h"
#include <string>

namespace tessera::autoscheduler {

// Returns what rules have made of a pipeline as a text: the rules, the time that is expected, and a
// line for each kernel that is estimated, with what it takes of a multiprocessor and what its time
// is spent on.
std::string report_of_kernels(const std::string &pipeline, const GpuRulesResult &found,
                              const GpuMachine &machine);

}  // namespace tessera::autoscheduler
