#include "algebra/common_divisor.h"
#include "algebra/node_info.h"
#include "ir/operators.h"
#include <algorithm>

// The alignments of nodes and of forms.
namespace tessera::algebra {

using namespace ir;

namespace {

__extension__ using Wide = __int128;

Alignment reduced(int64_t modulus, Wide remainder) {
    modulus = common_divisor(modulus, 0);
    if (modulus == 0) {
        bool fits = remainder >= ConstantInterval::lowest && remainder <= ConstantInterval::highest;
        return fits ? Alignment{0, int64_t(remainder)} : Alignment{1, 0};
    }
    int64_t r = int64_t(remainder % modulus);
    return {modulus, r < 0 ? r + modulus : r};
}

Alignment scaled(const Alignment &a, int64_t factor) {
    int64_t modulus = 0;
    if (__builtin_mul_overflow(a.modulus, factor, &modulus)) return {1, 0};
    return reduced(modulus, Wide(a.remainder) * factor);
}

Alignment sum(const Alignment &a, const Alignment &b) {
    return reduced(common_divisor(a.modulus, b.modulus), Wide(a.remainder) + b.remainder);
}

Alignment product(const Alignment &a, const Alignment &b) {
    int64_t mm = 0, mr = 0, rm = 0;
    if (__builtin_mul_overflow(a.modulus, b.modulus, &mm) ||
        __builtin_mul_overflow(a.modulus, b.remainder, &mr) ||
        __builtin_mul_overflow(a.remainder, b.modulus, &rm)) {
        return {1, 0};
    }
    return reduced(common_divisor(mm, common_divisor(mr, rm)), Wide(a.remainder) * b.remainder);
}

// Returns what holds of the value when its arithmetic wraps in the type: modulo powers of two.
Alignment wrapped(Type t, const Alignment &a) {
    if (a.modulus == 0) return t.element_of().can_represent(a.remainder) ? a : Alignment{1, 0};
    const int64_t power = a.modulus & -a.modulus;
    return reduced(std::min(power, int64_t(1) << (t.bits() - 2)), a.remainder);
}

// Returns an alignment that holds for the values of both.
Alignment either(const Alignment &a, const Alignment &b) {
    Wide difference = Wide(a.remainder) - b.remainder;
    if (difference > ConstantInterval::highest || difference <= ConstantInterval::lowest) {
        return {1, 0};
    }
    return reduced(common_divisor(common_divisor(a.modulus, b.modulus), int64_t(difference)),
                   a.remainder);
}

}  // namespace

// A remainder: the atom, or the value of the let that it names; null if it is none.
const Mod *NodeInfo::as_remainder(const Expr &atom) {
    const Expr *e = &atom;
    if (const auto *v = atom.as<Variable>()) {
        const KnownVariable *known = facts.find(v->name);
        if (!known || !known->value.defined()) return nullptr;
        e = &known->value;
    }
    const auto *mod = e->as<Mod>();
    auto k = mod && is_exact(e->type()) ? as_const_int(mod->b) : std::nullopt;
    return k && *k > 0 ? mod : nullptr;
}

// Remainders by k are what they are of, but for a multiple of k: so x - (x + 1) % 2 is odd.
Alignment NodeInfo::alignment(const LinearForm &f) {
    Alignment r{0, f.constant};
    for (const LinearTerm &t : f.terms) r = sum(r, scaled(alignment(t.atom), t.coefficient));
    Alignment up_to{0, 0};  // what the remainders are known up to
    std::optional<LinearForm> without = f;
    for (const LinearTerm &t : f.terms) {
        const Mod *mod = as_remainder(t.atom);
        if (!mod || !without) continue;
        up_to = sum(up_to, scaled({as_const_int(mod->b).value_or(1), 0}, t.coefficient));
        without = add(*without, LinearForm{{{t.atom, 1}}, 0}, -t.coefficient);
        if (without) without = add(*without, exact_form(mod->a), t.coefficient);
    }
    if (!without || up_to.modulus <= 1) return r;
    for (const LinearTerm &t : without->terms) {
        up_to = sum(up_to, scaled(alignment(t.atom), t.coefficient));
    }
    up_to = sum(up_to, {0, without->constant});
    // Both alignments hold: the finer one is taken.
    return r.modulus != 0 && up_to.modulus > r.modulus ? up_to : r;
}

Alignment NodeInfo::compute_alignment(const Expr &e) {
    if (auto c = as_const_int(e)) return {0, *c};
    if (!is_exact(e.type())) return {1, 0};
    const LinearForm &f = forms.of(e);
    if (!is_atom(f, e)) {
        return is_atom(exact_form(e), e) ? wrapped(e.type(), alignment(f)) : alignment(f);
    }
    switch (e.kind()) {
    case NodeKind::Variable: {
        const KnownVariable *known = facts.find(e.as<Variable>()->name);
        return known ? known->alignment : Alignment{1, 0};
    }
    case NodeKind::Cast: {
        const Expr &v = e.as<Cast>()->value;
        return is_exact(v.type()) && e.type().bits() >= v.type().bits() ? alignment(v)
                                                                        : Alignment{1, 0};
    }
    case NodeKind::Mul: {
        const Alignment a = product(alignment(e.as<Mul>()->a), alignment(e.as<Mul>()->b));
        const bool wraps = is_data(compute_origin(e)) && !fits_in(e.type(), compute_interval(e));
        return wraps ? wrapped(e.type(), a) : a;
    }
    case NodeKind::Min: return either(alignment(e.as<Min>()->a), alignment(e.as<Min>()->b));
    case NodeKind::Max: return either(alignment(e.as<Max>()->a), alignment(e.as<Max>()->b));
    case NodeKind::Select:
        return either(alignment(e.as<Select>()->true_value),
                      alignment(e.as<Select>()->false_value));
    case NodeKind::Mod: {
        // u % k is u minus a multiple of k; but it is 0 for k == 0.
        auto k = as_const_int(e.as<Mod>()->b);
        if (!k || *k == 0) return {1, 0};
        return sum(alignment(e.as<Mod>()->a), Alignment{common_divisor(*k, 0), 0});
    }
    case NodeKind::Div: {
        auto k = as_const_int(e.as<Div>()->b);
        Alignment a = alignment(e.as<Div>()->a);
        if (!k || *k <= 0 || a.modulus % *k != 0) return {1, 0};
        return reduced(a.modulus / *k, floor_div(a.remainder, *k));
    }
    case NodeKind::Broadcast: return alignment(e.as<Broadcast>()->value);
    case NodeKind::Ramp: {
        if (e.as<Ramp>()->base.type().is_vector()) return {1, 0};
        Alignment base = alignment(e.as<Ramp>()->base), step = alignment(e.as<Ramp>()->stride);
        return sum(base, Alignment{common_divisor(step.modulus, step.remainder), 0});
    }
    case NodeKind::IntrinsicCall: {
        const auto *c = e.as<IntrinsicCall>();
        bool same = is_likely(e) || c->op == Intrinsic::promise_clamped ||
                    c->op == Intrinsic::unsafe_promise_clamped;
        return same ? alignment(c->args[0]) : Alignment{1, 0};
    }
    default: return {1, 0};
    }
}

}  // namespace tessera::algebra
