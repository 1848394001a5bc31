#include "codegen/harness.h"
#include "support/floats.h"
#include <cmath>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr double inf = INFINITY, not_a_number = NAN;
constexpr int lane_counts[] = {1, 4, 16};
using Build = std::function<Expr(const std::vector<Expr> &)>;

// Evaluates an expression of the type at all points; operands and results travel as doubles.
std::vector<double> evaluate(Type t, const std::vector<std::vector<double>> &operands, int lanes,
                             const Build &build, const Target &target = get_host_target()) {
    size_t size = operands[0].size(), padded = (size + 15) / 16 * 16;
    Symbol i = Symbol::fresh("i"), out = Symbol::fresh("out");
    Expr index = Variable::make(Int(32), i) * lanes;
    if (lanes > 1) index = Ramp::make(index, 1, lanes);
    LoweredFunction f;
    f.name = "f";
    std::vector<Expr> loads;
    std::vector<std::unique_ptr<TestBuffer<double>>> buffers;
    std::vector<void *> argv = {&no_context};
    for (std::vector<double> values : operands) {
        Symbol in = Symbol::fresh("in");
        f.args.push_back({in, ArgumentKind::InputBuffer, Float(64), 1, {}});
        loads.push_back(cast(t, Load::make(Float(64, lanes), in, index)));
        values.resize(padded);
        buffers.push_back(std::make_unique<TestBuffer<double>>(values));
        argv.push_back(static_cast<tessera_buffer_t *>(*buffers.back()));
    }
    f.args.push_back({out, ArgumentKind::OutputBuffer, Float(64), 1, {}});
    TestBuffer<double> result(padded);
    argv.push_back(static_cast<tessera_buffer_t *>(result));
    f.body = For::make(i, 0, int(padded) / lanes, LoopKind::Serial, Partition::Auto,
                       Store::make(out, cast(Float(64), build(loads)), index));
    Module module;
    module.functions = {f};
    codegen::JitModule jit(module, target, {}, checked());
    REQUIRE(jit.argv_function("f")(argv.data()) == 0);
    std::vector<double> values = result.values();
    values.resize(size);
    return values;
}

std::vector<double> samples(Type t, double low, double high, int count = 64) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> any(low, high);
    std::vector<double> values;
    for (int i = 0; i < count; i++) values.push_back(in_type(t, any(random)));
    return values;
}

void check_unary(Intrinsic op, Type t, const std::vector<double> &x, double ulps,
                 const std::function<double(double)> &wanted,
                 const Target &target = get_host_target()) {
    for (int lanes : lane_counts) {
        auto got =
            evaluate(t, {x}, lanes, [&](auto &e) { return call(e[0].type(), op, {e[0]}); }, target);
        for (size_t i = 0; i < x.size(); i++) {
            double exact = in_type(t, wanted(x[i]));
            INFO(info_of(op).name, " of ", t, "x", lanes, " ", x[i], ": ", got[i], ", not ", exact);
            CHECK(close(t, got[i], exact, ulps));
        }
    }
}

void check_binary(const char *name, Type t, const std::vector<double> &x,
                  const std::vector<double> &y, double ulps, const Build &build,
                  const std::function<double(double, double)> &wanted) {
    for (int lanes : lane_counts) {
        auto got = evaluate(t, {x, y}, lanes, build);
        for (size_t i = 0; i < x.size(); i++) {
            double exact = in_type(t, wanted(x[i], y[i]));
            INFO(name, " of ", t, "x", lanes, " ", x[i], " ", y[i], ": ", got[i], ", not ", exact);
            CHECK(close(t, got[i], exact, ulps));
        }
    }
}

constexpr Type float_types[] = {Float(16), BFloat(16), Float(32), Float(64)};

}  // namespace

