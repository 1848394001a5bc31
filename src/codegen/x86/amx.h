#pragma once
#include "codegen/llvm/tile_registers.h"

namespace tessera::codegen {

// The tile registers of AMX, each of 16 rows of 64 bytes, by their numbers: "Intel Architecture
// Instruction Set Extensions Programming Reference", chapter 3.
std::unique_ptr<TileRegisters> amx_registers(llvm::Module &module, llvm::IRBuilder<> &b);

}  // namespace tessera::codegen
