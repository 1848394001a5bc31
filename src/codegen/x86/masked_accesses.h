#pragma once
#include <llvm/Target/TargetMachine.h>

namespace tessera::codegen {

// Writes masked loads and stores so that they avoid two faults of LLVM 22's code for AVX-512:
// - A store whose constant mask has one lane, of a value that was truncated, writes the wide
//   element: of <4 x i32> to <4 x i16> four bytes rather than two. It becomes a plain store.
// - A mask of 8 lanes for 8 bytes, which are accessed as 16, gets its upper lanes cleared by a move
//   from mask register to mask register. If that is spilled, the move is taken for a copy, and the
//   upper lanes are those of what it was cut from. Here they are cleared as bytes of a vector.
void mend_masked_accesses(llvm::Module &module, const llvm::TargetMachine &machine);

}  // namespace tessera::codegen
