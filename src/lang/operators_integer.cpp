#include "ir/printer.h"
#include "lang/operators.h"

namespace tessera {
namespace {

using ir::call;
using ir::Intrinsic;

[[noreturn]] void refuse(const char *name, const std::string &why) {
    throw CompileError(str(name, ": ", why));
}

void require_defined(const Expr &e, const char *name) {
    if (!e.defined()) refuse(name, "an operand is an undefined Expr");
}

void require_integer(const Expr &e, const char *name) {
    require_defined(e, name);
    if (e.type().is_int_or_uint()) return;
    refuse(name, str("an operand is a ", e.type(), ", not an integer"));
}

// One type for both, which is an integer or a bool.
void match_integers(Expr &a, Expr &b, const char *name) {
    require_integer(a, name);
    require_integer(b, name);
    ir::match_types(a, b);
}

// Both as wide as the wider, each keeping its sign. A constant is as wide as the other.
void match_widths(Expr &a, Expr &b, const char *name) {
    require_integer(a, name);
    require_integer(b, name);
    if (a.type().lanes() == 1 && b.type().lanes() > 1) a = ir::broadcast(a, b.type().lanes());
    if (b.type().lanes() == 1 && a.type().lanes() > 1) b = ir::broadcast(b, a.type().lanes());
    if (a.type().bits() == b.type().bits()) return;
    if (auto constant = ir::as_const_int(b)) {
        Type t = b.type().with_bits(a.type().bits());
        if (t.element_of().can_represent(*constant)) return void(b = ir::make_const(t, *constant));
    }
    if (auto constant = ir::as_const_int(a)) {
        Type t = a.type().with_bits(b.type().bits());
        if (t.element_of().can_represent(*constant)) return void(a = ir::make_const(t, *constant));
    }
    if (a.type().bits() < b.type().bits()) {
        a = cast(a.type().with_bits(b.type().bits()), a);
    } else {
        b = cast(b.type().with_bits(a.type().bits()), b);
    }
}

Expr bitwise(Intrinsic op, const char *name, Expr a, Expr b) {
    match_integers(a, b, name);
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b)});
}

Expr shift(Intrinsic op, const char *name, Expr a, Expr b) {
    match_widths(a, b, name);
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b)});
}

Type widened(Type t, const char *name) {
    if (t.bits() <= 32 && !t.is_bool() && !t.is_handle() && !t.is_bfloat() &&
        !(t.is_float() && t.bits() > 32)) {
        return t.widen();
    }
    refuse(name, str("there is no type twice as wide as ", t));
}

Type narrowed(Type t, const char *name) {
    if (t.bits() >= 16 && !(t.is_any_float() && t.bits() == 16) && !t.is_handle()) {
        return t.narrow();
    }
    refuse(name, str("there is no type half as wide as ", t));
}

Expr same_type(Intrinsic op, const char *name, Expr a, Expr b) {
    match_integers(a, b, name);
    if (a.type().is_bool()) refuse(name, "the operands are bools; cast them to an integer first");
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b)});
}

Expr widen_right(Intrinsic op, const char *name, Expr a, Expr b) {
    require_defined(a, name);
    require_defined(b, name);
    Type narrow = narrowed(a.type(), name);
    if (ir::is_const(b)) b = cast(narrow, b);
    if (b.type() != narrow && b.type() != narrow.with_code(TypeCode::UInt) &&
        b.type() != narrow.with_code(TypeCode::Int)) {
        refuse(name, str("the second operand is a ", b.type(), ", not a ", narrow,
                         ", half of the first"));
    }
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b)});
}

Expr multiply_shift(Intrinsic op, const char *name, Expr a, Expr b, Expr q) {
    match_integers(a, b, name);
    require_integer(q, name);
    if (auto constant = ir::as_const_int(q)) {
        int64_t last = 2 * int64_t(a.type().bits()) - 1;
        if (*constant < 0 || *constant > last) {
            refuse(name, str("the shift ", *constant, " is not between 0 and ", last));
        }
    }
    q = cast(a.type().with_code(TypeCode::UInt), q);
    Type t = a.type();
    return call(t, op, {std::move(a), std::move(b), std::move(q)});
}

}  // namespace

}  // namespace tessera

