#pragma once
#include "ir/layout.h"
#include "ir/nodes.h"
#include <string>
#include <string_view>
#include <vector>

namespace tessera::ir {

// Says where an operand of an instruction lies: in registers of the threads that run it, or in
// memory, at a place that is given to the instruction (by each thread, for what is loaded by rows).
enum class OperandPlace : uint8_t { Registers, Memory, MemoryOfRows };

// An operand is a tensor, which the meaning of the instruction reads or writes as a Func of its
// name. The layout maps its coordinates to (thread, register), to (element) behind the place that
// is given, or to (row, element) if each thread gives the place of a row.
struct InstructionOperand {
    Symbol name;
    Type type;
    OperandPlace place = OperandPlace::Registers;
    Layout layout;
};

// An instruction of a machine, as data: who runs it, where its operands lie, and its meaning, which
// is a loop nest over its operands. Interpreters run the meaning on what the operands address,
// whatever the program believes to be there; the compiler finds in it what the instruction can
// compute. (Ikarashi et al., Exo, PLDI 2022, describe instructions in this way.)
struct Instruction {
    std::string name;
    int threads = 1;
    std::vector<InstructionOperand> operands;  // the first is the one that is written
    Stmt meaning = Stmt();

    // Throws InternalError if there is none of that name.
    const InstructionOperand &operand(std::string_view name) const;
};

// Throws InternalError if a row contradicts itself: an operand that the meaning does not use, or
// uses with other extents than its layout has, more threads than run it, or two elements of one
// place.
void verify(const Instruction &instruction);

// The matrices of products D += A * B have the coordinates i and j, i and k, and k and j. They are
// described by PTX ISA 9.0, sections 9.7.14 (mma, ldmatrix) and 9.7.15 (wgmma).

// mma.sync m16n8k16 of float16 or bfloat16, with sums of float32.
Instruction mma_m16n8k16(Type element);
// ldmatrix of four matrices of 8 x 8 elements of 16 bits: F(m, r, c) = M(m, r, c).
Instruction ldmatrix_x4(Type element, bool transposed);
// Describes an operand of wgmma in the memory of the block, in panels of 128 bytes. If it lies
// along k, these are rows of 64 elements of k, one for each i (or j); else rows of 64 elements of i
// (or j), one for each k, in panels that are `panel` elements apart.
struct WgmmaOperand {
    bool is_along_k = true;
    int64_t panel = 0;
};
// wgmma m64nNk16 of float16 or bfloat16, with sums of float32; both operands are in memory.
Instruction wgmma_m64k16(Type element, int64_t columns, WgmmaOperand a, WgmmaOperand b);

}  // namespace tessera::ir
