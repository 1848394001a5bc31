#pragma once
#include "base/target.h"
#include "ir/operators.h"
#include "lang/tuple.h"
#include <compare>
#include <concepts>

// The functions and operators on expressions. Unless a comment says otherwise, operands are brought
// to one type as `ir::match_types` says, and vectors are worked on lane by lane.
namespace tessera::ir {

// The operands are integers or bools. The result of a shift has the type of its first operand, made
// as wide as the second; a negative count shifts the other way.
Expr operator&(WrittenExpr a, Expr b);
Expr operator|(WrittenExpr a, Expr b);
Expr operator^(WrittenExpr a, Expr b);
Expr operator~(WrittenExpr a);
Expr operator<<(WrittenExpr a, Expr b);
Expr operator>>(WrittenExpr a, Expr b);

}  // namespace tessera::ir

namespace tessera {

using ir::Expr;
using ir::WrittenExpr;

using ir::operator+;
using ir::operator-;
using ir::operator*;
using ir::operator/;
using ir::operator%;
using ir::operator==;
using ir::operator!=;
using ir::operator<;
using ir::operator<=;
using ir::operator>;
using ir::operator>=;
using ir::operator&&;
using ir::operator||;
using ir::operator!;
using ir::operator+=;
using ir::operator-=;
using ir::operator*=;
using ir::operator/=;
using ir::operator&;
using ir::operator|;
using ir::operator^;
using ir::operator~;
using ir::operator<<;
using ir::operator>>;

// Two numbers of 8 or 16 bits are compared at once, although each is an Expr, too.
template<NarrowFloatType H>
bool operator==(H a, H b) {
    return float(a) == float(b);
}
template<NarrowFloatType H>
std::partial_ordering operator<=>(H a, H b) {
    return float(a) <=> float(b);
}

using ir::cast;
using ir::clamp;
using ir::likely;
using ir::likely_if_innermost;
using ir::max;
using ir::min;
using ir::select;

template<typename T>
concept ExprLike = std::convertible_to<T, Expr>;

// ---- Choosing ----

template<ExprLike... Rest>
Expr min(const WrittenExpr &a, const Expr &b, const Expr &c, const Rest &...rest) {
    Expr least = min(min(a, b, a.at), c, a.at);
    ((least = min(least, rest, a.at)), ...);
    return least;
}
template<ExprLike... Rest>
Expr max(const WrittenExpr &a, const Expr &b, const Expr &c, const Rest &...rest) {
    Expr largest = max(max(a, b, a.at), c, a.at);
    ((largest = max(largest, rest, a.at)), ...);
    return largest;
}

// The value after the first condition that is true, or the last value.
template<ExprLike... Rest>
Expr select(const WrittenExpr &c0, const Expr &v0, const Expr &c1, const Expr &v1,
            const Rest &...rest) {
    if constexpr (sizeof...(rest) == 1) {
        return ir::select(c0, v0, ir::select(c1, v1, rest..., c0.at), c0.at);
    } else {
        return ir::select(c0, v0, select(WrittenExpr(c1, c0.at), v1, rest...), c0.at);
    }
}
Tuple select(const Tuple &condition, const Tuple &true_value, const Tuple &false_value,
             Location at = Here::current());
Tuple select(const Expr &condition, const Tuple &true_value, const Tuple &false_value,
             Location at = Here::current());
template<typename... Rest>
Tuple select(const WrittenExpr &c0, const Tuple &v0, const Expr &c1, const Tuple &v1,
             const Rest &...rest) {
    if constexpr (sizeof...(rest) == 1) {
        return select(c0, v0, select(c1, v1, rest..., c0.at), c0.at);
    } else {
        return select(c0, v0, select(WrittenExpr(c1, c0.at), v1, rest...), c0.at);
    }
}

template<typename... Rest>
Tuple select(const Tuple &c0, const Tuple &v0, const Tuple &c1, const Tuple &v1,
             const Rest &...rest) {
    return select(c0, v0, select(c1, v1, rest...));
}

// values[id]; the last one for an id out of range.
Expr mux(const Expr &id, const std::vector<Expr> &values, Location at = Here::current());
Expr mux(const Expr &id, const std::initializer_list<Expr> &values, Location at = Here::current());
Expr mux(const Expr &id, const Tuple &values, Location at = Here::current());
Tuple mux(const Expr &id, const std::vector<Tuple> &values, Location at = Here::current());
Tuple mux(const Expr &id, const std::initializer_list<Tuple> &values,
          Location at = Here::current());

// ---- Types ----

// The nearest value that the type has.
Expr saturating_cast(Type t, Expr e, Location at = Here::current());
template<typename T>
Expr saturating_cast(Expr e, Location at = Here::current()) {
    return saturating_cast(type_of<T>(), std::move(e), at);
}
// The same bits, seen as another type.
Expr reinterpret(Type t, Expr e, Location at = Here::current());
template<typename T>
Expr reinterpret(Expr e, Location at = Here::current()) {
    return reinterpret(type_of<T>(), std::move(e), at);
}

// ---- Integers ----

Expr abs(Expr a, Location at = Here::current());  // of a signed integer: unsigned
Expr absd(Expr a, Expr b,
          Location at =
              Here::current());  // |a - b|; of integers: unsigned, never overflows; of bools: !=
Expr popcount(Expr e, Location at = Here::current());
Expr count_leading_zeros(Expr e, Location at = Here::current());
Expr count_trailing_zeros(Expr e, Location at = Here::current());
Expr div_round_to_zero(Expr a, Expr b, Location at = Here::current());
Expr mod_round_to_zero(Expr a, Expr b, Location at = Here::current());
// The operands are an integer of 8, 16 or 32 bits and a uint8, which stands for 256 where it is 0.
// The type of the result is the first one's. Rounded down, as by `/`; to zero; and the remainder to
// the first.
Expr fast_integer_divide(const Expr &a, const Expr &b, Location at = Here::current());
Expr fast_integer_divide_round_to_zero(const Expr &a, const Expr &b, Location at = Here::current());
Expr fast_integer_modulo(const Expr &a, const Expr &b, Location at = Here::current());
// The bits of e from `lsb` on, as many as the type has.
Expr extract_bits(Type t, Expr e, const Expr &lsb, Location at = Here::current());
template<typename T>
Expr extract_bits(const Expr &e, const Expr &lsb, Location at = Here::current()) {
    return extract_bits(type_of<T>(), e, lsb, at);
}
// An unsigned integer of all the bits, least significant first.
Expr concat_bits(const std::vector<Expr> &parts, Location at = Here::current());

// These compute as if in a type that is wide enough; the result has twice the bits.
Expr widening_add(Expr a, Expr b, Location at = Here::current());
Expr widening_sub(Expr a, Expr b, Location at = Here::current());  // signed, unless float
Expr widening_mul(Expr a, Expr b, Location at = Here::current());  // signed if one operand is
Expr widening_shift_left(Expr a, Expr b, Location at = Here::current());
Expr widening_shift_right(Expr a, Expr b, Location at = Here::current());
// The second operand has half the bits of the first, which is the type of the result.
Expr widen_right_add(Expr a, Expr b, Location at = Here::current());
Expr widen_right_sub(Expr a, Expr b, Location at = Here::current());
Expr widen_right_mul(Expr a, Expr b, Location at = Here::current());
// The nearest value of the operands' type.
Expr saturating_add(Expr a, Expr b, Location at = Here::current());
Expr saturating_sub(Expr a, Expr b, Location at = Here::current());
// These compute as if in a type that is wide enough, halve the result (rounding down, or half up),
// and keep the operands' type.
Expr halving_add(Expr a, Expr b, Location at = Here::current());
Expr halving_sub(Expr a, Expr b, Location at = Here::current());
Expr rounding_halving_add(Expr a, Expr b, Location at = Here::current());
// Shifts that round half up; left for negative counts.
Expr rounding_shift_left(Expr a, Expr b, Location at = Here::current());
Expr rounding_shift_right(Expr a, Expr b, Location at = Here::current());
// a * b >> q, as if in a type that is wide enough, saturated.
Expr mul_shift_right(Expr a, Expr b, Expr q, Location at = Here::current());
Expr mul_shift_right(Expr a, Expr b, int q, Location at = Here::current());
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q, Location at = Here::current());
Expr rounding_mul_shift_right(Expr a, Expr b, int q, Location at = Here::current());

