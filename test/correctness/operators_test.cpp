#include "error/refusal.h"
#include <cmath>
#include <doctest/doctest.h>
#include <set>
#include <tessera.h>

using namespace tessera;

// What every function of expressions computes, in compiled code. The operands are parameters, so
// that nothing is folded before.
namespace {

template<typename T>
struct Case {
    const char *text;
    Expr value;
    T expected;
};

#define CASE(expression, ...) {#expression, expression, __VA_ARGS__}

template<typename T>
void check_all(const std::vector<Case<T>> &cases, double tolerance = 0) {
    std::vector<Expr> values;
    for (const Case<T> &c : cases) {
        CAPTURE(c.text);
        REQUIRE(c.value.type() == type_of<T>());
        values.push_back(c.value);
    }
    Func f("operators");
    Var x("x");
    f(x) = Tuple(values);
    Realization r = f.realize({1});
    for (size_t i = 0; i < cases.size(); i++) {
        CAPTURE(cases[i].text);
        Buffer<T> result = r[i];
        if (tolerance == 0) {
            CHECK(result(0) == cases[i].expected);
        } else {
            CHECK(std::abs(double(result(0)) - double(cases[i].expected)) <= tolerance);
        }
    }
}

template<typename T>
Param<T> param(T value) {
    Param<T> p;
    p.set(value);
    return p;
}

}  // namespace

TEST_CASE("integer arithmetic is Euclidean, and division by zero gives zero") {
    Expr a = param<int32_t>(-7), b = param<int32_t>(3), zero = param<int32_t>(0);
    check_all<int32_t>({
        CASE(a + b, -4)
        , CASE(a - b, -10)
        , CASE(a * b, -21)
        , CASE(a / b, -3)
        , CASE(a % b, 2)
        , CASE(a / -b, 3)
        , CASE(a % -b, 2)
        , CASE(a / zero, 0)
        , CASE(a % zero, 0)
        , CASE(-a, 7)
        , CASE(min(a, b), -7)
        , CASE(max(a, b), 3)
        , CASE(min(a, b, zero), -7)
        , CASE(max(a, b, zero), 3)
        , CASE(clamp(a, -2, 5), -2)
        , CASE(div_round_to_zero(a, b), -2)
        , CASE(mod_round_to_zero(a, b), -1)
        , CASE(select(a < b, a, b), -7)
        , CASE(select(a > 0, 1, a > -10, 2, 3), 2)
        , CASE(mux(b - 1, {10, 20, 30, 40}), 30)
        , CASE(cast<int32_t>(abs(a)), 7)
        , CASE(cast<int32_t>(absd(a, b)), 10)
        , CASE(unsafe_promise_clamped(a, -10, 0), -7)
        , CASE(likely(a), -7)
        , CASE(likely_if_innermost(a), -7)
        , CASE(a & b, 1)
        , CASE(a | b, -5)
        , CASE(a ^ b, -6)
        , CASE(~a, 6)
        , CASE(a << 2, -28)
        , CASE(a >> 1, -4)
        , CASE(a << -1, -4)
        , CASE(1 << param<uint8_t>(10), 1024)
        , CASE((cast<int32_t>(param<uint8_t>(200)) << 24) >> 24, -56)
        , CASE(select((cast<int32_t>(param<uint8_t>(200)) << 24) < 0, 1, 2), 1)
        , CASE(a >> -1, -14)
        ,
    });
}

TEST_CASE("comparisons and logic") {
    Expr a = param<int32_t>(-7), b = param<int32_t>(3);
    auto as_int = [](Expr e) { return cast<int32_t>(std::move(e)); };
    check_all<int32_t>({
        CASE(as_int(a < b), 1)
        , CASE(as_int(a <= b), 1)
        , CASE(as_int(a > b), 0)
        , CASE(as_int(a >= b), 0)
        , CASE(as_int(a == b), 0)
        , CASE(as_int(a != b), 1)
        , CASE(as_int(a < b && a > b), 0)
        , CASE(as_int(a < b || a > b), 1)
        , CASE(as_int(!(a < b)), 0)
        ,
    });
}

