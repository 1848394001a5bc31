#pragma once
#include <llvm/IR/Module.h>
#include <memory>
#include <vector>

namespace tessera::codegen {

// Deals the functions of a module out to at most `parts` modules of about the same size, as
// bitcode, which can be read in a context of its own and so be worked on by another thread. None
// if the module is too small for that. Internal functions become visible to the other parts.
std::vector<std::string> split_into_bitcode(llvm::Module &module, int parts);

}  // namespace tessera::codegen
