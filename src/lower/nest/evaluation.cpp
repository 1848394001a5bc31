#include "lower/nest/evaluation.h"
#include "ir/expr_table.h"
#include "ir/operands.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/bounds/value_bounds.h"
#include "lower/loops/likely.h"
#include <unordered_set>

namespace tessera::lower {

using namespace ir;

bool reads_memory(const Expr &e) {
    bool reads = !is_pure(e);
    for_each_node(e, [&](const Call &) { reads = true; });
    for_each_node(e, [&](const Load &) { reads = true; });
    return reads;
}

Expr guarded(const Expr &first, const Expr &second) {
    if (is_true(first)) return second;
    if (is_true(second)) return first;
    if (!reads_memory(second)) return first && second;
    return call(Bool(), Intrinsic::if_then_else, {first, second, const_false()});
}

bool is_usable_condition(const Expr &e) { return is_pure(e) && e.type().is_scalar(); }

namespace {

// Conditions that are shared are looked at once.
class Weaken {
public:
    explicit Weaken(const std::function<Expr(const Expr &)> &part) : part(part) {}

    // Weakens the condition, or its opposite.
    Expr of(const Expr &e, bool opposite = false) {
        return (opposite ? opposites : known).get(e, [&] { return find(e, opposite); });
    }

private:
    Expr find(const Expr &e, bool opposite) {
        if (const auto *no = e.as<Not>()) return of(no->a, !opposite);
        const auto *all = e.as<And>();
        const auto *any = e.as<Or>();
        if (all || any) {
            const Expr &a = all ? all->a : any->a, &b = all ? all->b : any->b;
            const Expr x = of(a, opposite), y = of(b, opposite);
            if (!opposite && x.same_as(a) && y.same_as(b)) return e;
            return joined(x, y, (all != nullptr) != opposite);
        }
        const auto *c = e.as<IntrinsicCall>();
        const bool is_guard = c && c->op == Intrinsic::if_then_else && c->args.size() == 3 &&
                              is_false(c->args[2]) && !opposite;
        if (!is_guard) return part(opposite ? !e : e);
        // Operands that were guarded by more than is left are not read; but the tail of a split
        // guards only what depends on its own variables.
        const Expr first = of(c->args[0]);
        const bool is_guarded = first.same_as(c->args[0]) || likely_marker(c->args[0], true);
        return is_guarded ? guarded(first, of(c->args[1])) : first;
    }
    // Returns the condition that both hold, or that one of them does.
    static Expr joined(const Expr &x, const Expr &y, bool both) {
        if (both) return is_true(x) ? y : is_true(y) ? x : And::make(x, y);
        return is_true(x) || is_true(y) ? const_true() : Or::make(x, y);
    }
    const std::function<Expr(const Expr &)> &part;
    ExprTable<Expr> known, opposites;
};

// Orders the nodes of an expression as they are evaluated: each after those that it uses. The value
// of a let is used by its variable.
class EvaluationOrder {
public:
    std::vector<Expr> nodes;
    Substitution lets;          // in terms of what is bound around the expression
    bool is_ambiguous = false;  // a name has several values

    explicit EvaluationOrder(const Expr &e) { add(e); }

    std::vector<Expr> operands(const Expr &e) const {
        if (const auto *let = e.as<Let>()) return {let->body};
        const auto *v = e.as<Variable>();
        auto value = v ? values.find(v->name) : values.end();
        if (value != values.end()) return {value->second};
        std::vector<Expr> operands;
        for_each_operand(e, [&](const Expr &o) { operands.push_back(o); });
        return operands;
    }

private:
    void add(const Expr &e) {
        if (!seen.insert(e.get()).second) return;
        if (const auto *let = e.as<Let>()) {
            is_ambiguous |= !values.emplace(let->name, let->value).second;
            lets[let->name] = substitute(lets, let->value);
        }
        for (const Expr &operand : operands(e)) add(operand);
        nodes.push_back(e);
    }
    std::unordered_map<Symbol, Expr> values;
    std::unordered_set<const ExprNode *> seen;
};

// The condition of a select or an if_then_else, and what each of its operands is read under.
struct ReadChoice {
    Expr condition;
    explicit ReadChoice(const Expr &e) {
        const auto *c = e.as<IntrinsicCall>();
        if (const auto *s = e.as<Select>()) condition = s->condition;
        if (c && c->op == Intrinsic::if_then_else) condition = c->args[0];
        if (condition.defined() && !is_usable_condition(condition)) condition = Expr();
    }
    Expr of_operand(size_t i) const {
        if (!condition.defined() || i == 0) return const_true();
        return i == 1 ? condition : !condition;
    }
};

// Returns true if it is made of few nodes, and of parts that are evaluated only if a condition
// holds.
bool has_branches(const Expr &e) {
    constexpr size_t most_nodes = 256;
    bool any = false;
    for_each_node(e, [&](const Select &) { any = true; });
    for_each_node(e, [&](const IntrinsicCall &c) { any |= c.op == Intrinsic::if_then_else; });
    return any && count_nodes(Evaluate::make(e)) <= most_nodes;
}

bool needs_values(const Expr &node, const Expr &operand) {
    return node.as<Call>() && is_bounded_by_values(operand);
}

Expr either(const Expr &a, const Expr &b) {
    return is_true(a) || is_true(b) ? const_true() : a || b;
}

}  // namespace

Expr weakened(const Expr &condition, const std::function<Expr(const Expr &)> &part) {
    return Weaken(part).of(condition);
}

static std::vector<Evaluated> all_evaluated(const Expr &e) {
    std::vector<Evaluated> all;
    for_each_node(e, [&](const Call &c) { all.push_back({Expr(&c), const_true()}); });
    for_each_node(e, [&](const Variable &v) { all.push_back({Expr(&v), const_true()}); });
    return all;
}

std::vector<Evaluated> evaluation_of(const Expr &e) {
    if (!has_branches(e)) return all_evaluated(e);
    const EvaluationOrder order(e);
    if (order.is_ambiguous) return all_evaluated(e);
    std::vector<Evaluated> all;
    std::unordered_map<const ExprNode *, Expr> when{{e.get(), const_true()}};
    for (size_t n = order.nodes.size(); n-- > 0;) {
        const Expr &node = order.nodes[n];
        const Expr here = when.at(node.get());
        if (node.as<Call>() || node.as<Variable>()) all.push_back({node, here});
        const ReadChoice choice(node);
        const std::vector<Expr> operands = order.operands(node);
        for (size_t i = 0; i < operands.size(); i++) {
            const Expr chosen = substitute(order.lets, choice.of_operand(i));
            const bool always = needs_values(node, substitute(order.lets, operands[i]));
            const Expr one = always ? const_true() : guarded(here, chosen);
            auto [entry, is_new] = when.try_emplace(operands[i].get(), one);
            if (!is_new) entry->second = either(entry->second, one);
        }
    }
    return all;
}

}  // namespace tessera::lower
