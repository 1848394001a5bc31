#pragma once
#include "autoscheduler/plan.h"
#include <string>

namespace tessera::autoscheduler {

// A plan as JSON text, of one line.
std::string to_json(const Plan &plan);
// Nothing if the text is damaged, or is a plan of another graph.
std::optional<Plan> plan_from_json(const std::string &text, const Graph &graph);

// The same number for algorithms that differ in nothing but sizes and constants: plans of one are
// plans of the others.
uint64_t family_of(const Graph &graph);

}  // namespace tessera::autoscheduler
