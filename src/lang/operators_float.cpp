#include "base/dialect.h"
#include "lang/call_site.h"
#include "lang/operators.h"

namespace tessera {
namespace {

using ir::call;
using ir::Intrinsic;

// Converts the operand to the type of the computation: its own, or float32.
Expr as_float(Expr e, const CallSite &site) {
    site.require_defined(e);
    if (e.type().is_handle()) site.refuse("the operand is a handle");
    if (e.type().code() == TypeCode::Float) return e;
    Type t = Float(32, e.type().lanes());
    return cast(t, std::move(e));
}

Expr unary(Intrinsic op, const char *name, WrittenExpr x) {
    const CallSite site{name, x.at};
    x = as_float(std::move(x), site);
    Type t = x.type();
    return call(t, op, {std::move(x)});
}

Expr test(Intrinsic op, const char *name, WrittenExpr x) {
    const CallSite site{name, x.at};
    x = as_float(std::move(x), site);
    Type t = Bool(x.type().lanes());
    return call(t, op, {std::move(x)});
}

Expr f32(const Expr &e, const CallSite &site) {
    site.require_defined(e);
    if (e.type().is_handle()) site.refuse("the operand is a handle");
    return cast(Float(32), e);
}

// Horner's scheme, lowest coefficient first.
Expr polynomial(const Expr &x, std::initializer_list<float> coefficients) {
    Expr result;
    for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) {
        result = result.defined() ? result * x + *c : Expr(*c);
    }
    return result;
}

constexpr float pi = 3.14159265358979f;

// sin(x + half_turns_ahead * pi): the nearest multiple of pi is taken off, in two parts so that few
// bits are lost; then an odd polynomial on [-pi/2, pi/2].
Expr fast_sin_of(const Expr &x, float half_turns_ahead) {
    Expr n = floor(x * (1 / pi) + (0.5f + half_turns_ahead));
    Expr turns = half_turns_ahead == 0 ? n : n - half_turns_ahead;
    Expr r = (x - turns * 3.140625f) - turns * 9.67653589793e-4f;
    Expr r2 = r * r;
    Expr value = r * polynomial(r2, {0.999999996f, -0.16666658f, 0.00833305062f, -0.000198090464f,
                                     2.60516628e-06f});
    return select(cast(Int(32), n) % 2 == 0, value, -value);
}

Expr raise(const Expr &x, int64_t exponent) {
    if (exponent == 0) return ir::make_one(x.type());
    if (exponent < 0) return ir::make_one(x.type()) / raise(x, -exponent);
    if (exponent == 1) return x;
    Expr half = raise(x, exponent / 2);
    return exponent % 2 ? half * half * x : half * half;
}

}  // namespace

