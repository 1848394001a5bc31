#pragma once
#include "base/target.h"

namespace tessera::codegen {

// Returns the features that code for the target needs of its CPU, as bits of tessera_cpu_feature_t,
// and of its GPU, as bits of tessera_gpu_feature_t (all that go with the lowest capability of its
// code), for tessera_can_use_target_features(). CompileError if that is not found out at run time.
uint64_t runtime_features(const Target &target);

}  // namespace tessera::codegen
