#pragma once
#include "base/target.h"
#include "ir/module.h"
#include <string>

namespace tessera::codegen {

// The kernels of a lowered module as PTX for all GPUs of the target: for the lowest compute
// capability of it. A comment where it has none.
std::string to_device_code(const ir::Module &module, const Target &target);

// Returns a comment for the end of the host's assembly: PTX and machine code of the kernels. ""
// where there are none. Machine code that nobody can read is named, with what would read it.
std::string device_comment(const ir::Module &module, const Target &target);

}  // namespace tessera::codegen
