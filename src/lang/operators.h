#pragma once
#include "base/target.h"
#include "ir/operators.h"
#include "lang/tuple.h"
#include <concepts>

// The functions and operators on expressions. Where nothing else is said, operands are brought to
// one type as `ir::match_types` says, and vectors are worked on lane by lane.
namespace tessera::ir {

// Of integers or bools. The result of a shift has the type of its first operand, made as wide as
// the second; a negative count shifts the other way.
Expr operator&(Expr a, Expr b);
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator~(Expr a);
Expr operator<<(Expr a, Expr b);
Expr operator>>(Expr a, Expr b);

}  // namespace tessera::ir

namespace tessera {

using ir::Expr;

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
Expr min(const Expr &a, const Expr &b, const Expr &c, const Rest &...rest) {
    return min(min(a, b), c, rest...);
}
template<ExprLike... Rest>
Expr max(const Expr &a, const Expr &b, const Expr &c, const Rest &...rest) {
    return max(max(a, b), c, rest...);
}

// The value after the first condition that is true, or the last value.
template<ExprLike... Rest>
Expr select(const Expr &c0, const Expr &v0, const Expr &c1, const Expr &v1, const Rest &...rest) {
    return ir::select(c0, v0, select(c1, v1, rest...));
}
Tuple select(const Tuple &condition, const Tuple &true_value, const Tuple &false_value);
Tuple select(const Expr &condition, const Tuple &true_value, const Tuple &false_value);
template<typename... Rest>
Tuple select(const Expr &c0, const Tuple &v0, const Expr &c1, const Tuple &v1,
             const Rest &...rest) {
    return select(c0, v0, select(c1, v1, rest...));
}

// values[id]; the last one for an id out of range.
Expr mux(const Expr &id, const std::vector<Expr> &values);
Expr mux(const Expr &id, const std::initializer_list<Expr> &values);
Expr mux(const Expr &id, const Tuple &values);
Tuple mux(const Expr &id, const std::vector<Tuple> &values);
Tuple mux(const Expr &id, const std::initializer_list<Tuple> &values);

// ---- Types ----

// The nearest value that the type has.
Expr saturating_cast(Type t, Expr e);
template<typename T>
Expr saturating_cast(Expr e) {
    return saturating_cast(type_of<T>(), std::move(e));
}
// The same bits, seen as another type.
Expr reinterpret(Type t, Expr e);
template<typename T>
Expr reinterpret(Expr e) {
    return reinterpret(type_of<T>(), std::move(e));
}

// ---- Integers ----

Expr abs(Expr a);           // of a signed integer: unsigned
Expr absd(Expr a, Expr b);  // |a - b|; of integers: unsigned, never overflows
Expr popcount(Expr e);
Expr count_leading_zeros(Expr e);
Expr count_trailing_zeros(Expr e);
Expr div_round_to_zero(Expr a, Expr b);
Expr mod_round_to_zero(Expr a, Expr b);
// The bits of e from `lsb` on, as many as the type has.
Expr extract_bits(Type t, const Expr &e, const Expr &lsb);
template<typename T>
Expr extract_bits(const Expr &e, const Expr &lsb) {
    return extract_bits(type_of<T>(), e, lsb);
}
// An unsigned integer of all the bits, least significant first.
Expr concat_bits(const std::vector<Expr> &parts);

// As if in a type that is wide enough; the result has twice the bits.
Expr widening_add(Expr a, Expr b);
Expr widening_sub(Expr a, Expr b);  // signed, unless float
Expr widening_mul(Expr a, Expr b);  // signed if one operand is
Expr widening_shift_left(Expr a, Expr b);
Expr widening_shift_right(Expr a, Expr b);
// The second operand has half the bits of the first, which is the type of the result.
Expr widen_right_add(Expr a, Expr b);
Expr widen_right_sub(Expr a, Expr b);
Expr widen_right_mul(Expr a, Expr b);
// The nearest value of the operands' type.
Expr saturating_add(Expr a, Expr b);
Expr saturating_sub(Expr a, Expr b);
// As if in a type that is wide enough, halved (rounding down, or half up), in the operands' type.
Expr halving_add(Expr a, Expr b);
Expr halving_sub(Expr a, Expr b);
Expr rounding_halving_add(Expr a, Expr b);
// Shifts that round half up; left for negative counts.
Expr rounding_shift_left(Expr a, Expr b);
Expr rounding_shift_right(Expr a, Expr b);
// a * b >> q, as if in a type that is wide enough, saturated.
Expr mul_shift_right(Expr a, Expr b, Expr q);
Expr mul_shift_right(Expr a, Expr b, int q);
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q);
Expr rounding_mul_shift_right(Expr a, Expr b, int q);

