#pragma once
#include "lang/rdom.h"
#include "program/apply.h"
#include "program/mapping_rule.h"
#include <concepts>
#include <initializer_list>
#include <ostream>
#include <vector>

namespace tessera {

namespace ir {
struct Instruction;
}

class Func;
class Stage;
class TensorInstruction;

// Loops that are fused, the first the outermost, the last the innermost: {n, p, q}, or one loop.
class LoopGroup {
public:
    LoopGroup() = default;
    LoopGroup(std::initializer_list<VarOrRVar> loops) : all(loops) {}
    LoopGroup(std::vector<VarOrRVar> loops) : all(std::move(loops)) {}
    template<std::convertible_to<VarOrRVar> V>
    LoopGroup(const V &loop) : all{VarOrRVar(loop)} {}

    const std::vector<VarOrRVar> &loops() const { return all; }

private:
    std::vector<VarOrRVar> all;
};

// Says which loops of a stage become which loop of an instruction (tensorize): a group for each,
// outermost first, which is i, j and k for D(i, j) += A(i, k) * B(k, j). Prints as
// "map({n, p, q}, {k}, {c, r, s})".
class Mapping {
public:
    explicit Mapping(std::vector<LoopGroup> groups) : all(std::move(groups)) {}

    const std::vector<LoopGroup> &groups() const { return all; }
    friend bool operator==(const Mapping &a, const Mapping &b) { return a.names() == b.names(); }
    friend std::ostream &operator<<(std::ostream &out, const Mapping &mapping);

private:
    std::vector<std::vector<Symbol>> names() const;

    std::vector<LoopGroup> all;
};

// A group for each of the loops of an instruction: one to three.
inline Mapping map(const LoopGroup &k) { return Mapping({k}); }
inline Mapping map(const LoopGroup &i, const LoopGroup &k) { return Mapping({i, k}); }
inline Mapping map(const LoopGroup &i, const LoopGroup &j, const LoopGroup &k) {
    return Mapping({i, j, k});
}

// Which mappings are listed: all that are right, or those that AMOS lists (see MappingRule in
// docs/tensor_cores.md).
using program::MappingRule;

struct MappingOptions {
    MappingRule rule = MappingRule::Right;
    std::vector<VarOrRVar> fixed = {};  // loops that stay around
    // Says if the mappings of the transposed product are listed, too.
    bool either_order = false;
};

// Returns every mapping of an update definition's loops, as they are now, onto those of the
// instruction; of a family of instructions, onto the first that fits the types. None if the
// definition is not what the instruction computes. A Func stands for its last update.
//
//     for (const Mapping &m : possible_mappings(conv, TensorInstruction::MMA)) ...
std::vector<Mapping> possible_mappings(const Stage &stage, const TensorInstruction &instruction,
                                       const MappingOptions &options = {},
                                       Location at = Here::current());
std::vector<Mapping> possible_mappings(const Func &f, const TensorInstruction &instruction,
                                       const MappingOptions &options = {},
                                       Location at = Here::current());
// The same for an instruction that is described by its meaning.
std::vector<Mapping> possible_mappings(const Stage &stage, const ir::Instruction &instruction,
                                       const MappingOptions &options = {});

namespace detail {

void tensorize(const program::StageRef &s, const Mapping &mapping,
               const TensorInstruction &instruction, Location at);

}  // namespace detail
}  // namespace tessera
