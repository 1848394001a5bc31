#include "base/dialect.h"
#include "lang/call_site.h"
#include "lang/operators.h"

namespace tessera {
namespace {

using ir::call;
using ir::Intrinsic;

void require_integer(const Expr &e, const CallSite &site) {
    site.require_defined(e);
    if (e.type().is_int_or_uint()) return;
    site.refuse(str("an operand is a ", e.type(), ", not an integer"));
}

// One type for both, which is an integer or a bool.
void match_integers(Expr &a, Expr &b, const CallSite &site) {
    require_integer(a, site);
    require_integer(b, site);
    site.match_types(a, b);
}

// The constant in the type, or undefined if it is none, or none of that type.
Expr constant_in(Type t, const Expr &e) {
    auto constant = ir::as_const_int(e);
    if (!constant || !t.element_of().can_represent(*constant)) return {};
    return ir::make_const(t, *constant);
}

// Both as wide as the wider, each keeping its sign. A count that is a constant is as wide as what
// is shifted by it, but not by Halide's rules.
void match_count(Expr &a, Expr &count, const CallSite &site) {
    require_integer(a, site);
    require_integer(count, site);
    if (a.type().lanes() == 1 && count.type().lanes() > 1) {
        a = ir::broadcast(a, count.type().lanes());
    }
    if (count.type().lanes() == 1 && a.type().lanes() > 1) {
        count = ir::broadcast(count, a.type().lanes());
    }
    if (a.type().bits() == count.type().bits()) return;
    if (!follows_halide(site.at)) {
        Expr same = constant_in(count.type().with_bits(a.type().bits()), count);
        if (same.defined()) return void(count = same);
    }
    if (a.type().bits() < count.type().bits()) {
        a = cast(a.type().with_bits(count.type().bits()), a);
    } else {
        count = cast(count.type().with_bits(a.type().bits()), count);
    }
}

// The same where either may be a constant that is as wide as the other.
void match_widths(Expr &a, Expr &b, const CallSite &site) {
    require_integer(a, site);
    require_integer(b, site);
    if (!follows_halide(site.at) && a.type().bits() != b.type().bits() && !ir::is_const(b)) {
        Expr same = constant_in(a.type().with_bits(b.type().bits()), a);
        if (same.defined()) a = same;
    }
    match_count(a, b, site);
}

Expr bitwise(Intrinsic op, const char *name, WrittenExpr a, Expr b) {
    const CallSite site{name, a.at};
    require_integer(a, site);
    require_integer(b, site);
    if (follows_halide(a.at) && a.type().is_uint() != b.type().is_uint()) {
        site.refuse(str("the operands are of types ", a.type(), " and ", b.type(),
                        ", one of them signed, the other not; cast one of them"));
    }
    match_integers(a, b, site);
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b)});
}

Expr shift(Intrinsic op, const char *name, WrittenExpr a, Expr b) {
    const CallSite site{name, a.at};
    match_count(a, b, site);
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b)});
}

Type widened(Type t, const CallSite &site) {
    if (t.bits() <= 32 && !t.is_bool() && !t.is_handle() &&
        (!t.is_float() || t == Float(16, t.lanes()) || t == Float(32, t.lanes()))) {
        return t.widen();
    }
    site.refuse(str("there is no type twice as wide as ", t));
}

Type narrowed(Type t, const CallSite &site) {
    if (t.bits() >= 16 && !(t.is_float() && t.bits() == 16) && !t.is_handle()) {
        return t.narrow();
    }
    site.refuse(str("there is no type half as wide as ", t));
}

Expr same_type(Intrinsic op, const char *name, WrittenExpr a, Expr b) {
    const CallSite site{name, a.at};
    match_integers(a, b, site);
    if (a.type().is_bool()) site.refuse("the operands are bools; cast them to an integer first");
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b)});
}

Expr widen_right(Intrinsic op, const char *name, WrittenExpr a, Expr b) {
    const CallSite site{name, a.at};
    site.require_defined(a);
    site.require_defined(b);
    Type narrow = narrowed(a.type(), site);
    if (ir::is_const(b) && !follows_halide(a.at)) b = cast(narrow, b);
    if (b.type() != narrow && b.type() != narrow.with_code(TypeCode::UInt) &&
        b.type() != narrow.with_code(TypeCode::Int)) {
        site.refuse(
            str("the second operand is a ", b.type(), ", not a ", narrow, ", half of the first"));
    }
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b)});
}

