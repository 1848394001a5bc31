#include "algebra/node_info.h"
#include "ir/operators.h"

// The constant intervals of nodes.
namespace tessera::algebra {

using namespace ir;

namespace {

// All values of the type, also of those whose arithmetic is taken not to overflow; of 64 bits,
// what stands for unbounded.
ConstantInterval range_of(Type t) {
    if (t.bits() >= 64) return ConstantInterval::of_type(t);
    return {t.element_of().min_int(), t.element_of().max_int()};
}

}  // namespace

// The interval if no value of it wraps in the type, else all values of the type. Sums and products
// of coordinates never wrap.
ConstantInterval NodeInfo::unless_wrapped(const Expr &e, const ConstantInterval &i) {
    const Type t = e.type();
    const bool wraps = is_exact(t) && is_data(compute_origin(e));
    return (wraps ? fits_in(t, i) : i.fits(t)) ? i : ConstantInterval::of_type(t);
}

ConstantInterval NodeInfo::compute_interval(const Expr &e) {
    Type t = e.type();
    if (!t.is_int_or_uint()) return {};
    if (auto c = as_const_int(e)) return ConstantInterval::point(*c);
    if (is_exact(t)) {
        const LinearForm &f = exact_form(e);
        if (!is_atom(f, e)) return interval(f);
    }
    ConstantInterval all = ConstantInterval::of_type(t);
    switch (e.kind()) {
    case NodeKind::Variable: {
        const KnownVariable *known = facts.find(e.as<Variable>()->name);
        return known ? intersect(all, known->constants) : all;
    }
    case NodeKind::Cast: {
        Type from = e.as<Cast>()->value.type();
        if (!from.is_int_or_uint()) return all;
        ConstantInterval i = interval(e.as<Cast>()->value);
        if (!is_exact(t)) return unless_wrapped(e, i);
        return t.can_represent(from) || (t.bits() == 64 && i.bounded()) ||
                       (i.bounded() && t.element_of().can_represent(i.min) &&
                        t.element_of().can_represent(i.max))
                   ? i
                   : all;
    }
#define ARITHMETIC(T, op)                                                                          \
    case NodeKind::T: return unless_wrapped(e, interval(e.as<T>()->a) op interval(e.as<T>()->b));
        ARITHMETIC(Add, +)
        ARITHMETIC(Sub, -)
        ARITHMETIC(Mul, *)
#undef ARITHMETIC
    case NodeKind::Div: {
        ConstantInterval a = interval(e.as<Div>()->a), b = interval(e.as<Div>()->b);
        // The least number by -1 wraps.
        return b.min >= 0 && is_exact(t) ? a / b : unless_wrapped(e, a / b);
    }
    case NodeKind::Mod: {
        ConstantInterval i = interval(e.as<Mod>()->a) % interval(e.as<Mod>()->b);
        return i.fits(t) ? i : all;
    }
    case NodeKind::Min: return min(interval(e.as<Min>()->a), interval(e.as<Min>()->b));
    case NodeKind::Max: return max(interval(e.as<Max>()->a), interval(e.as<Max>()->b));
    case NodeKind::Select: {
        const auto *s = e.as<Select>();
        return unite(interval(s->true_value), interval(s->false_value));
    }
    case NodeKind::Broadcast: return interval(e.as<Broadcast>()->value);
    case NodeKind::Ramp: {
        const auto *r = e.as<Ramp>();
        ConstantInterval steps{0, r->lanes - 1};
        return unless_wrapped(e, interval(r->base) + interval(r->stride) * steps);
    }
    case NodeKind::Let: return interval_of_let(*e.as<Let>());
    case NodeKind::Shuffle: {
        const auto &vectors = e.as<Shuffle>()->vectors;
        ConstantInterval i = interval(vectors[0]);
        for (const Expr &v : vectors) i = unite(i, interval(v));
        return i;
    }
    case NodeKind::VectorReduce: {
        const auto *r = e.as<VectorReduce>();
        ConstantInterval i = interval(r->value);
        int factor = r->value.type().lanes() / r->lanes;
        if (r->op == ReduceOp::Add) {
            return unless_wrapped(e, i * ConstantInterval::point(factor));
        }
        return r->op == ReduceOp::Min || r->op == ReduceOp::Max ? i : all;
    }
    case NodeKind::IntrinsicCall: return interval_of_call(e, *e.as<IntrinsicCall>());
    default: return all;
    }
}

ConstantInterval NodeInfo::interval_of_let(const Let &let) {
    facts.enter(false);
    facts.set(let.name, variable_of(let.value));
    ConstantInterval i = interval(let.body);
    facts.leave();
    return i;
}

ConstantInterval NodeInfo::interval_of_call(const Expr &e, const IntrinsicCall &c) {
    Type t = c.type;
    ConstantInterval all = ConstantInterval::of_type(t), zero = ConstantInterval::point(0);
    auto is_number = [&](size_t i) { return c.args[i].type().is_int_or_uint(); };
    auto arg = [&](size_t i) { return is_number(i) ? interval(c.args[i]) : ConstantInterval(); };
    switch (c.op) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::strict_float: return arg(0);
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped: return intersect(arg(0), {arg(1).min, arg(2).max});
    case Intrinsic::return_second: return arg(1);
    case Intrinsic::if_then_else: return unite(arg(1), c.args.size() == 3 ? arg(2) : zero);
    case Intrinsic::abs: {
        if (!is_number(0)) return all;
        ConstantInterval magnitude = max(arg(0), zero - arg(0));
        return unless_wrapped(e, max(magnitude, zero));
    }
    case Intrinsic::absd: {
        if (!is_number(0)) return all;
        ConstantInterval d = arg(0) - arg(1);
        return unless_wrapped(e, max(max(d, zero - d), zero));
    }
    case Intrinsic::bitwise_and: {
        ConstantInterval a = arg(0), b = arg(1);
        if (a.min >= 0 && b.min >= 0) return {0, std::min(a.max, b.max)};
        if (a.min >= 0) return {0, a.max};
        return b.min >= 0 ? ConstantInterval{0, b.max} : all;
    }
    case Intrinsic::bitwise_or:
    case Intrinsic::bitwise_xor: {
        ConstantInterval a = arg(0), b = arg(1);
        if (a.min < 0 || b.min < 0 || !a.has_max() || !b.has_max()) return all;
        uint64_t bits = uint64_t(a.max) | uint64_t(b.max), ones = 1;
        while (ones - 1 < bits && ones < uint64_t(1) << 62) ones <<= 1;
        return unless_wrapped(e, {0, bits < ones ? int64_t(ones - 1) : ConstantInterval::highest});
    }
    case Intrinsic::shift_right: {
        auto k = as_const_int(c.args[1]);
        if (!k || *k < 0 || *k >= t.bits() || *k > 62) return all;
        return arg(0) / ConstantInterval::point(int64_t(1) << *k);
    }
    case Intrinsic::shift_left: {
        auto k = as_const_int(c.args[1]);
        if (!k || *k < 0 || *k >= t.bits() || *k > 62) return all;
        ConstantInterval shifted = arg(0) * ConstantInterval::point(int64_t(1) << *k);
        return fits_in(t, shifted) ? shifted : all;
    }
    case Intrinsic::popcount:
    case Intrinsic::count_leading_zeros:
    case Intrinsic::count_trailing_zeros: return {0, c.args[0].type().bits()};
    case Intrinsic::saturating_cast:
        if (!is_number(0)) return all;
        return min(max(arg(0), ConstantInterval::point(range_of(t).min)),
                   ConstantInterval::point(range_of(t).max));
    case Intrinsic::widening_add:
    case Intrinsic::widen_right_add: return unless_wrapped(e, arg(0) + arg(1));
    case Intrinsic::widening_sub:
    case Intrinsic::widen_right_sub: return unless_wrapped(e, arg(0) - arg(1));
    case Intrinsic::widening_mul:
    case Intrinsic::widen_right_mul: return unless_wrapped(e, arg(0) * arg(1));
    case Intrinsic::halving_add:
        return unless_wrapped(e, (arg(0) + arg(1)) / ConstantInterval::point(2));
    case Intrinsic::rounding_halving_add:
        return unless_wrapped(e, (arg(0) + arg(1) + ConstantInterval::point(1)) /
                                     ConstantInterval::point(2));
    default: return all;
    }
}

}  // namespace tessera::algebra
