#include "program/mappings.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "program/define.h"
#include "program/distinct_places.h"
#include "program/loop_transforms.h"
#include <algorithm>
#include <functional>
#include <optional>

namespace tessera::program {
namespace {

using Groups = std::vector<std::vector<Symbol>>;

// A loop of the stage, and what it comes from.
struct StageLoop {
    Symbol var;
    std::vector<Symbol> roots;        // variables of the definition
    std::vector<bool> is_of_operand;  // as InstructionLoop has it; empty if its roots differ
    std::string obstacle;             // why it stays around, if it does
};

std::string obstacle_of(const Definition &d, const Loop &loop, const std::vector<Symbol> &roots) {
    if (loop.kind != LoopKind::Serial)
        return str("it is ", traits_of(loop.kind).directive, " already");
    const auto is_in_condition = [&](Symbol root) {
        return d.predicate.defined() && ir::uses_symbol(d.predicate, root);
    };
    if (std::ranges::any_of(roots, is_in_condition))
        return "the domain's condition depends on it, and an instruction has none";
    return "";
}

// A definition, an instruction and how they match.
class Mapper {
public:
    Mapper(const Definition &d, const ir::Instruction &instruction, const InstructionMatch &match)
        : definition(d), instruction(instruction), match(match), targets(loops_of(instruction)) {
        for (size_t i = d.schedule.loops.size(); i-- > 0;) {
            const Loop &loop = d.schedule.loops[i];
            if (loop.var == outermost_loop()) continue;
            StageLoop made{loop.var, roots_of_loop(d.schedule, loop.var), {}, ""};
            made.obstacle = obstacle_of(d, loop, made.roots);
            made.is_of_operand = operands_of(made.roots);
            loops.push_back(std::move(made));
        }
    }

    std::vector<Mapping> all(const MappingOptions &options) const;
    // Says how many loops do not fit, and what is wrong with the first of them.
    struct Fault {
        size_t loops = 0;
        std::string text;
    };
    Fault fault(const Groups &groups) const;

private:
    // The operands in whose place the roots are; empty if some roots are in others.
    std::vector<bool> operands_of(const std::vector<Symbol> &roots) const {
        std::optional<std::vector<bool>> result;
        for (Symbol root : roots) {
            std::vector<bool> of_root;
            for (const Expr &e : match.operands) of_root.push_back(ir::uses_symbol(e, root));
            if (result && *result != of_root) return {};
            result = of_root;
        }
        return result.value_or(std::vector<bool>());
    }
    bool fits(const StageLoop &loop, const InstructionLoop &target) const {
        return loop.obstacle.empty() && loop.is_of_operand == target.is_of_operand;
    }
    const StageLoop &find(Symbol var) const {
        return *std::ranges::find(loops, var, &StageLoop::var);
    }

    std::vector<Symbol> candidates(const InstructionLoop &target,
                                   const std::vector<Symbol> &fixed) const {
        std::vector<Symbol> result;
        for (const StageLoop &loop : loops) {
            if (fits(loop, target) && std::ranges::count(fixed, loop.var) == 0)
                result.push_back(loop.var);
        }
        return result;
    }

    bool writes_once(const Groups &groups) const;
    bool share_an_argument(Symbol a, Symbol b) const;
    bool are_of_one_to_one_mappings(const Groups &groups) const;
    std::string names_of(const std::vector<bool> &is_of_operand) const;
    std::string misfit(const StageLoop &loop, const InstructionLoop &target) const;

