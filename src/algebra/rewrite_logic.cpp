#include "algebra/rewriter.h"
#include "ir/operators.h"
#include <algorithm>

// And, or, not and select.
namespace tessera::algebra {

using namespace ir;

namespace {

constexpr size_t max_conditions = 16;

// Stops as soon as there are too many.
template<typename T>
void collect_conditions(const Expr &e, std::vector<Expr> &list) {
    const T *n = list.size() <= max_conditions ? e.as<T>() : nullptr;
    if (n) {
        collect_conditions<T>(n->b, list);
        collect_conditions<T>(n->a, list);
    } else {
        list.push_back(e);
    }
}

std::vector<Expr> conditions_of(NodeKind op, const Expr &e) {
    std::vector<Expr> list;
    op == NodeKind::And ? collect_conditions<And>(e, list) : collect_conditions<Or>(e, list);
    if (list.size() > max_conditions) return {e};
    std::reverse(list.begin(), list.end());
    return list;
}

// The comparison of exact integers as `f >= 0`, or as `f == 0`.
struct Comparison {
    LinearForm f;
    Type type;
    bool equality = false;
};

std::optional<Comparison> comparison_of(Knowledge &known, const Expr &e) {
    Expr a, b;
    bool strict = false, equality = false;
    if (const auto *n = e.as<LT>()) {
        a = n->a, b = n->b, strict = true;
    } else if (const auto *n = e.as<LE>()) {
        a = n->a, b = n->b;
    } else if (const auto *n = e.as<EQ>()) {
        a = n->a, b = n->b, equality = true;
    } else {
        return std::nullopt;
    }
    if (!is_exact(a.type()) || a.type().is_vector()) return std::nullopt;
    auto f = add(known.exact_form(b), known.exact_form(a), -1);
    if (f && strict) f = add(*f, LinearForm{{}, -1});
    if (!f) return std::nullopt;
    return Comparison{*f, a.type(), equality};
}

// The constant d where b == sign * a + d; none if they do not differ by a constant.
std::optional<int64_t> offset(const Comparison &a, const Comparison &b, int64_t sign) {
    auto d = add(b.f, a.f, -sign);
    return d && d->is_constant() ? std::optional(d->constant) : std::nullopt;
}

// For a >= 0 and b >= 0, where b is a + d or -a + d.
Expr combine_inequalities(Rewriter &r, bool is_and, const Comparison &a, const Comparison &b,
                          const Expr &first, const Expr &second) {
    if (auto d = offset(a, b, 1)) return (*d >= 0) == is_and ? first : second;
    auto d = offset(a, b, -1);
    if (!d) return {};
    // Both hold for 0 <= a <= d; one of them holds for every a if d >= -1.
    if (is_and && *d < 0) return const_false();
    if (is_and && *d == 0) return r.make_comparison(NodeKind::EQ, a.f, a.type);
    if (!is_and && *d >= -1) return const_true();
    return {};
}

Expr combine_with_equality(bool is_and, const Comparison &a, const Comparison &b,
                           const Expr &equality, const Expr &other) {
    for (int64_t sign : {1, -1}) {
        auto d = offset(a, b, sign);
        if (!d) continue;
        bool implied = b.equality ? *d == 0 : *d >= 0;
        if (implied) return is_and ? equality : other;
        if (is_and) return const_false();
    }
    return {};
}

Expr combine(Rewriter &r, Knowledge &known, NodeKind op, const Expr &first, const Expr &second) {
    auto a = comparison_of(known, first), b = comparison_of(known, second);
    if (!a || !b || a->type != b->type) return {};
    bool is_and = op == NodeKind::And;
    if (a->equality) return combine_with_equality(is_and, *a, *b, first, second);
    if (b->equality) return combine_with_equality(is_and, *b, *a, second, first);
    return combine_inequalities(r, is_and, *a, *b, first, second);
}

}  // namespace

Expr Rewriter::make_logic(NodeKind op, const Expr &a, const Expr &b) {
    bool is_and = op == NodeKind::And;
    for (int i = 0; i < 2; i++) {
        const Expr &x = i ? b : a, &y = i ? a : b;
        if (is_true(x)) return is_and ? y : x;
        if (is_false(x)) return is_and ? x : y;
    }
    std::vector<Expr> list = conditions_of(op, a), others = conditions_of(op, b);
    if (list.size() + others.size() > max_conditions) {
        return a.same_as(b) ? a : raw(op, a, b);
    }
    auto rejoin = [&](const std::vector<Expr> &from, size_t start, Expr e) {
        for (size_t i = start; i < from.size(); i++) e = make_logic(op, e, from[i]);
        return e;
    };
    for (size_t j = 0; j < others.size(); j++) {
        bool dropped = false;
        for (size_t i = 0; i < list.size() && !dropped; i++) {
            if (list[i].same_as(others[j])) {
                dropped = true;
                continue;
            }
            Expr merged = combine(*this, known, op, list[i], others[j]);
            if (!merged.defined()) {
                merged = apply_rules(is_and ? And::make(list[i], others[j])
                                            : Or::make(list[i], others[j]));
            }
            if (!merged.defined()) continue;
            merged = intern(merged);
            std::vector<Expr> kept = list;
            kept.erase(kept.begin() + i);
            Expr all = kept.empty() ? merged : kept[0];
            if (!kept.empty()) {
                for (size_t n = 1; n < kept.size(); n++) all = raw(op, all, kept[n]);
                all = make_logic(op, all, merged);
            }
            return rejoin(others, j + 1, all);
        }
        if (!dropped) list.push_back(others[j]);
    }
    Expr e = list[0];
    for (size_t i = 1; i < list.size(); i++) e = raw(op, e, list[i]);
    return e;
}

Expr Rewriter::make_not(const Expr &a) {
    if (!known.is_pure(a)) return Not::make(a);
    const Negation *found = negations.find(a.get());
    if (found && known.is_usable(found->scope)) return found->after;
    Expr after = compute_not(a);
    negations[a.get()] = {a, after, known.scope()};
    return after;
}

Expr Rewriter::compute_not(const Expr &a) {
    Expr node = intern(Not::make(a));
    Expr folded = fold_or_undefined(node);
    if (folded.defined()) return folded;
    if (const auto *b = a.as<Broadcast>()) return make_broadcast(make_not(b->value), b->lanes);
    Expr rewritten = apply_rules(node);
    return decided(rewritten.defined() ? rewritten : node);
}

Expr Rewriter::make_select(const Expr &condition, const Expr &a, const Expr &b) {
    if (is_true(condition)) return a;
    if (is_false(condition)) return b;
    if (a.same_as(b)) return a;
    if (const auto *c = condition.as<Broadcast>(); c && c->value.type().is_scalar()) {
        return make_select(c->value, a, b);
    }
    const auto *splat_a = a.as<Broadcast>(), *splat_b = b.as<Broadcast>();
    if (condition.type().is_scalar() && splat_a && splat_b && splat_a->lanes == splat_b->lanes) {
        return make_broadcast(make_select(condition, splat_a->value, splat_b->value),
                              splat_a->lanes);
    }
    Expr node = intern(Select::make(condition, a, b));
    if (is_likely(a) || is_likely(b) || is_likely(condition)) return node;
    if (is_exact(a.type())) {
        if (condition.type().is_scalar()) {
            if (is_other_where(condition, a, b, false)) return b;
            if (is_other_where(condition, b, a, true)) return a;
        }
        Expr e = select_of_forms(condition, a, b);
        if (e.defined()) return e;
    }
    Expr rewritten = apply_rules(node);
    return rewritten.defined() ? rewritten : node;
}

// Returns true if the value has a min or max in it and is the other one where the condition holds
// (or its opposite does): max(x, 7) is x where 7 <= x. Differences of more than two terms are not
// tried.
bool Rewriter::is_other_where(const Expr &condition, const Expr &value, const Expr &other,
                              bool opposite) {
    auto has_choice = [](const LinearForm &f) {
        return std::any_of(f.terms.begin(), f.terms.end(), [](const LinearTerm &t) {
            return t.atom.as<Min>() || t.atom.as<Max>();
        });
    };
    if (!has_choice(known.form(value))) return false;
    auto difference = add(known.form(value), known.form(other), -1);
    if (!difference || difference->terms.size() > 2 || !has_choice(*difference)) return false;
    const Expr fact = opposite ? make_not(condition) : condition;
    known.enter(true);
    known.learn_inequalities(fact);
    const bool equal =
        known.lower_bound(*difference, 0) >= 0 && known.upper_bound(*difference, 0) <= 0;
    known.leave();
    return equal;
}

// Adds the common part of both values outside; select(f >= 0, a, b) where a - b is f or f + 1 is
// max(a, b), and where it is -f or -f - 1 is min(a, b).
Expr Rewriter::select_of_forms(const Expr &condition, const Expr &a, const Expr &b) {
    LinearForm common = known.form(a);
    const LinearForm &other = known.form(b);
    std::erase_if(common.terms, [&](const LinearTerm &t) {
        return other.coefficient_of(t.atom) != t.coefficient;
    });
    if (common.constant != other.constant) common.constant = 0;
    auto difference = add(known.exact_form(a), known.exact_form(b), -1);
    auto c = comparison_of(known, condition);
    if (difference && c && !c->equality && a.type().is_scalar()) {
        for (int64_t sign : {1, -1}) {
            auto d = add(*difference, c->f, -sign);
            if (!d || !d->is_constant()) continue;
            if (sign * d->constant == 0 || sign * d->constant == 1) {
                return make_normal(sign > 0 ? NodeKind::Max : NodeKind::Min, a, b);
            }
        }
    }
    if (common.is_constant() && common.constant == 0) return {};
    auto rest_a = add(known.form(a), common, -1), rest_b = add(other, common, -1);
    if (!rest_a || !rest_b) return {};
    Expr u = make_expr(*rest_a, a.type()), v = make_expr(*rest_b, a.type());
    if (!u.defined() || !v.defined()) return {};
    auto whole = add(common, known.form(make_select(condition, u, v)));
    return whole ? make_expr(*whole, a.type()) : Expr();
}

}  // namespace tessera::algebra
