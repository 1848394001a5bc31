#pragma once
#include "codegen/llvm/architecture.h"

namespace tessera::codegen {

const Architecture &aarch64_architecture();

}  // namespace tessera::codegen
