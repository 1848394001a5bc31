#pragma once
#include "autoscheduler/graph.h"
#include "autoscheduler/machine.h"

namespace tessera::autoscheduler {

// Returns how many values of the first variable of a stage's reduction are best added to one sum at
// once, in the lanes of a vector: the group of products that an instruction of the machine takes,
// or all partial results where these are a few vectors, side by side. 1: none.
//
// Before:  for k: f(x) += wide(a(k)) * wide(b(x, k))
// After:   for k in steps of a group: f(x) += all of the group (vectorized, atomic)
int64_t reduction_lanes(const Graph &graph, const StageNode &stage, const Machine &machine);

// Returns the dimension of a sum along which what it adds up lies side by side, as that of partial
// results in lanes does; -1: there is none.
//
// i(y, u) += g(ro * lanes + u, y): that of u
int dimension_of_partial_results(const Graph &graph, int function);

// Returns true if what a stage reads lies side by side along the first variable of its reduction,
// and along none of its results.
bool reads_along_reduction(const StageNode &stage);

}  // namespace tessera::autoscheduler
