#pragma once
#include "codegen/llvm/patterns.h"

namespace tessera::codegen {

std::unique_ptr<Patterns> x86_patterns(Emitter &emitter);

}  // namespace tessera::codegen
