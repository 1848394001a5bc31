#pragma once
#include <llvm/IR/LLVMContext.h>

// Turns what LLVM finds wrong into exceptions: left to itself, it prints a message and ends the
// process.
namespace tessera::codegen {

// Makes faults that LLVM does not go on from ("Cannot select", a relocation out of range) throw
// InternalError from where they are, past frames of LLVM, which give nothing back that they hold;
// what they were working on must not be used any more. Memory that runs out is std::bad_alloc.
void install_llvm_error_handlers();

// Keeps the errors that LLVM reports of code in this context (an assembler's statement that is
// none, an instruction that the machine does not have), and goes on from.
void keep_errors(llvm::LLVMContext &context);
// Throws InternalError if there are any.
void throw_kept_errors(const llvm::LLVMContext &context);

}  // namespace tessera::codegen
