#pragma once
#include "tensor_plan.h"
#include <lang/func.h>

namespace tessera::fuzz {

// A pipeline with its inputs, and the sizes of what it computes.
struct TensorPipeline {
    Func out;
    std::vector<int> sizes;
};
// All that is summed is exact, whatever the order. Without a schedule what is tensorized else is
// computed at the root.
TensorPipeline build(const TensorPlan &plan, bool is_scheduled);

}  // namespace tessera::fuzz
