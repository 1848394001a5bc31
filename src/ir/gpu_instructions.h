#pragma once
#include "ir/instruction.h"

namespace tessera::ir {

// Returns the instructions of GPUs that sum products. Those whose number of columns can be chosen
// have these, if they can.
std::vector<Instruction> gpu_instructions(int64_t columns);

// ---- Parts that rows are made of ----

// D(i, j) += A(i, k) * B(k, j) over these extents, with the products in the type of D.
Stmt product_meaning(const std::vector<InstructionOperand> &operands, int64_t i, int64_t j,
                     int64_t k);
InstructionOperand in_registers(const char *name, Type type, const std::string &layout);
// Returns the short name of a type in the names of instructions: f16, bf16, e4m3, s8, u8,
// f32, s32.
std::string short_name(Type type);

}  // namespace tessera::ir
