#pragma once
#include <llvm/IR/Module.h>

namespace tessera::codegen {

// Masked stores of which one lane is known to be written, and no other, become plain stores of it.
// LLVM 22 does so by itself, but where the value was truncated before it stores the wide element:
// of <4 x i32> to <4 x i16>, four bytes rather than two (AVX-512).
void split_single_lane_stores(llvm::Module &module);

}  // namespace tessera::codegen
