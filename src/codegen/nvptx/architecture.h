#pragma once
#include "codegen/llvm/architecture.h"

namespace tessera::codegen {

// The GPUs of a compute capability, as in 90 for 9.0.
const Architecture &nvptx_architecture(int capability);

}  // namespace tessera::codegen
