#pragma once
#include "autoscheduler/plan.h"
#include "autoscheduler/sketch.h"
#include "autoscheduler/tuning_log.h"

namespace tessera::autoscheduler {

struct PlannedCandidate {
    program::Schedule schedule;
    std::string sketch;  // its name
    Plan plan;
};

// Schedules that are worth measuring, without one measurement: those by rules first, then those
// that the model that ships expects to be fast, and a few of the others. Those that the log has are
// left out. The same for the same seed.
std::vector<PlannedCandidate> candidates_to_measure(const Workload &workload,
                                                    const Machine &machine, size_t count,
                                                    uint64_t seed, const TuningLog &log);

}  // namespace tessera::autoscheduler
