#pragma once
#include "ir/instruction.h"
#include <vector>

namespace tessera::ir {

// Returns the instructions of CPUs that sum products, those to be preferred first. One thread runs
// them. D is in registers; A and B are in memory, in rows that are one stride apart: those of A
// have neighbours along k in them, and so have those of B, one for each j, or else
//
//     element(j * n + k % n) of row k / n.
//
// Sizes and operands are described by "Intel 64 and IA-32 Architectures Software Developer's
// Manual", volume 2, and by "Arm Architecture Reference Manual for A-profile", section C7.2.
const std::vector<Instruction> &cpu_instructions();

}  // namespace tessera::ir
