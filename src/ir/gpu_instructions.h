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
// stmatrix of four matrices of eight rows of 16 bytes: M(m, r, c) = F(m, r, c); elements have 16
// bits.
Instruction stmatrix_x4(Type element);
// Returns the product that wmma computes, of 16 products each: 16 rows and columns, or 32 and 8, or
// 8 and 32. It is two mma.sync, whose registers are known; those of wmma are not
// (docs/decisions.md).
Instruction wmma_k16(int64_t rows, int64_t columns, Type sum, Type element);
// Returns the row that takes the products away, D(i, j) -= A(i, k) * B(k, j), of one that adds
// products of floats: wgmma has a sign for A, and the others are given A with its signs changed.
Instruction that_subtracts(Instruction row);
InstructionOperand in_registers(const char *name, Type type, const std::string &layout);
// Returns the short name of a type in the names of instructions: f16, bf16, e4m3, s8, u8,
// f32, s32.
std::string short_name(Type type);

}  // namespace tessera::ir
