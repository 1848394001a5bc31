#include "program/mappings.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "program/define.h"
#include "program/distinct_places.h"
#include "program/loop_transforms.h"
#include <algorithm>
#include <functional>
#include <optional>
#include <span>

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

std::string obstacle_of(const Loop &loop) {
    if (loop.kind == LoopKind::Serial) return "";
    return str("it is ", traits_of(loop.kind).directive, " already");
}

// An instruction computes each term of a definition so, under these conditions.
struct WayOfTerms {
    std::vector<InstructionMatch> terms;
    std::vector<Expr> conditions;
};

// A definition, an instruction and how they match.
class Mapper {
public:
    Mapper(const Definition &d, const ir::Instruction &instruction, const WayOfTerms &way)
        : definition(d), instruction(instruction), way(way), targets(loops_of(instruction)) {
        for (size_t i = d.schedule.loops.size(); i-- > 0;) {
            const Loop &loop = d.schedule.loops[i];
            if (loop.var == outermost_loop()) continue;
            StageLoop made{loop.var, roots_of_loop(d.schedule, loop.var), {}, ""};
            made.obstacle = obstacle_of(loop);
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
    // Returns how many loops are of the same operands.
    int64_t agrees_with(const Mapper &other) const {
        int64_t count = 0;
        for (size_t i = 0; i < loops.size(); i++)
            count += loops[i].is_of_operand == other.loops[i].is_of_operand;
        return count;
    }

private:
    // The operands in whose place the roots are; empty if some roots, or terms, are in others.
    std::vector<bool> operands_of(const std::vector<Symbol> &roots) const {
        std::optional<std::vector<bool>> result;
        for (const InstructionMatch &match : way.terms) {
            for (Symbol root : roots) {
                std::vector<bool> of_root;
                for (const Expr &e : match.operands) of_root.push_back(ir::uses_symbol(e, root));
                if (result && *result != of_root) return {};
                result = of_root;
            }
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
    const Expr *condition_of_no_operand(const Groups &groups) const;
    bool share_an_argument(Symbol a, Symbol b) const;
    bool are_of_one_to_one_mappings(const Groups &groups) const;
    std::string names_of(const std::vector<bool> &is_of_operand) const;
    std::string misfit(const StageLoop &loop, const InstructionLoop &target) const;

    const Definition &definition;
    const ir::Instruction &instruction;
    const WayOfTerms &way;
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

// Returns a condition whose loops are not all of one operand, which could be zero instead; null if
// there is none.
const Expr *Mapper::condition_of_no_operand(const Groups &groups) const {
    const auto is_of = [&](const Expr &condition, size_t operand) {
        for (const auto &group : groups) {
            for (Symbol var : group) {
                const StageLoop &loop = find(var);
                const bool is_used = std::ranges::any_of(
                    loop.roots, [&](Symbol root) { return ir::uses_symbol(condition, root); });
                if (is_used && !loop.is_of_operand[operand]) return false;
            }
        }
        return true;
    };
    for (const Expr &condition : way.conditions) {
        bool any = false;
        for (size_t n = 1; n < instruction.operands.size(); n++) any |= is_of(condition, n);
        if (!any) return &condition;
    }
    return nullptr;
}

bool Mapper::share_an_argument(Symbol a, Symbol b) const {
    const auto uses = [&](const Expr &e, Symbol var) {
        return std::ranges::any_of(find(var).roots,
                                   [&](Symbol root) { return ir::uses_symbol(e, root); });
    };
    bool found = false;
    for (const InstructionMatch &match : way.terms) {
        for (const Expr &operand : match.operands) {
            ir::for_each_node(operand, [&](const ir::Call &c) {
                for (const Expr &arg : c.args) found |= uses(arg, a) && uses(arg, b);
            });
        }
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
        if (is_empty || !writes_once(groups) || condition_of_no_operand(groups)) continue;
        if (options.rule == MappingRule::Subscripts && !are_of_one_to_one_mappings(groups))
            continue;
        result.push_back({groups, way.terms});
    }
    return result;
}

// "D (conv) and A (in)"
std::string Mapper::names_of(const std::vector<bool> &is_of_operand) const {
    std::vector<std::string> words;
    for (size_t i = 0; i < is_of_operand.size(); i++) {
        if (!is_of_operand[i]) continue;
        std::string callee;
        ir::for_each_node(way.terms[0].operands[i],
                          [&](const ir::Call &c) { callee = c.callee.text(); });
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
    const Expr *condition = result.loops == 0 ? condition_of_no_operand(groups) : nullptr;
    if (condition) {
        result = {1, str("the update is done only if ", *condition, ", and no operand of ",
                         instruction.name,
                         " has all loops on which that depends, to be zero elsewhere; leave one of "
                         "them around")};
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

void add_conjuncts(const Expr &condition, std::vector<Expr> &all) {
    if (!condition.defined()) return;
    if (const auto *both = condition.as<ir::And>()) {
        add_conjuncts(both->a, all);
        add_conjuncts(both->b, all);
    } else {
        all.push_back(condition);
    }
}

// Returns the ways in which the terms match: one for each of the first term, in which the operands
// of the others are in the order that agrees with that of the first.
std::vector<WayOfTerms> ways_of_terms(const FunctionContents &f, const Definition &d,
                                      const ir::Instruction &instruction) {
    const std::vector<TermMatches> terms = match_terms(f, d, instruction);
    if (terms.empty()) return {};
    std::vector<Expr> conditions;
    add_conjuncts(d.predicate, conditions);
    for (const TermMatches &term : terms) add_conjuncts(term.condition, conditions);
    std::vector<WayOfTerms> ways;
    for (const InstructionMatch &first : terms[0].matches) {
        WayOfTerms way{{first}, conditions};
        const WayOfTerms of_first{{first}, {}};
        const Mapper wanted(d, instruction, of_first);
        for (const TermMatches &term : std::span(terms).subspan(1)) {
            const auto agreement = [&](const InstructionMatch &match) {
                const WayOfTerms alone{{match}, {}};
                return Mapper(d, instruction, alone).agrees_with(wanted);
            };
            way.terms.push_back(*std::ranges::max_element(term.matches, {}, agreement));
        }
        ways.push_back(std::move(way));
    }
    return ways;
}

}  // namespace

std::vector<Mapping> possible_mappings(const FunctionContents &f, const Definition &d,
                                       const ir::Instruction &instruction,
                                       const MappingOptions &options) {
    std::vector<Mapping> result;
    for (const WayOfTerms &way : ways_of_terms(f, d, instruction)) {
        for (Mapping &m : Mapper(d, instruction, way).all(options)) result.push_back(std::move(m));
        if (!options.either_order && !result.empty()) break;
    }
    return result;
}

std::string fault_of_mapping(const FunctionContents &f, const Definition &d,
                             const ir::Instruction &instruction, const Groups &groups) {
    const std::string fault = fault_of_shape(instruction, groups);
    if (!fault.empty()) return fault;
    std::optional<Mapper::Fault> least;
    for (const WayOfTerms &way : ways_of_terms(f, d, instruction)) {
        const Mapper::Fault found = Mapper(d, instruction, way).fault(groups);
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
