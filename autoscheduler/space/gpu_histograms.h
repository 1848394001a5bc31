#pragma once
#include "autoscheduler/machine/gpu.h"
#include "autoscheduler/space/gpu_structure.h"

namespace tessera::autoscheduler {

// Values are added where data say, to few places:
//
//     bins(in(r.x, r.y)) += 1
//     -> a block adds up a strip of rows in its own memory, by atomic operations of its threads;
//        then the strips' bins are added up
GpuStructure histograms_in_blocks(const Graph &graph, const GpuMachine &machine);

}  // namespace tessera::autoscheduler
