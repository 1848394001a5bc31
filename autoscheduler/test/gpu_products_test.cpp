// Products and convolutions by rules for GPUs: what they compute, in the interpreter, in which
// memory, and by which instructions.
#include "autoscheduler/space/gpu_rules.h"
#include "autoscheduler/test/support.h"
#include <tessera.h>

using namespace tessera;
using namespace tessera::autoscheduler;

namespace {

Var x("x"), y("y"), c("c"), n("n");

Target interpreted(const char *capability = "90") {
    return Target(std::string("host-jit-cuda-interpret-cuda_capability_") + capability);
}

// Small integers, whose sums are exact in each type.
template<typename T> Buffer<T> small_numbers(const std::vector<int> &sizes, int seed = 1) {
    Buffer<T> b(sizes);
    int i = seed;
    b.for_each_value([&](T &v) {
        i++;
        v = T(float((i * 7 + i / 5 * 3) % 5 - 2));
    });
    return b;
}

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

// Schedules by rules for these sizes, compares with what is computed on the CPU at each of `sizes`,
// and returns the schedule.
template<typename T>
std::string check(const std::function<Func()> &make, const std::vector<std::vector<int>> &sizes,
                  const Target &target = interpreted()) {
    Func plain = make(), scheduled = make();
    Region estimate;
    for (int s : sizes[0]) estimate.emplace_back(0, s);
    scheduled.set_estimates(estimate);
    const std::string schedule =
        Pipeline(scheduled).apply_autoscheduler(target, {"simple"}).schedule_source;
    CAPTURE(schedule);
    for (const std::vector<int> &size : sizes) {
        const Buffer<T> expected = plain.realize(size, Target("host-jit"));
        const Buffer<T> result = scheduled.realize(size, target);
        int wrong = 0;
        expected.for_each_element(
            [&](const int *at) { wrong += float(result(at)) != float(expected(at)); });
        CHECK(wrong == 0);
    }
    return schedule;
}

// The product of a (depth x rows) and b (columns x depth), or of what is turned.
template<typename T, typename Sum>
Func product(int columns, int rows, int depth, bool turn_a, bool turn_b) {
    const auto a = small_numbers<T>(turn_a ? std::vector{rows, depth} : std::vector{depth, rows});
    const auto b =
        small_numbers<T>(turn_b ? std::vector{depth, columns} : std::vector{columns, depth}, 3);
    Func sums("sums"), out("out");
    RDom k(0, depth, "k");
    const Expr of_a = turn_a ? a(y, k) : a(k, y), of_b = turn_b ? b(k, x) : b(x, k);
    sums(x, y) += cast<Sum>(of_a) * cast<Sum>(of_b);
    out(x, y) = max(sums(x, y), Sum(0)) + cast<Sum>(x);
    return out;
}

}  // namespace

TEST_SUITE("autoscheduler, products by rules for GPUs") {
    TEST_CASE("a block has what a step of a product reads in its memory") {
        for (const bool turn_a : {false, true}) {
            for (const bool turn_b : {false, true}) {
                CAPTURE(turn_a);
                CAPTURE(turn_b);
                const std::string schedule =
                    check<float>([&] { return product<float, float>(80, 72, 40, turn_a, turn_b); },
                                 {{80, 72}, {77, 70}, {20, 9}});
                CAPTURE(schedule);
                CHECK(has(schedule, "MemoryType::GPUShared"));
                CHECK(has(schedule, "MemoryType::Register"));
                CHECK(has(schedule, ".ring_buffer("));
            }
        }
    }
    TEST_CASE("GPUs that copy nothing ahead have threads copy") {
        const std::string schedule =
            check<float>([&] { return product<float, float>(80, 72, 40, false, false); },
                         {{80, 72}, {77, 70}}, interpreted("75"));
        CAPTURE(schedule);
        CHECK(has(schedule, "MemoryType::GPUShared"));
        CHECK(!has(schedule, ".ring_buffer("));
    }
    TEST_CASE("a depth that is not known when it is compiled") {
        ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
        Func sums("sums"), out("out");
        RDom k(0, a.dim(0).extent(), "k");
        sums(x, y) += a(k, y) * b(x, k);
        out(x, y) = sums(x, y) * 2;
        a.set_estimates({{0, 64}, {0, 64}});
        b.set_estimates({{0, 64}, {0, 64}});
        out.set_estimates({{0, 64}, {0, 64}});
        const std::string schedule =
            Pipeline(out).apply_autoscheduler(interpreted(), {"simple"}).schedule_source;
        CAPTURE(schedule);
        CHECK(has(schedule, "MemoryType::GPUShared"));
        for (const int depth : {64, 37}) {
            const auto of_a = small_numbers<float>({depth, 70});
            const auto of_b = small_numbers<float>({66, depth}, 3);
            a.set(of_a);
            b.set(of_b);
            const Buffer<float> result = out.realize({66, 70}, interpreted());
            int wrong = 0;
            result.for_each_element([&](const int *at) {
                float sum = 0;
                for (int i = 0; i < depth; i++) sum += of_a(i, at[1]) * of_b(at[0], i);
                wrong += result(at) != sum * 2;
            });
            CHECK(wrong == 0);
        }
    }
    TEST_CASE("a convolution over channels is a product") {
        const auto in = small_numbers<float>({8, 26, 20, 2});
        const auto filter = small_numbers<float>({32, 8, 3, 3}, 2);
        const auto bias = small_numbers<float>({32}, 3);
        const std::string schedule = check<float>(
            [&] {
                Func conv("conv"), out("out");
                RDom r(0, 8, 0, 3, 0, 3, "r");
                conv(c, x, y, n) = bias(c);
                conv(c, x, y, n) += filter(c, r.x, r.y, r.z) * in(r.x, x + r.y, y + r.z, n);
                out(c, x, y, n) = max(conv(c, x, y, n), 0.0f);
                return out;
            },
            {{32, 24, 18, 2}, {32, 21, 17, 1}});
        CAPTURE(schedule);
        CHECK(has(schedule, "MemoryType::GPUShared"));
    }
    TEST_CASE("an output that is a sum itself, and a sum that several read") {
        const auto a = small_numbers<float>({40, 72}), b = small_numbers<float>({80, 40}, 3);
        RDom k(0, 40, "k");
        const auto sums = [&](const char *name) {
            Func f(name);
            f(x, y) += a(k, y) * b(x, k);
            return f;
        };
        for (const bool is_output : {true, false}) {
            const std::string schedule = check<float>(
                [&] {
                    Func f = sums("f"), out("out");
                    if (is_output) return f;
                    out(x, y) = f(x, y) + f(max(x - 1, 0), y);
                    return out;
                },
                {{80, 72}, {77, 70}});
            CAPTURE(schedule);
            CHECK(has(schedule, "MemoryType::GPUShared"));
        }
    }
}

