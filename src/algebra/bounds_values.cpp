#include "algebra/bounds_finder.h"

namespace tessera::algebra {

using namespace ir;

bool BoundsFinder::fits(Type t, const Expr &end) {
    const auto *number = end.defined() ? end.as<FloatImm>() : nullptr;
    return number && number->value >= double(t.min_int()) &&
           number->value < double(t.max_int()) + 1;
}

Expr BoundsFinder::cast_outer_end(Type t, const Expr &end) {
    if (!end.defined() || (end.as<FloatImm>() && !fits(t, end))) return {};
    return s.rewriter.make_cast(t.element_of(), strict(end));
}

Interval BoundsFinder::of_cast(Type t, const Interval &i, const Expr &value) {
    Type from = value.type();
    auto cast_end = [&](const Expr &end) {
        return end.defined() ? s.rewriter.make_cast(t.element_of(), end) : end;
    };
    Interval cast_ends{cast_end(i.min), cast_end(i.max)};
    if (t.is_float()) return cast_ends;
    if (!t.is_int_or_uint()) return {};
    if (!from.is_int_or_uint()) {
        if (fits(t, i.min) && fits(t, i.max)) return cast_ends;
        return is_exact(t) ? Interval{cast_outer_end(t, i.min), cast_outer_end(t, i.max)}
                           : of_type(t);
    }
    Type element = t.element_of();
    if (element.can_represent(from.element_of())) return cast_ends;
    ConstantInterval c = constants(i);
    bool fits = c.bounded() && element.can_represent(c.min) && element.can_represent(c.max);
    return fits || is_distance_that_fits(t, value) ? cast_ends : of_type(t);
}

bool BoundsFinder::is_distance_that_fits(Type t, const Expr &value) {
    const auto *c = value.as<IntrinsicCall>();
    if (!c || (c->op != Intrinsic::abs && c->op != Intrinsic::absd)) return false;
    Type from = c->args[0].type();
    if (!is_exact(from) || !t.is_int() || t.bits() < from.bits()) return false;
    constexpr int64_t largest = int64_t(1) << 30;
    for (const Expr &arg : c->args) {
        Interval a = bounds(arg);
        if (!a.is_bounded()) return false;
        for (const Expr &end : {a.min, a.max}) {
            auto constant = as_const_int(end);
            if (constant && (*constant < -largest || *constant > largest)) return false;
        }
    }
    return true;
}

Interval BoundsFinder::comparison(NodeKind op, const Expr &x, const Expr &y) {
    Interval a = bounds(x), b = bounds(y);
    if (x.type().is_float()) {
        a = {strict(a.min), strict(a.max)};
        b = {strict(b.min), strict(b.max)};
    }
    Interval r{make(op, a.max, b.min), make(op, a.min, b.max)};
    if (!r.min.defined()) r.min = s.rewriter.intern(const_false());
    if (!r.max.defined()) r.max = s.rewriter.intern(const_true());
    return r;
}

Interval BoundsFinder::logic(const Expr &e) {
    NodeKind op = e.kind();
    Interval a = bounds(op == NodeKind::And ? e.as<And>()->a : e.as<Or>()->a);
    Interval b = bounds(op == NodeKind::And ? e.as<And>()->b : e.as<Or>()->b);
    return {make(op, a.min, b.min), make(op, a.max, b.max)};
}

Interval BoundsFinder::of_ramp(const Ramp &r) {
    Interval base = bounds(r.base), stride = bounds(r.stride);
    Type t = r.base.type().element_of();
    if (!t.is_int_or_uint()) return {};
    Expr steps = number(t, r.lanes - 1), zero = number(t, 0);
    ConstantInterval c = constants(base) + constants(stride) * ConstantInterval{0, r.lanes - 1};
    if (can_wrap(t, c)) return of_type(t);
    Expr down = make(NodeKind::Mul, stride.min, steps), up = make(NodeKind::Mul, stride.max, steps);
    return {make(NodeKind::Add, base.min, lower_of(down, zero)),
            make(NodeKind::Add, base.max, upper_of(up, zero))};
}

Interval BoundsFinder::of_call(const Call &c) {
    Interval i = outer.call_bounds(c);
    return {simple(i.min), simple(i.max)};
}

Interval BoundsFinder::of_intrinsic(const IntrinsicCall &c) {
    Type t = c.type;
    auto apply = [&](const Expr &end) {
        if (!end.defined()) return end;
        return s.rewriter.make_call(
            *c.with<&IntrinsicCall::type, &IntrinsicCall::args>(t.element_of(), {end})
                 .as<IntrinsicCall>());
    };
    switch (c.op) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::strict_float: return bounds(c.args[0]);
    case Intrinsic::return_second:
    case Intrinsic::require: return bounds(c.args[1]);
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped:
        return tighter(bounds(c.args[0]), {bounds(c.args[1]).min, bounds(c.args[2]).max});
    case Intrinsic::if_then_else: {
        Expr otherwise = c.args.size() == 3 ? c.args[2] : make_zero(c.args[1].type());
        return unite(bounds(c.args[1]), bounds(otherwise));
    }
    case Intrinsic::gather:
    case Intrinsic::scatter: {
        Interval a = bounds(c.args[0]);
        for (size_t i = 1; i < c.args.size(); i++) a = unite(a, bounds(c.args[i]));
        return a;
    }
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::round: {
        Interval a = bounds(c.args[0]);
        return {apply(a.min), apply(a.max)};
    }
    case Intrinsic::exp:
    case Intrinsic::tanh:
    case Intrinsic::atan: {
        Interval a = bounds(c.args[0]);
        return nearly({apply(a.min), apply(a.max)});
    }
    case Intrinsic::sqrt: {
        // The root of what is negative is not a number, which is cast to the largest integer.
        Interval a = bounds(c.args[0]);
        if (sign_of_float(a.min) > 0) return {apply(a.min), apply(a.max)};
        if (!a.is_bounded()) return {make_zero(t.element_of()), {}};
        Expr real = not_negative(a.min);
        return {choose(real, apply(a.min), s.rewriter.intern(make_zero(t.element_of()))),
                choose(real, apply(a.max), s.rewriter.intern(t.element_of().max()))};
    }
    case Intrinsic::log: {
        Interval a = bounds(c.args[0]);
        if (!a.is_bounded()) return {};
        Expr real = not_negative(a.min);
        Interval r = nearly({apply(a.min), apply(a.max)});
        return {choose(real, r.min, s.rewriter.intern(t.element_of().min())),
                choose(real, r.max, s.rewriter.intern(t.element_of().max()))};
    }
    case Intrinsic::lerp:
        // A value between integers is rounded, and so lies between both.
        if (!t.is_int_or_uint() || !c.args[2].type().is_uint()) return {};
        return unite(bounds(c.args[0]), bounds(c.args[1]));
    case Intrinsic::saturating_cast: {
        Interval a = bounds(c.args[0]), all = of_type(t);
        if (c.args[0].type().is_float()) a = {strict(a.min), strict(a.max)};
        return {a.min.defined() ? apply(a.min) : all.min, a.max.defined() ? apply(a.max) : all.max};
    }
    case Intrinsic::abs: return of_abs(t, bounds(c.args[0]));
    case Intrinsic::absd:
        if (!is_exact(c.args[0].type())) return {};
        return of_abs(t, bounds(make(NodeKind::Sub, c.args[0], c.args[1])));
    default: return {};
    }
}