#define UNARY(name)                                                                                \
    Expr name(Expr x, Location at) { return unary(Intrinsic::name, #name, {std::move(x), at}); }
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(sqrt)
UNARY(exp)
UNARY(log)
UNARY(floor)
UNARY(ceil)
UNARY(round)
UNARY(trunc)
#undef UNARY

Expr is_nan(Expr x, Location at) { return test(Intrinsic::is_nan, "is_nan", {std::move(x), at}); }
Expr is_inf(Expr x, Location at) { return test(Intrinsic::is_inf, "is_inf", {std::move(x), at}); }
Expr is_finite(Expr x, Location at) {
    return test(Intrinsic::is_finite, "is_finite", {std::move(x), at});
}

Expr atan2(Expr y, Expr x, Location at) {
    const CallSite site{"atan2", at};
    if (follows_halide(site.at)) {  // the first operand's type decides
        y = as_float(std::move(y), site);
        site.require_defined(x);
        x = cast(y.type().element_of(), x, site.at);
    }
    site.match_types(y, x);
    y = as_float(std::move(y), site);
    x = as_float(std::move(x), site);
    Type t = y.type();
    return call(t, Intrinsic::atan2, {std::move(y), std::move(x)});
}

Expr hypot(const Expr &x, const Expr &y, Location at) {
    const CallSite site{"hypot", at};
    Expr a = x, b = y;
    site.match_types(a, b);
    a = as_float(a, site);
    b = as_float(b, site);
    return sqrt(a * a + b * b);
}

Expr pow(Expr base, Expr y, Location at) {
    const CallSite site{"pow", at};
    site.require_defined(base);
    site.require_defined(y);
    auto exponent = ir::as_const_int(y);
    const bool is_small = exponent && *exponent >= -64 && *exponent <= 64;
    const bool stays_integer = is_small && y.type().is_int() && base.type().is_int_or_uint();
    if (stays_integer && follows_halide(site.at)) return raise(base, *exponent);
    Expr x = as_float(std::move(base), site);
    if (is_small) return raise(x, *exponent);
    y = cast(x.type(), y, site.at);
    Type t = x.type();
    return call(t, Intrinsic::pow, {std::move(x), std::move(y)});
}

// Abramowitz and Stegun, 7.1.26, whose error is small beside 1: so up to 1 it is an odd polynomial,
// which interpolates erf(x) / x at the zeros of a Chebyshev polynomial of x * x.
Expr erf(const Expr &x, Location at) {
    Expr e = f32(x, {"erf", at}), magnitude = abs(e), square = e * e;
    Expr t = 1.0f / (1.0f + 0.3275911f * magnitude);
    Expr p =
        t * polynomial(t, {0.254829592f, -0.284496736f, 1.421413741f, -1.453152027f, 1.061405429f});
    Expr y = 1.0f - p * exp(-square);
    Expr near_zero = e * polynomial(square, {1.12837913f, -0.376123438f, 0.112803167f,
                                             -0.0267150542f, 0.00492176203f, -0.000564805987f});
    return select(magnitude < 1.0f, near_zero, e < 0.0f, -y, y);
}

Expr fract(const Expr &x, Location at) {
    Expr e = as_float(x, {"fract", at});
    return e - trunc(e);
}

Expr fma(const Expr &a, const Expr &b, const Expr &c, Location at) {
    const CallSite site{"fma", at};
    for (const Expr &e : {a, b, c}) site.require_defined(e);
    if (!a.type().is_float() || a.type() != b.type() || a.type() != c.type()) {
        site.refuse(str("the operands are of types ", a.type(), ", ", b.type(), " and ", c.type(),
                        ", not of one floating-point type"));
    }
    return call(a.type(), Intrinsic::fma, {a, b, c});
}

Expr fast_sin(const Expr &x, Location at) { return fast_sin_of(f32(x, {"fast_sin", at}), 0); }
Expr fast_cos(const Expr &x, Location at) { return fast_sin_of(f32(x, {"fast_cos", at}), 0.5f); }

Expr fast_exp(const Expr &x, Location at) {
    Expr e = f32(x, {"fast_exp", at});
    return call(e.type(), Intrinsic::fast_exp, {e});
}

Expr fast_log(const Expr &x, Location at) {
    Expr e = f32(x, {"fast_log", at});
    return call(e.type(), Intrinsic::fast_log, {e});
}

Expr fast_pow(const Expr &x, const Expr &y, Location at) {
    const CallSite site{"fast_pow", at};
    Expr base = f32(x, site), exponent = f32(y, site);
    if (ir::as_const_int(y)) return pow(base, y);
    return select(base == 0.0f, 0.0f, fast_exp(fast_log(base) * exponent));
}

namespace {

Expr fast_float32(Intrinsic op, const char *name, WrittenExpr x) {
    const CallSite site{name, x.at};
    site.require_defined(x);
    if (x.type().element_of() != Float(32)) {
        site.refuse(str("the operand is a ", x.type(), ", not a float32"));
    }
    Type t = x.type();
    return call(t, op, {std::move(x)});
}

}  // namespace

Expr fast_inverse(Expr x, Location at) {
    return fast_float32(Intrinsic::fast_inverse, "fast_inverse", {std::move(x), at});
}
Expr fast_inverse_sqrt(Expr x, Location at) {
    return fast_float32(Intrinsic::fast_inverse_sqrt, "fast_inverse_sqrt", {std::move(x), at});
}

Expr strict_float(Expr e, Location at) {
    CallSite{"strict_float", at}.require_defined(e);
    Type t = e.type();
    return call(t, Intrinsic::strict_float, {std::move(e)});
}

}  // namespace tessera
