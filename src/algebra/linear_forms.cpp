#include "algebra/linear_forms.h"
#include "algebra/constant_interval.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::algebra {

using namespace ir;

namespace {

// Longer sums become atoms: those of indices, and those of what is computed with, where little
// cancels.
constexpr size_t max_terms = 24, max_data_terms = 8;

bool is_data(const Expr &atom) {
    switch (atom.kind()) {
    case NodeKind::Load:
    case NodeKind::Call:
    case NodeKind::ExternCall:
    case NodeKind::Cast: return true;
    default: return false;
    }
}

bool is_too_long(const LinearForm &f) {
    if (f.terms.size() <= max_data_terms) return false;
    if (f.terms.size() > max_terms) return true;
    return std::any_of(f.terms.begin(), f.terms.end(),
                       [](const LinearTerm &t) { return is_data(t.atom); });
}

bool is_one_atom(const LinearForm &f) {
    return f.constant == 0 && f.terms.size() == 1 && f.terms[0].coefficient == 1;
}

}  // namespace

bool is_representable(const LinearForm &f, Type t) {
    Type s = t.element_of();
    if (is_too_long(f) || !s.can_represent(f.constant)) return false;
    if (f.constant == ConstantInterval::lowest) return false;
    for (const LinearTerm &term : f.terms) {
        if (!s.can_represent(term.coefficient) || term.coefficient <= -s.max_int()) return false;
    }
    return true;
}

const LinearForm &LinearForms::of(const Expr &e) {
    if (const auto *found = forms.find(e.get())) return **found;
    Expr kept = nodes.intern(e);  // keeps the key alive
    if (!kept.same_as(e)) return of(kept);
    auto computed = std::make_unique<LinearForm>(compute(kept));
    auto &slot = forms[kept.get()];
    slot = std::move(computed);
    return *slot;
}

LinearForm LinearForms::compute(const Expr &e) {
    if (auto c = as_const_int(e)) return {{}, *c};
    std::optional<LinearForm> f;
    if (const auto *b = e.as<Broadcast>()) {
        f = compute_broadcast(*b);
    } else if (const auto *r = e.as<Ramp>()) {
        f = compute_ramp(*r);
    } else {
        f = compute_sum(e);
        if (f && !is_representable(*f, e.type())) f.reset();
    }
    return f ? std::move(*f) : LinearForm{{{e, 1}}, 0};
}

std::optional<LinearForm> LinearForms::compute_sum(const Expr &e) {
    if (const auto *n = e.as<Add>()) return add(of(n->a), of(n->b), 1);
    if (const auto *n = e.as<Sub>()) return add(of(n->a), of(n->b), -1);
    const auto *n = e.as<Mul>();
    auto c = n ? as_const_int(n->b) : std::nullopt;
    return c ? scale(of(n->a), *c) : std::nullopt;
}

std::optional<LinearForm> LinearForms::compute_broadcast(const Broadcast &b) {
    if (!b.value.type().is_scalar()) return std::nullopt;
    LinearForm v = of(b.value);
    if (is_one_atom(v) && v.terms[0].atom.same_as(b.value)) return std::nullopt;
    LinearForm r{{}, v.constant};
    for (const LinearTerm &t : v.terms) {
        Expr lanes = nodes.intern(Broadcast::make(t.atom, b.lanes));
        if (!add_term(r, lanes, t.coefficient)) return std::nullopt;
    }
    return r;
}

std::optional<LinearForm> LinearForms::compute_ramp(const Ramp &ramp) {
    if (!ramp.base.type().is_scalar()) return std::nullopt;
    LinearForm s = of(ramp.stride);
    bool unit = s.is_constant() ? s.constant == 1 : is_one_atom(s);
    if (unit && is_zero(ramp.base)) return std::nullopt;
    LinearForm r = of(nodes.intern(Broadcast::make(ramp.base, ramp.lanes)));
    Expr zero = make_zero(ramp.base.type());
    auto put = [&](const Expr &stride, int64_t coefficient) {
        return add_term(r, nodes.intern(Ramp::make(zero, stride, ramp.lanes)), coefficient);
    };
    if (s.constant != 0 && !put(make_one(ramp.base.type()), s.constant)) return std::nullopt;
    for (const LinearTerm &t : s.terms) {
        if (!put(t.atom, t.coefficient)) return std::nullopt;
    }
    return r;
}

const LinearForm &LinearForms::as_atom(const Expr &e) {
    if (const auto *found = atoms.find(e.get())) return **found;
    Expr kept = nodes.intern(e);  // keeps the key alive
    if (!kept.same_as(e)) return as_atom(kept);
    auto &slot = atoms[kept.get()];
    slot = std::make_unique<LinearForm>(LinearForm{{{kept, 1}}, 0});
    return *slot;
}

}  // namespace tessera::algebra