Expr multiply_shift(Intrinsic op, const char *name, WrittenExpr a, Expr b, Expr q) {
    const CallSite site{name, a.at};
    match_integers(a, b, site);
    require_integer(q, site);
    if (auto constant = ir::as_const_int(q)) {
        int64_t last = 2 * int64_t(a.type().bits()) - 1;
        if (*constant < 0 || *constant > last) {
            site.refuse(str("the shift ", *constant, " is not between 0 and ", last));
        }
    }
    q = cast(a.type().with_code(TypeCode::UInt), q);
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b), std::move(q)});
}

Expr widening(Intrinsic op, const char *name, WrittenExpr a, Expr b) {
    const CallSite site{name, a.at};
    site.match_types(a, b);
    Type t = widened(a.type(), site);
    if (op == Intrinsic::widening_sub && t.is_uint()) t = t.with_code(TypeCode::Int);
    return call(t, op, {std::move(a), std::move(b)});
}

Expr widening_shift(Intrinsic op, const char *name, WrittenExpr a, Expr b) {
    const CallSite site{name, a.at};
    match_count(a, b, site);
    Type t = widened(a.type(), site);
    return call(t, op, {std::move(a), std::move(b)});
}

Expr bits_of(Intrinsic op, const char *name, WrittenExpr e) {
    const CallSite site{name, e.at};
    require_integer(e, site);
    Type t = e.type();
    return call(t, op, {std::move(e)});
}

}  // namespace

}  // namespace tessera

namespace tessera::ir {

Expr operator&(WrittenExpr a, Expr b) {
    return bitwise(Intrinsic::bitwise_and, "operator &", std::move(a), std::move(b));
}
Expr operator|(WrittenExpr a, Expr b) {
    return bitwise(Intrinsic::bitwise_or, "operator |", std::move(a), std::move(b));
}
Expr operator^(WrittenExpr a, Expr b) {
    return bitwise(Intrinsic::bitwise_xor, "operator ^", std::move(a), std::move(b));
}
Expr operator~(WrittenExpr a) {
    require_integer(a, {"operator ~", a.at});
    Type t = a.type();
    return call(t, Intrinsic::bitwise_not, {std::move(a)});
}
Expr operator<<(WrittenExpr a, Expr b) {
    return shift(Intrinsic::shift_left, "operator <<", std::move(a), std::move(b));
}
Expr operator>>(WrittenExpr a, Expr b) {
    return shift(Intrinsic::shift_right, "operator >>", std::move(a), std::move(b));
}

}  // namespace tessera::ir

