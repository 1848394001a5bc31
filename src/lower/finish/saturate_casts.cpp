#include "lower/finish/saturate_casts.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include <algorithm>
#include <cmath>

namespace tessera::lower {
namespace {

using namespace ir;

// Bounds a value: from low to high, or not a number.
struct Reach {
    double low = -INFINITY, high = INFINITY;
    bool may_be_nan = true;
    bool is_finite() const { return std::isfinite(low) && std::isfinite(high) && !may_be_nan; }
};

Reach hull(const Reach &a, const Reach &b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.may_be_nan || b.may_be_nan};
}

Reach hull_of(std::initializer_list<double> ends) {
    return {std::min(ends), std::max(ends), false};
}

// Returns the reach of a min or max, which lies from low to high unless an operand is a NaN: then
// it is the other operand.
Reach chosen(const Reach &a, const Reach &b, double low, double high) {
    Reach r{low, high, false};
    if (a.may_be_nan) r = hull(r, b);
    if (b.may_be_nan) r = hull(r, a);
    r.may_be_nan = a.may_be_nan && b.may_be_nan;
    return r;
}

// With what rounding the result to a float32 may add to it.
Reach rounded(const Reach &r) {
    const double off = std::max(std::abs(r.low), std::abs(r.high)) * 0x1p-23;
    return {r.low - off, r.high + off, r.may_be_nan};
}

class SaturateCasts final : public Mutator {
    // A copy of the loop may have had other ends: what was known of its variable is forgotten.
    Stmt visit(const For &loop) override {
        Reach r;
        const auto first = as_const_int(loop.min), count = as_const_int(loop.extent);
        if (first && count) {
            r = {double(*first), double(*first + std::max<int64_t>(*count, 1) - 1), false};
        }
        bind(loop.name, r);
        return Mutator::visit(loop);
    }
    Stmt visit(const LetStmt &let) override {
        bind(let.name, reach_of(let.value));
        return Mutator::visit(let);
    }
    Expr visit(const Let &let) override {
        bind(let.name, reach_of(let.value));
        return Mutator::visit(let);
    }
    Expr visit(const Cast &node) override {
        const Type to = node.type, from = node.value.type();
        const bool saturates = from.is_float() && to.is_int_or_uint() && to.bits() >= 32;
        if (!saturates || fits(reach_of(node.value), to)) return Mutator::visit(node);
        const Type computed = from.bits() <= 16 ? Float(32, from.lanes()) : from;
        Expr value = cast(computed, (*this)(node.value));
        const double largest = largest_that_fits(to, from);
        value = Min::make(value, make_float_const(computed, largest));
        if (to.is_uint()) value = Max::make(value, make_zero(computed));
        return Cast::make(to, value);
    }

    // With room for what rounding the integers to floats adds.
    static bool fits(const Reach &r, Type t) {
        const double low = t.is_int() ? double(t.min_int()) : -1, high = double(t.max_uint());
        constexpr double rounding = 1e-5;
        return r.is_finite() && r.low > low + rounding * std::abs(low) &&
               r.high < high - rounding * high;
    }

    void bind(Symbol name, const Reach &r) {
        known.clear();
        variables[name] = r;
    }

    Reach reach_of(const Expr &e) {
        if (auto found = known.find(e.get()); found != known.end()) return found->second.second;
        Reach r = compute(e);
        if (e.type().is_int_or_uint()) {
            const Type t = e.type();
            const double low = t.is_int() ? double(t.min_int()) : 0, high = double(t.max_uint());
            r = {std::max(r.low, low), std::min(r.high, high), false};
            if (r.low > r.high) r = {low, high, false};
        }
        known[e.get()] = {e, r};
        return r;
    }

    Reach compute(const Expr &e);
    Reach arithmetic(NodeKind op, const Reach &a, const Reach &b);
    Reach of_call(const IntrinsicCall &c);

    std::unordered_map<Symbol, Reach> variables;
    std::unordered_map<const ExprNode *, std::pair<Expr, Reach>> known;
};

Reach SaturateCasts::arithmetic(NodeKind op, const Reach &a, const Reach &b) {
    if (!a.is_finite() || !b.is_finite()) return {};
    switch (op) {
    case NodeKind::Add: return rounded({a.low + b.low, a.high + b.high, false});
    case NodeKind::Sub: return rounded({a.low - b.high, a.high - b.low, false});
    case NodeKind::Mul:
        return rounded(hull_of({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high}));
    case NodeKind::Div:
        if (b.low <= 0 && b.high >= 0) return {};
        return rounded(hull_of({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high}));
    default: return {};
    }
}

Reach SaturateCasts::of_call(const IntrinsicCall &c) {
    switch (c.op) {
    case Intrinsic::strict_float:
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost: return reach_of(c.args[0]);
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::round: {
        Reach a = reach_of(c.args[0]);
        return {std::floor(a.low), std::ceil(a.high), a.may_be_nan};
    }
    case Intrinsic::sqrt: {
        Reach a = reach_of(c.args[0]);
        if (!(a.low >= 0)) return {};
        return {std::sqrt(a.low), std::sqrt(a.high), a.may_be_nan};
    }
    case Intrinsic::abs: {
        Reach a = reach_of(c.args[0]);
        return {0, std::max(std::abs(a.low), std::abs(a.high)), a.may_be_nan};
    }
    default: return {};
    }
}

Reach SaturateCasts::compute(const Expr &e) {
    switch (e.kind()) {
    case NodeKind::IntImm: {
        const double v = double(e.as<IntImm>()->value);
        return {v, v, false};
    }
    case NodeKind::UIntImm: {
        const double v = double(e.as<UIntImm>()->value);
        return {v, v, false};
    }
    case NodeKind::FloatImm: {
        const double v = e.as<FloatImm>()->value;
        return std::isnan(v) ? Reach{} : Reach{v, v, false};
    }
    case NodeKind::Variable: {
        auto found = variables.find(e.as<Variable>()->name);
        return found == variables.end() ? Reach{} : found->second;
    }
    case NodeKind::Broadcast: return reach_of(e.as<Broadcast>()->value);
    case NodeKind::Cast: {
        const auto *c = e.as<Cast>();
        if (!c->type.is_float() || c->type.bits() <= 16) return {};
        return reach_of(c->value);
    }
#define ARITHMETIC(T)                                                                              \
    case NodeKind::T:                                                                              \
        if (!e.type().is_float() || e.type().bits() <= 16) return {};                              \
        return arithmetic(NodeKind::T, reach_of(e.as<T>()->a), reach_of(e.as<T>()->b));
        ARITHMETIC(Add)
        ARITHMETIC(Sub)
        ARITHMETIC(Mul)
        ARITHMETIC(Div)
#undef ARITHMETIC
    case NodeKind::Min: {
        Reach a = reach_of(e.as<Min>()->a), b = reach_of(e.as<Min>()->b);
        return chosen(a, b, std::min(a.low, b.low), std::min(a.high, b.high));
    }
    case NodeKind::Max: {
        Reach a = reach_of(e.as<Max>()->a), b = reach_of(e.as<Max>()->b);
        return chosen(a, b, std::max(a.low, b.low), std::max(a.high, b.high));
    }
    case NodeKind::Select:
        return hull(reach_of(e.as<Select>()->true_value), reach_of(e.as<Select>()->false_value));
    case NodeKind::IntrinsicCall: return of_call(*e.as<IntrinsicCall>());
    default: return {};
    }
}

}  // namespace

Stmt saturate_casts(const Stmt &s, const Context &) { return SaturateCasts()(s); }

}  // namespace tessera::lower
