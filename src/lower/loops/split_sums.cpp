#include "lower/loops/split_sums.h"
#include "algebra/bounds.h"
#include "ir/instruction.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "program/match_instruction.h"
#include "program/terms_of_sum.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

namespace {

// The loops and lets around one update, of which some are tensorized.
struct NestOfUpdate {
    const Provide *update = nullptr;
    const For *tensorized = nullptr;  // the outermost one
    Substitution lets;
};

std::optional<NestOfUpdate> read_nest_of_update(const For &outermost) {
    NestOfUpdate nest;
    Stmt s(&outermost);
    while (true) {
        if (const auto *loop = s.as<For>()) {
            if (loop->loop_kind == LoopKind::Tensorized && !nest.tensorized) nest.tensorized = loop;
            s = loop->body;
        } else if (const auto *let = s.as<LetStmt>()) {
            nest.lets[let->name] = substitute(nest.lets, let->value);
            s = let->body;
        } else if (const auto *branch = s.as<IfThenElse>();
                   branch && !branch->else_case.defined()) {
            s = branch->then_case;
        } else {
            break;
        }
    }
    nest.update = s.as<Provide>();
    const bool is_found = nest.update && nest.update->values.size() == 1 && nest.tensorized;
    return is_found ? std::optional(nest) : std::nullopt;
}

// An instruction may add such a term.
struct TermOfNest {
    Expr value, condition;
};

// A copy of a nest with another update, and names of its own.
class CopyNest final : public Mutator {
public:
    CopyNest(const TermOfNest &term, bool has_own_names)
        : term(term), has_own_names(has_own_names) {}

private:
    using Mutator::visit;
    Stmt visit(const For &loop) override {
        if (!has_own_names) return Mutator::visit(loop);
        const Expr min = (*this)(loop.min), extent = (*this)(loop.extent);
        const Symbol name = renamed(loop.name);
        return loop.with<&For::name, &For::min, &For::extent, &For::body>(name, min, extent,
                                                                          (*this)(loop.body));
    }
    Stmt visit(const LetStmt &let) override {
        if (!has_own_names) return Mutator::visit(let);
        const Expr value = (*this)(let.value);
        const Symbol name = renamed(let.name);
        return LetStmt::make(name, value, (*this)(let.body));
    }
    Expr visit(const Variable &v) override {
        const auto found = names.find(v.name);
        return found == names.end() ? Expr(&v) : Variable::make(v.type, found->second);
    }
    Stmt visit(const Provide &p) override {
        const Stmt other = Provide::make(p.func, {term.value}, p.args, p.predicate),
                   s = Mutator::visit(*other.as<Provide>());
        return term.condition.defined() ? IfThenElse::make((*this)(term.condition), s) : s;
    }
    Symbol renamed(Symbol name) { return names[name] = Symbol::fresh(name.text()); }

    const TermOfNest &term;
    const bool has_own_names;
    std::unordered_map<Symbol, Symbol> names;
};

// Returns true if no value of the expression is without its negative in the type.
bool has_negative(const Expr &e) {
    const Type type = e.type();
    if (type.is_float()) return true;
    if (!type.is_int()) return false;
    const auto least = as_const_int(type.min());
    algebra::IntervalScope scope;
    scope.call_bounds = [](const Call &) { return algebra::Interval::everything(); };
    const Expr min = algebra::bounds_of_expr(e, scope).min;
    const auto known = min.defined() ? as_const_int(min) : std::nullopt;
    return known && least && *known > *least;
}

class SplitSums final : public Mutator {
public:
    explicit SplitSums(const Target &target) : target(target) {}

private:
    Stmt visit(const For &loop) override {
        const bool is_outermost = loop.loop_kind == LoopKind::Tensorized ||
                                  loop.loop_kind == LoopKind::GPUWarp ||
                                  loop.loop_kind == LoopKind::GPUWarpgroup;
        const auto nest = is_outermost ? read_nest_of_update(loop) : std::nullopt;
        if (!nest) return Mutator::visit(loop);
        const std::vector<TermOfNest> terms = terms_of(*nest);
        if (terms.empty()) return Stmt(&loop);
        std::vector<Stmt> copies;
        for (const TermOfNest &term : terms)
            copies.push_back(CopyNest(term, !copies.empty())(Stmt(&loop)));
        return Block::make(copies);
    }
    // CPUs find their operands in memory, where the negative of one is not.
    bool is_of_cpu(const For &loop) const {
        return is_name_of_cpu(loop.origin.instruction.text(), target);
    }
    std::vector<Instruction> instructions_of(const For &loop) const {
        std::vector<Instruction> all =
            instructions_named(loop.origin.instruction.text(), any_columns);
        std::erase_if(all, [&](const Instruction &i) { return i.is_of_cpu() != is_of_cpu(loop); });
        return all;
    }
    // Returns what there is a nest for; nothing if the nest stays as it is.
    std::vector<TermOfNest> terms_of(const NestOfUpdate &nest) const {
        const std::vector<Instruction> instructions = instructions_of(*nest.tensorized);
        const Provide &p = *nest.update;
        const Expr value = substitute(nest.lets, p.values[0]);
        std::vector<Expr> element;
        for (const Expr &arg : p.args) element.push_back(substitute(nest.lets, arg));
        const Expr written = Call::make(value.type(), p.func, CallKind::Func, 0, element);
        if (is_computed(instructions, written, value)) return {};
        std::vector<TermOfNest> all;
        const auto found = program::terms_of_sum(written, value);
        if (!found) return {};
        for (const program::SumTerm &term : *found) {
            // A term that depends on the sum so far cannot be added later.
            const bool reads_sum =
                uses_symbol(term.value, p.func) ||
                (term.condition.defined() && uses_symbol(term.condition, p.func));
            if (reads_sum) return {};
            Expr sum = program::sum_of(written, term);
            if (!is_computed(instructions, written, sum)) {
                sum = is_of_cpu(*nest.tensorized)
                          ? Expr()
                          : with_negated_factor(instructions, written, term);
            }
            if (!sum.defined()) return {};
            all.push_back({sum, term.condition});
        }
        return all;
    }
    static bool is_computed(const std::vector<Instruction> &instructions, const Expr &written,
                            const Expr &value) {
        return std::ranges::any_of(instructions, [&](const Instruction &i) {
            return !program::match_value(i, written, value).empty();
        });
    }
    // Undefined if no instruction adds that with a factor of which the negative is known to be one.
    static Expr with_negated_factor(const std::vector<Instruction> &instructions,
                                    const Expr &written, const program::SumTerm &term) {
        if (!term.is_negative) return Expr();
        for (const Instruction &i : instructions) {
            for (auto &match : program::match_value(i, written, written + term.value)) {
                for (size_t n = 1; n < match.operands.size(); n++) {
                    const Expr operand = match.operands[n];
                    if (!has_negative(operand)) continue;
                    match.operands[n] = -operand;
                    return program::value_of_match(i, match);
                }
            }
        }
        return Expr();
    }

    static constexpr int64_t any_columns = 8;  // what instructions compute is the same for all
    const Target &target;
};

}  // namespace

Stmt split_sums(const Stmt &s, const lower::Context &context) {
    bool any = false;
    for_each_node(s, [&](const For &loop) { any |= loop.loop_kind == LoopKind::Tensorized; });
    return any ? SplitSums(context.target)(s) : s;
}

}  // namespace tessera::lower
