#pragma once
#include "autoscheduler/cost.h"
#include "autoscheduler/plan.h"
#include <optional>

namespace tessera::autoscheduler {

struct SimpleResult {
    Plan plan;
    program::Schedule schedule;
    Cost cost;
    // The best of each beginning that it climbed from, the plan among them.
    std::vector<Plan> summits;
    std::optional<Plan> by_hand;  // plan_with_register_tiles(): the first summit
    int candidates = 0;           // that were looked at
};

// A schedule by rules and the estimated cost alone, with no measurement: the same each time. What
// is cheap is inlined; loops are in vectors and on all cores; then places and tiles are changed one
// at a time as long as that is estimated to be faster.
SimpleResult schedule_simply(const program::Algorithm &algorithm, const Graph &graph,
                             const Machine &machine);

}  // namespace tessera::autoscheduler
