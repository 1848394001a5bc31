#pragma once
#include "autoscheduler/stage_view.h"

namespace tessera::autoscheduler {

// The cost of a stage, all of its points together, in cycles of one core.
struct StageCost {
    double compute = 0;    // instructions
    double memory = 0;     // waiting for what is in a cache, but not in the nearest
    double far = 0;        // waiting for memory
    double far_share = 1;  // at least so much of that however many cores there are
    double overhead = 0;   // loops, tasks, allocations
    double code = 0;       // instructions that the loops' bodies have when they are compiled
    double share = 1;      // the part of the time that it takes with all cores at work
    // The operations of all of its points, and the bytes that come into each cache: the last, from
    // memory.
    double operations = 0;
    std::array<double, 3> bytes = {};

    double cycles() const;
};

struct Cost {
    double cycles = 0;              // of the pipeline, on all cores
    double code = 0;                // instructions of all stages
    std::vector<StageCost> stages;  // as the graph's; 0 for those that are inlined
};

// Estimates the time of a schedule from its loops alone: a prior for measurements.
StageCost estimate_cost(const StageView &stage, const Machine &machine);
Cost estimate_cost(LoopTree &tree, const Machine &machine);

constexpr double cycles_per_millisecond = 3e6;  // of a processor of 3 GHz

// A time below which no schedule gets on this machine, as estimated: each point that is needed is
// computed once, in full vectors on all cores, and what comes in and goes out is moved once, from
// the cache that holds it between two runs, or from memory.
double milliseconds_at_least(const Graph &graph, const Machine &machine);

}  // namespace tessera::autoscheduler
