#pragma once
#include "autoscheduler/machine.h"
#include "autoscheduler/plan.h"
#include <random>

namespace tessera::autoscheduler {

// Returns true if a function may be inlined: if it has one definition and no extern stage reads it.
bool may_be_inlined(const Graph &graph, int function);

// Computes a function elsewhere. Those that were computed in its loops go where it goes.
void move_to(Plan &plan, int function, Place place, int at, const Machine &machine);

// Vectors of the function go along that dimension of it, and its values lie in that order, as those
// of what it reads then do. Its vectors become dense where they had been gathers.
void turn(const Graph &graph, Plan &plan, int function, size_t dimension);

// A plan that differs from this one in one decision: where a function is computed, a tile, a
// vector, the order of values in memory, what is unrolled, or whether it runs on several cores. It
// may make no legal schedule.
Plan mutated(const Graph &graph, const Plan &plan, const Machine &machine, std::mt19937_64 &random);
// A plan that takes each function's decisions from one of two.
Plan crossed(const Plan &a, const Plan &b, std::mt19937_64 &random);

}  // namespace tessera::autoscheduler
