#include "algebra/common_divisor.h"
#include "algebra/rewriter.h"
#include "ir/operators.h"
#include <algorithm>

// Sums and products of exact integers (int32, int64 and vectors of them), by linear forms.
namespace tessera::algebra {

using namespace ir;

namespace {

constexpr size_t max_factors = 8;  // longer products are left as they are
constexpr int max_merging = 3;     // selects whose values are selects that become one, and so on

// The factor of everything in the form, the constant included.
int64_t content_of(const LinearForm &f) {
    int64_t g = common_divisor(f.constant, 0);
    for (const LinearTerm &t : f.terms) g = common_divisor(g, t.coefficient);
    return g;
}

void collect_factors(const Expr &e, std::vector<Expr> &factors) {
    const auto *m = e.as<Mul>();
    if (m && !is_const(m->b)) {
        collect_factors(m->a, factors);
        factors.push_back(m->b);
    } else {
        factors.push_back(e);
    }
}

size_t count_factors(const Expr &e) {
    const auto *m = e.as<Mul>();
    return m ? count_factors(m->a) + 1 : 1;
}

}  // namespace

Expr Rewriter::make_expr(const LinearForm &f, Type t) {
    if (!is_representable(f, t)) return {};
    Expr e = to_expr(f, t);
    return e.defined() ? intern(e) : e;
}

Expr Rewriter::make_sum(const Expr &a, const Expr &b, int64_t factor) {
    auto f = add(known.form(a), known.form(b), factor);
    if (f) {
        recombine(*f, Sums::MayWrap);
        Expr e = make_expr(*f, a.type());
        if (e.defined()) return e;
    }
    if (factor == 1) return raw(NodeKind::Add, a, b);
    if (factor == -1) return raw(NodeKind::Sub, a, b);
    return raw(NodeKind::Add, a, raw(NodeKind::Mul, b, intern(make_const(b.type(), factor))));
}

Expr Rewriter::make_product(const Expr &a, const Expr &b) {
    if (is_const(a)) return is_const(b) ? raw(NodeKind::Mul, a, b) : make_product(b, a);
    if (auto c = as_const_int(b)) {
        auto f = scale(known.form(a), *c);
        Expr e = f ? make_expr(*f, a.type()) : Expr();
        return e.defined() ? e : raw(NodeKind::Mul, a, b);
    }
    int64_t coefficient = 1;
    std::vector<Expr> factors;
    for (const Expr &operand : {a, b}) {
        const LinearForm &f = known.form(operand);
        int64_t g = content_of(f);
        if (f.terms.size() == 1 && f.constant == 0) g = f.terms[0].coefficient;
        int64_t product = 0;
        if (g == 0 || __builtin_mul_overflow(coefficient, g, &product)) g = 1;
        if (g == 1) {
            collect_factors(operand, factors);
            continue;
        }
        LinearForm reduced = f;
        reduced.constant /= g;
        for (LinearTerm &t : reduced.terms) t.coefficient /= g;
        Expr e = make_expr(reduced, a.type());
        if (!e.defined()) return raw(NodeKind::Mul, a, b);
        coefficient = product;
        collect_factors(e, factors);
    }
    if (factors.size() > max_factors || count_factors(a) + count_factors(b) > max_factors) {
        return raw(NodeKind::Mul, a, b);
    }
    std::sort(factors.begin(), factors.end(), atom_before);
    Expr product = factors[0];
    for (size_t i = 1; i < factors.size(); i++) product = raw(NodeKind::Mul, product, factors[i]);
    if (coefficient == 1) return product;
    Expr e = make_expr(LinearForm{{{product, coefficient}}, 0}, a.type());
    return e.defined() ? e : raw(NodeKind::Mul, a, b);
}

// Returns true if that changed anything.
bool Rewriter::recombine(LinearForm &f, Sums sums) {
    bool changed = false;
    for (int i = 0; i < 64 && recombine_once(f, sums); i++) changed = true;
    return recombine_lanes(f, sums) || changed;
}

// The scalars that a vector's terms are made of, as they recombine by themselves.
bool Rewriter::recombine_lanes(LinearForm &f, Sums sums) {
    if (f.terms.size() < 2 || f.terms[0].atom.type().is_scalar()) return false;
    Type type = f.terms[0].atom.type(), element = type.element_of();
    LinearForm base, stride, rest{{}, f.constant};
    for (const LinearTerm &t : f.terms) {
        const auto *b = t.atom.as<Broadcast>();
        const auto *r = t.atom.as<Ramp>();
        if (b && b->value.type().is_scalar()) {
            if (!add_term(base, b->value, t.coefficient)) return false;
        } else if (r && r->base.type().is_scalar() && is_zero(r->base) && !is_const(r->stride)) {
            if (!add_term(stride, r->stride, t.coefficient)) return false;
        } else {
            rest.terms.push_back(t);
        }
    }
    bool changed = recombine(base, sums);
    if (!recombine(stride, sums) && !changed) return false;
    Expr b = make_expr(base, element), s = make_expr(stride, element);
    if (!b.defined() || !s.defined()) return false;
    auto sum = add(rest, known.form(intern(Broadcast::make(b, type.lanes()))));
    if (sum && !is_zero(s)) {
        sum =
            add(*sum, known.form(intern(Ramp::make(intern(make_zero(element)), s, type.lanes()))));
    }
    if (sum) f = *sum;
    return sum.has_value();
}

bool Rewriter::recombine_once(LinearForm &f, Sums sums) {
    for (size_t i = 0; i < f.terms.size(); i++) {
        LinearTerm t = f.terms[i];
        switch (t.atom.kind()) {
        case NodeKind::Div:
            if (recombine_division(f, t, sums)) return true;
            break;
        case NodeKind::Variable:
            if (t.coefficient > 0 && recombine_lets(f, t)) return true;
            break;
        case NodeKind::Min:
        case NodeKind::Select:
            for (size_t j = 0; j < f.terms.size(); j++) {
                if (j != i && recombine_pair(f, t, LinearTerm(f.terms[j]), sums)) return true;
            }
            break;
        default: break;
        }
    }
    return false;
}

// (u / k) * k + u % k is u, and u - (u / k) * k is u % k.
bool Rewriter::recombine_division(LinearForm &f, const LinearTerm &t, Sums sums) {
    const auto *d = t.atom.as<Div>();
    auto k = as_const_int(d->b);
    if (!k || *k <= 0 || t.coefficient % *k != 0) return false;
    LinearForm u = form_for(d->a, sums);
    int64_t factor = t.coefficient / *k;
    LinearForm quotient{{{t.atom, t.coefficient}}, 0};
    Expr modulus = make_modulus(d->a, *k);
    std::optional<LinearForm> r;
    const auto *m = modulus.as<Mod>();
    if (m && f.coefficient_of(modulus) == factor) {
        r = add(f, LinearForm{{{modulus, factor}}, 0}, -1);
        if (r) r = add(*r, u, factor);
    } else {
        bool all = !u.terms.empty();
        for (const LinearTerm &o : u.terms) {
            int64_t wanted = 0;
            all &= !__builtin_mul_overflow(o.coefficient, -factor, &wanted);
            all = all && f.coefficient_of(o.atom) == wanted;
        }
        if (!all) return false;
        r = add(f, u, factor);
        if (r) r = add(*r, form_for(modulus, sums), -factor);
    }
    if (r) r = add(*r, quotient, -1);
    if (!r || r->terms.size() >= f.terms.size()) return false;
    f = *r;
    return true;
}

// The difference of two lets whose values lie a constant apart.
bool Rewriter::recombine_lets(LinearForm &f, const LinearTerm &t) {
    if (f.terms.size() < 2 || !known.has_value(t.atom)) return false;
    for (const LinearTerm &o : f.terms) {
        if (o.coefficient != -t.coefficient || !known.has_value(o.atom)) continue;
        LinearForm pair{{{t.atom, 1}}, 0};
        if (!add_term(pair, o.atom, -1)) continue;
        LinearForm gap = known.with_values(pair);
        if (!gap.is_constant()) continue;
        auto r = add(f, pair, -t.coefficient);
        if (r) r = add(*r, gap, t.coefficient);
        if (!r) continue;
        f = *r;
        return true;
    }
    return false;
}

namespace {

bool are_min_and_max_of_same(const LinearTerm &s, const LinearTerm &t) {
    const auto *low = s.atom.as<Min>();
    const auto *high = t.atom.as<Max>();
    return low && high && low->a.same_as(high->a) && low->b.same_as(high->b) &&
           s.coefficient == t.coefficient;
}

bool are_selects_by_same(const LinearTerm &s, const LinearTerm &t) {
    const auto *p = s.atom.as<Select>(), *q = t.atom.as<Select>();
    return p && q && p->condition.same_as(q->condition) && std::abs(s.coefficient) == 1 &&
           std::abs(t.coefficient) == 1;
}

}  // namespace

// Undefined where a sum may wrap that has to be exact.
Expr Rewriter::sum_of_selects(const Select &p, const Select &q, int64_t factor, Sums sums) {
    auto sum = [&](const Expr &a, const Expr &b) -> Expr {
        const auto f = add(form_for(a, sums), form_for(b, sums), factor);
        const bool wraps = sums == Sums::AreExact && (!f || known.may_overflow(*f, a.type()));
        return wraps ? Expr() : make_sum(a, b, factor);
    };
    merging++;
    const Expr u = sum(p.true_value, q.true_value), v = sum(p.false_value, q.false_value);
    const Expr merged = u.defined() && v.defined() ? make_select(p.condition, u, v) : Expr();
    merging--;
    return merged;
}

// min(a, b) + max(a, b) is a + b; select(q, a, b) + select(q, c, d) is select(q, a + c, b + d).
bool Rewriter::recombine_pair(LinearForm &f, const LinearTerm &s, const LinearTerm &t, Sums sums) {
    const bool selects = are_selects_by_same(s, t) && merging < max_merging;
    if (!selects && !are_min_and_max_of_same(s, t)) return false;
    LinearForm both{{s}, 0};
    if (!add_term(both, t.atom, t.coefficient)) return false;
    std::optional<LinearForm> r = add(f, both, -1);
    if (!r) return false;
    if (const auto *low = s.atom.as<Min>()) {
        r = add(*r, form_for(low->a, sums), s.coefficient);
        if (r) r = add(*r, form_for(low->b, sums), s.coefficient);
    } else {
        Expr merged = sum_of_selects(*s.atom.as<Select>(), *t.atom.as<Select>(),
                                     s.coefficient * t.coefficient, sums);
        if (!merged.defined()) return false;
        r = add(*r, form_for(merged, sums), s.coefficient);
    }
    if (!r) return false;
    f = *r;
    return true;
}

}  // namespace tessera::algebra