TEST_SUITE("float operations") {
    TEST_CASE("arithmetic is rounded to the type") {
        for (Type t : float_types) {
            auto x = samples(t, -20, 20);
            auto y = x;
            std::reverse(y.begin(), y.end());
            auto check = [&](const char *name, auto make, auto f) {
                check_binary(name, t, x, y, 0.5, [&](auto &e) { return make(e[0], e[1]); }, f);
            };
            check("add", Add::make, [](double a, double b) { return a + b; });
            check("sub", Sub::make, [](double a, double b) { return a - b; });
            check("mul", Mul::make, [](double a, double b) { return a * b; });
            check("div", Div::make, [](double a, double b) { return a / b; });
            check("min", Min::make, [](double a, double b) { return std::min(a, b); });
            check("max", Max::make, [](double a, double b) { return std::max(a, b); });
            check_binary(
                "mod", t, x, y, 40, [](auto &e) { return Mod::make(e[0], e[1]); },
                [](double a, double b) { return a - b * std::floor(a / b); });
            check_binary(
                "select", t, x, y, 0,
                [](auto &e) { return Select::make(LT::make(e[0], e[1]), e[1], e[0]); },
                [](double a, double b) { return std::max(a, b); });
        }
    }
    TEST_CASE("min and max leave out what is not a number, on either side") {
        const std::vector<double> x = {not_a_number, not_a_number, 3, -2, inf, not_a_number, 1},
                                  y = {3, not_a_number, not_a_number, 5, not_a_number, -inf, -1};
        for (Type t : float_types) {
            CAPTURE(t);
            check_binary(
                "min", t, x, y, 0, [](auto &e) { return Min::make(e[0], e[1]); },
                [](double a, double b) { return std::fmin(a, b); });
            check_binary(
                "max", t, x, y, 0, [](auto &e) { return Max::make(e[0], e[1]); },
                [](double a, double b) { return std::fmax(a, b); });
        }
    }
    TEST_CASE("rounding to whole numbers") {
        std::vector<double> x = {0, -0.5, 0.5, 1.5, 2.5, -2.5, 3.25, -3.75, 100, 7.999, -0.001};
        for (Type t : float_types) {
            for (double &v : x) v = in_type(t, v);
            check_unary(Intrinsic::floor, t, x, 0, [](double a) { return std::floor(a); });
            check_unary(Intrinsic::ceil, t, x, 0, [](double a) { return std::ceil(a); });
            check_unary(Intrinsic::trunc, t, x, 0, [](double a) { return std::trunc(a); });
            check_unary(Intrinsic::round, t, x, 0, [](double a) { return std::nearbyint(a); });
            check_unary(Intrinsic::abs, t, x, 0, [](double a) { return std::fabs(a); });
            check_unary(Intrinsic::strict_float, t, x, 0, [](double a) { return a; });
        }
    }
    TEST_CASE("functions of the C library") {
        using I = Intrinsic;
        for (Type t : float_types) {
            auto any = samples(t, -3, 3, 16), positive = samples(t, 0.01, 50, 16),
                 small = samples(t, -0.9, 0.9, 16), above_one = samples(t, 1, 9, 16);
            double ulps = t.bits() == 64 ? 2 : 4;
            check_unary(I::sqrt, t, positive, 0.5, [](double a) { return std::sqrt(a); });
            check_unary(I::sin, t, any, ulps, [](double a) { return std::sin(a); });
            check_unary(I::cos, t, any, ulps, [](double a) { return std::cos(a); });
            check_unary(I::tan, t, any, ulps, [](double a) { return std::tan(a); });
            check_unary(I::asin, t, small, ulps, [](double a) { return std::asin(a); });
            check_unary(I::acos, t, small, ulps, [](double a) { return std::acos(a); });
            check_unary(I::atan, t, any, ulps, [](double a) { return std::atan(a); });
            check_unary(I::sinh, t, any, ulps, [](double a) { return std::sinh(a); });
            check_unary(I::cosh, t, any, ulps, [](double a) { return std::cosh(a); });
            check_unary(I::tanh, t, any, ulps, [](double a) { return std::tanh(a); });
            check_unary(I::asinh, t, any, ulps, [](double a) { return std::asinh(a); });
            check_unary(I::acosh, t, above_one, ulps, [](double a) { return std::acosh(a); });
            check_unary(I::atanh, t, small, ulps, [](double a) { return std::atanh(a); });
            check_binary(
                "atan2", t, any, small, ulps,
                [](auto &e) { return call(e[0].type(), I::atan2, {e[0], e[1]}); },
                [](double a, double b) { return std::atan2(a, b); });
        }
    }
    TEST_CASE("exp, log and pow, at their edges too") {
        using I = Intrinsic;
        for (Type t : float_types) {
            auto x = samples(t, -80, 80, 160);
            for (double v : {0.0, 1.0, -1.0, 88.7, 89.5, 200.0, -87.5, -95.0, -103.5, -110.0, inf,
                             -inf, not_a_number}) {
                x.push_back(in_type(t, v));
            }
            check_unary(I::exp, t, x, 3, [](double a) { return std::exp(a); });
            // Without an instruction that scales.
            const bool is_x86 = get_host_target().arch == Target::X86;
            const Target plain(is_x86 ? "x86-64-linux" : "host");
            check_unary(I::exp, t, x, 3, [](double a) { return std::exp(a); }, plain);
            auto y = samples(t, 0.001, 1000, 160);
            for (double v :
                 {0.0, 1.0, -1.0, 1e-30, 1e-39, 1e30, 0.9999, 1.0001, inf, -inf, not_a_number}) {
                y.push_back(in_type(t, v));
            }
            check_unary(I::log, t, y, 3, [](double a) { return std::log(a); });
            std::vector<double> base, exponent;
            for (double a :
                 {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.3, -0.3, 10.0, inf, -inf, not_a_number}) {
                for (double b :
                     {0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, -2.5, 50.0, inf, -inf, not_a_number}) {
                    base.push_back(in_type(t, a));
                    exponent.push_back(in_type(t, b));
                }
            }
            check_binary(
                "pow", t, base, exponent, 2,
                [](auto &e) { return call(e[0].type(), I::pow, {e[0], e[1]}); },
                [](double a, double b) { return std::pow(a, b); });
        }
    }
    TEST_CASE("what a float is") {
        std::vector<double> x = {0, 1, -2.5, inf, -inf, not_a_number};
        struct Row {
            Intrinsic op;
            std::vector<double> wanted;
        };
        for (const Row &row : {Row{Intrinsic::is_nan, {0, 0, 0, 0, 0, 1}},
                               Row{Intrinsic::is_inf, {0, 0, 0, 1, 1, 0}},
                               Row{Intrinsic::is_finite, {1, 1, 1, 0, 0, 0}}}) {
            for (Type t : float_types) {
                for (int lanes : lane_counts) {
                    CHECK(evaluate(t, {x}, lanes, [&](auto &e) {
                              return call(Bool(lanes), row.op, {e[0]});
                          }) == row.wanted);
                }
            }
        }
    }
    TEST_CASE("fma is rounded once") {
        for (Type t : float_types) {
            double near_one = 1 + (t.is_bfloat()    ? 0x1p-7
                                   : t.bits() == 16 ? 0x1p-10
                                   : t.bits() == 32 ? 0x1p-23
                                                    : 0x1p-52);
            for (int lanes : lane_counts) {
                auto got = evaluate(
                    t, {{near_one}, {near_one}, {-1 - 2 * (near_one - 1)}}, lanes,
                    [](auto &e) { return call(e[0].type(), Intrinsic::fma, {e[0], e[1], e[2]}); });
                CHECK(got[0] == (near_one - 1) * (near_one - 1));
            }
        }
    }
    TEST_CASE("strictly computed sums are not re-associated") {
        auto got = evaluate(Float(32), {{1e8f}}, 1, [](auto &e) {
            Expr sum = Sub::make(Add::make(e[0], 1.0f), e[0]);
            return call(Float(32), Intrinsic::strict_float, {sum});
        });
        CHECK(got[0] == 0);
        got = evaluate(
            Float(32), {{1e8f}}, 1, [](auto &e) { return Sub::make(Add::make(e[0], 1.0f), e[0]); },
            Target("host-strict_float"));
        CHECK(got[0] == 0);
    }
    TEST_CASE("fast exponentials and logarithms are close, as polynomials") {
        const auto x = samples(Float(32), 0.01, 80, 64);
        const auto is_close = [&](Intrinsic op, int lanes, double (*exact)(double)) {
            const auto got = evaluate(Float(32), {x}, lanes,
                                      [&](auto &e) { return call(e[0].type(), op, {e[0]}); });
            for (size_t i = 0; i < x.size(); i++) {
                CAPTURE(x[i]);
                const double wanted = exact(x[i]);
                CHECK(std::fabs(got[i] - wanted) <= 1e-5 * std::max(1.0, std::fabs(wanted)));
            }
        };
        for (int lanes : lane_counts) {
            is_close(Intrinsic::fast_exp, lanes, [](double a) { return std::exp(a); });
            is_close(Intrinsic::fast_log, lanes, [](double a) { return std::log(a); });
        }
    }
    TEST_CASE("fast inverses are close") {
        auto x = samples(Float(32), 0.01, 1000, 64);
        check_unary(Intrinsic::fast_inverse, Float(32), x, 16, [](double a) { return 1 / a; });
        check_unary(Intrinsic::fast_inverse_sqrt, Float(32), x, 16,
                    [](double a) { return 1 / std::sqrt(a); });
        check_unary(Intrinsic::fast_inverse, Float(64), x, 1, [](double a) { return 1 / a; });
        check_unary(Intrinsic::fast_inverse_sqrt, Float(16), samples(Float(16), 0.1, 50), 1,
                    [](double a) { return 1 / std::sqrt(a); });
    }
}