namespace tessera {

Expr saturating_cast(Type t, Expr e, Location at) {
    const CallSite site{"saturating_cast", at};
    site.require_defined(e);
    t = t.with_lanes(e.type().lanes());
    if (e.type() == t) return e;
    if (t.is_handle() || e.type().is_handle()) {
        site.refuse(str("from ", e.type(), " to ", t));
    }
    if (t.is_float() || t.can_represent(e.type())) return cast(t, e);
    return call(t, Intrinsic::saturating_cast, {std::move(e)});
}

Expr reinterpret(Type t, Expr e, Location at) {
    const CallSite site{"reinterpret", at};
    site.require_defined(e);
    if (e.type() == t) return e;
    int from = e.type().bits() * e.type().lanes(), to = t.bits() * t.lanes();
    if (t.is_scalar() && from != to) t = t.with_lanes(e.type().lanes());
    to = t.bits() * t.lanes();
    if (from != to) {
        site.refuse(str("from ", e.type(), ", of ", from, " bits, to ", t, ", of ", to));
    }
    return ir::Reinterpret::make(t, std::move(e));
}

Expr abs(Expr a, Location at) {
    const CallSite site{"abs", at};
    site.require_defined(a);
    Type t = a.type();
    if (t.is_uint()) return a;
    if (t.is_handle()) site.refuse("the operand is a handle");
    if (t.is_int()) t = t.with_code(TypeCode::UInt);
    return call(t, Intrinsic::abs, {std::move(a)});
}

Expr absd(Expr a, Expr b, Location at) {
    const CallSite site{"absd", at};
    site.match_types(a, b);
    Type t = a.type();
    if (t.is_handle()) site.refuse(str("the operands are of type ", t));
    if (t.is_bool()) return a != b;
    if (t.is_float()) return abs(a - b);
    if (t.is_int()) t = t.with_code(TypeCode::UInt);
    return call(t, Intrinsic::absd, {std::move(a), std::move(b)});
}

#define OF_ONE(name, make)                                                                         \
    Expr name(Expr e, Location at) { return make(Intrinsic::name, #name, {std::move(e), at}); }
#define OF_TWO(name, make)                                                                         \
    Expr name(Expr a, Expr b, Location at) {                                                       \
        return make(Intrinsic::name, #name, {std::move(a), at}, std::move(b));                     \
    }
OF_ONE(popcount, bits_of)
OF_ONE(count_leading_zeros, bits_of)
OF_ONE(count_trailing_zeros, bits_of)
OF_TWO(div_round_to_zero, same_type)
OF_TWO(mod_round_to_zero, same_type)
OF_TWO(saturating_add, same_type)
OF_TWO(saturating_sub, same_type)
OF_TWO(halving_add, same_type)
OF_TWO(halving_sub, same_type)
OF_TWO(rounding_halving_add, same_type)
OF_TWO(widening_add, widening)
OF_TWO(widening_sub, widening)
OF_TWO(widening_shift_left, widening_shift)
OF_TWO(widening_shift_right, widening_shift)
OF_TWO(widen_right_add, widen_right)
OF_TWO(widen_right_sub, widen_right)
OF_TWO(widen_right_mul, widen_right)
OF_TWO(rounding_shift_left, shift)
OF_TWO(rounding_shift_right, shift)
#undef OF_ONE
#undef OF_TWO

namespace {

// `quotient` of both in a type that holds either, in that of `a`.
template<typename Quotient>
Expr divide_by_byte(const char *name, const WrittenExpr &a, const Expr &b, Quotient quotient) {
    const CallSite site{name, a.at};
    require_integer(a, site);
    require_integer(b, site);
    const Type t = a.type();
    if (t.is_bool() || t.bits() > 32) {
        site.refuse(str("it divides integers of 8, 16 or 32 bits, not a ", t, "; cast it"));
    }
    if (b.type().element_of() != UInt(8)) {
        site.refuse(str("the divisor is a ", b.type(), "; cast<uint8_t>(...) it"));
    }
    const Type wide = t == UInt(32, t.lanes()) ? t : Int(std::min(32, 2 * t.bits()), t.lanes());
    Expr divisor = cast(wide.with_lanes(b.type().lanes()), b);
    divisor = select(b == 0, ir::make_const(divisor.type(), 256), divisor);
    return cast(t, quotient(WrittenExpr(cast(wide, a), a.at), divisor));
}

}  // namespace

Expr fast_integer_divide(const Expr &a, const Expr &b, Location at) {
    return divide_by_byte("fast_integer_divide", {a, at}, b,
                          [](WrittenExpr x, Expr y) { return std::move(x) / std::move(y); });
}
Expr fast_integer_divide_round_to_zero(const Expr &a, const Expr &b, Location at) {
    return divide_by_byte("fast_integer_divide_round_to_zero", {a, at}, b,
                          [](WrittenExpr x, Expr y) {
                              const Location at = x.at;
                              return div_round_to_zero(std::move(x), std::move(y), at);
                          });
}
Expr fast_integer_modulo(const Expr &a, const Expr &b, Location at) {
    return divide_by_byte("fast_integer_modulo", {a, at}, b,
                          [](WrittenExpr x, Expr y) { return std::move(x) % std::move(y); });
}

Expr extract_bits(Type t, Expr e, const Expr &lsb, Location at) {
    const CallSite site{"extract_bits", at};
    site.require_defined(e);
    require_integer(lsb, site);
    t = t.with_lanes(e.type().lanes());
    if (t.bits() > e.type().bits()) {
        site.refuse(str(t, " has more bits than ", e.type()));
    }
    return call(t, Intrinsic::extract_bits, {std::move(e), lsb});
}

Expr concat_bits(const std::vector<Expr> &parts, Location at) {
    const CallSite site{"concat_bits", at};
    if (parts.empty()) site.refuse("there are no operands");
    for (const Expr &e : parts) {
        require_integer(e, site);
        if (e.type() != parts[0].type()) site.refuse("the operands differ in type");
    }
    int bits = parts[0].type().bits() * int(parts.size());
    if (bits > 64 || (bits & (bits - 1))) {
        site.refuse(str("no type has ", bits, " bits; give it 2, 4 or 8 operands"));
    }
    return call(UInt(bits, parts[0].type().lanes()), Intrinsic::concat_bits, parts);
}

Expr widening_mul(Expr a, Expr b, Location at) {
    const CallSite site{"widening_mul", at};
    site.require_defined(a);
    site.require_defined(b);
    if (!a.type().is_int_or_uint() || !b.type().is_int_or_uint()) {
        return widening(Intrinsic::widening_mul, site.function, {std::move(a), at}, std::move(b));
    }
    match_widths(a, b, site);
    Type t = widened(a.type(), site);
    if (b.type().is_int()) t = t.with_code(TypeCode::Int);
    return call(t, Intrinsic::widening_mul, {std::move(a), std::move(b)});
}

Expr mul_shift_right(Expr a, Expr b, Expr q, Location at) {
    return multiply_shift(Intrinsic::mul_shift_right, "mul_shift_right", {std::move(a), at},
                          std::move(b), std::move(q));
}
Expr mul_shift_right(Expr a, Expr b, int q, Location at) {
    return mul_shift_right(std::move(a), std::move(b), Expr(q), at);
}
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q, Location at) {
    return multiply_shift(Intrinsic::rounding_mul_shift_right, "rounding_mul_shift_right",
                          {std::move(a), at}, std::move(b), std::move(q));
}
Expr rounding_mul_shift_right(Expr a, Expr b, int q, Location at) {
    return rounding_mul_shift_right(std::move(a), std::move(b), Expr(q), at);
}

namespace {

// A constant takes the other's type; by Halide's rules only a signed integer does.
void match_ends(Expr &a, Expr &b, const CallSite &site) {
    auto yields = [&](const Expr &e, Type t) {
        if (!follows_halide(site.at)) return ir::is_const(e);
        return e.as<ir::IntImm>() && ir::may_hold(t, e);
    };
    Type element_a = a.type().element_of(), element_b = b.type().element_of();
    const bool a_yields = yields(a, element_b), b_yields = yields(b, element_a);
    if (element_a != element_b && !a_yields && !b_yields) {
        site.refuse(
            str("one value is a ", a.type(), ", the other a ", b.type(), "; cast one of them"));
    }
    if (follows_halide(site.at)) {
        if (a_yields) {
            a = cast(element_b, a);
        } else if (b_yields) {
            b = cast(element_a, b);
        }
    }
    site.match_types(a, b);
}

}  // namespace

Expr lerp(Expr zero_val, Expr one_val, Expr weight, Location at) {
    const CallSite site{"lerp", at};
    site.require_defined(weight);
    site.require_defined(zero_val);
    site.require_defined(one_val);
    match_ends(zero_val, one_val, site);
    if (!weight.type().is_uint() && !weight.type().is_float()) {
        site.refuse(str("the weight is a ", weight.type(), ", not an unsigned integer or a float"));
    }
    if (const auto *constant = weight.as<ir::FloatImm>(); constant && !zero_val.type().is_float()) {
        if (!(constant->value >= 0 && constant->value <= 1)) {
            site.refuse(str("the weight ", constant->value, " is not between 0 and 1"));
        }
    }
    if (zero_val.type().is_handle()) site.refuse("the values are handles");
    int lanes = std::max(zero_val.type().lanes(), weight.type().lanes());
    auto widen = [&](Expr &e) {
        if (e.type().lanes() < lanes) e = ir::broadcast(e, lanes);
    };
    widen(zero_val);
    widen(one_val);
    widen(weight);
    Type t = zero_val.type();
    return call(t, Intrinsic::lerp, {std::move(zero_val), std::move(one_val), std::move(weight)});
}

}  // namespace tessera
