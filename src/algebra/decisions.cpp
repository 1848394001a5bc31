#include "algebra/decisions.h"
#include "ir/fields.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::algebra {

using namespace ir;

namespace {

constexpr int max_depth = 10;
constexpr size_t max_facts = 6;  // that are tried about one atom
constexpr int min_effort = 4;    // where all steps for an expression have been taken
constexpr int64_t none = ConstantInterval::lowest;
// Limits the decisions about the parts of one expression: where sums have many choices, most
// decisions find nothing.
constexpr int decisions_per_expression = 128;

LinearForm without(const LinearForm &f, const Expr &atom) {
    LinearForm r = f;
    std::erase_if(r.terms, [&](const LinearTerm &t) { return t.atom.same_as(atom); });
    return r;
}

}  // namespace

void Decisions::renew_allowance() { allowance = decisions_per_expression * effort; }

// The same query comes many times, as nodes are built from their operands in several ways.
int64_t Decisions::lower_bound(const LinearForm &f, int64_t goal) {
    int64_t quick = info.interval(f).min;
    if (quick >= goal || f.terms.empty() || is_hopeless(f)) return quick;
    uint64_t hash = fields::mix(uint64_t(f.constant), uint64_t(goal));
    for (const LinearTerm &t : f.terms) {
        hash = fields::mix(fields::mix(hash, t.atom.hash()), uint64_t(t.coefficient));
    }
    auto last = searches.find(hash);
    if (last != searches.end() && facts.is_usable(last->second.scope) &&
        last->second.goal == goal && last->second.form == f) {
        return last->second.found;
    }
    // Lets that lie a constant apart need no search.
    LinearForm values = info.with_values(f);
    int64_t found = info.interval(values).min;
    if (found < goal && !values.terms.empty()) {
        const int steps = std::min(effort, std::max(allowance, min_effort));
        budget = steps;
        found = std::max(found, lower(f, goal, max_depth));
        allowance -= steps - std::max(budget, 0);
    }
    searches[hash] = {f, goal, found, facts.scope()};
    return found;
}

int64_t Decisions::upper_bound(const LinearForm &f, int64_t goal) {
    auto negated = scale(f, -1);
    if (!negated) return ConstantInterval::highest;
    int64_t low = lower_bound(*negated, goal == none ? ConstantInterval::highest : -goal);
    return low == none ? ConstantInterval::highest : -low;
}

bool Decisions::is_relational(const Expr &atom) {
    if (!facts.inequalities_about(atom).empty()) return true;
    switch (atom.kind()) {
    case NodeKind::Min:
    case NodeKind::Max:
    case NodeKind::Select: return true;
    case NodeKind::Div: return as_const_int(atom.as<Div>()->b).value_or(0) > 0;
    case NodeKind::Variable: {
        const KnownVariable *k = facts.find(atom.as<Variable>()->name);
        return k && (k->value.defined() || k->symbolic.min.defined() || k->symbolic.max.defined());
    }
    case NodeKind::IntrinsicCall: return is_bounded_by_operands(atom.as<IntrinsicCall>()->op);
    case NodeKind::Broadcast: return is_relational(atom.as<Broadcast>()->value);
    default: return false;
    }
}

// Returns true if some term is unbounded and nothing else in the form could cancel it.
bool Decisions::is_hopeless(const LinearForm &f) {
    if (trends.is_unbounded_below(f)) return true;
    for (const LinearTerm &t : f.terms) {
        ConstantInterval i = info.interval(t.atom);
        bool bounded = t.coefficient > 0 ? i.has_min() : i.has_max();
        if (bounded || is_relational(t.atom)) continue;
        uint64_t mask = trends.variables_of(t.atom);
        bool partner = mask == 0;
        for (const LinearTerm &o : f.terms) {
            if (o.atom.same_as(t.atom) || !is_relational(o.atom)) continue;
            bool many = !facts.inequalities_about(o.atom).empty();
            const auto *v = o.atom.as<Variable>();
            partner |= many || v || (trends.variables_of(o.atom) & mask) != 0;
        }
        if (!partner) return true;
    }
    return false;
}

int64_t Decisions::lower(const LinearForm &f, int64_t goal, int depth) {
    int64_t best = info.interval(f).min;
    if (best >= goal || depth == 0 || f.terms.empty() || --budget < 0 || is_hopeless(f))
        return best;
    for (const LinearTerm &t : f.terms) {
        bool exact = false;
        best = std::max(best, lower_by(f, t, goal, depth - 1, exact));
        if (best >= goal || exact || budget < 0) break;
    }
    return best;
}

int64_t Decisions::lower_with(const LinearForm &f, const LinearTerm &t, const Expr &u, int64_t goal,
                              int depth) {
    auto g = info.substitute(f, t, u);
    return g ? lower(*g, goal, depth) : none;
}