namespace tessera::ir {

Expr operator&(Expr a, Expr b) {
    return bitwise(Intrinsic::bitwise_and, "operator &", std::move(a), std::move(b));
}
Expr operator|(Expr a, Expr b) {
    return bitwise(Intrinsic::bitwise_or, "operator |", std::move(a), std::move(b));
}
Expr operator^(Expr a, Expr b) {
    return bitwise(Intrinsic::bitwise_xor, "operator ^", std::move(a), std::move(b));
}
Expr operator~(Expr a) {
    require_integer(a, "operator ~");
    Type t = a.type();
    return call(t, Intrinsic::bitwise_not, {std::move(a)});
}
Expr operator<<(Expr a, Expr b) {
    return shift(Intrinsic::shift_left, "operator <<", std::move(a), std::move(b));
}
Expr operator>>(Expr a, Expr b) {
    return shift(Intrinsic::shift_right, "operator >>", std::move(a), std::move(b));
}

}  // namespace tessera::ir

namespace tessera {

Expr saturating_cast(Type t, Expr e) {
    require_defined(e, "saturating_cast");
    t = t.with_lanes(e.type().lanes());
    if (e.type() == t) return e;
    if (t.is_handle() || e.type().is_handle()) {
        refuse("saturating_cast", str("from ", e.type(), " to ", t));
    }
    if (t.is_any_float() || t.can_represent(e.type())) return cast(t, e);
    return call(t, Intrinsic::saturating_cast, {std::move(e)});
}

Expr reinterpret(Type t, Expr e) {
    require_defined(e, "reinterpret");
    if (e.type() == t) return e;
    int from = e.type().bits() * e.type().lanes(), to = t.bits() * t.lanes();
    if (t.is_scalar() && from != to) t = t.with_lanes(e.type().lanes());
    to = t.bits() * t.lanes();
    if (from != to) {
        refuse("reinterpret", str("from ", e.type(), ", of ", from, " bits, to ", t, ", of ", to));
    }
    return ir::Reinterpret::make(t, std::move(e));
}

Expr abs(Expr a) {
    require_defined(a, "abs");
    Type t = a.type();
    if (t.is_uint()) return a;
    if (t.is_handle()) refuse("abs", "the operand is a handle");
    if (t.is_int()) t = t.with_code(TypeCode::UInt);
    return call(t, Intrinsic::abs, {std::move(a)});
}

Expr absd(Expr a, Expr b) {
    require_defined(a, "absd");
    require_defined(b, "absd");
    ir::match_types(a, b);
    Type t = a.type();
    if (t.is_handle() || t.is_bool()) refuse("absd", str("the operands are of type ", t));
    if (t.is_any_float()) return abs(a - b);
    if (t.is_int()) t = t.with_code(TypeCode::UInt);
    return call(t, Intrinsic::absd, {std::move(a), std::move(b)});
}

namespace {

Expr bits_of(Intrinsic op, const char *name, Expr e) {
    require_integer(e, name);
    Type t = e.type();
    return call(t, op, {std::move(e)});
}

}  // namespace

Expr popcount(Expr e) { return bits_of(Intrinsic::popcount, "popcount", std::move(e)); }
Expr count_leading_zeros(Expr e) {
    return bits_of(Intrinsic::count_leading_zeros, "count_leading_zeros", std::move(e));
}
Expr count_trailing_zeros(Expr e) {
    return bits_of(Intrinsic::count_trailing_zeros, "count_trailing_zeros", std::move(e));
}
Expr div_round_to_zero(Expr a, Expr b) {
    return same_type(Intrinsic::div_round_to_zero, "div_round_to_zero", std::move(a), std::move(b));
}
Expr mod_round_to_zero(Expr a, Expr b) {
    return same_type(Intrinsic::mod_round_to_zero, "mod_round_to_zero", std::move(a), std::move(b));
}

Expr extract_bits(Type t, const Expr &e, const Expr &lsb) {
    require_defined(e, "extract_bits");
    require_integer(lsb, "extract_bits");
    t = t.with_lanes(e.type().lanes());
    if (t.bits() > e.type().bits()) {
        refuse("extract_bits", str(t, " has more bits than ", e.type()));
    }
    return call(t, Intrinsic::extract_bits, {e, lsb});
}

Expr concat_bits(const std::vector<Expr> &parts) {
    if (parts.empty()) refuse("concat_bits", "there are no operands");
    for (const Expr &e : parts) {
        require_integer(e, "concat_bits");
        if (e.type() != parts[0].type()) refuse("concat_bits", "the operands differ in type");
    }
    int bits = parts[0].type().bits() * int(parts.size());
    if (bits > 64 || (bits & (bits - 1))) {
        refuse("concat_bits", str("no type has ", bits, " bits; give it 2, 4 or 8 operands"));
    }
    return call(UInt(bits, parts[0].type().lanes()), Intrinsic::concat_bits, parts);
}

namespace {

Expr widening(Intrinsic op, const char *name, Expr a, Expr b) {
    require_defined(a, name);
    require_defined(b, name);
    ir::match_types(a, b);
    Type t = widened(a.type(), name);
    if (op == Intrinsic::widening_sub && t.is_uint()) t = t.with_code(TypeCode::Int);
    return call(t, op, {std::move(a), std::move(b)});
}

}  // namespace

Expr widening_add(Expr a, Expr b) {
    return widening(Intrinsic::widening_add, "widening_add", std::move(a), std::move(b));
}
Expr widening_sub(Expr a, Expr b) {
    return widening(Intrinsic::widening_sub, "widening_sub", std::move(a), std::move(b));
}
Expr widening_mul(Expr a, Expr b) {
    require_defined(a, "widening_mul");
    require_defined(b, "widening_mul");
    if (!a.type().is_int_or_uint() || !b.type().is_int_or_uint()) {
        return widening(Intrinsic::widening_mul, "widening_mul", std::move(a), std::move(b));
    }
    match_widths(a, b, "widening_mul");
    Type t = widened(a.type(), "widening_mul");
    if (b.type().is_int()) t = t.with_code(TypeCode::Int);
    return call(t, Intrinsic::widening_mul, {std::move(a), std::move(b)});
}
Expr widening_shift_left(Expr a, Expr b) {
    match_widths(a, b, "widening_shift_left");
    Type t = widened(a.type(), "widening_shift_left");
    return call(t, Intrinsic::widening_shift_left, {std::move(a), std::move(b)});
}
Expr widening_shift_right(Expr a, Expr b) {
    match_widths(a, b, "widening_shift_right");
    Type t = widened(a.type(), "widening_shift_right");
    return call(t, Intrinsic::widening_shift_right, {std::move(a), std::move(b)});
}
Expr widen_right_add(Expr a, Expr b) {
    return widen_right(Intrinsic::widen_right_add, "widen_right_add", std::move(a), std::move(b));
}
Expr widen_right_sub(Expr a, Expr b) {
    return widen_right(Intrinsic::widen_right_sub, "widen_right_sub", std::move(a), std::move(b));
}
Expr widen_right_mul(Expr a, Expr b) {
    return widen_right(Intrinsic::widen_right_mul, "widen_right_mul", std::move(a), std::move(b));
}
Expr saturating_add(Expr a, Expr b) {
    return same_type(Intrinsic::saturating_add, "saturating_add", std::move(a), std::move(b));
}
Expr saturating_sub(Expr a, Expr b) {
    return same_type(Intrinsic::saturating_sub, "saturating_sub", std::move(a), std::move(b));
}
Expr halving_add(Expr a, Expr b) {
    return same_type(Intrinsic::halving_add, "halving_add", std::move(a), std::move(b));
}
Expr halving_sub(Expr a, Expr b) {
    return same_type(Intrinsic::halving_sub, "halving_sub", std::move(a), std::move(b));
}
Expr rounding_halving_add(Expr a, Expr b) {
    return same_type(Intrinsic::rounding_halving_add, "rounding_halving_add", std::move(a),
                     std::move(b));
}
Expr rounding_shift_left(Expr a, Expr b) {
    return shift(Intrinsic::rounding_shift_left, "rounding_shift_left", std::move(a), std::move(b));
}
Expr rounding_shift_right(Expr a, Expr b) {
    return shift(Intrinsic::rounding_shift_right, "rounding_shift_right", std::move(a),
                 std::move(b));
}
Expr mul_shift_right(Expr a, Expr b, Expr q) {
    return multiply_shift(Intrinsic::mul_shift_right, "mul_shift_right", std::move(a), std::move(b),
                          std::move(q));
}
Expr mul_shift_right(Expr a, Expr b, int q) {
    return mul_shift_right(std::move(a), std::move(b), Expr(q));
}
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q) {
    return multiply_shift(Intrinsic::rounding_mul_shift_right, "rounding_mul_shift_right",
                          std::move(a), std::move(b), std::move(q));
}
Expr rounding_mul_shift_right(Expr a, Expr b, int q) {
    return rounding_mul_shift_right(std::move(a), std::move(b), Expr(q));
}

Expr lerp(Expr zero_val, Expr one_val, Expr weight) {
    require_defined(zero_val, "lerp");
    require_defined(one_val, "lerp");
    require_defined(weight, "lerp");
    ir::match_types(zero_val, one_val);
    if (!weight.type().is_uint() && !weight.type().is_float()) {
        refuse("lerp",
               str("the weight is a ", weight.type(), ", not an unsigned integer or a float"));
    }
    if (const auto *constant = weight.as<ir::FloatImm>()) {
        if (!(constant->value >= 0 && constant->value <= 1)) {
            refuse("lerp", str("the weight ", constant->value, " is not between 0 and 1"));
        }
    }
    if (zero_val.type().is_handle()) refuse("lerp", "the values are handles");
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
