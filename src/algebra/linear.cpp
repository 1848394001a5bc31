#include "algebra/linear.h"
#include "algebra/simplifier.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace tessera::algebra {

using namespace ir;

namespace {

int rank_of(const Expr &e) {
    if (e.as<Variable>()) return 0;
    if (const auto *b = e.as<Broadcast>()) return b->value.as<Variable>() ? 1 : 2;
    return 3;
}

uint64_t symbol_of(const Expr &e) {
    if (const auto *v = e.as<Variable>()) return v->name.id();
    if (const auto *b = e.as<Broadcast>()) return symbol_of(b->value);
    return 0;
}

bool fits(Type t, int64_t v) { return t.element_of().can_represent(v); }

}  // namespace

bool atom_before(const Expr &a, const Expr &b) {
    if (a.same_as(b)) return false;
    int rank_a = rank_of(a), rank_b = rank_of(b);
    if (rank_a != rank_b) return rank_a < rank_b;
    const uint64_t name_a = symbol_of(a), name_b = symbol_of(b);
    if (name_a != name_b) return name_a < name_b;
    return compare(a, b) < 0;
}

int64_t LinearForm::coefficient_of(const Expr &atom) const {
    for (const LinearTerm &t : terms) {
        if (t.atom.same_as(atom) || equal(t.atom, atom)) return t.coefficient;
    }
    return 0;
}

std::optional<LinearForm> scale(const LinearForm &a, int64_t factor) {
    return add(LinearForm(), a, factor);
}

bool add_term(LinearForm &sum, const Expr &atom, int64_t coefficient) {
    auto r = add(sum, LinearForm{{{atom, coefficient}}, 0});
    if (r) sum = std::move(*r);
    return r.has_value();
}

namespace {

// a, without the atom if there is one, + factor * b.
std::optional<LinearForm> combine(const LinearForm &a, const LinearForm &b, int64_t factor,
                                  const ExprNode *left_out) {
    LinearForm r;
    bool overflow = false;
    auto combined = [&](int64_t x, int64_t y) {
        int64_t product = 0, sum = 0;
        overflow |= __builtin_mul_overflow(y, factor, &product);
        overflow |= __builtin_add_overflow(x, product, &sum);
        return sum;
    };
    r.constant = combined(a.constant, b.constant);
    r.terms.reserve(a.terms.size() + b.terms.size());
    // Coefficients have a magnitude.
    auto put = [&](const Expr &atom, int64_t coefficient) {
        overflow |= coefficient == ConstantInterval::lowest;
        if (coefficient != 0) r.terms.push_back({atom, coefficient});
    };
    auto i = a.terms.begin(), j = b.terms.begin();
    while (i != a.terms.end() || j != b.terms.end()) {
        if (i != a.terms.end() && i->atom.get() == left_out) {
            ++i;
        } else if (j == b.terms.end() || (i != a.terms.end() && atom_before(i->atom, j->atom))) {
            r.terms.push_back(*i++);
        } else if (i == a.terms.end() || atom_before(j->atom, i->atom)) {
            put(j->atom, combined(0, j->coefficient));
            ++j;
        } else {
            put(i->atom, combined(i->coefficient, j->coefficient));
            ++i, ++j;
        }
    }
    if (overflow) return std::nullopt;
    return r;
}

}  // namespace

std::optional<LinearForm> add(const LinearForm &a, const LinearForm &b, int64_t factor) {
    return combine(a, b, factor, nullptr);
}

std::optional<LinearForm> replace(const LinearForm &f, const LinearTerm &t, const LinearForm &b) {
    return combine(f, b, t.coefficient, t.atom.get());
}

