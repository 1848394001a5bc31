#include "aot/pipelines.h"
#include "support/floats.h"
#include <cmath>
#include <doctest/doctest.h>

namespace tessera::test {
namespace {

Var x("x");

constexpr int size = 67;

}  // namespace

// A function of one or two floats, and what it is of doubles.
struct FloatOperation {
    std::string name;
    std::function<Expr(Expr, Expr)> build;
    std::function<double(double, double)> wanted;
    double ulps;
};

// Those that are asked for the same numbers.
struct FloatOperations {
    double low, high;
    std::vector<FloatOperation> list;
};

namespace {

const FloatOperations arithmetic{
    -10,
    10,
    {
        {"add", [](Expr a, Expr b) { return a + b; }, [](double a, double b) { return a + b; },
         0.5},
        {"sub", [](Expr a, Expr b) { return a - b; }, [](double a, double b) { return a - b; },
         0.5},
        {"mul", [](Expr a, Expr b) { return a * b; }, [](double a, double b) { return a * b; },
         0.5},
        {"div", [](Expr a, Expr b) { return a / b; }, [](double a, double b) { return a / b; },
         0.5},
        {"min", [](Expr a, Expr b) { return min(a, b); },
         [](double a, double b) { return std::min(a, b); }, 0},
        {"max", [](Expr a, Expr b) { return max(a, b); },
         [](double a, double b) { return std::max(a, b); }, 0},
        {"select", [](Expr a, Expr b) { return select(a < b, b, -a); },
         [](double a, double b) { return a < b ? b : -a; }, 0},
        {"absd", [](Expr a, Expr b) { return absd(a, b); },
         [](double a, double b) { return std::fabs(a - b); }, 0.5},
        {"floor", [](Expr a, Expr) { return floor(a); },
         [](double a, double) { return std::floor(a); }, 0},
        {"ceil", [](Expr a, Expr) { return ceil(a); },
         [](double a, double) { return std::ceil(a); }, 0},
        {"trunc", [](Expr a, Expr) { return trunc(a); },
         [](double a, double) { return std::trunc(a); }, 0},
        {"round", [](Expr a, Expr) { return round(a); },
         [](double a, double) { return std::nearbyint(a); }, 0},
        {"sqrt", [](Expr a, Expr) { return sqrt(abs(a)); },
         [](double a, double) { return std::sqrt(std::fabs(a)); }, 0.5},
    }};

const FloatOperations library{
    -10,
    10,
    {
        {"sin", [](Expr a, Expr) { return sin(a); }, [](double a, double) { return std::sin(a); },
         4},
        {"atan2", [](Expr a, Expr b) { return atan2(a, b); },
         [](double a, double b) { return std::atan2(a, b); }, 4},
        {"tanh", [](Expr a, Expr) { return tanh(a); },
         [](double a, double) { return std::tanh(a); }, 4},
        {"exp", [](Expr a, Expr) { return exp(a); }, [](double a, double) { return std::exp(a); },
         4},
        {"log", [](Expr a, Expr) { return log(abs(a)); },
         [](double a, double) { return std::log(std::fabs(a)); }, 4},
        {"pow", [](Expr a, Expr b) { return pow(abs(a), b / 4); },
         [](double a, double b) { return std::pow(std::fabs(a), b / 4); }, 4},
    }};

const FloatOperations approximate{
    0.01,
    1000,
    {
        {"fast_inverse", [](Expr a, Expr) { return fast_inverse(a); },
         [](double a, double) { return 1 / a; }, 16},
        {"fast_inverse_sqrt", [](Expr a, Expr) { return fast_inverse_sqrt(a); },
         [](double a, double) { return 1 / std::sqrt(a); }, 16},
    }};

template<typename T> Buffer<T> samples(Random &random, double low, double high) {
    Buffer<T> b(size);
    b.for_each_value(
        [&](T &v) { v = T(low + (high - low) * double(random.between(0, 1 << 20)) / (1 << 20)); });
    return b;
}

}  // namespace

// All of them in one pipeline, which is quicker than one each.
template<typename T>
void Pipelines::add_operations(const FloatOperations &operations,
                               const std::vector<int> &lane_counts) {
    Type t = type_of<T>();
    Buffer<T> a = samples<T>(random, operations.low, operations.high),
              b = samples<T>(random, operations.low, operations.high);
    ImageParam pa(t, 1, "a"), pb(t, 1, "b");
    for (int lanes : lane_counts) {
        std::vector<Func> funcs;
        std::vector<Buffer<T>> outs;
        std::vector<Passed> arguments = {a.raw_buffer(), b.raw_buffer()};
        for (const FloatOperation &op : operations.list) {
            Func f(op.name);
            f(x) = cast(t, op.build(pa(x), pb(x)));  // some are float32s of bfloat16s
            f.vectorize(x, lanes, TailStrategy::GuardWithIf);
            funcs.push_back(f);
            arguments.emplace_back(outs.emplace_back(size).raw_buffer());
        }
        add(Pipeline(funcs), {pa, pb}, arguments, [=, &operations] {
            for (size_t k = 0; k < outs.size(); k++) {
                const FloatOperation &op = operations.list[k];
                for (int i = 0; i < size; i++) {
                    double exact = in_type(t, op.wanted(double(a(i)), double(b(i))));
                    INFO(op.name, " of ", double(a(i)), " ", double(b(i)), " of ", t, "x", lanes,
                         ": ", double(outs[k](i)), ", not ", exact);
                    CHECK(close(t, double(outs[k](i)), exact, op.ulps));
                }
            }
        });
    }
}

// Values at all sizes; casts to integers saturate.
template<typename From, typename To> void Pipelines::add_cast() {
    Type from = type_of<From>(), to = type_of<To>();
    Buffer<From> in(size);
    in.for_each_value([&](From &v) {
        double value = double(random.between(-1000000, 1000000)) / 4096;
        v = From(std::ldexp(value, int(random.between(-30, 30))));
    });
    for (int lanes : {int(random.between(1, 7)), 16}) {
        Buffer<To> out(size);
        ImageParam a(from, 1, "a");
        Func f("f");
        f(x) = std::is_integral_v<To> ? saturating_cast(to, a(x)) : cast(to, a(x));
        f.vectorize(x, lanes, TailStrategy::GuardWithIf);
        add(f, {a}, {in.raw_buffer(), out.raw_buffer()}, [=] {
            for (int i = 0; i < size; i++) {
                double v = double(in(i)), wanted;
                if constexpr (std::is_integral_v<To>) {
                    double low = double(to.min_int()), high = double(to.max_uint());
                    wanted = std::isnan(v) ? 0 : std::clamp(std::trunc(v), low, high);
                    if (wanted == high) continue;
                } else {
                    wanted = in_type(to, v);
                }
                INFO(from, " to ", to, "x", lanes, " of ", v, ": ", double(out(i)));
                CHECK((double(out(i)) == wanted || std::isnan(wanted)));
            }
        });
    }
}

void Pipelines::add_floats() {
    int few = int(random.between(1, 7));
    add_operations<float16_t>(arithmetic, {few, 16});
    add_operations<bfloat16_t>(arithmetic, {few, 16});
    add_operations<float8_e4m3_t>(arithmetic, {few, 16});
    add_operations<float8_e5m2_t>(arithmetic, {few, 16});
    add_operations<float>(arithmetic, {few, 16});
    add_operations<double>(arithmetic, {few, 16});
    add_operations<float16_t>(library, {8});
    add_operations<bfloat16_t>(library, {8});
    add_operations<float>(library, {few, 16});
    add_operations<double>(library, {4});
    add_operations<float>(approximate, {few, 16});
    add_cast<float, float16_t>();
    add_cast<float, bfloat16_t>();
    add_cast<double, float16_t>();
    add_cast<double, bfloat16_t>();
    add_cast<float, float8_e4m3_t>();
    add_cast<double, float8_e4m3_t>();
    add_cast<float, float8_e5m2_t>();
    add_cast<double, float8_e5m2_t>();
    add_cast<float8_e4m3_t, float>();
    add_cast<float8_e5m2_t, double>();
    add_cast<float8_e4m3_t, uint8_t>();
    add_cast<double, float>();
    add_cast<float16_t, float>();
    add_cast<bfloat16_t, double>();
    add_cast<float16_t, uint8_t>();
    add_cast<float, int8_t>();
    add_cast<float, uint16_t>();
    add_cast<float, int32_t>();
    add_cast<double, uint32_t>();
    add_cast<double, int64_t>();
    add_cast<bfloat16_t, uint64_t>();
}

}  // namespace tessera::test
