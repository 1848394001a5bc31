#pragma once
#include "codegen/llvm/architecture.h"

namespace tessera::codegen {

// The GPUs of a compute capability, as in 90 for 9.0; or exactly those, with instructions that no
// later ones have, as in 9.0a.
const Architecture &nvptx_architecture(int capability, bool is_exact);

}  // namespace tessera::codegen
