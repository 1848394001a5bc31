#pragma once
#include "base/target.h"
#include "ir/module.h"
#include <string>

namespace tessera::codegen {

// The kernels of a module as PTX, for a compute capability, as in 90 for 9.0.
// CompileError if one does what kernels cannot do.
std::string to_ptx(const ir::Module &module, const Target &target, int capability);

}  // namespace tessera::codegen