// zero_val where the weight is 0, one_val where it is 1 (a float) or the largest of its type (an
// unsigned integer), rounded to the nearest in between.
Expr lerp(Expr zero_val, Expr one_val, Expr weight);

// ---- Floats. Operands that are no floats become float32. ----

Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr atan2(Expr y, Expr x);
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tanh(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);
Expr sqrt(Expr x);
Expr hypot(const Expr &x, const Expr &y);
Expr exp(Expr x);
Expr log(Expr x);
Expr pow(Expr x, Expr y);  // a constant integer y: by multiplications
Expr erf(const Expr &x);   // float32, to about 1e-6
Expr floor(Expr x);
Expr ceil(Expr x);
Expr round(Expr x);  // half to even
Expr trunc(Expr x);
Expr fract(const Expr &x);  // x - trunc(x)
Expr fma(const Expr &a, const Expr &b, const Expr &c);
Expr is_nan(Expr x);
Expr is_inf(Expr x);
Expr is_finite(Expr x);
// Quicker and less exact, of float32, made of arithmetic that vectorizes.
Expr fast_sin(const Expr &x);  // absolute error below 1e-5 for |x| up to 1000
Expr fast_cos(const Expr &x);
Expr fast_exp(const Expr &x);  // relative error below 1e-5
Expr fast_log(const Expr &x);  // absolute error below 1e-5 near 1
Expr fast_pow(const Expr &x, const Expr &y);
Expr fast_inverse(Expr x);
Expr fast_inverse_sqrt(Expr x);
// The operations of e, as they stand there: no re-association, no contraction.
Expr strict_float(Expr e);

// ---- Values that are special ----

// In [0, 1), or any value of the type. The same for the same seed and point; without a seed,
// every call is a sequence of its own.
Expr random_float(const Expr &seed = Expr(), Location at = Here::current());
Expr random_uint(const Expr &seed = Expr(), Location at = Here::current());
Expr random_int(const Expr &seed = Expr(), Location at = Here::current());
void reset_random_counters();

// The element that is there already: storing it does nothing.
Expr undef(Type t);
template<typename T>
Expr undef() {
    return undef(type_of<T>());
}

// The first operand; prints all of them when it is evaluated.
Expr print(const std::vector<Expr> &values);
template<ExprLike... Args>
Expr print(const Expr &a, const Args &...rest) {
    return print(std::vector<Expr>{a, Expr(rest)...});
}
Expr print_when(const Expr &condition, const std::vector<Expr> &values);
template<ExprLike... Args>
Expr print_when(const Expr &condition, const Expr &a, const Args &...rest) {
    return print_when(condition, std::vector<Expr>{a, Expr(rest)...});
}
// The value after the condition; where the condition is false the pipeline fails, and says the
// value and what follows.
Expr require(const Expr &condition, const std::vector<Expr> &value_and_message);
template<ExprLike... Args>
Expr require(const Expr &condition, const Expr &value, const Args &...message) {
    return require(condition, std::vector<Expr>{value, Expr(message)...});
}
// The value, which the user promises to lie between the two; undefined: no limit.
Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max);

// f(scatter(a, b)) = gather(c, d): f(a) = c and f(b) = d, all loads before the stores.
Expr scatter(const std::vector<Expr> &args);
template<ExprLike... Args>
Expr scatter(const Expr &a, const Args &...rest) {
    return scatter(std::vector<Expr>{a, Expr(rest)...});
}
Expr gather(const std::vector<Expr> &args);
template<ExprLike... Args>
Expr gather(const Expr &a, const Args &...rest) {
    return gather(std::vector<Expr>{a, Expr(rest)...});
}

// What is compiled for, as a value that is constant by the time code is made.
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
