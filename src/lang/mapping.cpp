#include "lang/mapping.h"
#include "ir/cpu_instructions.h"
#include "lang/func.h"

namespace tessera {
namespace {

// The instructions of that name or family, those that are tried first in front.
std::vector<ir::Instruction> instructions_of(const TensorInstruction &wanted) {
    constexpr int64_t fewest_columns = 8;  // where their number can be chosen
    std::vector<ir::Instruction> all = ir::instructions_named(wanted.name(), fewest_columns);
    for (const ir::CpuInstruction *i : ir::cpu_instructions_called(wanted.name()))
        all.push_back(i->instruction());
    return all;
}

std::vector<ir::Instruction> known_instructions(const TensorInstruction &wanted, Location at) {
    std::vector<ir::Instruction> all = instructions_of(wanted);
    if (!all.empty()) return all;
    throw CompileError(at, str("there is no instruction ", wanted.name(), "; the families are ",
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
    for (const ir::Instruction &i : known_instructions(instruction, at)) {
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

void tensorize(const program::StageRef &s, const Mapping &mapping,
               const TensorInstruction &instruction, Location at) {
    const program::Definition &d = s.definition();
    const auto groups = symbols_of(mapping);
    for (const auto &group : groups) {
        for (Symbol var : group) program::require_loop(d.schedule, s.name, "tensorize", var, at);
    }
    std::string first_fault;
    for (const ir::Instruction &i : known_instructions(instruction, at)) {
        const std::string fault = program::fault_of_mapping(*s.function, d, i, groups);
        if (fault.empty()) {
            program::apply(s, program::directives_of(groups, d.schedule, instruction.name()), at);
            return;
        }
        if (first_fault.empty()) first_fault = fault;
    }
    throw CompileError(at, str("tensorize(", mapping, "): ", first_fault));
}

}  // namespace detail
}  // namespace tessera
