#pragma once
#include "codegen/llvm/architecture.h"

namespace tessera::codegen {

const Architecture &x86_architecture();

}  // namespace tessera::codegen