int64_t Decisions::lower_by(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth,
                            bool &exact) {
    const Expr &atom = t.atom;
    int64_t best = none;
    if (!is_relational(atom)) return best;
    auto both = [&](const Expr &u, const Expr &v) {
        exact = true;
        int64_t first = lower_with(f, t, u, goal, depth);
        if (first == none) return none;
        return std::min(first, lower_with(f, t, v, goal, depth));
    };
    auto any = [&](const Expr &u, const Expr &v) {
        int64_t first = lower_with(f, t, u, goal, depth);
        return first >= goal ? first : std::max(first, lower_with(f, t, v, goal, depth));
    };
    if (const auto *m = atom.as<Min>()) {
        best = t.coefficient > 0 ? both(m->a, m->b) : any(m->a, m->b);
    } else if (const auto *m = atom.as<Max>()) {
        best = t.coefficient < 0 ? both(m->a, m->b) : any(m->a, m->b);
    } else if (const auto *s = atom.as<Select>()) {
        best = both(s->true_value, s->false_value);
    } else if (const auto *d = atom.as<Div>(); d && as_const_int(d->b).value_or(0) > 0) {
        best = lower_by_division(f, t, goal, depth);
    } else if (atom.as<Variable>()) {
        best = lower_by_variable(f, t, goal, depth);
    } else if (const auto *c = atom.as<IntrinsicCall>(); c && is_bounded_by_operands(c->op)) {
        best = lower_by_call(f, t, goal, depth, exact);
    } else if (atom.as<Broadcast>()) {
        best = lower_by_broadcast(f, t, goal, depth);
    }
    if (best >= goal || exact) return best;
    return std::max(best, lower_by_inequalities(f, t, goal, depth));
}

// A bound of the scalar bounds every lane.
int64_t Decisions::lower_by_broadcast(const LinearForm &f, const LinearTerm &t, int64_t goal,
                                      int depth) {
    const auto *b = t.atom.as<Broadcast>();
    const auto *v = b->value.as<Variable>();
    const KnownVariable *k = v ? facts.find(v->name) : nullptr;
    if (!k) return none;
    const Expr u = k->value.defined()  ? k->value
                   : t.coefficient > 0 ? k->symbolic.min
                                       : k->symbolic.max;
    if (!u.defined() || u.type() != v->type) return none;
    return lower_with(f, t, nodes.intern(Broadcast::make(u, b->lanes)), goal, depth);
}

int64_t Decisions::lower_by_call(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth,
                                 bool &exact) {
    const auto *c = t.atom.as<IntrinsicCall>();
    exact = is_likely(t.atom);
    int64_t best = lower_with(f, t, c->args[0], goal, depth);
    if (exact || best >= goal) return best;
    const Expr &bound = t.coefficient > 0 ? c->args[1] : c->args[2];
    return std::max(best, lower_with(f, t, bound, goal, depth));
}

// k * F with k * (u / k) replaced by u minus the remainder.
int64_t Decisions::lower_by_division(const LinearForm &f, const LinearTerm &t, int64_t goal,
                                     int depth) {
    const auto *d = t.atom.as<Div>();
    int64_t k = as_const_int(d->b).value();
    auto rest = scale(without(f, t.atom), k);
    auto g = rest ? add(*rest, info.exact_form(d->a), t.coefficient) : std::nullopt;
    if (!g) return none;
    if (t.coefficient > 0) {
        int64_t most = 0;
        if (__builtin_mul_overflow(t.coefficient, k - 1, &most)) return none;
        g = add(*g, LinearForm{{}, most}, -1);
    }
    int64_t scaled_goal = 0;
    if (__builtin_mul_overflow(goal, k, &scaled_goal)) scaled_goal = ConstantInterval::highest;
    int64_t low = g ? lower(*g, scaled_goal, depth) : none;
    if (low == none || low == ConstantInterval::highest) return low;
    return ceil_div(low, k);
}

int64_t Decisions::lower_by_variable(const LinearForm &f, const LinearTerm &t, int64_t goal,
                                     int depth) {
    const KnownVariable *found = facts.find(t.atom.as<Variable>()->name);
    if (!found) return none;
    const Interval symbolic = found->symbolic;  // copied, for the table may change
    const Expr value = found->value;
    auto fits = [&](const Expr &e) { return e.defined() && e.type() == t.atom.type(); };
    int64_t best = none;
    const Expr &bound = t.coefficient > 0 ? symbolic.min : symbolic.max;
    if (fits(bound)) best = lower_with(f, t, bound, goal, depth);
    if (best < goal && fits(value)) {
        best = std::max(best, lower_with(f, t, value, goal, depth));
    }
    return best;
}

// Subtract a known g >= 0 so often that the atom cancels.
int64_t Decisions::lower_by_inequalities(const LinearForm &f, const LinearTerm &t, int64_t goal,
                                         int depth) {
    auto all = facts.inequalities_about(t.atom);
    int64_t best = none;
    // The newest first, which are the closest. While they are used nothing is learnt.
    for (size_t i = all.size(), tried = 0; i-- > 0 && tried < max_facts; tried++) {
        const LinearForm &g = all[i];
        int64_t c = g.coefficient_of(t.atom);
        if ((c > 0) != (t.coefficient > 0)) continue;
        int64_t size = std::abs(c), times = std::abs(t.coefficient);
        auto scaled = scale(f, size);
        auto h = scaled ? add(*scaled, g, -times) : std::nullopt;
        int64_t scaled_goal = 0;
        if (__builtin_mul_overflow(goal, size, &scaled_goal)) {
            scaled_goal = ConstantInterval::highest;
        }
        int64_t low = h ? lower(*h, scaled_goal, depth) : none;
        if (low != none) best = std::max(best, ceil_div(low, size));
        if (best >= goal || budget < 0) break;
    }
    return best;
}

}  // namespace tessera::algebra