TEST_SUITE("float casts") {
    TEST_CASE("between floats, rounded once, to even") {
        std::vector<double> x = {0,
                                 1,
                                 -1.5,
                                 65504,
                                 65519,
                                 65520,
                                 1e-8,
                                 6e-8,
                                 1e-40,
                                 3.3e38,
                                 inf,
                                 -inf,
                                 not_a_number,
                                 1 + 0x1p-8 + 0x1p-40,
                                 2049.0,
                                 2049.5,
                                 2051,
                                 0.1,
                                 1e300,
                                 1 + 0x1p-11 + 0x1p-50};
        for (Type to : {Float(16), BFloat(16)}) {
            for (int lanes : lane_counts) {
                auto got = evaluate(Float(64), {x}, lanes, [&](auto &e) { return cast(to, e[0]); });
                auto via_float =
                    evaluate(Float(32), {x}, lanes, [&](auto &e) { return cast(to, e[0]); });
                for (size_t i = 0; i < x.size(); i++) {
                    uint16_t bits =
                        to.is_bfloat() ? tessera_f64_to_bf16(x[i]) : tessera_f64_to_f16(x[i]);
                    double wanted =
                        to.is_bfloat() ? tessera_bf16_to_f64(bits) : tessera_f16_to_f64(bits);
                    INFO(to, "x", lanes, " of ", x[i], ": ", got[i], ", not ", wanted);
                    CHECK(same(got[i], wanted));
                    bits = to.is_bfloat() ? tessera_f32_to_bf16(float(x[i]))
                                          : tessera_f32_to_f16(float(x[i]));
                    wanted = to.is_bfloat() ? tessera_bf16_to_f64(bits) : tessera_f16_to_f64(bits);
                    CHECK(same(via_float[i], wanted));
                }
            }
        }
    }
    TEST_CASE("to integers cut off, and back") {
        std::vector<double> x = {0, 1.9, -1.9, 100.5, -100.5, 127.99, -128};
        for (Type from : float_types) {
            for (Type to : {Int(8), Int(16), Int(32), Int(64)}) {
                for (int lanes : {1, 16}) {
                    auto got = evaluate(from, {x}, lanes, [&](auto &e) { return cast(to, e[0]); });
                    for (size_t i = 0; i < x.size(); i++) {
                        if (in_type(from, x[i]) >= 128) continue;
                        CHECK(got[i] == std::trunc(in_type(from, x[i])));
                    }
                }
            }
        }
    }
    TEST_CASE("to unsigned integers") {
        std::vector<double> x = {0, 0.9, 1.9, 255, 200.25};
        for (Type to : {UInt(8), UInt(16), UInt(32), UInt(64)}) {
            for (int lanes : lane_counts) {
                auto got = evaluate(Float(32), {x}, lanes, [&](auto &e) { return cast(to, e[0]); });
                for (size_t i = 0; i < x.size(); i++) CHECK(got[i] == std::trunc(float(x[i])));
            }
        }
        auto large =
            evaluate(Float(64), {{4e9, 1.8e19}}, 4, [](auto &e) { return cast(UInt(64), e[0]); });
        CHECK(large == std::vector<double>{4e9, 1.8e19});
        large = evaluate(Float(64), {{4e9, 3e9}}, 4, [](auto &e) { return cast(UInt(32), e[0]); });
        CHECK(large == std::vector<double>{4e9, 3e9});
    }
    TEST_CASE("saturating to integers") {
        std::vector<double> x = {0,     1.9,  -1.9,  300, -300, 1e10,
                                 -1e10, 1e25, -1e25, inf, -inf, not_a_number};
        for (Type from : {Float(32), Float(64), Float(16), BFloat(16)}) {
            for (Type to :
                 {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64)}) {
                double low = double(to.min_int()), high = double(to.max_uint());
                for (int lanes : {1, 16}) {
                    if (lanes == 1 && from.bits() == 16) continue;
                    auto got = evaluate(from, {x}, lanes, [&](auto &e) {
                        return call(to.with_lanes(lanes), Intrinsic::saturating_cast, {e[0]});
                    });
                    for (size_t i = 0; i < x.size(); i++) {
                        double v = std::trunc(in_type(from, x[i]));
                        double wanted = std::isnan(v) ? 0 : std::clamp(v, low, high);
                        INFO(from, " to ", to, "x", lanes, " of ", x[i], ": ", got[i]);
                        CHECK(got[i] == wanted);
                    }
                }
            }
        }
    }
    TEST_CASE("from large integers, rounded once") {
        std::vector<double> x = {16777217, 33685503, 2147483520, -8421377, 65535, 65537};
        for (Type to : float_types) {
            for (int lanes : lane_counts) {
                auto got = evaluate(Float(64), {x}, lanes,
                                    [&](auto &e) { return cast(to, cast(Int(32), e[0])); });
                for (size_t i = 0; i < x.size(); i++) {
                    double wanted = x[i];
                    if (to.is_bfloat()) wanted = tessera_bf16_to_f64(tessera_f64_to_bf16(x[i]));
                    if (to == Float(16)) wanted = tessera_f16_to_f64(tessera_f64_to_f16(x[i]));
                    if (to == Float(32)) wanted = float(x[i]);
                    INFO(to, "x", lanes, " of ", x[i]);
                    CHECK(got[i] == wanted);
                }
            }
        }
    }
    TEST_CASE("a float that fits no index is clamped to one all the same") {
        TestBuffer<int32_t> out(1);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1], x: float32):
    out[min(max(int32(x:float32), 0), 0)] = 3
)",
                  out, 1e30f) == 0);
        CHECK(out[0] == 3);
    }
    TEST_CASE("the same bits as another type") {
        auto got = evaluate(Float(32), {{1.0, -2.0}}, 4, [](auto &e) {
            return Reinterpret::make(Int(32, 4), Reinterpret::make(UInt(16, 8), e[0]));
        });
        CHECK(got == std::vector<double>{1065353216, -1073741824});
    }
    TEST_CASE("half precision without the machine's help") {
        std::vector<double> x = {0.1, 1.5, -3.25, 1000, 65504, 1e-7};
        for (const char *target : {"x86-64-linux", "x86-64-linux-avx"}) {
            if (std::string(target).find("avx") != std::string::npos &&
                !get_host_target().has_feature(Target::AVX))
                continue;
            for (Type t : {Float(16), BFloat(16)}) {
                for (int lanes : lane_counts) {
                    auto got = evaluate(
                        t, {x}, lanes, [](auto &e) { return e[0] * e[0] + e[0]; }, Target(target));
                    for (size_t i = 0; i < x.size(); i++) {
                        double v = in_type(t, x[i]);
                        CHECK(same(got[i], in_type(t, in_type(t, v * v) + v)));
                    }
                }
            }
        }
    }
    TEST_CASE("products of 16 bits are taken in the order they are written in") {
        for (int lanes : lane_counts) {
            std::vector<double> result = evaluate(
                Float(16), {{1234, 2000}, {-6216, 3000}}, lanes, [](const std::vector<Expr> &in) {
                    Expr small = FloatImm::make(Float(16), 0.001953125);
                    if (in[0].type().lanes() > 1) {
                        small = Broadcast::make(small, in[0].type().lanes());
                    }
                    return in[0] * small * in[1];
                });
            CHECK(result[0] == doctest::Approx(-14980).epsilon(1e-3));
            CHECK(result[1] == doctest::Approx(11718).epsilon(1e-3));
        }
    }
}
