#pragma once
#include "program/mapping_rule.h"
#include "program/match_instruction.h"

// A mapping says which loops of a definition become which loop of an instruction: each loop of the
// instruction is given a group of loops, which are fused, and the other loops stay around. A
// convolution, as loops n k p q c r s around
//
//     conv(q, p, k, n) += float32(in(q + s, p + r, c, n)) * float32(w(s, r, c, k))
//
// becomes a product of matrices by the groups {n, p, q}, {k}, {c, r, s} for i, j, k, and by others.
// (Zheng et al., AMOS, ISCA 2022.)
namespace tessera::program {

struct Mapping {
    std::vector<std::vector<Symbol>> groups;  // by loop of the instruction; the outermost first
    std::vector<InstructionMatch> terms;      // of what is added, one after the other
};

struct MappingOptions {
    MappingRule rule = MappingRule::Right;
    std::vector<Symbol> fixed = {};  // loops that stay around
    // Says if mappings with operands exchanged are listed, too: those of the transposed product.
    bool either_order = false;
};

// Returns every mapping of the loops of a stage as they are now, with at least one loop in each
// group that can have one. None if the definition is not what the instruction computes, nor a sum
// of that. Loops stay around if they have a kind, such as gpu_blocks. The loops of a condition that
// are in groups are all of one operand, which can be zero where it does not hold.
std::vector<Mapping> possible_mappings(const FunctionContents &f, const Definition &d,
                                       const ir::Instruction &instruction,
                                       const MappingOptions &options = {});

// Says what is wrong with a mapping, and what would be right; empty if it is right. All loops are
// those of the stage.
std::string fault_of_mapping(const FunctionContents &f, const Definition &d,
                             const ir::Instruction &instruction,
                             const std::vector<std::vector<Symbol>> &groups);

// Returns the directives that fuse each group, put these loops inside of all others and tensorize
// them.
std::vector<StageDirective> directives_of(const std::vector<std::vector<Symbol>> &groups,
                                          const StageSchedule &schedule,
                                          const std::string &instruction);

}  // namespace tessera::program
