#pragma once
#include "check.h"

namespace tessera::fuzz {

// Computes the plan in this process, which may crash: by its definition, and on the GPU, or where
// there is none by interpreting its kernels, whose code is made, too.
Report check_tensor_here(const TensorPlan &plan);
// Makes choices smaller as long as it fails in the same way.
TensorPlan shrink(TensorPlan plan, const std::string &kind, int seconds);

}  // namespace tessera::fuzz
