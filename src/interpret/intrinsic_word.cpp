#include "base/error.h"
#include "interpret/arithmetic.h"
#include "interpret/wide.h"
#include "ir/random_hash.h"
#include <bit>
#include <cmath>

namespace tessera::interpret {
namespace {

using ir::Intrinsic;
using WordOperands = std::span<const Operand>;

Wide exact(const Operand &o) { return wide_of(o.type, o.word); }
Word all_ones(Type t) { return ~Word(0) >> (64 - t.bits()); }
// The bits that the lane has in memory.
Word bits_of(const Operand &o) { return o.word & all_ones(o.type); }
Word from_bits(Type t, Word bits) {
    return t.is_float() ? bits & all_ones(t) : word_of_int(t, int64_t(bits));
}

double as_double(const Operand &o) { return double_of_word(o.type, o.word); }

// The function of one or two floats in single precision for up to 32 bits, else in double.
#define IN_PRECISION(expression)                                                                   \
    in_precision(t, x, y, [](auto a, [[maybe_unused]] auto b) { return expression; })
template<typename F>
Word in_precision(Type t, double x, double y, F f) {
    return t.bits() == 64 ? word_of_double(t, f(x, y)) : word_of_double(t, f(float(x), float(y)));
}

Word transcendental(Intrinsic op, Type t, double x, double y) {
    switch (op) {
    case Intrinsic::sin: return IN_PRECISION(std::sin(a));
    case Intrinsic::cos: return IN_PRECISION(std::cos(a));
    case Intrinsic::tan: return IN_PRECISION(std::tan(a));
    case Intrinsic::asin: return IN_PRECISION(std::asin(a));
    case Intrinsic::acos: return IN_PRECISION(std::acos(a));
    case Intrinsic::atan: return IN_PRECISION(std::atan(a));
    case Intrinsic::atan2: return IN_PRECISION(std::atan2(a, b));
    case Intrinsic::sinh: return IN_PRECISION(std::sinh(a));
    case Intrinsic::cosh: return IN_PRECISION(std::cosh(a));
    case Intrinsic::tanh: return IN_PRECISION(std::tanh(a));
    case Intrinsic::asinh: return IN_PRECISION(std::asinh(a));
    case Intrinsic::acosh: return IN_PRECISION(std::acosh(a));
    case Intrinsic::atanh: return IN_PRECISION(std::atanh(a));
    case Intrinsic::exp: return IN_PRECISION(std::exp(a));
    case Intrinsic::log: return IN_PRECISION(std::log(a));
    case Intrinsic::pow: return IN_PRECISION(std::pow(a, b));
    default: throw InternalError(str(ir::info_of(op).name, " is no function of floats"));
    }
}

Word float_word(Intrinsic op, Type t, WordOperands o) {
    double x = as_double(o[0]), y = o.size() > 1 ? as_double(o[1]) : 0;
    switch (op) {
    case Intrinsic::is_nan: return std::isnan(x);
    case Intrinsic::is_inf: return std::isinf(x);
    case Intrinsic::is_finite: return std::isfinite(x);
    case Intrinsic::abs: return o[0].word & (all_ones(t) >> 1);
    case Intrinsic::absd: return IN_PRECISION(std::fabs(a - b));
    case Intrinsic::sqrt: return IN_PRECISION(std::sqrt(a));
    case Intrinsic::floor: return IN_PRECISION(std::floor(a));
    case Intrinsic::ceil: return IN_PRECISION(std::ceil(a));
    case Intrinsic::trunc: return IN_PRECISION(std::trunc(a));
    case Intrinsic::round: return IN_PRECISION(std::nearbyint(a));
    case Intrinsic::fast_exp: return IN_PRECISION(std::exp(a));
    case Intrinsic::fast_log: return IN_PRECISION(std::log(a));
    case Intrinsic::fast_inverse: return IN_PRECISION(1 / a);
    case Intrinsic::fast_inverse_sqrt: return IN_PRECISION(1 / std::sqrt(a));
    case Intrinsic::saturating_add:
    case Intrinsic::widening_add:
    case Intrinsic::widen_right_add: return IN_PRECISION(a + b);
    case Intrinsic::saturating_sub:
    case Intrinsic::widening_sub:
    case Intrinsic::widen_right_sub: return IN_PRECISION(a - b);
    case Intrinsic::widening_mul:
    case Intrinsic::widen_right_mul: return IN_PRECISION(a * b);
    case Intrinsic::halving_add:
    case Intrinsic::rounding_halving_add: return IN_PRECISION((a + b) / 2);
    case Intrinsic::halving_sub: return IN_PRECISION((a - b) / 2);
    default: return transcendental(op, t, x, y);
    }
}

Word fused_multiply_add(Type t, WordOperands o) {
    double a = as_double(o[0]), b = as_double(o[1]), c = as_double(o[2]);
    if (t.is_int_or_uint()) return wrap(t, exact(o[0]) * exact(o[1]) + exact(o[2]));
    if (t.bits() == 64) return word_of_double(t, std::fma(a, b, c));
    if (t.bits() == 32) return word_of_double(t, std::fma(float(a), float(b), float(c)));
    return word_of_double(t, a * b + c);
}

Word lerp(Type t, WordOperands o) {
    const Operand &weight = o[2];
    if (t.is_float() || weight.type.is_float()) {
        double w = as_double(weight);
        if (!weight.type.is_float()) w /= double(highest(weight.type));
        double zero = as_double(o[0]), one = as_double(o[1]);
        double mixed = zero * (1 - w) + one * w;
        return t.is_float() ? word_of_double(t, mixed) : saturate(t, Wide(std::floor(mixed + 0.5)));
    }
    Wide most = highest(weight.type), w = exact(weight);
    // A weight of 64 bits and values of 64 bits: the product needs more than Wide has.
    if (weight.type.bits() + t.bits() > 124) {
        long double share = (long double)w / (long double)most;
        return wrap(t, exact(o[0]) +
                           Wide(std::nearbyint(share * (long double)(exact(o[1]) - exact(o[0])))));
    }
    Wide sum = exact(o[0]) * (most - w) + exact(o[1]) * w;
    return wrap(t, divide(2 * sum + most, 2 * most));
}

Word concat_bits(Type t, WordOperands o) {
    Word all = 0;
    int at = 0;
    for (const Operand &part : o) {
        all |= bits_of(part) << at;
        at += part.type.bits();
    }
    return from_bits(t, all);
}

Word bitwise(Intrinsic op, Type t, WordOperands o) {
    Word a = bits_of(o[0]), b = o.size() > 1 ? bits_of(o[1]) : 0;
    int bits = o[0].type.bits();
    switch (op) {
    case Intrinsic::bitwise_and: return from_bits(t, a & b);
    case Intrinsic::bitwise_or: return from_bits(t, a | b);
    case Intrinsic::bitwise_xor: return from_bits(t, a ^ b);
    case Intrinsic::bitwise_not: return from_bits(t, ~a & all_ones(t));
    case Intrinsic::popcount: return Word(std::popcount(a));
    case Intrinsic::count_leading_zeros: return Word(std::countl_zero(a) - (64 - bits));
    case Intrinsic::count_trailing_zeros: return Word(std::min(std::countr_zero(a), bits));
    case Intrinsic::extract_bits: return from_bits(t, b >= 64 ? 0 : a >> b);
    default: throw InternalError(str(ir::info_of(op).name, " works not on bits"));
    }
}

// The result as if in integers without bounds; the caller wraps or saturates it.
Wide exact_result(Intrinsic op, Wide a, Wide b) {
    switch (op) {
    case Intrinsic::widening_add:
    case Intrinsic::widen_right_add:
    case Intrinsic::saturating_add: return a + b;
    case Intrinsic::widening_sub:
    case Intrinsic::widen_right_sub:
    case Intrinsic::saturating_sub: return a - b;
    case Intrinsic::widening_mul:
    case Intrinsic::widen_right_mul: return a * b;
    case Intrinsic::shift_left:
    case Intrinsic::widening_shift_left: return shifted(a, b);
    case Intrinsic::shift_right:
    case Intrinsic::widening_shift_right: return shifted(a, -b);
    case Intrinsic::rounding_shift_left: return rounding_shifted_right(a, -b);
    case Intrinsic::rounding_shift_right: return rounding_shifted_right(a, b);
    case Intrinsic::halving_add: return (a + b) >> 1;
    case Intrinsic::halving_sub: return (a - b) >> 1;
    case Intrinsic::rounding_halving_add: return (a + b + 1) >> 1;
    case Intrinsic::absd: return a < b ? b - a : a - b;
    case Intrinsic::abs: return a < 0 ? -a : a;
    case Intrinsic::div_round_to_zero: return b == 0 ? 0 : a / b;
    case Intrinsic::mod_round_to_zero: return b == 0 ? 0 : a % b;
    default: throw InternalError(str(ir::info_of(op).name, " is unknown to the interpreter"));
    }
}

Word saturating_cast(Type t, const Operand &o) {
    if (t.is_float()) return cast_word(t, o.type, o.word);
    if (!o.type.is_float()) return saturate(t, exact(o));
    if (t.is_bool()) return as_double(o) > 0;  // as in a cast, and what is negative is 0
    double value = std::trunc(as_double(o));
    if (std::isnan(value)) return 0;
    double bound = std::ldexp(1.0, 100);
    return saturate(t, Wide(std::clamp(value, -bound, bound)));
}

Word multiply_and_shift(Intrinsic op, Type t, WordOperands o) {
    bool rounds = op == Intrinsic::rounding_mul_shift_right;
    if (t == UInt(64)) {
        UWide whole = UWide(o[0].word) * o[1].word;
        int64_t count = std::clamp<int64_t>(int64_t(exact(o[2])), 0, 127);
        UWide carry = rounds && count > 0 ? (whole >> (count - 1)) & 1 : 0;
        UWide result = (whole >> count) + carry;
        return result >> 64 ? ~Word(0) : Word(result);
    }
    Wide product = exact(o[0]) * exact(o[1]);
    return saturate(t, rounds ? rounding_shifted_right(product, exact(o[2]))
                              : shifted(product, -exact(o[2])));
}

Word random_word(Type t, WordOperands o) {
    std::vector<uint32_t> seeds;
    for (const Operand &seed : o)
        seeds.push_back(uint32_t(cast_word(UInt(32), seed.type, seed.word)));
    uint32_t bits = ir::random_value_bits(t, ir::random_bits(seeds));
    return from_bits(t, bits);
}

Word integer_word(Intrinsic op, Type t, WordOperands o) {
    Wide result = exact_result(op, exact(o[0]), o.size() > 1 ? exact(o[1]) : 0);
    bool saturates = op == Intrinsic::saturating_add || op == Intrinsic::saturating_sub;
    return saturates ? saturate(t, result) : wrap(t, result);
}

}  // namespace

bool is_lanewise(Intrinsic op) {
    return op <= Intrinsic::unsafe_promise_clamped || op == Intrinsic::random;
}

Word intrinsic_word(Intrinsic op, Type t, WordOperands o) {
    switch (op) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped:
    case Intrinsic::strict_float: return o[0].word;
    case Intrinsic::fma: return fused_multiply_add(t, o);
    case Intrinsic::lerp: return lerp(t, o);
    case Intrinsic::concat_bits: return concat_bits(t, o);
    case Intrinsic::saturating_cast: return saturating_cast(t, o[0]);
    case Intrinsic::mul_shift_right:
    case Intrinsic::rounding_mul_shift_right: return multiply_and_shift(op, t, o);
    case Intrinsic::random: return random_word(t, o);
    case Intrinsic::bitwise_and:
    case Intrinsic::bitwise_or:
    case Intrinsic::bitwise_xor:
    case Intrinsic::bitwise_not:
    case Intrinsic::popcount:
    case Intrinsic::count_leading_zeros:
    case Intrinsic::count_trailing_zeros:
    case Intrinsic::extract_bits: return bitwise(op, t, o);
    default: break;
    }
    return o[0].type.is_float() ? float_word(op, t, o) : integer_word(op, t, o);
}

}  // namespace tessera::interpret
