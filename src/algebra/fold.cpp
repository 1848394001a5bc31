#include "algebra/fold.h"
#include "algebra/constant_interval.h"
#include "base/float16.h"
#include "ir/float_bits.h"
#include <bit>
#include <cmath>
#include <optional>

namespace tessera::algebra {

using namespace ir;

namespace {

__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

// One lane of a constant.
struct Value {
    Type type;
    Wide i = 0;
    double f = 0;
    bool is_float() const { return type.is_float(); }
};

std::optional<Value> value_of(const Expr &e) {
    if (!e.defined()) return std::nullopt;
    if (const auto *i = e.as<IntImm>()) return Value{i->type, i->value, 0};
    if (const auto *u = e.as<UIntImm>()) return Value{u->type, Wide(u->value), 0};
    if (const auto *f = e.as<FloatImm>()) return Value{f->type, 0, f->value};
    if (const auto *b = e.as<Broadcast>()) return value_of(b->value);
    return std::nullopt;
}

bool fits(Type t, Wide v) {
    if (t.is_uint()) return v >= 0 && v <= Wide(t.max_uint());
    return v >= t.min_int() && v <= t.max_int();
}

// An exact integer result, wrapped where the type wraps; undefined where it must not overflow.
Expr integer(Type t, Wide v) {
    Type s = t.element_of();
    Expr scalar;
    if (s.is_uint()) {
        scalar = UIntImm::make(s, uint64_t(v));
    } else if (s.is_int()) {
        if (s.bits() >= 32 && !fits(s, v)) return {};
        scalar = IntImm::make(s, int64_t(v));
    } else {
        return {};
    }
    return broadcast(scalar, t.lanes());
}
Expr only_if_fits(Type t, Wide v) { return fits(t.element_of(), v) ? integer(t, v) : Expr(); }
Expr saturated(Type t, Wide v) {
    Wide low = t.is_uint() ? Wide(0) : Wide(t.min_int()), high = Wide(t.max_uint());
    return integer(t, std::clamp(v, low, high));
}
// Returns what was computed, as a cast to the type.
Expr floating(Type t, double v) { return make_float_const(t, rounded_to(t.element_of(), v)); }
Expr boolean(Type t, bool v) { return make_const(t, v); }

Wide euclidean(Wide a, Wide b, bool want_quotient) {
    if (b == 0) return 0;
    Wide q = a / b, r = a % b;
    if (r < 0) {
        q += b > 0 ? -1 : 1;
        r += b > 0 ? b : -b;
    }
    return want_quotient ? q : r;
}

Expr fold_float(NodeKind k, Type t, double a, double b) {
    switch (k) {
    case NodeKind::Add: return floating(t, a + b);
    case NodeKind::Sub: return floating(t, a - b);
    case NodeKind::Mul: return floating(t, a * b);
    case NodeKind::Div: return floating(t, a / b);
    case NodeKind::Mod: {
        bool small = std::abs(a) < 1024 && std::abs(b) < 1024 && b != 0;
        if (!small || a != std::floor(a) || b != std::floor(b)) return {};
        return floating(t, a - b * std::floor(a / b));
    }
    case NodeKind::Min: return make_float_const(t, a < b || std::isnan(b) ? a : b);
    case NodeKind::Max: return make_float_const(t, a > b || std::isnan(b) ? a : b);
    case NodeKind::EQ: return boolean(t, a == b);
    case NodeKind::NE: return boolean(t, a != b);
    case NodeKind::LT: return boolean(t, a < b);
    case NodeKind::LE: return boolean(t, a <= b);
    case NodeKind::GT: return boolean(t, a > b);
    case NodeKind::GE: return boolean(t, a >= b);
    default: return {};
    }
}

Expr fold_integer(NodeKind k, Type t, Wide a, Wide b) {
    switch (k) {
    case NodeKind::Add: return integer(t, a + b);
    case NodeKind::Sub: return integer(t, a - b);
    case NodeKind::Mul: return integer(t, t.is_uint() ? Wide(UWide(a) * UWide(b)) : a * b);
    case NodeKind::Div: return integer(t, euclidean(a, b, true));
    case NodeKind::Mod: return integer(t, euclidean(a, b, false));
    case NodeKind::Min: return integer(t, std::min(a, b));
    case NodeKind::Max: return integer(t, std::max(a, b));
    case NodeKind::EQ: return boolean(t, a == b);
    case NodeKind::NE: return boolean(t, a != b);
    case NodeKind::LT: return boolean(t, a < b);
    case NodeKind::LE: return boolean(t, a <= b);
    case NodeKind::GT: return boolean(t, a > b);
    case NodeKind::GE: return boolean(t, a >= b);
    case NodeKind::And: return boolean(t, a != 0 && b != 0);
    case NodeKind::Or: return boolean(t, a != 0 || b != 0);
    default: return {};
    }
}

template<typename T>
Expr fold_binary(const Expr &node) {
    const T *n = node.as<T>();
    auto a = value_of(n->a), b = value_of(n->b);
    if (!a || !b) return {};
    if (a->is_float()) return fold_float(node.kind(), n->type, a->f, b->f);
    return fold_integer(node.kind(), n->type, a->i, b->i);
}

// Rounding twice could differ from rounding once, so only what is exact goes to 16 bits or 8.
Expr to_float(Type t, const Value &v) {
    Type s = t.element_of();
    if (v.is_float()) {
        bool once = s.bits() >= 32 || v.type.bits() <= 32 || s.can_represent(v.f);
        return once ? floating(t, v.f) : Expr();
    }
    if (s.bits() == 64) return floating(t, double(v.i));
    if (s.bits() == 32) return floating(t, float(v.i));
    return floating(t, rounded_to_odd((long double)v.i));
}

Expr fold_cast(Type t, const Value &v) {
    if (t.is_float()) return to_float(t, v);
    if (!t.is_int_or_uint()) return {};
    Wide i = v.i;
    if (v.is_float()) {
        if (t.is_bool()) return integer(t, v.f != 0);
        if (t.bits() < 32) {
            return std::abs(v.f) < 0x1p31 ? only_if_fits(t, Wide(std::trunc(v.f))) : Expr();
        }
        const double largest = largest_that_fits(t, v.type);
        const double below = v.f < largest ? v.f : largest;
        return integer(t, Wide(std::max(below, t.is_int() ? double(t.min_int()) : 0.0)));
    }
    if (t.is_bool()) return i == 0 || i == 1 ? integer(t, i) : Expr();
    if (!fits(t.element_of(), i)) return make_const(t, int64_t(uint64_t(UWide(i))));
    return integer(t, i);
}

Expr fold_reinterpret(Type t, const Value &v) {
    if (t.lanes() != 1 || v.type.bits() != t.bits()) return {};
    if (v.is_float() == t.is_float()) return v.is_float() ? Expr() : make_const(t, int64_t(v.i));
    if (v.type == Float(32)) return make_const(t, int64_t(std::bit_cast<uint32_t>(float(v.f))));
    if (v.type == Float(64)) return make_const(t, std::bit_cast<int64_t>(v.f));
    if (t == Float(32)) return floating(t, std::bit_cast<float>(uint32_t(v.i)));
    if (t == Float(64)) return floating(t, std::bit_cast<double>(uint64_t(v.i)));
    return {};
}

UWide bits_of(const Value &v) { return UWide(v.i) & ((UWide(1) << v.type.bits()) - 1); }

Expr shift(Type t, const Value &v, Wide count, bool left) {
    if (count < 0) return shift(t, v, -count, !left);
    if (count >= v.type.bits()) return {};
    if (!left) return integer(t, v.i >> int(count));
    // Bits shifted out are lost; where that is overflow of an exact type, `integer` refuses.
    return integer(t, Wide(UWide(v.i) << int(count)));
}

Expr fold_float_call(const IntrinsicCall &c, const Value &a) {
    Type t = c.type;
    switch (c.op) {
    case Intrinsic::abs: return floating(t, std::abs(a.f));
    case Intrinsic::sqrt: return floating(t, std::sqrt(a.f));
    case Intrinsic::floor: return floating(t, std::floor(a.f));
    case Intrinsic::ceil: return floating(t, std::ceil(a.f));
    case Intrinsic::trunc: return floating(t, std::trunc(a.f));
    case Intrinsic::round: return floating(t, std::nearbyint(a.f));
    case Intrinsic::is_nan: return boolean(t, std::isnan(a.f));
    case Intrinsic::is_inf: return boolean(t, std::isinf(a.f));
    case Intrinsic::is_finite: return boolean(t, std::isfinite(a.f));
    default: return {};
    }
}

Expr fold_unary_call(const IntrinsicCall &c, const Value &a) {
    Type t = c.type;
    switch (c.op) {
    case Intrinsic::abs: return integer(t, a.i < 0 ? -a.i : a.i);
    case Intrinsic::bitwise_not: return integer(t, a.type.is_bool() ? 1 - a.i : ~a.i);
    case Intrinsic::popcount: return integer(t, std::popcount(uint64_t(bits_of(a))));
    case Intrinsic::count_leading_zeros:
        return integer(t, std::countl_zero(uint64_t(bits_of(a))) - (64 - a.type.bits()));
    case Intrinsic::count_trailing_zeros:
        return integer(t, std::min(std::countr_zero(uint64_t(bits_of(a))), a.type.bits()));
    case Intrinsic::saturating_cast: return t.is_int_or_uint() ? saturated(t, a.i) : to_float(t, a);
    default: return {};
    }
}

Expr fold_rounding_shift(Type t, const Value &a, Wide count, bool left) {
    if (count < 0) return fold_rounding_shift(t, a, -count, !left);
    if (count >= a.type.bits()) return {};
    if (left) return integer(t, Wide(UWide(a.i) << int(count)));
    Wide half = count == 0 ? 0 : Wide(1) << int(count - 1);
    return integer(t, (a.i + half) >> int(count));
}

Expr fold_binary_call(const IntrinsicCall &c, const Value &a, const Value &b) {
    Type t = c.type;
    switch (c.op) {
    case Intrinsic::absd: return integer(t, a.i > b.i ? a.i - b.i : b.i - a.i);
    case Intrinsic::bitwise_and: return integer(t, a.i & b.i);
    case Intrinsic::bitwise_or: return integer(t, a.i | b.i);
    case Intrinsic::bitwise_xor: return integer(t, a.i ^ b.i);
    case Intrinsic::shift_left: return shift(t, a, b.i, true);
    case Intrinsic::shift_right: return shift(t, a, b.i, false);
    case Intrinsic::div_round_to_zero: return b.i == 0 ? Expr() : only_if_fits(t, a.i / b.i);
    case Intrinsic::mod_round_to_zero: return b.i == 0 ? Expr() : integer(t, a.i % b.i);
    case Intrinsic::widening_add:
    case Intrinsic::widen_right_add: return integer(t, a.i + b.i);
    case Intrinsic::widening_sub:
    case Intrinsic::widen_right_sub: return integer(t, a.i - b.i);
    case Intrinsic::widening_mul:
    case Intrinsic::widen_right_mul:
        return integer(t, t.is_uint() ? Wide(UWide(a.i) * UWide(b.i)) : a.i * b.i);
    case Intrinsic::widening_shift_left:
        return b.i >= 0 && b.i < a.type.bits() ? integer(t, Wide(UWide(a.i) << int(b.i))) : Expr();
    case Intrinsic::widening_shift_right:
        return b.i >= 0 && b.i < a.type.bits() ? integer(t, a.i >> int(b.i)) : Expr();
    case Intrinsic::saturating_add: return saturated(t, a.i + b.i);
    case Intrinsic::saturating_sub: return saturated(t, a.i - b.i);
    case Intrinsic::halving_add: return integer(t, (a.i + b.i) >> 1);
    case Intrinsic::halving_sub: return integer(t, (a.i - b.i) >> 1);
    case Intrinsic::rounding_halving_add: return integer(t, (a.i + b.i + 1) >> 1);
    case Intrinsic::rounding_shift_left: return fold_rounding_shift(t, a, b.i, true);
    case Intrinsic::rounding_shift_right: return fold_rounding_shift(t, a, b.i, false);
    default: return {};
    }
}

Expr fold_ternary_call(const IntrinsicCall &c, const Value &a, const Value &b, const Value &q) {
    bool rounding = c.op == Intrinsic::rounding_mul_shift_right;
    if (!rounding && c.op != Intrinsic::mul_shift_right) return {};
    if (a.type.bits() > 32 || q.i < 0 || q.i > 60) return {};
    Wide half = rounding && q.i > 0 ? Wide(1) << int(q.i - 1) : 0;
    return only_if_fits(c.type, (a.i * b.i + half) >> int(q.i));
}

Expr fold_call(const IntrinsicCall &c) {
    switch (c.op) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::strict_float:
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped: return value_of(c.args[0]) ? c.args[0] : Expr();
    default: break;
    }
    Value v[3];
    if (c.args.empty() || c.args.size() > 3) return {};
    for (size_t i = 0; i < c.args.size(); i++) {
        auto arg = value_of(c.args[i]);
        if (!arg) return {};
        v[i] = *arg;
    }
    if (v[0].is_float()) return c.args.size() == 1 ? fold_float_call(c, v[0]) : Expr();
    for (size_t i = 1; i < c.args.size(); i++) {
        if (v[i].is_float()) return {};
    }
    if (c.args.size() == 1) return fold_unary_call(c, v[0]);
    if (c.args.size() == 2) return fold_binary_call(c, v[0], v[1]);
    return fold_ternary_call(c, v[0], v[1], v[2]);
}

}  // namespace

Expr fold_constants(const Expr &node) {
    switch (node.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return fold_binary<T>(node);
        TESSERA_BINARY_NODES(CASE)
#undef CASE
    case NodeKind::Not: {
        auto a = value_of(node.as<Not>()->a);
        return a ? boolean(node.type(), a->i == 0) : Expr();
    }
    case NodeKind::Select: {
        const auto *s = node.as<Select>();
        auto c = value_of(s->condition);
        if (!c) return {};
        const Expr &chosen = c->i ? s->true_value : s->false_value;
        return value_of(chosen) ? chosen : Expr();
    }
    case NodeKind::Cast: {
        auto v = value_of(node.as<Cast>()->value);
        return v ? fold_cast(node.type(), *v) : Expr();
    }
    case NodeKind::Reinterpret: {
        auto v = value_of(node.as<Reinterpret>()->value);
        return v && node.as<Reinterpret>()->value.type().is_scalar()
                   ? fold_reinterpret(node.type(), *v)
                   : Expr();
    }
    case NodeKind::IntrinsicCall: return fold_call(*node.as<IntrinsicCall>());
    default: return {};
    }
}

}  // namespace tessera::algebra
