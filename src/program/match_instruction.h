#pragma once
#include "ir/instruction.h"
#include "program/function.h"
#include <span>

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

// Returns the same for each term of a sum (terms_of_sum.h), which instructions add one after the
// other; for that of the whole definition, if there is one. What is taken away counts as added if
// it is of floats. Nothing if there is no way for one of them.
struct TermMatches {
    Expr condition;  // under which it is added; undefined: always
    std::vector<InstructionMatch> matches;
};
std::vector<TermMatches> match_terms(const FunctionContents &f, const Definition &d,
                                     const ir::Instruction &instruction);

// The same for a value in which the element that is written stands as `written`.
std::vector<InstructionMatch> match_value(const ir::Instruction &instruction, const Expr &written,
                                          const Expr &value);

// Returns what an instruction makes of the element that is written and the operands that are read.
Expr value_of_match(const ir::Instruction &instruction, const InstructionMatch &match);

// Says why none of the instructions computes a value, or a term of it (terms_of_sum.h), and what to
// write: "the update of f multiplies a by b in float16 and casts the product; cast the factors
// ...".
std::string fault_of_value(std::span<const ir::Instruction> instructions, const Expr &written,
                           const Expr &value);

// Says why there is no such way: "A of mma.m16n8k16... is of float16, and in of float32; ...".
std::string fault_of_match(const FunctionContents &f, const Definition &d,
                           const ir::Instruction &instruction);

}  // namespace tessera::program