// Interpolates between two values of one type: zero_val where the weight is 0, one_val where it is
// 1 (a float) or the largest of its type (an unsigned integer), rounded to the nearest in between.
// Floats may be extrapolated; of integers a constant weight is in [0, 1].
Expr lerp(Expr zero_val, Expr one_val, Expr weight, Location at = Here::current());

// ---- Floats. Operands that are no floats become float32. ----

Expr sin(Expr x, Location at = Here::current());
Expr cos(Expr x, Location at = Here::current());
Expr tan(Expr x, Location at = Here::current());
Expr asin(Expr x, Location at = Here::current());
Expr acos(Expr x, Location at = Here::current());
Expr atan(Expr x, Location at = Here::current());
Expr atan2(Expr y, Expr x, Location at = Here::current());
Expr sinh(Expr x, Location at = Here::current());
Expr cosh(Expr x, Location at = Here::current());
Expr tanh(Expr x, Location at = Here::current());
Expr asinh(Expr x, Location at = Here::current());
Expr acosh(Expr x, Location at = Here::current());
Expr atanh(Expr x, Location at = Here::current());
Expr sqrt(Expr x, Location at = Here::current());
Expr hypot(const Expr &x, const Expr &y, Location at = Here::current());
Expr exp(Expr x, Location at = Here::current());
Expr log(Expr x, Location at = Here::current());
Expr pow(Expr x, Expr y,
         Location at = Here::current());                 // a constant integer y: by multiplications
