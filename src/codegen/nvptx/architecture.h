#pragma once
#include "codegen/llvm/architecture.h"

namespace tessera::codegen {

// The GPUs of a compute capability: the lowest that the target names, 7.5 if it names none.
const Architecture &nvptx_architecture(const Target &target);

}  // namespace tessera::codegen
