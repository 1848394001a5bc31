#include "algebra/common_divisor.h"
#include "algebra/rewriter.h"
#include "ir/operators.h"
#include <algorithm>

// Division and modulus of exact integers by a constant k. The operand is k * Q + R, where R keeps
// what k does not divide; a is R / k + Q, and R % k. An operand that may wrap stays, and so does
// one of which R may wrap though it does not itself: (x - 5) / 3 = (x + 1) / 3 - 2 fails for the
// largest x.
namespace tessera::algebra {

using namespace ir;

namespace {

// Terms of known remainder, apart from the others.
struct Aligned {
    LinearForm aligned, rest;  // rest has the constant
    int64_t modulus = 0, remainder = 0;
};

int64_t positive_mod(int64_t a, int64_t b) { return euclidean_mod(a, b); }

// Splits R such that `aligned` is `remainder` modulo `modulus` > 1, a divisor of k.
Aligned split_aligned(Knowledge &known, const LinearForm &r, int64_t k) {
    Aligned a;
    a.rest.constant = r.constant;
    for (const LinearTerm &t : r.terms) {
        ir::Alignment congruence = known.alignment(LinearForm{{t}, 0});
        int64_t g = common_divisor(congruence.modulus, k);
        if (g > 1) {
            a.aligned.terms.push_back(t);
            a.modulus = common_divisor(a.modulus, g);
            a.remainder += positive_mod(congruence.remainder, g);
        } else {
            a.rest.terms.push_back(t);
        }
    }
    if (a.modulus > 1) a.remainder = positive_mod(a.remainder, a.modulus);
    return a;
}

// If aligned + rest never leaves one period of the modulus, the constant that can stand for `rest`
// in a division by k.
std::optional<int64_t> constant_for_rest(Knowledge &known, const Aligned &a) {
    if (a.modulus <= 1) return std::nullopt;
    ConstantInterval offset = known.interval(a.rest) + ConstantInterval::point(a.remainder);
    if (!offset.bounded()) return std::nullopt;
    int64_t period = floor_div(offset.min, a.modulus);
    if (period != floor_div(offset.max, a.modulus)) return std::nullopt;
    return period == 0 ? 0 : period * a.modulus - a.remainder;
}

// floor(f / k), if it is the same for all values of f.
std::optional<int64_t> constant_quotient(Knowledge &known, const LinearForm &f, int64_t k) {
    ConstantInterval i = known.interval(f);
    if (i.bounded() && floor_div(i.min, k) == floor_div(i.max, k)) return floor_div(i.min, k);
    if (known.is_unbounded(f)) return std::nullopt;
    int64_t low = known.lower_bound(f);
    if (low == ConstantInterval::lowest) return std::nullopt;
    int64_t q = floor_div(low, k), last = 0;
    if (__builtin_mul_overflow(q, k, &last) || __builtin_add_overflow(last, k - 1, &last)) {
        return std::nullopt;
    }
    if (known.upper_bound(f, last) > last) return std::nullopt;
    return q;
}

}  // namespace

// The quotient or remainder, with nothing moved.
Expr Rewriter::as_written(NodeKind op, const Expr &a, int64_t k) {
    if (const auto *b = a.as<Broadcast>()) {
        return make_broadcast(make_normal(op, b->value, intern(make_const(b->value.type(), k))),
                              b->lanes);
    }
    return raw(op, a, intern(make_const(a.type(), k)));
}

Expr Rewriter::make_division(const Expr &a, int64_t k) {
    Type t = a.type();
    if (k == 0) return intern(make_zero(t));
    if (k == 1) return a;
    if (k < 0) {
        if (k == ConstantInterval::lowest || !t.element_of().can_represent(-k)) {
            return as_written(NodeKind::Div, a, k);
        }
        return make_sum(intern(make_zero(t)), make_division(a, -k), -1);
    }
    const int64_t whole_k = k;
    const LinearForm whole = known.exact_form(a);
    LinearForm q, r;
    for (const LinearTerm &term : whole.terms) {
        if (term.coefficient % k == 0) {
            q.terms.push_back({term.atom, term.coefficient / k});
        } else {
            r.terms.push_back(term);
        }
    }
    int64_t constant = whole.constant;
    auto finish = [&](const Expr &quotient) {
        Expr multiple = make_expr(q, t);
        return quotient.defined() ? make_sum(multiple, quotient, 1) : multiple;
    };
    int64_t g = k;
    for (const LinearTerm &term : r.terms) g = common_divisor(g, term.coefficient);
    for (LinearTerm &term : r.terms) term.coefficient /= g;
    constant = floor_div(constant, g);
    k /= g;
    q.constant = floor_div(constant, k);
    r.constant = positive_mod(constant, k);
    if (r.terms.empty()) return finish({});
    if (auto fixed = constant_quotient(known, r, k)) {
        q.constant += *fixed;
        return finish({});
    }
    if (k == 1) return finish(make_expr(r, t));
    if (!(r == whole) && known.may_overflow(r, t)) {
        return as_written(NodeKind::Div, a, whole_k);
    }
    Aligned parts = split_aligned(known, r, k);
    if (auto c = constant_for_rest(known, parts);
        c && (!parts.rest.terms.empty() || *c != r.constant)) {
        parts.aligned.constant = *c;
        if (!known.may_overflow(parts.aligned, t)) {
            return finish(make_division(make_expr(parts.aligned, t), k));
        }
    }
    if (r.terms.size() == 1 && r.terms[0].coefficient == 1) {
        const auto *inner = r.terms[0].atom.as<Div>();
        auto m = inner ? as_const_int(inner->b) : std::nullopt;
        int64_t product = 0, moved = 0;
        if (m && *m > 0 && !__builtin_mul_overflow(*m, k, &product) &&
            !__builtin_mul_overflow(*m, r.constant, &moved) &&
            t.element_of().can_represent(product) && t.element_of().can_represent(moved)) {
            const auto f = add(known.exact_form(inner->a), LinearForm{{}, moved});
            if (f && !known.may_overflow(*f, t)) {
                Expr sum = make_sum(inner->a, intern(make_const(t, moved)), 1);
                return finish(make_division(sum, product));
            }
        }
    }
    Expr rest = make_expr(r, t), divisor = intern(make_const(t, k));
    if (const auto *b = rest.as<Broadcast>()) {
        return finish(make_broadcast(make_division(b->value, k), b->lanes));
    }
    Expr node = raw(NodeKind::Div, rest, divisor);
    Expr rewritten = apply_rules(node);
    return finish(rewritten.defined() ? rewritten : node);
}

Expr Rewriter::make_modulus(const Expr &a, int64_t k) {
    Type t = a.type();
    if (k == 0 || k == 1 || k == -1) return intern(make_zero(t));
    if (k < 0) {
        bool fits = k != ConstantInterval::lowest && t.element_of().can_represent(-k);
        return fits ? make_modulus(a, -k) : as_written(NodeKind::Mod, a, k);
    }
    if (const auto *inner = a.as<Mod>()) {
        auto m = as_const_int(inner->b);
        if (m && *m > 0 && *m % k == 0) return make_modulus(inner->a, k);
    }
    // A value that wraps has the same remainder modulo powers of two.
    const bool is_power = (k & (k - 1)) == 0;
    const LinearForm whole = is_power ? known.form(a) : known.exact_form(a);
    LinearForm r;
    r.constant = positive_mod(whole.constant, k);
    for (const LinearTerm &term : whole.terms) {
        if (term.coefficient % k == 0) continue;
        const auto *inner = term.atom.as<Mod>();
        auto m = inner ? as_const_int(inner->b) : std::nullopt;
        if (m && *m > 0 && *m % k == 0) {
            // Unless the sum might overflow, as (x % 1000 + y % 1000) % 1000 does not.
            auto replaced = known.substitute(whole, term, inner->a);
            bool fits = replaced && !known.may_overflow(*replaced, t);
            Expr e = fits ? make_expr(*replaced, t) : Expr();
            if (e.defined()) return make_modulus(e, k);
        }
        r.terms.push_back({term.atom, term.coefficient % k});
    }
    if (r.terms.empty()) return intern(make_const(t, r.constant));
    ir::Alignment congruence = known.alignment(r);
    if (congruence.modulus % k == 0) {
        return intern(make_const(t, positive_mod(congruence.remainder, k)));
    }
    if (auto q = constant_quotient(known, r, k)) {
        r.constant -= *q * k;
        return make_expr(r, t);
    }
    if (!(r == whole) && !is_power && known.may_overflow(r, t)) {
        return as_written(NodeKind::Mod, a, k);
    }
    int64_t g = k;
    for (const LinearTerm &term : r.terms) g = common_divisor(g, term.coefficient);
    if (g > 1) {
        LinearForm reduced{r.terms, floor_div(r.constant, g)};
        for (LinearTerm &term : reduced.terms) term.coefficient /= g;
        if (auto f = scale(known.form(make_modulus(make_expr(reduced, t), k / g)), g)) {
            f->constant += r.constant % g;
            return make_expr(*f, t);
        }
    }
    Aligned parts = split_aligned(known, r, k);
    if (auto c = constant_for_rest(known, parts);
        c && (!parts.rest.terms.empty() || *c != r.constant)) {
        parts.aligned.constant = *c;
        if (!known.may_overflow(parts.aligned, t)) {
            Expr modulus = make_modulus(make_expr(parts.aligned, t), k);
            parts.rest.constant -= *c;
            return make_sum(modulus, make_expr(parts.rest, t), 1);
        }
    }
    Expr rest = make_expr(r, t);
    if (const auto *b = rest.as<Broadcast>()) {
        return make_broadcast(make_modulus(b->value, k), b->lanes);
    }
    // A ramp may begin at any multiple of k.
    const auto *ramp = rest.as<Ramp>();
    if (ramp && ramp->base.type().is_scalar() && !ir::is_const(ramp->base)) {
        const ir::Alignment base = known.alignment(ramp->base);
        const Type element = ramp->base.type();
        if (base.modulus % k == 0) {
            const Expr first = intern(make_const(element, positive_mod(base.remainder, k)));
            return make_modulus(make_ramp(first, ramp->stride, ramp->lanes), k);
        }
    }
    Expr node = raw(NodeKind::Mod, rest, intern(make_const(t, k)));
    Expr rewritten = apply_rules(node);
    return rewritten.defined() ? rewritten : node;
}

}  // namespace tessera::algebra
