#pragma once
#include "autoscheduler/machine.h"
#include "autoscheduler/plan.h"
#include <optional>

namespace tessera::autoscheduler {

// The plan by which products of matrices are scheduled by hand, where an output reads sums of its
// size once, or adds up such sums of chunks (sum_in_tiles() in sketch.h):
//
//     for tiles of the output, on all cores:
//       for chunks of the reduction, if any: a copy of what the tile reads
//         for rows, vectors: a block of sums in registers, over the chunk; then the output
//
// All else is as in `begin`. Nothing if there are no such sums, or rows shorter than a vector.
std::optional<Plan> plan_with_register_tiles(const Graph &graph, const Machine &machine,
                                             const Plan &begin);

}  // namespace tessera::autoscheduler
