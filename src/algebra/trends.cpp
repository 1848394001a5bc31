#include "algebra/trends.h"
#include "algebra/walk.h"
#include "ir/operators.h"

namespace tessera::algebra {

using namespace ir;

bool is_bounded_by_operands(Intrinsic op) {
    return op == Intrinsic::likely || op == Intrinsic::likely_if_innermost ||
           op == Intrinsic::promise_clamped || op == Intrinsic::unsafe_promise_clamped;
}

Trend Trend::operator|(const Trend &o) const {
    Trend t{rising | o.rising, falling | o.falling, unbounded_below | o.unbounded_below,
            unbounded_above | o.unbounded_above};
    uint64_t one_way = ~(t.rising & t.falling);
    t.unbounded_below &= one_way;
    t.unbounded_above &= one_way;
    return t;
}

Trend Trends::of(const Expr &e) {
    const Found *found = found_trends.find(e.get());
    if (found && facts.is_usable(found->scope)) return found->trend;
    nodes.intern(e);  // keeps the key alive
    Trend computed = compute(e);
    found_trends[e.get()] = {computed, facts.scope()};
    return computed;
}

Trend Trends::of(const LinearForm &f) {
    Trend sum;
    for (const LinearTerm &term : f.terms) {
        Trend t = of(term.atom);
        sum = sum | (term.coefficient < 0 ? t.reversed() : t);
    }
    return sum;
}

uint64_t Trends::leaf_of(Symbol s) {
    auto [known, is_new] = symbol_leaves.try_emplace(s);
    if (is_new) known->second = next_leaf();
    return known->second;
}

uint64_t Trends::leaf_of(const Expr &e) {
    if (const auto *v = e.as<Variable>()) return leaf_of(v->name);
    if (const uint64_t *known = node_leaves.find(e.get())) return *known;
    return node_leaves[e.get()] = next_leaf();
}

Trend Trends::of_leaf(const Expr &e) {
    uint64_t leaf = leaf_of(e);
    ConstantInterval i = info.interval(e);
    return {leaf, 0, i.has_min() ? 0 : leaf, i.has_max() ? 0 : leaf};
}

Trend Trends::compute(const Expr &e) {
    if (as_const_int(e) || !is_exact(e.type())) return {};
    const LinearForm &f = forms.of(e);
    if (!is_atom(f, e)) return of(f);
    switch (e.kind()) {
    case NodeKind::Variable: {
        const KnownVariable *known = facts.find(e.as<Variable>()->name);
        return known && known->trend ? *known->trend : of_leaf(e);
    }
    case NodeKind::Div:
        if (as_const_int(e.as<Div>()->b).value_or(0) <= 0) return of_leaf(e);
        return of(e.as<Div>()->a);
    case NodeKind::Min: {
        Trend t = of(e.as<Min>()->a) | of(e.as<Min>()->b);
        t.unbounded_above = 0;
        return t;
    }
    case NodeKind::Max: {
        Trend t = of(e.as<Max>()->a) | of(e.as<Max>()->b);
        t.unbounded_below = 0;
        return t;
    }
    case NodeKind::Select: return of(e.as<Select>()->true_value) | of(e.as<Select>()->false_value);
    case NodeKind::Broadcast: return of(e.as<Broadcast>()->value);
    case NodeKind::IntrinsicCall: return of_call(e);
    default: return of_leaf(e);
    }
}

Trend Trends::of_call(const Expr &e) {
    const auto *c = e.as<IntrinsicCall>();
    if (!is_bounded_by_operands(c->op)) return of_leaf(e);
    if (is_likely(e)) return of(c->args[0]);
    Trend t = of(c->args[0]) | of(c->args[1]) | of(c->args[2]);
    t.unbounded_below = t.unbounded_above = 0;
    return t;
}

Trend Trends::between(const Interval &i, const ConstantInterval &constants, Symbol variable) {
    uint64_t leaf = leaf_of(variable);
    Trend unknown{leaf, 0, leaf, leaf};
    Trend low = i.min.defined() ? of(i.min) : unknown;
    Trend high = i.max.defined() ? of(i.max) : unknown;
    return {low.rising | high.rising, low.falling | high.falling,
            constants.has_min() ? 0 : low.unbounded_below,
            constants.has_max() ? 0 : high.unbounded_above};
}

bool Trends::is_unbounded_below(const LinearForm &f) {
    return (of(f).unbounded_below & ~facts.leaves_of_inequalities()) != 0;
}

bool Trends::is_unbounded(const LinearForm &f) {
    Trend t = of(f);
    return ((t.unbounded_below | t.unbounded_above) & ~facts.leaves_of_inequalities()) != 0;
}

uint64_t Trends::variables_of(const Expr &e) {
    if (const uint64_t *found = variable_masks.find(e.get())) return *found;
    for_each_postorder(
        e, [&](const Expr &n) { return variable_masks.find(n.get()) != nullptr; },
        [&](const Expr &n) {
            uint64_t mask = 0;
            if (const auto *v = n.as<Variable>()) mask |= leaf_of(v->name);
            if (n.as<BufferProperty>() || n.as<Load>()) mask |= uint64_t(7) << 61;
            for_each_operand(n, [&](const Expr &o) { mask |= *variable_masks.find(o.get()); });
            variable_masks[n.get()] = mask;
        });
    return *variable_masks.find(e.get());
}

}  // namespace tessera::algebra
