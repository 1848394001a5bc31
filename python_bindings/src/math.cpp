#include "docs/math.h"
#include "bindings.h"
#include "docs/types.h"

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

#define UNARY(name)                                                                                \
    {#name, [](const Expr &a, const Location &at) { return tessera::name(a, at); },                \
     docs::math::name}
#define BINARY(name)                                                                               \
    {#name,                                                                                        \
     [](const Expr &a, const Expr &b, const Location &at) { return tessera::name(a, b, at); },     \
     docs::math::name}

const Unary unary_functions[] = {
    UNARY(abs),
    UNARY(sin),
    UNARY(cos),
    UNARY(tan),
    UNARY(asin),
    UNARY(acos),
    UNARY(atan),
    UNARY(sinh),
    UNARY(cosh),
    UNARY(tanh),
    UNARY(asinh),
    UNARY(acosh),
    UNARY(atanh),
    UNARY(sqrt),
    UNARY(exp),
    UNARY(log),
    UNARY(erf),
    UNARY(floor),
    UNARY(ceil),
    UNARY(round),
    UNARY(trunc),
    UNARY(fract),
    UNARY(is_nan),
    UNARY(is_inf),
    UNARY(is_finite),
    UNARY(fast_sin),
    UNARY(fast_cos),
    UNARY(fast_exp),
    UNARY(fast_log),
    UNARY(fast_inverse),
    UNARY(fast_inverse_sqrt),
    UNARY(strict_float),
    UNARY(popcount),
    UNARY(count_leading_zeros),
    UNARY(count_trailing_zeros),
};
const TwoOperands binary_functions[] = {
    BINARY(absd),
    BINARY(atan2),
    BINARY(hypot),
    BINARY(pow),
    BINARY(fast_pow),
    BINARY(div_round_to_zero),
    BINARY(mod_round_to_zero),
    BINARY(fast_integer_divide),
    BINARY(fast_integer_divide_round_to_zero),
    BINARY(fast_integer_modulo),
    BINARY(widening_add),
    BINARY(widening_sub),
    BINARY(widening_mul),
    BINARY(widening_shift_left),
    BINARY(widening_shift_right),
    BINARY(widen_right_add),
    BINARY(widen_right_sub),
    BINARY(widen_right_mul),
    BINARY(saturating_add),
    BINARY(saturating_sub),
    BINARY(halving_add),
    BINARY(halving_sub),
    BINARY(rounding_halving_add),
    BINARY(rounding_shift_left),
    BINARY(rounding_shift_right),
};
#undef UNARY
#undef BINARY

#define TERNARY(name, a, b, c)                                                                     \
    {#name,                                                                                        \
     [](const Expr &x, const Expr &y, const Expr &z, const Location &at) {                         \
         return tessera::name(x, y, z, at);                                                        \
     },                                                                                            \
     a,                                                                                            \
     b,                                                                                            \
     c,                                                                                            \
     docs::math::name}
const ThreeOperands ternary_functions[] = {
    TERNARY(clamp, "a", "min", "max"),
    TERNARY(lerp, "zero_val", "one_val", "weight"),
    TERNARY(fma, "a", "b", "c"),
    TERNARY(mul_shift_right, "a", "b", "q"),
    TERNARY(rounding_mul_shift_right, "a", "b", "q"),
    TERNARY(unsafe_promise_clamped, "value", "min", "max"),
};
#undef TERNARY

using Casting = Expr (*)(Type, const Expr &, const Location &);
struct CastingFunction {
    const char *name;
    Casting apply;
    const char *doc;
};
#define CASTING(name)                                                                              \
    {#name, [](Type t, const Expr &e, const Location &at) { return tessera::name(t, e, at); },     \
     docs::math::name}
const CastingFunction casting_functions[] = {
    CASTING(cast),
    CASTING(reinterpret),
    CASTING(saturating_cast),
};
#undef CASTING

struct ConciseCast {
    const char *name;
    Type type;
    const char *doc;
    const char *saturating_doc = nullptr;  // of integers
};
const ConciseCast concise_casts[] = {
    {"i8", Int(8), docs::type::i8, docs::type::i8_sat},
    {"i16", Int(16), docs::type::i16, docs::type::i16_sat},
    {"i32", Int(32), docs::type::i32, docs::type::i32_sat},
    {"i64", Int(64), docs::type::i64, docs::type::i64_sat},
    {"u8", UInt(8), docs::type::u8, docs::type::u8_sat},
    {"u16", UInt(16), docs::type::u16, docs::type::u16_sat},
    {"u32", UInt(32), docs::type::u32, docs::type::u32_sat},
    {"u64", UInt(64), docs::type::u64, docs::type::u64_sat},
    {"f16", Float(16), docs::type::f16},
    {"f32", Float(32), docs::type::f32},
    {"f64", Float(64), docs::type::f64},
    {"bf16", BFloat(16), docs::type::bf16},
};

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
    for (const auto &[name, type, doc, saturating_doc] : concise_casts) {
        m.def(name, [type = type](nb::handle e) { return concise_cast(type, e); }, "e"_a, doc);
        if (type.is_float()) continue;
        m.def(
            str(name, "_sat").c_str(),
            [type = type](const ExprLike &e) { return saturating_cast(type, e, here()); }, "e"_a,
            saturating_doc);
    }
    m.def(
        "extract_bits",
        [](const TypeLike &t, const ExprLike &e, const ExprLike &lsb) {
            return extract_bits(t.get(), e, lsb, here());
        },
        "type"_a, "e"_a, "lsb"_a, docs::math::extract_bits);
    m.def(
        "concat_bits", [](nb::handle parts) { return concat_bits(to_exprs(parts), here()); },
        "parts"_a, docs::math::concat_bits);
}

}  // namespace tessera::python
