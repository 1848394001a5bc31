#include "algebra/common_divisor.h"
#include "algebra/rewriter.h"
#include "ir/operators.h"

// Comparisons of exact integers: brought to `form >= 0` or `form == 0`, decided if possible, and
// written with positive coefficients on both sides.
namespace tessera::algebra {

using namespace ir;

namespace {

// In sums of more terms no side of a choice is found to decide a comparison: there would be a
// search for each of its sides.
constexpr size_t max_split_terms = 8;

bool holds(NodeKind op, int64_t v) {
    switch (op) {
    case NodeKind::EQ: return v == 0;
    case NodeKind::NE: return v != 0;
    default: return v >= 0;
    }
}

int64_t gcd_of_terms(const LinearForm &f) {
    int64_t g = 0;
    for (const LinearTerm &t : f.terms) g = common_divisor(g, t.coefficient);
    return g;
}

// The scalar form, if all terms of a vector form are broadcast scalars.
std::optional<LinearForm> scalar_form(const LinearForm &f) {
    LinearForm r{{}, f.constant};
    for (const LinearTerm &t : f.terms) {
        const auto *b = t.atom.as<Broadcast>();
        if (!b || b->value.type().is_vector()) return std::nullopt;
        if (!add_term(r, b->value, t.coefficient)) return std::nullopt;
    }
    return r;
}

std::optional<LinearForm> minus_one(std::optional<LinearForm> f) {
    return f ? add(*f, LinearForm{{}, 1}, -1) : f;
}

}  // namespace

// Values that are equal modulo 2^32 are equal, whatever wraps.
std::optional<bool> Rewriter::decide_wrapping_equality(NodeKind op, const Expr &a, const Expr &b) {
    if (op != NodeKind::EQ && op != NodeKind::NE) return std::nullopt;
    const auto f = add(known.form(b), known.form(a), -1);
    if (!f || !f->is_constant()) return std::nullopt;
    const bool differ = a.type().bits() == 32 ? uint32_t(f->constant) != 0 : f->constant != 0;
    return differ == (op == NodeKind::NE);
}

Expr Rewriter::make_exact_comparison(NodeKind op, const Expr &a, const Expr &b) {
    if (auto holds = decide_wrapping_equality(op, a, b)) {
        return intern(make_const(Bool(a.type().lanes()), *holds));
    }
    auto f = add(known.exact_form(b), known.exact_form(a), -1);
    if (op == NodeKind::LT) f = minus_one(std::move(f));
    if (!f) return raw(op, a, b);
    recombine(*f, Sums::AreExact);
    NodeKind zero_op = op == NodeKind::LT || op == NodeKind::LE ? NodeKind::GE : op;
    Type t = a.type();
    if (t.is_scalar()) {
        Expr e = make_comparison(zero_op, *f, t);
        return e.defined() ? e : raw(op, a, b);
    }
    if (auto scalar = scalar_form(*f)) {
        Expr e = make_comparison(zero_op, *scalar, t.element_of());
        if (e.defined()) return make_broadcast(e, t.lanes());
    }
    ConstantInterval i{known.lower_bound(*f, 1), known.upper_bound(*f, -1)};
    if (zero_op == NodeKind::GE) {
        if (i.min >= 0) return intern(const_true(t.lanes()));
        if (i.max < 0) return intern(const_false(t.lanes()));
    } else if (i.min > 0 || i.max < 0) {
        return intern(make_const(Bool(t.lanes()), zero_op == NodeKind::NE));
    }
    Expr node = raw(op, a, b), rewritten = apply_rules(node);
    return rewritten.defined() ? rewritten : node;
}

Expr Rewriter::make_comparison(NodeKind op, const LinearForm &f, Type t) {
    if (f.is_constant()) return intern(make_const(Bool(), holds(op, f.constant)));
    if (op == NodeKind::GE) return make_at_least_zero(f, t);
    return make_equality(f, t, op == NodeKind::EQ);
}

Expr Rewriter::make_at_least_zero(LinearForm f, Type t) {
    if (f.is_constant()) return intern(make_const(Bool(), f.constant >= 0));
    if (known.lower_bound(f, 0) >= 0) return intern(const_true());
    if (known.upper_bound(f, -1) <= -1) return intern(const_false());
    int64_t g = gcd_of_terms(f);
    for (LinearTerm &term : f.terms) term.coefficient /= g;
    f.constant = floor_div(f.constant, g);
    const LinearTerm &first = f.terms[0];
    const auto *d = first.atom.as<Div>();
    auto k = d && f.terms.size() == 1 ? as_const_int(d->b) : std::nullopt;
    if (k && *k > 0) {
        // u / k >= -c  is  u >= -c * k, and u / k <= c  is  u <= c * k + k - 1.
        auto u = scale(known.exact_form(d->a), first.coefficient);
        LinearForm bound{{}, f.constant};
        auto moved = u ? add(*u, bound, *k) : std::nullopt;
        if (moved && first.coefficient < 0) moved = add(*moved, LinearForm{{}, *k - 1});
        if (moved) {
            recombine(*moved, Sums::AreExact);
            Expr e = make_at_least_zero(*moved, t);
            if (e.defined()) return e;
        }
    }
    Expr split = split_comparison(f, t);
    return split.defined() ? split : emit_comparison(NodeKind::GE, f, t);
}

// If one side of a min, max or select decides the comparison, compares the other side instead.
Expr Rewriter::split_comparison(const LinearForm &f, Type t) {
    if (f.terms.size() > max_split_terms) return {};
    for (const LinearTerm &term : f.terms) {
        Expr u, v, q;
        bool both = false;  // whether both sides must hold
        if (const auto *m = term.atom.as<Min>()) {
            u = m->a, v = m->b, both = term.coefficient > 0;
        } else if (const auto *m = term.atom.as<Max>()) {
            u = m->a, v = m->b, both = term.coefficient < 0;
        } else if (const auto *s = term.atom.as<Select>()) {
            u = s->true_value, v = s->false_value, q = s->condition;
        } else {
            continue;
        }
        auto with_u = known.substitute(f, term, u), with_v = known.substitute(f, term, v);
        if (!with_u || !with_v) continue;
        recombine(*with_u, Sums::AreExact);
        recombine(*with_v, Sums::AreExact);
        auto decide = [&](const LinearForm &g) {
            if (known.lower_bound(g, 0) >= 0) return 1;
            return known.upper_bound(g, -1) <= -1 ? 0 : -1;
        };
        int at_u = decide(*with_u), at_v = decide(*with_v);
        if (at_u < 0 && at_v < 0) continue;
        Expr rest_u = at_u < 0 ? make_at_least_zero(*with_u, t) : intern(make_const(Bool(), at_u));
        Expr rest_v = at_v < 0 ? make_at_least_zero(*with_v, t) : intern(make_const(Bool(), at_v));
        if (!rest_u.defined() || !rest_v.defined()) continue;
        if (q.defined()) return make_select(q, rest_u, rest_v);
        return make(both ? NodeKind::And : NodeKind::Or, rest_u, rest_v);
    }
    return {};
}

Expr Rewriter::make_equality(LinearForm f, Type t, bool equal) {
    Expr no = intern(make_const(Bool(), !equal));
    if (known.lower_bound(f, 1) >= 1 || known.upper_bound(f, -1) <= -1) return no;
    bool is_zero = known.lower_bound(f, 0) >= 0 && known.upper_bound(f, 0) <= 0;
    if (is_zero) return intern(make_const(Bool(), equal));
    ir::Alignment congruence = known.alignment(f);
    if (congruence.modulus > 1 && congruence.remainder != 0) return no;
    int64_t g = gcd_of_terms(f);
    if (f.constant % g != 0) return no;
    for (LinearTerm &term : f.terms) term.coefficient /= g;
    f.constant /= g;
    if (f.terms[0].coefficient < 0) {
        auto negated = scale(f, -1);
        if (!negated) return {};  // a == INT64_MIN stays as it is written
        f = *negated;
    }
    NodeKind op = equal ? NodeKind::EQ : NodeKind::NE;
    Expr node = emit_comparison(op, f, t);
    if (!node.defined()) return node;
    Expr rewritten = apply_rules(node);
    return rewritten.defined() ? rewritten : node;
}

Expr Rewriter::emit_comparison(NodeKind op, const LinearForm &f, Type t) {
    if (f.constant == ConstantInterval::lowest) return {};
    LinearForm right, left;  // left <= right + constant
    for (const LinearTerm &term : f.terms) {
        if (term.coefficient > 0) {
            right.terms.push_back(term);
        } else {
            left.terms.push_back({term.atom, -term.coefficient});
        }
    }
    int64_t c = f.constant;
    NodeKind kind = NodeKind::LE;
    if (op != NodeKind::GE) {
        // The first term is positive: it goes to the left, the constant to the right.
        std::swap(left, right);
        right.constant = -c;
        kind = op;
    } else if (left.terms.empty()) {
        left.constant = -c;
    } else if (right.terms.empty() || c > 0) {
        kind = NodeKind::LT;
        right.constant = c + 1;
    } else if (c < 0) {
        kind = NodeKind::LT;
        left.constant = -c - 1;
    }
    bool stays = known.may_overflow(left, t) || known.may_overflow(right, t);
    if (stays) return {};
    Expr a = make_expr(left, t), b = make_expr(right, t);
    return a.defined() && b.defined() ? raw(kind, a, b) : Expr();
}

}  // namespace tessera::algebra