TEST_SUITE("autoscheduler, tensor cores by rules") {
    TEST_CASE("a product whose sizes are promised") {
        for (const char *capability : {"80", "90"}) {
            for (const bool turn : {false, true}) {
                CAPTURE(capability);
                CAPTURE(turn);
                const std::string schedule = check<float>(
                    [&] {
                        Func out = product<float16_t, float>(72, 64, 72, turn, !turn);
                        return out.bound(x, 0, 72).bound(y, 0, 64);
                    },
                    {{72, 64}}, interpreted(capability));
                CAPTURE(schedule);
                CHECK(has(schedule, ".tensorize("));
                CHECK(has(schedule, std::string(capability) == "90" ? "WGMMA" : "MMA"));
            }
        }
    }
    TEST_CASE("rows that the machine copies no boxes of are for warps") {
        const std::string schedule = check<float>(
            [] {
                Func out = product<float16_t, float>(72, 66, 40, true, false);
                return out.bound(x, 0, 72).bound(y, 0, 66);
            },
            {{72, 66}});
        CAPTURE(schedule);
        CHECK(has(schedule, ".gpu_warps("));
    }
    TEST_CASE("bytes") {
        const std::string schedule = check<int>(
            [] {
                Func out = product<int8_t, int>(64, 64, 64, false, true);
                return out.bound(x, 0, 64).bound(y, 0, 64);
            },
            {{64, 64}});
        CAPTURE(schedule);
        CHECK(has(schedule, ".tensorize("));
    }
    TEST_CASE("a convolution, whose places are rows") {
        const auto in = small_numbers<float16_t>({64, 18, 10, 2});
        const auto filter = small_numbers<float16_t>({64, 3, 3, 64}, 2);
        const std::string schedule = check<float>(
            [&] {
                Func conv("conv"), out("out");
                RDom r(0, 64, 0, 3, 0, 3, "r");
                conv(c, x, y, n) += cast<float>(in(r.x, x + r.y, y + r.z, n)) *
                                    cast<float>(filter(r.x, r.y, r.z, c));
                out(c, x, y, n) = max(conv(c, x, y, n), 0.0f);
                return out.bound(c, 0, 64).bound(x, 0, 16).bound(y, 0, 8).bound(n, 0, 2);
            },
            {{64, 16, 8, 2}});
        CAPTURE(schedule);
        CHECK(has(schedule, ".tensorize("));
    }
    TEST_CASE("sizes that are not promised, and floats, have no tensor cores") {
        const std::string any_size =
            check<float>([] { return product<float16_t, float>(80, 72, 40, false, false); },
                         {{80, 72}, {77, 70}});
        CHECK(!has(any_size, ".tensorize("));
        const std::string floats = check<float>(
            [] {
                Func out = product<float, float>(128, 128, 40, false, false);
                return out.bound(x, 0, 128).bound(y, 0, 128);
            },
            {{128, 128}});
        CHECK(!has(floats, ".tensorize("));
    }
}