Expr erf(const Expr &x, Location at = Here::current());  // float32, to about 1e-6
Expr floor(Expr x, Location at = Here::current());
Expr ceil(Expr x, Location at = Here::current());
Expr round(Expr x, Location at = Here::current());  // half to even
Expr trunc(Expr x, Location at = Here::current());
Expr fract(const Expr &x, Location at = Here::current());  // x - trunc(x)
Expr fma(const Expr &a, const Expr &b, const Expr &c, Location at = Here::current());
Expr is_nan(Expr x, Location at = Here::current());
Expr is_inf(Expr x, Location at = Here::current());
Expr is_finite(Expr x, Location at = Here::current());
// Quicker and less exact, of float32, made of arithmetic that vectorizes.
Expr fast_sin(const Expr &x,
              Location at = Here::current());  // absolute error below 1e-5 for |x| up to 1000
Expr fast_cos(const Expr &x, Location at = Here::current());
Expr fast_exp(const Expr &x, Location at = Here::current());  // relative error below 1e-5
Expr fast_log(const Expr &x, Location at = Here::current());  // absolute error below 1e-5 near 1
Expr fast_pow(const Expr &x, const Expr &y, Location at = Here::current());
Expr fast_inverse(Expr x, Location at = Here::current());
Expr fast_inverse_sqrt(Expr x, Location at = Here::current());
// The operations of e, each rounded on its own: no product and sum become one instruction.
Expr strict_float(Expr e, Location at = Here::current());

// ---- Values that are special ----

// In [0, 1), or any value of the type. The same for the same seed and point of one definition;
// without a seed, every call is a sequence of its own.
Expr random_float(const Expr &seed = Expr(), Location at = Here::current());
Expr random_uint(const Expr &seed = Expr(), Location at = Here::current());
Expr random_int(const Expr &seed = Expr(), Location at = Here::current());
void reset_random_counters();

// The element that is there already: storing it does nothing.
Expr undef(Type t, Location at = Here::current());
template<typename T>
Expr undef() {
    return undef(type_of<T>());
}

// The first operand; prints all of them when it is evaluated.
Expr print(const std::vector<Expr> &values, Location at = Here::current());
template<ExprLike... Args>
Expr print(const WrittenExpr &a, const Args &...rest) {
    return print(std::vector<Expr>{a, Expr(rest)...}, a.at);
}
Expr print_when(const Expr &condition, const std::vector<Expr> &values,
                Location at = Here::current());
