#include "algebra/simplifier.h"
#include "ir/operators.h"

// A quick look at which bounds a search cannot find: where a value follows a leaf that is unbounded
// in one direction only, nothing that is put in for other parts of it can cancel that leaf.
namespace tessera::algebra {

using namespace ir;

bool is_bounded_by_operands(Intrinsic op) {
    return op == Intrinsic::likely || op == Intrinsic::likely_if_innermost ||
           op == Intrinsic::promise_clamped || op == Intrinsic::unsafe_promise_clamped;
}

Simplifier::Trend Simplifier::Trend::operator|(const Trend &o) const {
    Trend t{rising | o.rising, falling | o.falling, unbounded_below | o.unbounded_below,
            unbounded_above | o.unbounded_above};
    uint64_t one_way = ~(t.rising & t.falling);
    t.unbounded_below &= one_way;
    t.unbounded_above &= one_way;
    return t;
}

Simplifier::Trend Simplifier::trend_of(const Expr &e) {
    const Trend *found = trends.find(e.get());
    if (found && usable(found->scope)) return *found;
    intern(e);  // keeps the key alive
    Trend computed = compute_trend(e);
    computed.scope = scopes.back().serial;
    return trends[e.get()] = computed;
}

Simplifier::Trend Simplifier::trend_of(const LinearForm &f) {
    Trend sum;
    for (const LinearTerm &term : f.terms) {
        Trend t = trend_of(term.atom);
        sum = sum | (term.coefficient < 0 ? t.reversed() : t);
    }
    return sum;
}

uint64_t Simplifier::leaf_of(Symbol s) {
    auto [known, is_new] = symbol_leaves.try_emplace(s);
    if (is_new) known->second = next_leaf();
    return known->second;
}

uint64_t Simplifier::leaf_of(const Expr &e) {
    if (const auto *v = e.as<Variable>()) return leaf_of(v->name);
    if (const uint64_t *known = node_leaves.find(e.get())) return *known;
    return node_leaves[e.get()] = next_leaf();
}

Simplifier::Trend Simplifier::trend_of_leaf(const Expr &e) {
    uint64_t leaf = leaf_of(e);
    const ConstantInterval &i = interval(e);
    return {leaf, 0, i.has_min() ? 0 : leaf, i.has_max() ? 0 : leaf};
}

Simplifier::Trend Simplifier::compute_trend(const Expr &e) {
    if (as_const_int(e) || !is_exact(e.type())) return {};
    const LinearForm &f = form(e);
    bool itself = f.terms.size() == 1 && f.constant == 0 && f.terms[0].atom.same_as(e);
    if (!itself) return trend_of(f);
    switch (e.kind()) {
    case NodeKind::Variable: {
        auto found = known.find(e.as<Variable>()->name);
        bool follows = found != known.end() && found->second.trend;
        return follows ? found->second.trend.value() : trend_of_leaf(e);
    }
    case NodeKind::Div:
        if (as_const_int(e.as<Div>()->b).value_or(0) <= 0) return trend_of_leaf(e);
        return trend_of(e.as<Div>()->a);
    case NodeKind::Min: {
        Trend t = trend_of(e.as<Min>()->a) | trend_of(e.as<Min>()->b);
        t.unbounded_above = 0;
        return t;
    }
    case NodeKind::Max: {
        Trend t = trend_of(e.as<Max>()->a) | trend_of(e.as<Max>()->b);
        t.unbounded_below = 0;
        return t;
    }
    case NodeKind::Select:
        return trend_of(e.as<Select>()->true_value) | trend_of(e.as<Select>()->false_value);
    case NodeKind::Broadcast: return trend_of(e.as<Broadcast>()->value);
    case NodeKind::IntrinsicCall: {
        const auto *c = e.as<IntrinsicCall>();
        if (!is_bounded_by_operands(c->op)) return trend_of_leaf(e);
        if (is_likely(e)) return trend_of(c->args[0]);
        Trend t = trend_of(c->args[0]) | trend_of(c->args[1]) | trend_of(c->args[2]);
        t.unbounded_below = t.unbounded_above = 0;
        return t;
    }
    default: return trend_of_leaf(e);
    }
}

// Of a variable between bounds, each of which may be unknown.
Simplifier::Trend Simplifier::trend_between(const Interval &i, const ConstantInterval &constants,
                                            uint64_t leaf) {
    Trend unknown{leaf, 0, leaf, leaf};
    Trend low = i.min.defined() ? trend_of(i.min) : unknown;
    Trend high = i.max.defined() ? trend_of(i.max) : unknown;
    return {low.rising | high.rising, low.falling | high.falling,
            constants.has_min() ? 0 : low.unbounded_below,
            constants.has_max() ? 0 : high.unbounded_above};
}

bool Simplifier::has_value(const Expr &atom) const {
    const auto *v = atom.as<Variable>();
    auto found = v ? known.find(v->name) : known.end();
    return found != known.end() && found->second.value.defined();
}

// The form with the values of variables put in, for a while.
LinearForm Simplifier::with_values(LinearForm f) {
    constexpr int max_values = 16;
    size_t i = 0;
    for (int count = 0; i < f.terms.size() && count < max_values;) {
        const Expr &atom = f.terms[i].atom;
        std::optional<LinearForm> next;
        if (has_value(atom)) {
            next = substitute(f, f.terms[i], known.at(atom.as<Variable>()->name).value);
        }
        if (next) {
            f = *next;
            i = 0;
            count++;
        } else {
            i++;
        }
    }
    return f;
}

bool Simplifier::is_unbounded(const LinearForm &f) {
    Trend t = trend_of(f);
    return ((t.unbounded_below | t.unbounded_above) & ~leaves_of_facts) != 0;
}

}  // namespace tessera::algebra