TEST_CASE("bits") {
    Expr u = param<uint32_t>(0x00F0), z = param<uint32_t>(0), lo = param<uint16_t>(0x1234),
         hi = param<uint16_t>(0xABCD);
    check_all<uint32_t>({
        CASE(popcount(u), 4u)
        , CASE(count_leading_zeros(u), 24u)
        , CASE(count_trailing_zeros(u), 4u)
        , CASE(count_leading_zeros(z), 32u)
        , CASE(count_trailing_zeros(z), 32u)
        , CASE(concat_bits({lo, hi}), 0xABCD1234u)
        , CASE(cast<uint32_t>(extract_bits<uint8_t>(u, 4)), 0x0Fu)
        , CASE(reinterpret<uint32_t>(param<float>(1.0f)), 0x3F800000u)
        ,
    });
}

TEST_CASE("arithmetic that cannot overflow, narrows or rounds") {
    Expr a = param<uint8_t>(200), b = param<uint8_t>(100);
    check_all<uint8_t>({
        CASE(a + b, uint8_t(44))
        , CASE(saturating_add(a, b), uint8_t(255))
        , CASE(saturating_sub(b, a), uint8_t(0))
        , CASE(halving_add(a, b), uint8_t(150))
        , CASE(halving_add(a, Expr(uint8_t(101))), uint8_t(150))
        , CASE(rounding_halving_add(a, Expr(uint8_t(101))), uint8_t(151))
        , CASE(absd(b, a), uint8_t(100))
        , CASE(mul_shift_right(a, Expr(uint8_t(101)), 8), uint8_t(78))
        , CASE(rounding_mul_shift_right(a, Expr(uint8_t(101)), 8), uint8_t(79))
        , CASE(rounding_mul_shift_right(a, b, param<uint8_t>(7)), uint8_t(156))
        , CASE(rounding_shift_right(a, 3), uint8_t(25))
        , CASE(rounding_shift_right(a, 4), uint8_t(13))
        , CASE(u8_sat(param<int32_t>(300)), uint8_t(255))
        , CASE(saturating_cast<uint8_t>(param<int32_t>(-3)), uint8_t(0))
        , CASE(lerp(a, b, Expr(uint8_t(128))), uint8_t(150))
        ,
    });
    check_all<uint16_t>({
        CASE(widening_add(a, b), uint16_t(300))
        , CASE(widening_mul(a, b), uint16_t(20000))
        , CASE(widening_shift_left(a, 3), uint16_t(1600))
        , CASE(widening_shift_right(a, 3), uint16_t(25))
        , CASE(widen_right_add(param<uint16_t>(1000), a), uint16_t(1200))
        , CASE(widen_right_mul(param<uint16_t>(10), a), uint16_t(2000))
        , CASE(widen_right_sub(param<uint16_t>(1000), a), uint16_t(800))
        ,
    });
    Expr s = param<int8_t>(-128), t = param<int8_t>(127);
    check_all<int16_t>({
        CASE(widening_sub(s, t), int16_t(-255))
        , CASE(widening_mul(s, a), int16_t(-25600))
        ,
    });
    check_all<int8_t>({
        CASE(saturating_sub(s, t), int8_t(-128))
        , CASE(halving_sub(t, s), int8_t(127))
        , CASE(rounding_shift_left(param<int8_t>(3), 2), int8_t(12))
        , CASE(rounding_shift_left(param<int8_t>(7), -2), int8_t(2))
        , CASE(rounding_shift_left(param<int8_t>(-7), param<int8_t>(-2)), int8_t(-2))
        , CASE(rounding_shift_right(param<int8_t>(3), -2), int8_t(12))
        , CASE(s - t, int8_t(1))
        ,
    });
}

