#include "lang/mapping.h"
#include "lang/func.h"
#include "program/mappings.h"

namespace tessera {
namespace {

// The instructions of that name or family, in the order in which they are tried. How many columns
// one has makes no difference here.
std::vector<ir::Instruction> instructions_of(const TensorInstruction &wanted, Location at) {
    const std::vector<ir::Instruction> all = ir::instructions_named(wanted.name(), 8);
    if (!all.empty()) return all;
    throw CompileError(at, str("there is no instruction ", wanted.name(), "; there are any, ",
                               join(ir::instruction_names())));
}

std::vector<Mapping> of_language(const program::Definition &d,
                                 const std::vector<program::Mapping> &mappings) {
    std::vector<Mapping> result;
    for (const program::Mapping &m : mappings) {
        std::vector<LoopGroup> groups;
        for (const auto &group : m.groups) {
            std::vector<VarOrRVar> loops;
            for (Symbol var : group) {
                const bool is_rvar = program::find_loop(d.schedule, var)->is_reduction;
                loops.push_back(is_rvar ? VarOrRVar(RVar(var)) : VarOrRVar(Var(var)));
            }
            groups.emplace_back(loops);
        }
        result.emplace_back(groups);
    }
    return result;
}

std::vector<std::vector<Symbol>> symbols_of(const Mapping &mapping) {
    std::vector<std::vector<Symbol>> groups;
    for (const LoopGroup &group : mapping.groups()) {
        groups.emplace_back();
        for (const VarOrRVar &v : group.loops()) groups.back().push_back(v.symbol);
    }
    return groups;
}

std::vector<Mapping> mappings_of(const program::StageRef &s, const ir::Instruction &instruction,
                                 const MappingOptions &options) {
    program::MappingOptions plain{options.rule, {}, options.either_order};
    for (const VarOrRVar &v : options.fixed) plain.fixed.push_back(v.symbol);
    const program::Definition &d = s.definition();
    return of_language(d, program::possible_mappings(*s.function, d, instruction, plain));
}

}  // namespace

std::vector<std::vector<Symbol>> Mapping::names() const { return symbols_of(*this); }

std::ostream &operator<<(std::ostream &out, const Mapping &mapping) {
    std::vector<std::string> groups;
    for (const auto &group : symbols_of(mapping)) groups.push_back(str("{", join(group), "}"));
    return out << "map(" << join(groups) << ")";
}

std::vector<Mapping> possible_mappings(const Stage &stage, const ir::Instruction &instruction,
                                       const MappingOptions &options) {
    return mappings_of(stage.scheduled({}), instruction, options);
}

std::vector<Mapping> possible_mappings(const Stage &stage, const TensorInstruction &instruction,
                                       const MappingOptions &options, Location at) {
    for (const VarOrRVar &v : options.fixed) {
        const program::StageRef &s = stage.scheduled(at);
        program::require_loop(s.definition().schedule, s.name, "possible_mappings", v.symbol, at);
    }
    for (const ir::Instruction &i : instructions_of(instruction, at)) {
        std::vector<Mapping> found = possible_mappings(stage, i, options);
        if (!found.empty()) return found;
    }
    return {};
}

std::vector<Mapping> possible_mappings(const Func &f, const TensorInstruction &instruction,
                                       const MappingOptions &options, Location at) {
    if (!f.has_update_definition()) {
        throw CompileError(at, str("possible_mappings: ", f.name(),
                                   " has no update definition; an instruction computes one, such "
                                   "as f(x, y) += a(k, y) * b(x, k)"));
    }
    return possible_mappings(f.update(f.num_update_definitions() - 1, at), instruction, options,
                             at);
}

namespace detail {

// Says what is wrong with a mapping onto an instruction, and how near the instruction is.
struct Fault {
    enum class Of : uint8_t { Loops, Operands, Result, None } of = Of::None;
    std::string text;
};

static Fault fault_of(const program::StageRef &s, const ir::Instruction &instruction,
                      const std::vector<std::vector<Symbol>> &groups) {
    const program::Definition &d = s.definition();
    Fault fault{Fault::Of::Loops, program::fault_of_mapping(*s.function, d, instruction, groups)};
    if (d.values[0].type() != instruction.operands[0].type)
        fault.of = Fault::Of::Result;
    else if (program::match_instruction(*s.function, d, instruction).empty())
        fault.of = Fault::Of::Operands;
    return fault;
}

void tensorize(const program::StageRef &s, const Mapping &mapping,
               const TensorInstruction &instruction, Location at) {
    const program::StageSchedule &schedule = s.definition().schedule;
    const auto groups = symbols_of(mapping);
    for (const auto &group : groups) {
        for (Symbol var : group) program::require_loop(schedule, s.name, "tensorize", var, at);
    }
    Fault nearest;
    for (const ir::Instruction &i : instructions_of(instruction, at)) {
        const Fault fault = fault_of(s, i, groups);
        if (fault.text.empty()) {
            program::apply(s, program::directives_of(groups, schedule, instruction.name()), at);
            return;
        }
        if (fault.of < nearest.of) nearest = fault;
    }
    throw CompileError(at, str("tensorize(", mapping, "): ", nearest.text));
}

}  // namespace detail
}  // namespace tessera
