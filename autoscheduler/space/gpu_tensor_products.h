#pragma once
#include "autoscheduler/space/gpu_products.h"

namespace tessera::autoscheduler {

// Products whose types an instruction of the target has, and whose sizes are promised, are computed
// by tensor cores: tiles are chosen by the model of tensor_tiles.h.
GpuStructure products_by_tensor_cores(const Graph &graph, const GpuMachine &machine);

// Returns true if that rule has a schedule for the product.
bool is_for_tensor_cores(const Graph &graph, const GpuMachine &machine, const GpuProduct &product);

}  // namespace tessera::autoscheduler