TEST_CASE("functions of floats, as the C library computes them") {
    const float v = 0.75f, w = 1.5f;
    Expr a = param<float>(v), b = param<float>(w);
    check_all<float>(
        {
            CASE(sin(a), std::sin(v))
            , CASE(cos(a), std::cos(v))
            , CASE(tan(a), std::tan(v))
            , CASE(asin(a), std::asin(v))
            , CASE(acos(a), std::acos(v))
            , CASE(atan(a), std::atan(v))
            , CASE(atan2(a, b), std::atan2(v, w))
            , CASE(sinh(a), std::sinh(v))
            , CASE(cosh(a), std::cosh(v))
            , CASE(tanh(a), std::tanh(v))
            , CASE(asinh(a), std::asinh(v))
            , CASE(acosh(b), std::acosh(w))
            , CASE(atanh(a), std::atanh(v))
            , CASE(sqrt(a), std::sqrt(v))
            , CASE(hypot(a, b), std::hypot(v, w))
            , CASE(exp(a), std::exp(v))
            , CASE(log(a), std::log(v))
            , CASE(pow(a, b), std::pow(v, w))
            , CASE(erf(a), std::erf(v))
            , CASE(fract(b), 0.5f)
            , CASE(lerp(a, b, 0.5f), 1.125f)
            , CASE(lerp(Expr(2.0f), Expr(4.0f), 1.5f), 5.0f)
            , CASE(a % b, 0.75f)
            , CASE(-a, -0.75f)
            , CASE(abs(-a), 0.75f)
            ,
        },
        2e-6);
    check_all<float>({
        CASE(floor(b), 1.0f)
        , CASE(ceil(b), 2.0f)
        , CASE(trunc(b), 1.0f)
        , CASE(round(b), 2.0f)
        , CASE(round(param<float>(2.5f)), 2.0f)
        , CASE(floor(-b), -2.0f)
        , CASE(ceil(-b), -1.0f)
        , CASE(trunc(-b), -1.0f)
        , CASE(round(-b), -2.0f)
        , CASE(fract(-b), -0.5f)
    });
    check_all<float>(
        {
            CASE(fast_sin(a), std::sin(v))
            , CASE(fast_cos(a), std::cos(v))
            , CASE(fast_exp(a), std::exp(v))
            , CASE(fast_log(a), std::log(v))
            , CASE(fast_pow(a, b), std::pow(v, w))
            , CASE(fast_inverse(b), 1 / w)
            , CASE(fast_inverse_sqrt(b), 1 / std::sqrt(w))
        },
        1e-3);
}

TEST_CASE("fma rounds once, and strict_float keeps each operation and its rounding") {
    // The square of 1 + e is 1 + 2 * e, rounded; e * e is lost.
    const float e = std::ldexp(1.0f, -23);
    Expr a = param<float>(1 + e), rest = param<float>(-1 - 2 * e), large = param<float>(1e8f);
    check_all<float>({
        CASE(fma(a, a, rest), e * e)
        , CASE(strict_float(fma(a, a, rest)), e * e)
        , CASE(strict_float(a * a + rest), 0.0f)
        , CASE((large + a) - large, 0.0f)
        , CASE(strict_float((large + a) - large), 0.0f)
        ,
    });
    // What a loop need not compute again is strict, too.
    Func f("f");
    Var x("x");
    f(x) = strict_float((large + a) - large + cast<float>(x)) + cast<float>(x);
    Buffer<float> b = f.realize({3});
    CHECK(b(2) == 4.0f);
}

TEST_CASE("classes of floats") {
    Expr nan = param<float>(NAN), inf = param<float>(INFINITY), one = param<float>(1.0f);
    auto as_int = [](Expr e) { return cast<int32_t>(std::move(e)); };
    check_all<int32_t>({
        CASE(as_int(is_nan(nan)), 1)
        , CASE(as_int(is_nan(one)), 0)
        , CASE(as_int(is_inf(inf)), 1)
        , CASE(as_int(is_inf(one)), 0)
        , CASE(as_int(is_finite(one)), 1)
        , CASE(as_int(is_finite(inf)), 0)
    });
}

TEST_CASE("half and bfloat16 are computed in float and rounded") {
    Expr h = param<float16_t>(float16_t(1.5f)), b = param<bfloat16_t>(bfloat16_t(1.5f));
    check_all<float>({
        CASE(cast<float>(h * h), 2.25f)
        , CASE(cast<float>(b + b), 3.0f)
        , CASE(cast<float>(f16(param<float>(2049.0f))), 2048.0f)
        , CASE(cast<float>(bf16(param<float>(257.0f))), 256.0f)
    });
}

