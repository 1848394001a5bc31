#pragma once
#include "base/target.h"
#include "codegen/compile.h"
#include "ir/module.h"
#include <vector>

namespace tessera::codegen {

// The module as the text of the IR, for a machine that no other back end serves.
std::vector<char> to_listing(const ir::Module &module, const Target &target,
                             const Options &options);

}  // namespace tessera::codegen
