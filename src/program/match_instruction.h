#pragma once
#include "ir/instruction.h"
#include "program/function.h"

namespace tessera::program {

// Holds what a definition has in the place of each operand of an instruction, in the order of the
// operands: first the element that is written, as a call of the function, then what is read.
struct InstructionMatch {
    std::vector<Expr> operands;
};

// The loops of an instruction's meaning, outermost first, and the operands that use each.
struct InstructionLoop {
    Symbol name;
    std::vector<bool> is_of_operand;
};
std::vector<InstructionLoop> loops_of(const ir::Instruction &instruction);

// Returns each way in which one iteration of a definition computes what one of the instruction's
// meaning does: sums and products may stand in any order, and operands of one type may be exchanged
// where the meaning allows it. The way in which the operands stand in the order of the definition
// comes first. An operand is any expression of its type.
//
//     D(i, j) += float32(A(i, k)) * float32(B(k, j))
//     conv(x, n) += float32(in(x + r, c)) * float32(w(r, c, n))
//     A = in(x + r, c), B = w(r, c, n)   and   A = w(r, c, n), B = in(x + r, c)
std::vector<InstructionMatch> match_instruction(const FunctionContents &f, const Definition &d,
                                                const ir::Instruction &instruction);

// The same for a value in which the element that is written stands as `written`.
std::vector<InstructionMatch> match_value(const ir::Instruction &instruction, const Expr &written,
                                          const Expr &value);

// Says why there is no such way: "A of mma.m16n8k16... is of float16, and in of float32; ...".
std::string fault_of_match(const FunctionContents &f, const Definition &d,
                           const ir::Instruction &instruction);

}  // namespace tessera::program
