#pragma once
#include "autoscheduler/machine.h"
#include "autoscheduler/plan.h"
#include <functional>
#include <optional>

namespace tessera::autoscheduler {

// Merges functions at the root into groups, each computed in tiles of its last function:
//
//     a at the root; b at the root; c at the root
//     -> for tiles of c: a and b, as much as the tile needs; c
//
// Neighbouring tiles of a group overlap where stencils reach beyond them, and compute the overlap
// twice; a long chain becomes several groups, of sixteen functions at most. Greedy: the merge that
// saves the most is done, until none saves anything. After R. T. Mullapudi et al., "Automatically
// Scheduling Halide Image Processing Pipelines", SIGGRAPH 2016.
//
// `cost_of`: of a whole plan; none if it is no schedule.
Plan merge_into_groups(const Graph &graph, const Machine &machine, Plan plan,
                       const std::function<std::optional<double>(const Plan &)> &cost_of);

// Returns true if both functions, and all that are in their groups and have loops, are so few that
// they may be one group.
bool fit_in_one_group(const Plan &plan, int a, int b);

}  // namespace tessera::autoscheduler
