#include "algebra/bounds_finder.h"
#include "ir/match.h"

namespace tessera::algebra {

using namespace ir;

Interval BoundsFinder::arithmetic(const Expr &e) {
    NodeKind op = e.kind();
    const auto [x, y] = op == NodeKind::Add   ? std::pair(e.as<Add>()->a, e.as<Add>()->b)
                        : op == NodeKind::Sub ? std::pair(e.as<Sub>()->a, e.as<Sub>()->b)
                                              : std::pair(e.as<Mul>()->a, e.as<Mul>()->b);
    Interval a = bounds(x), b = bounds(y);
    ConstantInterval ca = constants(a), cb = constants(b);
    ConstantInterval c = op == NodeKind::Add ? ca + cb : op == NodeKind::Sub ? ca - cb : ca * cb;
    if (can_wrap(e.type(), c)) return of_type(e.type());
    if (op == NodeKind::Add) return {make(op, a.min, b.min), make(op, a.max, b.max)};
    if (op == NodeKind::Sub) return {make(op, a.min, b.max), make(op, a.max, b.min)};
    return x.same_as(y) && e.type().is_float() ? square(a) : product(a, b);
}

int BoundsFinder::sign_of(const Interval &i) {
    const Expr &end = i.min.defined() ? i.min : i.max;
    if (end.defined() && end.type().is_float()) {
        return sign_of_float(i.min) > 0 ? 1 : sign_of_float(i.max) < 0 ? -1 : 0;
    }
    ConstantInterval c = constants(i);
    return c.min >= 0 ? 1 : c.max <= 0 ? -1 : 0;
}

int BoundsFinder::sign_of_float(const Expr &e, int depth) {
    constexpr int deepest = 8;
    if (!e.defined() || depth > deepest) return 0;
    auto sign = [&](const Expr &operand) { return sign_of_float(operand, depth + 1); };
    auto common = [&](const Expr &a, const Expr &b) {
        const int of_a = sign(a);
        return of_a != 0 && of_a == sign(b) ? of_a : 0;
    };
    return match(
        e, [](const FloatImm &n) { return n.value >= 0   ? 1
                                          : n.value <= 0 ? -1
                                                         : 0; },
        [&](const Cast &c) {
            if (!c.value.type().is_int_or_uint()) return 0;
            const ConstantInterval i = s.known.interval(c.value);
            return i.min >= 0 ? 1 : i.max <= 0 ? -1 : 0;
        },
        [&](const Select &n) { return common(n.true_value, n.false_value); },
        [&](const Add &n) { return common(n.a, n.b); },
        [&](const Mul &n) { return equal(n.a, n.b) ? 1 : 0; },
        [&](const IntrinsicCall &c) {
            return c.op == Intrinsic::strict_float ? sign(c.args[0])
                   : c.op == Intrinsic::abs        ? 1
                                                   : 0;
        },
        otherwise(0));
}

Expr BoundsFinder::choose(const Expr &condition, const Expr &a, const Expr &b) {
    return a.defined() && b.defined() ? s.rewriter.make_select(condition, a, b) : Expr();
}

Interval BoundsFinder::square(const Interval &a) {
    if (int sign = sign_of(a)) {
        return sign > 0
                   ? product(a, a)
                   : Interval{make(NodeKind::Mul, a.max, a.max), make(NodeKind::Mul, a.min, a.min)};
    }
    const Expr &end = a.min.defined() ? a.min : a.max;
    if (!end.defined()) return {};
    Expr zero = s.rewriter.intern(make_zero(end.type()));
    if (!a.is_bounded()) return {zero, {}};
    Expr low = make(NodeKind::Mul, a.min, a.min), high = make(NodeKind::Mul, a.max, a.max);
    Expr nearest = s.rewriter.make_select(not_negative(a.min), low,
                                          s.rewriter.make_select(not_negative(a.max), zero, high));
    return {nearest, upper_of(low, high)};
}

Interval BoundsFinder::product(const Interval &a, const Interval &b) {
    NodeKind mul = NodeKind::Mul;
    int sa = sign_of(a), sb = sign_of(b);
    bool a_point = a.is_single_point(), b_point = b.is_single_point();
    if (!b_point && a_point) return product(b, a);
    if (b_point && sb > 0) return {make(mul, a.min, b.min), make(mul, a.max, b.min)};
    if (b_point && sb < 0) return {make(mul, a.max, b.min), make(mul, a.min, b.min)};
    if (b_point && b.min.type().is_float()) return scaled(mul, a, b.min);
    if (sa > 0 && sb > 0) return {make(mul, a.min, b.min), make(mul, a.max, b.max)};
    if (!a.is_bounded() || !b.is_bounded()) return {};
    Expr p = make(mul, a.min, b.min), q = make(mul, a.max, b.min);
    Interval r{lower_of(p, q), upper_of(p, q)};
    if (b_point) return r;
    p = make(mul, a.min, b.max), q = make(mul, a.max, b.max);
    return unite(r, {lower_of(p, q), upper_of(p, q)});
}

Interval BoundsFinder::scaled(NodeKind op, const Interval &a, const Expr &b) {
    Expr rises = not_negative(b);
    return {make(op, choose(rises, a.min, a.max), b), make(op, choose(rises, a.max, a.min), b)};
}

Interval BoundsFinder::division_of_floats(const Interval &a, const Interval &b) {
    NodeKind div = NodeKind::Div;
    if (b.is_single_point()) {
        const auto *number = b.min.as<FloatImm>();
        if (number && number->value == 0) return {};
        int sign = sign_of(b);
        if (sign > 0) return {make(div, a.min, b.min), make(div, a.max, b.min)};
        if (sign < 0) return {make(div, a.max, b.min), make(div, a.min, b.min)};
        return scaled(div, a, b.min);
    }
    if (!a.is_bounded() || !b.is_bounded()) return {};
    Type t = b.min.type();
    Expr zero = s.rewriter.intern(make_zero(t));
    Expr above = s.rewriter.make(NodeKind::LT, zero, b.min),
         below = s.rewriter.make(NodeKind::LT, b.max, zero);
    if (is_false(above) && is_false(below)) return {};
    Expr p = make(div, a.min, b.min), q = make(div, a.min, b.max);
    Expr u = make(div, a.max, b.min), v = make(div, a.max, b.max);
    Expr keeps_sign = s.rewriter.make(NodeKind::Or, above, below);
    Expr infinity = s.rewriter.intern(t.max()), minus_infinity = s.rewriter.intern(t.min());
    return {choose(keeps_sign, lower_of(lower_of(p, q), lower_of(u, v)), minus_infinity),
            choose(keeps_sign, upper_of(upper_of(p, q), upper_of(u, v)), infinity)};
}

Interval BoundsFinder::division(const Expr &x, const Expr &y) {
    Interval a = bounds(x), b = bounds(y);
    NodeKind div = NodeKind::Div;
    Type t = x.type();
    if (t.is_float()) return division_of_floats(a, b);
    ConstantInterval cb = constants(b);
    if (b.is_single_point() && cb.min > 0) {
        return {make(div, a.min, b.min), make(div, a.max, b.min)};
    }
    if (b.is_single_point() && cb.max < 0) {
        if (can_wrap(t, constants(a) / cb)) return of_type(t);
        return {make(div, a.max, b.min), make(div, a.min, b.min)};
    }
    if (b.is_single_point() && a.is_bounded()) {
        // The sign is not known: the quotient rises or falls all the way, and is 0 where b is.
        if (t.is_int() && can_wrap(t, constants(a) * ConstantInterval{-1, 1})) {
            return of_type(t);
        }
        Expr p = make(div, a.min, b.min), q = make(div, a.max, b.min);
        return {lower_of(p, q), upper_of(p, q)};
    }
    Expr zero = number(t, 0);
    if (cb.min > 0) {
        // The quotient is largest at the smallest divisor, or close to zero at the largest.
        Interval r{make(div, a.min, b.min), make(div, a.max, b.min)};
        Expr far_min = b.max.defined() ? make(div, a.min, b.max) : zero;
        Expr far_max = b.max.defined() ? make(div, a.max, b.max) : zero;
        return {lower_of(r.min, far_min), upper_of(r.max, far_max)};
    }
    if (t.is_uint()) return a.max.defined() ? Interval{zero, a.max} : of_type(t);
    if (cb.min >= 0) return {lower_of(a.min, zero), upper_of(a.max, zero)};
    if (!a.is_bounded() || can_wrap(t, constants(a) * ConstantInterval{-1, 1})) return of_type(t);
    Expr negated_max = make(NodeKind::Sub, zero, a.max),
         negated_min = make(NodeKind::Sub, zero, a.min);
    return {lower_of(zero, lower_of(a.min, negated_max)),
            upper_of(zero, upper_of(a.max, negated_min))};
}

Interval BoundsFinder::remainder_of_floats(const Interval &a, const Interval &b) {
    if (!a.is_bounded() || !b.is_single_point()) return {};
    Expr zero = s.rewriter.intern(make_zero(b.min.type())), size = size_of(a);
    Expr off = make(NodeKind::Mul, size, s.rewriter.intern(rounding_of(b.min.type())));
    return {make(NodeKind::Sub, lower_of(b.min, zero), off),
            make(NodeKind::Add, upper_of(b.min, zero), off)};
}

Expr BoundsFinder::size_of(const Interval &a) {
    return upper_of(a.max, make(NodeKind::Sub, s.rewriter.intern(make_zero(a.min.type())), a.min));
}

Expr BoundsFinder::rounding_of(Type t) {
    return make_float_const(t, t.bits() == 64 ? 0x1p-48 : t.bits() == 32 ? 0x1p-19 : 0x1p-6);
}

Interval BoundsFinder::modulus(const Expr &e) {
    const auto *m = e.as<Mod>();
    Type t = e.type();
    if (t.is_float()) return remainder_of_floats(bounds(m->a), bounds(m->b));
    Interval a = bounds(m->a), b = bounds(m->b);
    ConstantInterval ca = constants(a), cb = constants(b);
    Expr zero = number(t, 0), one = number(t, 1);
    Interval r{zero, {}};
    if (cb.min > 0) {
        r.max = make(NodeKind::Sub, b.max, one);
        if (b.is_single_point() && a.is_bounded()) {
            Expr q = make(NodeKind::Div, a.min, b.min);
            if (q.same_as(make(NodeKind::Div, a.max, b.min))) {
                return {make(NodeKind::Mod, a.min, b.min), make(NodeKind::Mod, a.max, b.min)};
            }
        }
    } else if (b.is_bounded() && is_exact(t)) {
        Expr size = upper_of(b.max, make(NodeKind::Sub, zero, b.min));
        r.max = upper_of(zero, make(NodeKind::Sub, size, one));
    } else if (cb.bounded() && !is_exact(t)) {
        int64_t size = std::max(std::abs(cb.min), std::abs(cb.max));
        r = of_constants(t, {0, std::max<int64_t>(0, size - 1)});
    }
    if (ca.min >= 0 && a.max.defined()) {
        r.max = r.max.defined() ? lower_of(r.max, a.max) : a.max;
    }
    return r;
}

Interval BoundsFinder::min_max(const Interval &a, const Interval &b, NodeKind op) {
    Interval r{make(op, a.min, b.min), make(op, a.max, b.max)};
    Expr &open = op == NodeKind::Min ? r.max : r.min;
    if (!open.defined()) {
        const Expr &x = op == NodeKind::Min ? a.max : a.min;
        open = x.defined() ? x : op == NodeKind::Min ? b.max : b.min;
    }
    return r;
}

}  // namespace tessera::algebra
