#pragma once
#include "codegen/llvm/patterns.h"

namespace tessera::codegen {

std::unique_ptr<Patterns> aarch64_patterns(Emitter &emitter);

}  // namespace tessera::codegen
