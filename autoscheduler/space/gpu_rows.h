#pragma once
#include "autoscheduler/machine/gpu.h"
#include "autoscheduler/space/gpu_structure.h"

namespace tessera::autoscheduler {

// Rows that are reduced, and what is computed of them:
//
//     largest(y) = max(largest(y), in(r, y));  out(x, y) = in(x, y) - largest(y)
//     -> a warp has a row, of which each lane takes 4 neighbours at a time; the lanes combine what
//        they have by shuffles, and all have the result for the row
//
// Takes outputs; and reductions along what lies side by side in memory, whoever reads them.
GpuStructure rows_by_warps(const Graph &graph, const GpuMachine &machine);

// Few results of much are formed of partial results, of which there are enough for all
// multiprocessors; these are rows, then.
//
//     sum() += in(r)    ->    part(u) += in(u * size + r);  sum() += part(r)
GpuStructure partial_results_on_blocks(const Graph &graph, const GpuMachine &machine);

}  // namespace tessera::autoscheduler