template<ExprLike... Args>
Expr print_when(const WrittenExpr &condition, const Expr &a, const Args &...rest) {
    return print_when(condition, std::vector<Expr>{a, Expr(rest)...}, condition.at);
}
// The value after the condition; where the condition is false the pipeline fails, and says the
// value and what follows.
Expr require(const Expr &condition, const std::vector<Expr> &value_and_message,
             Location at = Here::current());
template<ExprLike... Args>
Expr require(const WrittenExpr &condition, const Expr &value, const Args &...message) {
    return require(condition, std::vector<Expr>{value, Expr(message)...}, condition.at);
}
// The value, which the user promises to lie between the two; undefined: no limit.
Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max,
                            Location at = Here::current());

// f(scatter(a, b)) = gather(c, d): f(a) = c and f(b) = d, all loads before the stores.
Expr scatter(const std::vector<Expr> &args, Location at = Here::current());
template<ExprLike... Args>
Expr scatter(const WrittenExpr &a, const Args &...rest) {
    return scatter(std::vector<Expr>{a, Expr(rest)...}, a.at);
}
Expr gather(const std::vector<Expr> &args, Location at = Here::current());
template<ExprLike... Args>
Expr gather(const WrittenExpr &a, const Args &...rest) {
    return gather(std::vector<Expr>{a, Expr(rest)...}, a.at);
}

// The target of the compilation, as a value that is constant by the time code is made.
Expr target_arch_is(Target::Arch arch);
Expr target_os_is(Target::OS os);
Expr target_has_feature(Target::Feature feature);
Expr target_bits();
Expr target_natural_vector_size(Type t);
template<typename T>
Expr target_natural_vector_size() {
    return target_natural_vector_size(type_of<T>());
}

}  // namespace tessera

namespace tessera::ir {

// C++ looks for a function of expressions in the namespace of Expr: a program need not name it.
using tessera::abs;
using tessera::absd;
using tessera::acos;
using tessera::acosh;
using tessera::asin;
using tessera::asinh;
using tessera::atan;
using tessera::atan2;
using tessera::atanh;
using tessera::ceil;
using tessera::concat_bits;
using tessera::cos;
using tessera::cosh;
using tessera::count_leading_zeros;
using tessera::count_trailing_zeros;
using tessera::div_round_to_zero;
using tessera::erf;
using tessera::exp;
using tessera::extract_bits;
using tessera::fast_cos;
using tessera::fast_exp;
using tessera::fast_integer_divide;
using tessera::fast_integer_divide_round_to_zero;
using tessera::fast_integer_modulo;
using tessera::fast_inverse;
using tessera::fast_inverse_sqrt;
using tessera::fast_log;
using tessera::fast_pow;
using tessera::fast_sin;
using tessera::floor;
using tessera::fma;
using tessera::fract;
using tessera::gather;
using tessera::halving_add;
using tessera::halving_sub;
using tessera::hypot;
using tessera::is_finite;
using tessera::is_inf;
using tessera::is_nan;
using tessera::lerp;
using tessera::log;
using tessera::max;
using tessera::min;
using tessera::mod_round_to_zero;
using tessera::mul_shift_right;
using tessera::mux;
using tessera::popcount;
using tessera::pow;
using tessera::print;
using tessera::print_when;
using tessera::random_float;
using tessera::random_int;
using tessera::random_uint;
using tessera::reinterpret;
using tessera::require;
using tessera::round;
using tessera::rounding_halving_add;
using tessera::rounding_mul_shift_right;
using tessera::rounding_shift_left;
using tessera::rounding_shift_right;
using tessera::saturating_add;
using tessera::saturating_cast;
using tessera::saturating_sub;
using tessera::scatter;
using tessera::select;
using tessera::sin;
using tessera::sinh;
using tessera::sqrt;
using tessera::strict_float;
using tessera::tan;
using tessera::tanh;
using tessera::target_natural_vector_size;
using tessera::trunc;
using tessera::unsafe_promise_clamped;
using tessera::widen_right_add;
using tessera::widen_right_mul;
using tessera::widen_right_sub;
using tessera::widening_add;
using tessera::widening_mul;
using tessera::widening_shift_left;
using tessera::widening_shift_right;
using tessera::widening_sub;

}  // namespace tessera::ir
