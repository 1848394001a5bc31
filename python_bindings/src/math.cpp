#include "bindings.h"

namespace tessera::python {
namespace {

using Location1 = Expr (*)(const Expr &, const Location &);
using Location2 = Expr (*)(const Expr &, const Expr &, const Location &);
using Location3 = Expr (*)(const Expr &, const Expr &, const Expr &, const Location &);

struct Unary {
    const char *name;
    Location1 apply;
    const char *doc;
};
struct TwoOperands {
    const char *name;
    Location2 apply;
    const char *doc;
};
struct ThreeOperands {
    const char *name;
    Location3 apply;
    const char *a, *b, *c;  // names of the arguments
    const char *doc;
};

#define UNARY(name, doc)                                                                           \
    {#name, [](const Expr &a, const Location &at) { return tessera::name(a, at); }, doc}
#define BINARY(name, doc)                                                                          \
    {#name,                                                                                        \
     [](const Expr &a, const Expr &b, const Location &at) { return tessera::name(a, b, at); },     \
     doc}

const Unary unary_functions[] = {
    UNARY(abs, "Returns |a|; of a signed integer an unsigned one."),
    UNARY(sin, "Returns the sine; of an integer as a float32."),
    UNARY(cos, "Returns the cosine."),
    UNARY(tan, "Returns the tangent."),
    UNARY(asin, "Returns the arc sine."),
    UNARY(acos, "Returns the arc cosine."),
    UNARY(atan, "Returns the arc tangent."),
    UNARY(sinh, "Returns the hyperbolic sine."),
    UNARY(cosh, "Returns the hyperbolic cosine."),
    UNARY(tanh, "Returns the hyperbolic tangent."),
    UNARY(asinh, "Returns the inverse hyperbolic sine."),
    UNARY(acosh, "Returns the inverse hyperbolic cosine."),
    UNARY(atanh, "Returns the inverse hyperbolic tangent."),
    UNARY(sqrt, "Returns the square root."),
    UNARY(exp, "Returns e to this power."),
    UNARY(log, "Returns the natural logarithm."),
    UNARY(erf, "Returns the error function, to about 1e-6."),
    UNARY(floor, "Rounds down."),
    UNARY(ceil, "Rounds up."),
    UNARY(round, "Rounds to the nearest, half to even."),
    UNARY(trunc, "Rounds to zero."),
    UNARY(fract, "Returns x - trunc(x)."),
    UNARY(is_nan, "Returns true for a NaN."),
    UNARY(is_inf, "Returns true for an infinity."),
    UNARY(is_finite, "Returns true for what is neither an infinity nor a NaN."),
    UNARY(fast_sin, "Returns the sine with an absolute error below 1e-5 for |x| up to 1000."),
    UNARY(fast_cos, "Returns the cosine with an absolute error below 1e-5 for |x| up to 1000."),
    UNARY(fast_exp, "Returns e to this power with a relative error below 1e-5."),
    UNARY(fast_log, "Returns the natural logarithm with an absolute error below 1e-5 near 1."),
    UNARY(fast_inverse, "Returns about 1 / x."),
    UNARY(fast_inverse_sqrt, "Returns about 1 / sqrt(x)."),
    UNARY(strict_float, "Rounds each operation of the expression on its own."),
    UNARY(popcount, "Returns the number of bits that are set."),
    UNARY(count_leading_zeros, "Returns the number of zeros above the highest bit that is set."),
    UNARY(count_trailing_zeros, "Returns the number of zeros below the lowest bit that is set."),
};
const TwoOperands binary_functions[] = {
    BINARY(absd, "Returns |a - b|, which never overflows; of integers an unsigned one."),
    BINARY(atan2, "Returns the angle of the point (x=b, y=a)."),
    BINARY(hypot, "Returns sqrt(a * a + b * b)."),
    BINARY(pow, "Returns a to the power of b."),
    BINARY(fast_pow, "Returns about a to the power of b."),
    BINARY(div_round_to_zero, "Divides integers, rounding to zero."),
    BINARY(mod_round_to_zero, "Returns the remainder that div_round_to_zero leaves."),
    BINARY(fast_integer_divide, "Divides an integer by a uint8, rounding down; 0 stands for 256."),
    BINARY(fast_integer_divide_round_to_zero,
           "Divides an integer by a uint8, rounding to zero; 0 stands for 256."),
    BINARY(fast_integer_modulo, "Returns the remainder that fast_integer_divide leaves."),
    BINARY(widening_add, "Adds in a type of twice the bits."),
    BINARY(widening_sub, "Subtracts in a signed type of twice the bits."),
    BINARY(widening_mul, "Multiplies in a type of twice the bits."),
    BINARY(widening_shift_left, "Shifts in a type of twice the bits."),
    BINARY(widening_shift_right, "Shifts in a type of twice the bits."),
    BINARY(widen_right_add, "Adds an operand of half the bits."),
    BINARY(widen_right_sub, "Subtracts an operand of half the bits."),
    BINARY(widen_right_mul, "Multiplies by an operand of half the bits."),
    BINARY(saturating_add, "Adds, to the nearest value of the type."),
    BINARY(saturating_sub, "Subtracts, to the nearest value of the type."),
    BINARY(halving_add, "Returns (a + b) / 2 as if in a wider type."),
    BINARY(halving_sub, "Returns (a - b) / 2 as if in a wider type."),
    BINARY(rounding_halving_add, "Returns (a + b + 1) / 2 as if in a wider type."),
    BINARY(rounding_shift_left,
           "Shifts left; to the right, rounding half up, for negative counts."),
    BINARY(rounding_shift_right, "Shifts right, rounding half up."),
};
#undef UNARY
#undef BINARY

#define TERNARY(name, a, b, c, doc)                                                                \
    {#name,                                                                                        \
     [](const Expr &x, const Expr &y, const Expr &z, const Location &at) {                         \
         return tessera::name(x, y, z, at);                                                        \
     },                                                                                            \
     a,                                                                                            \
     b,                                                                                            \
     c,                                                                                            \
     doc}
const ThreeOperands ternary_functions[] = {
    TERNARY(clamp, "a", "min", "max", "Returns the nearest value from min to max."),
    TERNARY(lerp, "zero_val", "one_val", "weight",
            "Interpolates: zero_val where the weight is 0, one_val where it is 1."),
    TERNARY(fma, "a", "b", "c", "Returns a * b + c, rounded once."),
    TERNARY(mul_shift_right, "a", "b", "q",
            "Returns a * b >> q, to the nearest value of the type."),
    TERNARY(rounding_mul_shift_right, "a", "b", "q",
            "Returns a * b >> q rounded half up, to the nearest value of the type."),
    TERNARY(unsafe_promise_clamped, "value", "min", "max",
            "Returns the value, which is promised to lie from min to max; Expr() is no limit."),
};
#undef TERNARY

using Casting = Expr (*)(Type, const Expr &, const Location &);
struct CastingFunction {
    const char *name;
    Casting apply;
    const char *doc;
};
#define CASTING(name, doc)                                                                         \
    {#name, [](Type t, const Expr &e, const Location &at) { return tessera::name(t, e, at); }, doc}
const CastingFunction casting_functions[] = {
    CASTING(cast, "Converts to the type; integers wrap."),
    CASTING(reinterpret, "Returns the same bits, seen as another type."),
    CASTING(saturating_cast, "Returns the nearest value that the type has."),
};
#undef CASTING

const std::pair<const char *, Type> concise_casts[] = {
    {"i8", Int(8)},     {"i16", Int(16)},   {"i32", Int(32)},   {"i64", Int(64)},
    {"u8", UInt(8)},    {"u16", UInt(16)},  {"u32", UInt(32)},  {"u64", UInt(64)},
    {"f16", Float(16)}, {"f32", Float(32)}, {"f64", Float(64)}, {"bf16", BFloat(16)}};

// A number of Python's keeps all of its digits.
Expr concise_cast(Type type, nb::handle e) {
    if (PyFloat_Check(e.ptr())) return cast(type, Expr(PyFloat_AsDouble(e.ptr())), here());
    return cast(type, to_expr(e), here());
}

}  // namespace

void bind_math(nb::module_ &m) {
    for (const Unary &f : unary_functions) {
        m.def(
            f.name, [apply = f.apply](const ExprLike &a) { return apply(a, here()); }, "a"_a,
            f.doc);
    }
    for (const TwoOperands &f : binary_functions) {
        m.def(
            f.name,
            [apply = f.apply](const ExprLike &a, const ExprLike &b) { return apply(a, b, here()); },
            "a"_a, "b"_a, f.doc);
    }
    for (const ThreeOperands &f : ternary_functions) {
        m.def(
            f.name,
            [apply = f.apply](const ExprLike &a, const ExprLike &b, const ExprLike &c) {
                return apply(a, b, c, here());
            },
            nb::arg(f.a), nb::arg(f.b), nb::arg(f.c), f.doc);
    }
    for (const CastingFunction &f : casting_functions) {
        m.def(
            f.name,
            [apply = f.apply](const TypeLike &t, const ExprLike &e) {
                return apply(t.get(), e, here());
            },
            "type"_a, "e"_a, f.doc);
    }
    for (const auto &[name, type] : concise_casts) {
        m.def(
            name, [type = type](nb::handle e) { return concise_cast(type, e); }, "e"_a,
            "Converts to this type; integers wrap.");
        if (type.is_float()) continue;
        m.def(
            str(name, "_sat").c_str(),
            [type = type](const ExprLike &e) { return saturating_cast(type, e, here()); }, "e"_a,
            "Returns the nearest value that the type has.");
    }
    m.def(
        "extract_bits",
        [](const TypeLike &t, const ExprLike &e, const ExprLike &lsb) {
            return extract_bits(t.get(), e, lsb, here());
        },
        "type"_a, "e"_a, "lsb"_a, "Returns the bits from lsb on, as many as the type has.");
    m.def(
        "concat_bits", [](nb::handle parts) { return concat_bits(to_exprs(parts), here()); },
        "parts"_a, "Returns an unsigned integer of all the bits, the least significant first.");
}

}  // namespace tessera::python