Interval BoundsFinder::nearly(const Interval &i) {
    auto moved = [&](const Expr &end, NodeKind away) -> Expr {
        if (!end.defined()) return {};
        Type t = end.type();
        Expr size = s.rewriter.make_call(*call(t, Intrinsic::abs, {end}).as<IntrinsicCall>());
        return s.rewriter.make(
            away, end, s.rewriter.make(NodeKind::Mul, size, s.rewriter.intern(rounding_of(t))));
    };
    return {moved(i.min, NodeKind::Sub), moved(i.max, NodeKind::Add)};
}

Interval BoundsFinder::of_abs(Type t, const Interval &a) {
    Type from = a.is_everything() ? t : (a.min.defined() ? a.min : a.max).type();
    if (a.is_everything()) return {make_zero(t.element_of()), {}};
    if (from.is_float()) {
        if (sign_of(a) > 0) return a;
        return {make_zero(t.element_of()), a.is_bounded() ? size_of(a) : Expr()};
    }
    auto positive = [&](const Expr &end) { return s.rewriter.make_cast(t.element_of(), end); };
    ConstantInterval c = constants(a);
    if (c.min >= 0) return {positive(a.min), a.max.defined() ? positive(a.max) : Expr()};
    Interval r{number(t, 0), {}};
    if (!a.is_bounded() || !is_exact(from)) return r;
    Expr size = upper_of(a.max, make(NodeKind::Sub, number(from, 0), a.min));
    r.max = positive(upper_of(size, number(from, 0)));
    return r;
}

}  // namespace tessera::algebra