    const Definition &definition;
    const ir::Instruction &instruction;
    const InstructionMatch &match;
    std::vector<InstructionLoop> targets;
    std::vector<StageLoop> loops;  // outermost first
};

// No two elements of the instruction's result are one of the function.
bool Mapper::writes_once(const Groups &groups) const {
    std::vector<Symbol> roots;
    for (const auto &group : groups) {
        for (Symbol var : group) {
            const StageLoop &loop = find(var);
            if (!loop.is_of_operand[0]) continue;
            for (Symbol root : loop.roots) {
                if (std::ranges::count(roots, root) == 0) roots.push_back(root);
            }
        }
    }
    return are_apart(definition.args, roots, definition.reduction);
}

bool Mapper::share_an_argument(Symbol a, Symbol b) const {
    const auto uses = [&](const Expr &e, Symbol var) {
        return std::ranges::any_of(find(var).roots,
                                   [&](Symbol root) { return ir::uses_symbol(e, root); });
    };
    bool found = false;
    for (const Expr &operand : match.operands) {
        ir::for_each_node(operand, [&](const ir::Call &c) {
            for (const Expr &arg : c.args) found |= uses(arg, a) && uses(arg, b);
        });
    }
    return found;
}

// Calls visit(choice) for each choice of one member of every group that is not empty.
void for_each_choice(const Groups &groups, std::vector<Symbol> &choice, size_t from,
                     const std::function<void(const std::vector<Symbol> &)> &visit) {
    while (from < groups.size() && groups[from].empty()) from++;
    if (from == groups.size()) return visit(choice);
    for (Symbol member : groups[from]) {
        choice.push_back(member);
        for_each_choice(groups, choice, from + 1, visit);
        choice.pop_back();
    }
}

bool Mapper::are_of_one_to_one_mappings(const Groups &groups) const {
    std::vector<Symbol> covered, choice;
    for_each_choice(groups, choice, 0, [&](const std::vector<Symbol> &chosen) {
        for (size_t i = 0; i < chosen.size(); i++) {
            for (size_t j = 0; j < i; j++) {
                if (share_an_argument(chosen[i], chosen[j])) return;
            }
        }
        covered.insert(covered.end(), chosen.begin(), chosen.end());
    });
    return std::ranges::all_of(groups, [&](const auto &group) {
        return std::ranges::all_of(
            group, [&](Symbol var) { return std::ranges::count(covered, var) != 0; });
    });
}

// All subsets but the empty one, which is the only one of nothing.
Groups subsets(const std::vector<Symbol> &of) {
    if (of.empty()) return {{}};
    Groups result;
    for (size_t bits = 1; bits < size_t(1) << of.size(); bits++) {
        result.emplace_back();
        for (size_t i = 0; i < of.size(); i++) {
            if (bits >> i & 1) result.back().push_back(of[i]);
        }
    }
    return result;
}

std::vector<Mapping> Mapper::all(const MappingOptions &options) const {
    std::vector<Groups> partial{{}};
    for (const InstructionLoop &target : targets) {
        std::vector<Groups> longer;
        for (const auto &group : subsets(candidates(target, options.fixed))) {
            for (Groups groups : partial) {
                groups.push_back(group);
                longer.push_back(std::move(groups));
            }
        }
        partial = std::move(longer);
    }
    std::vector<Mapping> result;
    for (const Groups &groups : partial) {
        const bool is_empty =
            std::ranges::all_of(groups, [](const auto &group) { return group.empty(); });
        if (is_empty || !writes_once(groups)) continue;
        if (options.rule == MappingRule::Subscripts && !are_of_one_to_one_mappings(groups))
            continue;
        result.push_back({groups, match});
    }
    return result;
}

// "D (conv) and A (in)"
std::string Mapper::names_of(const std::vector<bool> &is_of_operand) const {
    std::vector<std::string> words;
    for (size_t i = 0; i < is_of_operand.size(); i++) {
        if (!is_of_operand[i]) continue;
        std::string callee;
        ir::for_each_node(match.operands[i], [&](const ir::Call &c) { callee = c.callee.text(); });
        const std::string name = instruction.operands[i].name.text();
        words.push_back(callee.empty() ? name : str(name, " (", callee, ")"));
    }
    if (words.size() < 2) return words.empty() ? "no operand" : words[0];
    const std::string last = words.back();
    words.pop_back();
    return str(join(words), " and ", last);
}

std::string Mapper::misfit(const StageLoop &loop, const InstructionLoop &target) const {
    const std::string what =
        str("the loop ", loop.var, " cannot be on ", target.name, " of ", instruction.name, ": ");
    if (!loop.obstacle.empty()) return what + loop.obstacle;
    if (loop.is_of_operand.empty()) return str(what, "it is made from loops of different operands");
    std::vector<std::string> others;
    for (const InstructionLoop &other : targets) {
        if (fits(loop, other)) others.push_back(other.name.text());
    }
    return str(what, "it is of ", names_of(loop.is_of_operand), ", and ", target.name, " is of ",
               names_of(target.is_of_operand), "; ",
               others.empty() ? "it fits none of the instruction's loops and stays around"
                              : str("put it on ", join(others)));
}

Mapper::Fault Mapper::fault(const Groups &groups) const {
    Fault result;
    for (size_t z = 0; z < groups.size(); z++) {
        for (Symbol var : groups[z]) {
            const StageLoop &loop = find(var);
            if (fits(loop, targets[z])) continue;
            if (result.loops++ == 0) result.text = misfit(loop, targets[z]);
        }
    }
    if (result.loops == 0 && !writes_once(groups)) {
        std::vector<std::string> args;
        for (const Expr &arg : definition.args) args.push_back(str(arg));
        result = {1, str("an element at (", join(args), ") may be written by several elements of ",
                         instruction.operands[0].name, " of ", instruction.name,
                         "; leave one of the loops that meet in an "
                         "argument around")};
    }
    return result;
}

std::string fault_of_shape(const ir::Instruction &instruction, const Groups &groups) {
    const std::vector<InstructionLoop> targets = loops_of(instruction);
    if (groups.size() != targets.size()) {
        std::vector<std::string> names;
        for (const InstructionLoop &target : targets) names.push_back(target.name.text());
        return str(instruction.name, " has ", names.size(), " loops, ", join(names),
                   ", and the mapping ", groups.size(),
                   "; it has a group for each, which is empty if no loop is on that");
    }
    std::vector<Symbol> all;
    for (const auto &group : groups) {
        for (Symbol var : group) {
            if (std::ranges::count(all, var)) return str("the loop ", var, " is there twice");
            all.push_back(var);
        }
    }
    return all.empty() ? "the mapping has no loops" : "";
}

}  // namespace

std::vector<Mapping> possible_mappings(const FunctionContents &f, const Definition &d,
                                       const ir::Instruction &instruction,
                                       const MappingOptions &options) {
    std::vector<Mapping> result;
    for (const InstructionMatch &match : match_instruction(f, d, instruction)) {
        for (Mapping &m : Mapper(d, instruction, match).all(options))
            result.push_back(std::move(m));
        if (!options.either_order && !result.empty()) break;
    }
    return result;
}

std::string fault_of_mapping(const FunctionContents &f, const Definition &d,
                             const ir::Instruction &instruction, const Groups &groups) {
    const std::string fault = fault_of_shape(instruction, groups);
    if (!fault.empty()) return fault;
    std::optional<Mapper::Fault> least;
    for (const InstructionMatch &match : match_instruction(f, d, instruction)) {
        const Mapper::Fault found = Mapper(d, instruction, match).fault(groups);
        if (!least || found.loops < least->loops) least = found;
    }
    return least ? least->text : fault_of_match(f, d, instruction);
}

std::vector<StageDirective> directives_of(const Groups &groups, const StageSchedule &schedule,
                                          const std::string &instruction) {
    std::vector<Symbol> order, heads;
    for (const Loop &loop : schedule.loops) {
        if (loop.var != outermost_loop()) order.push_back(loop.var);
    }
    std::vector<StageDirective> directives;
    for (const auto &group : groups) {
        if (group.empty()) continue;
        Symbol head = group.back();
        for (size_t i = group.size() - 1; i-- > 0;) {
            const Symbol fused = Symbol::fresh(str(group[i], "_", head));
            directives.push_back(Fuse{head, group[i], fused});
            *std::ranges::find(order, head) = fused;
            std::erase(order, group[i]);
            head = fused;
        }
        heads.push_back(head);
    }
    const std::vector<Symbol> before = order;
    std::ranges::stable_partition(order,
                                  [&](Symbol var) { return std::ranges::count(heads, var) != 0; });
    if (order != before) directives.push_back(Reorder{order});
    for (Symbol head : heads) directives.push_back(Tensorize{head, instruction});
    return directives;
}

}  // namespace tessera::program
