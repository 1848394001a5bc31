#pragma once
#include "base/target.h"
#include "ir/module.h"
#include <string>

namespace tessera::codegen {

// The kernels of a module as PTX, for the compute capability that the target names (7.5 if none).
// CompileError if one does what kernels cannot do.
std::string to_ptx(const ir::Module &module, const Target &target);

}  // namespace tessera::codegen