namespace {

Expr product(const Expr &e, int64_t coefficient, Type type) {
    const int64_t magnitude = std::abs(coefficient);
    return magnitude == 1 ? e : Mul::make(e, make_const(type, magnitude));
}

// The terms, divided by what all of them are a multiple of, and the constant: additions first. A
// single negative term is a product, which needs no other operand: x * -3.
Expr sum_of(std::span<const LinearTerm> terms, int64_t divisor, int64_t constant, Type type) {
    Expr sum;
    for (const LinearTerm &t : terms) {
        if (t.coefficient <= 0) continue;
        Expr term = product(t.atom, t.coefficient / divisor, type);
        sum = sum.defined() ? Add::make(sum, term) : term;
    }
    if (!sum.defined()) sum = make_const(type, std::exchange(constant, 0));
    for (const LinearTerm &t : terms) {
        if (t.coefficient > 0) continue;
        sum = Sub::make(sum, product(t.atom, t.coefficient / divisor, type));
    }
    if (constant == 0) return sum;
    bool lowest = constant == ConstantInterval::lowest;
    if (constant > 0 || lowest || !fits(type, -constant)) {
        return Add::make(sum, make_const(type, constant));
    }
    return Sub::make(sum, make_const(type, -constant));
}

// The size that all coefficients have; 1 if they differ or there is only one.
int64_t shared_magnitude(const std::vector<LinearTerm> &terms) {
    if (terms.size() < 2) return 1;
    int64_t magnitude = std::abs(terms[0].coefficient);
    for (const LinearTerm &t : terms) {
        if (std::abs(t.coefficient) != magnitude) return 1;
    }
    return magnitude;
}

Expr scalar_expr(const LinearForm &f, Type type) {
    if (!fits(type, f.constant)) return {};
    for (const LinearTerm &t : f.terms) {
        bool ok = fits(type, t.coefficient) && t.coefficient > -type.max_int();
        if (!ok) return {};
    }
    if (f.terms.empty()) return make_const(type, f.constant);
    int64_t shared = shared_magnitude(f.terms);
    if (shared == 1) return sum_of(f.terms, 1, f.constant, type);
    const LinearTerm all{sum_of(f.terms, shared, 0, type), shared};
    return sum_of({&all, 1}, 1, f.constant, type);
}

// Broadcasts and ramps that start at zero are put together again as one ramp or broadcast.
Expr vector_expr(const LinearForm &f, Type type) {
    LinearForm base, stride, rest;
    base.constant = f.constant;
    Type element = type.element_of();
    for (const LinearTerm &t : f.terms) {
        const auto *b = t.atom.as<Broadcast>();
        const auto *r = t.atom.as<Ramp>();
        if (b && b->value.type().is_scalar()) {
            base.terms.push_back({b->value, t.coefficient});
        } else if (r && r->base.type().is_scalar() && is_zero(r->base)) {
            auto v = as_const_int(r->stride);
            if (v) {
                stride.constant = t.coefficient * *v;
            } else {
                stride.terms.push_back({r->stride, t.coefficient});
            }
        } else {
            rest.terms.push_back(t);
        }
    }
    auto order = [](const LinearTerm &a, const LinearTerm &b) {
        return atom_before(a.atom, b.atom);
    };
    std::sort(base.terms.begin(), base.terms.end(), order);
    std::sort(stride.terms.begin(), stride.terms.end(), order);
    Expr b = scalar_expr(base, element), s = scalar_expr(stride, element);
    if (!b.defined() || !s.defined()) return {};
    bool only_constant = base.terms.empty() && is_zero(s);
    Expr lanes = is_zero(s) ? Broadcast::make(b, type.lanes()) : Ramp::make(b, s, type.lanes());
    if (rest.terms.empty()) return lanes;
    rest.constant = only_constant ? f.constant : 0;
    Expr others = scalar_expr(rest, type);
    if (!others.defined() || only_constant) return others;
    bool all_negative = std::all_of(rest.terms.begin(), rest.terms.end(),
                                    [](const LinearTerm &t) { return t.coefficient < 0; });
    if (!all_negative) return Add::make(others, lanes);
    auto negated = scale(rest, -1);
    return Sub::make(lanes, scalar_expr(negated.value(), type));
}

}  // namespace

Expr to_expr(const LinearForm &form, Type type) {
    return type.is_scalar() ? scalar_expr(form, type) : vector_expr(form, type);
}

LinearForm linear_form(const Expr &e, const Facts &facts) {
    if (!is_exact(e.type()) || e.type().is_vector()) {
        throw InternalError(str("linear_form of ", e.type()));
    }
    Simplifier simplifier(facts);
    return simplifier.known.form(simplifier(e));
}

bool may_wrap(const Expr &e) {
    if (!is_exact(e.type())) return false;
    bool reads = false;
    for_each_node(e, [&](const Load &) { reads = true; });
    for_each_node(e, [&](const Call &) { reads = true; });
    for_each_node(e, [&](const ExternCall &) { reads = true; });
    for_each_node(e, [&](const Cast &c) { reads |= c.value.type().is_float(); });
    if (!reads) return false;
    Simplifier s;
    const Expr simple = s(e);
    return !(s.known.exact_form(simple) == s.known.form(simple));
}

ir::Alignment alignment_of(const Expr &e, const Facts &facts) {
    const Facts some = facts_about(e, facts);  // the simplifier refers to it
    Simplifier simplifier(some);
    return simplifier.known.alignment(simplifier(e));
}

}  // namespace tessera::algebra
