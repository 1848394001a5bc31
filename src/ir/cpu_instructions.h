#pragma once
#include "base/target.h"
#include "ir/instruction.h"
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::ir {

// An instruction of a CPU that adds a product of small matrices to sums: D(i, j) += A(i, k) *
// B(k, j). One thread runs it. D is in registers; A and B are in memory, in rows that are one
// stride apart: those of A have neighbours along k in them, and those of B
//
//     element(j * interleaved + k % interleaved) of row k / interleaved,
//
// or, if that is 0, neighbours along k of one j.
struct CpuInstruction {
    std::string name;      // of this form of it
    std::string mnemonic;  // as the machine's manual has it
    std::string family;    // one name for all of a kind: "amx", "vnni", "dot", "mmla"
    Target::Arch arch = Target::X86;
    std::vector<Target::Feature> features;  // any of these will do
    Type sum, a, b;
    int64_t rows = 1, columns = 1, k = 1, interleaved = 0;
    bool is_swapped = false;  // the machine takes B before A, and gives D by columns

    // Returns what it means, and where its operands lie.
    Instruction instruction() const;
    // Returns true if D, A and B are tile registers, of which a machine has eight.
    bool is_of_tiles() const { return family == "amx"; }
    // Returns true if code for the target may use it.
    bool is_on(const Target &target) const;
};

// Sizes and operands are described by "Intel 64 and IA-32 Architectures Software Developer's
// Manual", volume 2, and by "Arm Architecture Reference Manual for A-profile", section C7.2.
std::span<const CpuInstruction> cpu_instructions();
// Returns the instruction of this name; null if there is none.
const CpuInstruction *cpu_instruction(std::string_view name);
// Returns all of this name, mnemonic or family, those to be preferred first.
std::vector<const CpuInstruction *> cpu_instructions_called(std::string_view name);

}  // namespace tessera::ir
