// Floats of 8 bits: what each of their bits means, as the OFP8 specification (revision 1.0) has it,
// how numbers are rounded to them, and arithmetic; of scalars and vectors, by machine code and by
// the interpreter.
#include "device_code.h"
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

using namespace tessera;

namespace {

Var x("x");

std::vector<Target> targets() {
    const Target host = get_jit_target_from_environment();
    std::vector<Target> all = {host, host.with_feature(Target::Interpret)};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

// Returns the value of the bits by their fields.
template<typename T> double value_by_fields(int bits) {
    constexpr bool is_e4m3 = std::is_same_v<T, float8_e4m3_t>;
    constexpr int digits = is_e4m3 ? 3 : 2, bias = is_e4m3 ? 7 : 15, units = 1 << digits;
    const int sign = bits >> 7, exponent = (bits & 127) >> digits, fraction = bits % units;
    const bool is_nan = is_e4m3 ? (bits & 127) == 127 : exponent == 31 && fraction != 0;
    double size = exponent == 0 ? std::ldexp(fraction, 1 - bias - digits)
                                : std::ldexp(units + fraction, exponent - bias - digits);
    if (!is_e4m3 && exponent == 31) size = INFINITY;
    if (is_nan) size = NAN;
    return sign ? -size : size;
}

template<typename T> double value_of(int bits) {
    static const std::vector<double> all = [] {
        std::vector<double> values;
        for (int i = 0; i < 256; i++) values.push_back(value_by_fields<T>(i));
        return values;
    }();
    return all[size_t(bits)];
}

// Returns the bits of the finite value that is nearest, of two the one with an even last bit.
template<typename T> int nearest(double value) {
    constexpr int largest = std::is_same_v<T, float8_e4m3_t> ? 0x7e : 0x7b;
    if (std::isnan(value)) return 0x7f;
    const int sign = std::signbit(value) ? 128 : 0;
    const double size = std::min(std::fabs(value), value_of<T>(largest));
    int best = 0;
    for (int bits = 1; bits <= largest; bits++) {
        const double distance = std::fabs(size - value_of<T>(bits)),
                     former = std::fabs(size - value_of<T>(best));
        if (distance < former || (distance == former && bits % 2 == 0)) best = bits;
    }
    return sign | best;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// All values of a type, what lies half way between two and beside that, and what is too large.
template<typename T> std::vector<double> numbers_around() {
    std::vector<double> all = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1e30, -1e30, 1e300, 1e-300};
    for (int bits = 0; std::isfinite(value_of<T>(bits)); bits++) {
        const double low = value_of<T>(bits), next = value_of<T>(bits + 1);
        const double half = std::isfinite(next) ? (low + next) / 2 : low * 1.0625;
        for (const double v : {low, half, half * (1 + 0x1p-20), half * (1 - 0x1p-20),
                               half * (1 + 0x1p-40), half * (1 - 0x1p-40)}) {
            all.push_back(v);
            all.push_back(-v);
        }
    }
    return all;
}

Func on(const Target &t, Func f, int lanes) {
    Var outer("outer"), inner("inner");
    if (t.has_gpu_feature()) {
        f.gpu_tile(x, outer, inner, 32 * lanes, TailStrategy::GuardWithIf);
        if (lanes > 1) f.vectorize(inner, lanes);
    } else if (lanes > 1) {
        f.vectorize(x, lanes, TailStrategy::GuardWithIf);
    }
    return f;
}

template<typename T, typename From> void check_rounding() {
    CAPTURE(type_of<T>());
    CAPTURE(type_of<From>());
    std::vector<From> numbers;
    for (const double v : numbers_around<T>()) {
        if constexpr (std::is_integral_v<From>) {
            constexpr double low = double(std::numeric_limits<From>::min()), high = 1e9;
            const bool fits = v == std::floor(v) && v >= low &&
                              v < std::min(high, double(std::numeric_limits<From>::max()));
            if (fits) numbers.push_back(From(v));
            if (fits) numbers.push_back(From(From(v) + 1));
        } else {
            numbers.push_back(From(v));
        }
    }
    Buffer<From> in(int(numbers.size()));
    for (int i = 0; i < in.width(); i++) in(i) = numbers[size_t(i)];
    for (const Target &target : targets()) {
        for (const int lanes : {1, 4, 16}) {
            Func f("f");
            f(x) = cast<T>(in(x));
            const Buffer<T> out = on(target, f, lanes).realize({in.width()}, target);
            int wrong = 0;
            for (int i = 0; i < in.width(); i++) {
                const double v = double(in(i)), wanted = value_of<T>(nearest<T>(v));
                const bool right =
                    is_same(double(float(out(i))), wanted) &&
                    (wanted != 0 || std::isnan(v) || out(i).is_negative() == std::signbit(v));
                wrong += !right;
                if (!right)
                    MESSAGE(target.to_string(), "x", lanes, ": ", v, " became ", float(out(i)),
                            ", not ", wanted);
                CHECK(is_same(double(float(T(v))), wanted));
            }
            CHECK(wrong == 0);
        }
    }
}

template<typename T> Buffer<T> all_values() {
    Buffer<T> all(256);
    for (int i = 0; i < 256; i++) all(i) = T::from_bits(uint8_t(i));
    return all;
}

template<typename T, typename To> void check_widening() {
    const Buffer<T> in = all_values<T>();
    for (const Target &target : targets()) {
        for (const int lanes : {1, 4, 32}) {
            Func f("f");
            f(x) = cast<To>(in(x));
            const Buffer<To> out = on(target, f, lanes).realize({256}, target);
            int wrong = 0;
            for (int i = 0; i < 256; i++) {
                const double v = value_of<T>(i);
                if (std::is_integral_v<To> && !std::isfinite(v)) continue;
                const double wanted = std::is_integral_v<To> ? std::trunc(v) : v;
                wrong += !is_same(double(out(i)), wanted);
            }
            CAPTURE(target.to_string());
            CHECK(wrong == 0);
        }
    }
}

// All pairs of values: what is computed in float and rounded.
template<typename T> void check_arithmetic() {
    const Buffer<T> v = all_values<T>();
    struct Operation {
        const char *name;
        Expr (*build)(Expr, Expr);
        double (*wanted)(double, double);
    };
    const Operation operations[] = {
        {"+", [](Expr a, Expr b) { return a + b; }, [](double a, double b) { return a + b; }},
        {"-", [](Expr a, Expr b) { return a - b; }, [](double a, double b) { return a - b; }},
        {"*", [](Expr a, Expr b) { return a * b; }, [](double a, double b) { return a * b; }},
        {"/", [](Expr a, Expr b) { return a / b; },
         [](double a, double b) { return double(float(a) / float(b)); }},
        {"fma", [](Expr a, Expr b) { return fma(a, b, a); },
         [](double a, double b) { return a * b + a; }},
    };
    Var y("y");
    for (const Target &target : targets()) {
        for (const Operation &op : operations) {
            Func f("f");
            f(x, y) = op.build(v(x), v(y));
            if (target.has_gpu_feature()) {
                Var xi("xi");
                f.gpu_blocks(y).split(x, x, xi, 64).gpu_threads(xi);
            } else {
                f.vectorize(x, 16);
            }
            const Buffer<T> out = f.realize({256, 256}, target);
            int wrong = 0;
            out.for_each_element([&](int i, int j) {
                const double wanted = op.wanted(value_of<T>(i), value_of<T>(j));
                wrong += !is_same(double(float(out(i, j))), value_of<T>(nearest<T>(wanted)));
            });
            CAPTURE(target.to_string());
            CAPTURE(op.name);
            CHECK(wrong == 0);
        }
        Func least("least"), most("most"), less("less"), same("same");
        least(x, y) = min(v(x), v(y));
        most(x, y) = max(v(x), v(y));
        less(x, y) = cast<uint8_t>(v(x) < v(y));
        same(x, y) = cast<uint8_t>(v(x) == v(y));
        if (target.has_gpu_feature()) continue;
        const Realization r = Pipeline({least, most, less, same}).realize({256, 256}, target);
        const Buffer<T> low = r[0], high = r[1];
        const Buffer<uint8_t> is_less = r[2], is_equal = r[3];
        int wrong = 0;
        low.for_each_element([&](int i, int j) {
            const double a = value_of<T>(i), b = value_of<T>(j);
            wrong += !is_same(double(float(low(i, j))), std::fmin(a, b));
            wrong += !is_same(double(float(high(i, j))), std::fmax(a, b));
            wrong += is_less(i, j) != (a < b);
            wrong += is_equal(i, j) != (a == b);
        });
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_SUITE("float8") {
    TEST_CASE_TEMPLATE("every bit pattern has its value", T, float8_e4m3_t, float8_e5m2_t) {
        for (int i = 0; i < 256; i++)
            CHECK(is_same(double(float(T::from_bits(uint8_t(i)))), value_of<T>(i)));
        check_widening<T, float>();
        check_widening<T, double>();
        check_widening<T, float16_t>();
        check_widening<T, bfloat16_t>();
        check_widening<T, int32_t>();
        check_widening<T, int64_t>();
    }
    TEST_CASE_TEMPLATE("numbers are rounded once, to nearest even, and saturate", T, float8_e4m3_t,
                       float8_e5m2_t) {
        check_rounding<T, float>();
        check_rounding<T, double>();
        check_rounding<T, float16_t>();
        check_rounding<T, bfloat16_t>();
        check_rounding<T, int32_t>();
        check_rounding<T, int64_t>();
        check_rounding<T, uint16_t>();
    }
    TEST_CASE_TEMPLATE("arithmetic is done in float", T, float8_e4m3_t, float8_e5m2_t) {
        check_arithmetic<T>();
    }
    TEST_CASE("one type becomes the other") {
        const Buffer<float8_e5m2_t> in = all_values<float8_e5m2_t>();
        for (const Target &target : targets()) {
            Func f("f");
            f(x) = cast<float8_e4m3_t>(in(x));
            const Buffer<float8_e4m3_t> out = on(target, f, 4).realize({256}, target);
            for (int i = 0; i < 256; i++) {
                const int bits = nearest<float8_e4m3_t>(value_of<float8_e5m2_t>(i));
                CHECK(is_same(double(float(out(i))), value_of<float8_e4m3_t>(bits)));
            }
        }
    }
    TEST_CASE("constants are folded as they are computed") {
        const Expr e4 = cast<float8_e4m3_t>(Expr(1000.0f)), e5 = cast<float8_e5m2_t>(Expr(1e9));
        CHECK(float(evaluate<float8_e4m3_t>(e4)) == 448);
        CHECK(float(evaluate<float8_e5m2_t>(e5)) == 57344);
        CHECK(float(evaluate<float8_e5m2_t>(e5 + e5)) == 57344);
        CHECK(float(evaluate<float8_e4m3_t>(cast<float8_e4m3_t>(Expr(int64_t(-1) << 40)))) == -448);
        CHECK(float(evaluate<float8_e4m3_t>(cast<float8_e4m3_t>(17) * 2)) == 32);
        CHECK(float(evaluate<float8_e4m3_t>(Float8E4M3().max())) == 448);
        CHECK(evaluate<float8_e5m2_t>(Float8E5M2().max()).is_infinity());
        CHECK(evaluate<bool>(is_nan(cast<float8_e4m3_t>(Expr(NAN)))));
    }
    TEST_CASE("sums and maxima of many, in vectors and one by one") {
        Buffer<float8_e4m3_t> in(64);
        for (int i = 0; i < 64; i++) in(i) = float8_e4m3_t(float(i % 5 - 2));
        RDom r(0, 64);
        for (const Target &target : targets()) {
            if (target.has_gpu_feature()) continue;
            Func sums("sums"), most("most"), own("own");
            sums(x) += cast<float>(in(r)) * cast<float>(in(63 - r));
            most(x) = maximum(in(r)*in(x));
            own(x) = cast<float8_e4m3_t>(0);
            own(x) += in(r)*in(x);
            own.update().atomic().vectorize(r, 8);
            const Realization got = Pipeline({sums, most, own}).realize({64}, target);
            float wanted = 0;
            for (int i = 0; i < 64; i++) wanted += float(in(i)) * float(in(63 - i));
            CHECK(Buffer<float>(got[0])(3) == wanted);
            CHECK(float(Buffer<float8_e4m3_t>(got[1])(0)) == 4);
            CHECK(float(Buffer<float8_e4m3_t>(got[2])(2)) == 0);
        }
    }
    TEST_CASE("infinities in memory are the largest and the least") {
        const Buffer<float8_e5m2_t> all = all_values<float8_e5m2_t>();
        RDom r(0x7c, 1), numbers(0, 0x7d), negative(0x80, 0x7d);
        for (const Target &target : targets()) {
            if (target.has_gpu_feature()) continue;
            for (const int lanes : {1, 5}) {
                Func most("most"), least("least"), of_negative("of_negative");
                most() = cast<float8_e5m2_t>(0);
                most() = max(most(), all(numbers));
                least() = cast<float8_e5m2_t>(0);
                least() = min(least(), all(negative));
                of_negative() = maximum(all(r + 0x80));
                if (lanes > 1) {
                    most.update().atomic().vectorize(numbers, lanes);
                    least.update().atomic().vectorize(negative, lanes);
                }
                CHECK(Buffer<float8_e5m2_t>(most.realize({}, target))().is_infinity());
                CHECK(Buffer<float8_e5m2_t>(least.realize({}, target))().to_bits() == 0xfc);
                CHECK(Buffer<float8_e5m2_t>(of_negative.realize({}, target))().to_bits() == 0xfc);
            }
        }
    }
    TEST_CASE("types print and have C++ names") {
        CHECK(to_string(Float8E4M3(4)) == "float8_e4m3x4");
        const Buffer<> b = Buffer<float8_e5m2_t>(3);
        const std::string why = [&]() -> std::string {
            try {
                const Buffer<float> other = b;
            } catch (const Error &e) {
                return e.what();
            }
            return "";
        }();
        CHECK(why.find("use a Buffer<float8_e5m2_t>") != std::string::npos);
    }
    TEST_CASE("GPUs from 8.9 on convert two at a time, and others by their bits") {
        Buffer<float8_e4m3_t> in(1024);
        for (const int capability : {80, 89, 90, 100}) {
            Var outer("outer"), inner("inner");
            Func f("f");
            f(x) = cast<float8_e5m2_t>(cast<float>(in(x)) * 3.0f);
            f.gpu_tile(x, outer, inner, 128).vectorize(inner, 4);
            const std::string ptx = test::ptx_of(f, capability);
            CAPTURE(ptx);
            // Two of each in a thread, in a kernel for any strides and one for dense elements.
            const size_t pairs = capability >= 89 ? 4 : 0;
            CHECK(test::count_of(ptx, "cvt.rn.f16x2.e4m3x2") == pairs);
            CHECK(test::count_of(ptx, "cvt.rn.satfinite.e5m2x2.f32") == pairs);
            test::check_assembled(ptx, capability);
        }
    }
}