namespace {

// The expressions as values of one Func, each along x.
template<typename T, typename... Es>
std::vector<std::vector<T>> along_x(const Es &...e) {
    Var x("x");
    Func f("f");
    f(x) = Tuple({Expr(e)...});
    std::vector<std::vector<T>> all;
    for (const Buffer<T> b : f.realize({1000})) all.emplace_back(b.begin(), b.end());
    return all;
}

// Numbers that are drawn anew at each point, for each call and for each seed: `draw` makes them.
// Numbers of 24 bits and more meet by chance about once in thirty times.
template<typename T, typename Draw>
void check_random(Draw draw) {
    auto different = [](const std::vector<T> &a, const std::vector<T> &b) {
        int n = 0;
        for (size_t i = 0; i < a.size(); i++) n += a[i] != b[i];
        return n;
    };
    Expr once = draw(Expr());
    auto drawn = along_x<T>(draw(5), draw(6), once, draw(Expr()));
    for (const auto &values : drawn) {
        CHECK(std::set<T>(values.begin(), values.end()).size() > 990);
        for (const auto &other : drawn)
            CHECK((&values == &other || different(values, other) > 990));
    }
    auto same = along_x<T>(draw(5), draw(5), draw(param<int>(5)), once, once);
    CHECK(same[0] == same[1]);
    CHECK(same[0] == same[2]);
    CHECK(same[3] == same[4]);
    CHECK(different(same[0], same[3]) > 990);
    reset_random_counters();
    drawn = along_x<T>(draw(5), draw(Expr()));
    reset_random_counters();
    CHECK(drawn == along_x<T>(draw(5), draw(Expr())));
}

}  // namespace

TEST_CASE("random numbers differ by place, call and seed, and repeat") {
    check_random<float>([](const Expr &seed) { return random_float(seed); });
    check_random<uint32_t>([](const Expr &seed) { return random_uint(seed); });
    check_random<int32_t>([](const Expr &seed) { return random_int(seed); });
}

TEST_CASE("random numbers fill their range") {
    auto mean = [](const auto &values) {
        double sum = 0;
        for (auto v : values) sum += double(v);
        return sum / double(values.size());
    };
    std::vector<float> floats = along_x<float>(random_float())[0];
    for (float v : floats) CHECK((v >= 0.0f && v < 1.0f));
    CHECK(std::abs(mean(floats) - 0.5) < 0.05);
    CHECK(std::abs(mean(along_x<uint32_t>(random_uint())[0]) / 0x1p31 - 1) < 0.1);
    CHECK(std::abs(mean(along_x<int32_t>(random_int())[0]) / 0x1p31) < 0.1);
}

TEST_CASE("parameters are passed in the order in which they are declared, inlined or not") {
    // Inlining changes the order in which the compiler meets them.
    ImageParam in(Float(32), 1, "in");
    Param<float> scale("scale");
    Var x("x");
    Func helper("helper"), out("out");
    Func edge = BoundaryConditions::repeat_edge(in);
    helper(x) = edge(x) * scale;
    out(x) = 1.0f / scale + helper(x) + in(x);
    Buffer<float> data(4);
    data.fill(3.0f);
    in.set(data);
    scale.set(2.0f);
    Buffer<float> result = out.realize({4});
    for (int i = 0; i < 4; i++) CHECK(result(i) == 9.5f);
}

TEST_CASE("clamp takes bounds of another type whose values its own can hold") {
    Var x("x");
    Func f("f");
    f(x) = clamp(x, 1.0f, 5.0f) + clamp(x, cast<uint8_t>(2), cast<int64_t>(Expr(3)));
    Buffer<int> out = f.realize({8});
    CHECK(out(0) == 3);
    CHECK(out(7) == 8);
    REFUSED(clamp(x, 0.5f, 3.0f), "clamp: 0.5");
}
