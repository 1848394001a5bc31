#pragma once
#include "autoscheduler/plan_costs.h"
#include <optional>

namespace tessera::autoscheduler {

struct SimpleResult {
    Plan plan;
    program::Schedule schedule;
    double cycles = 0;  // that are estimated (Cost::cycles)
    // The best of each beginning that it climbed from, the plan among them.
    std::vector<Plan> summits;
    std::optional<Plan> by_hand;  // plan_with_register_tiles(): the first summit
    size_t candidates = 0;        // that were looked at
};

// A schedule by rules and the estimated cost alone, with no measurement: the same each time. Cheap
// functions are inlined; loops are in vectors and on all cores; then places and tiles are changed
// one at a time as long as that is estimated to be faster.
SimpleResult schedule_simply(const Graph &graph, const Machine &machine);
// `costs`: of this graph.
SimpleResult schedule_simply(const Graph &graph, const Machine &machine, PlanCosts &costs);

}  // namespace tessera::autoscheduler
