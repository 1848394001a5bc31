// Kernels, run statement by statement: blocks, threads, barriers and copies without a GPU; and on
// the GPU, where there is one.
#include "error/refusal.h"
#include <functional>
#include <set>

using namespace tessera;

namespace {

Var x("x"), y("y"), c("c"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), t("t");

Target interpreted() { return Target("host-jit-cuda-interpret"); }

std::vector<Target> targets() {
    std::vector<Target> all = {interpreted()};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

// A pipeline of two stages, and an update of the first one.
struct Pipe {
    Func a{"a"}, b{"b"};
    Pipe() {
        a(x, y) = x * 3 + y;
        a(x, y) += x * y;
        b(x, y) = a(x, y) + a(x + 1, y + 2) * 2;
    }
};

// What is scheduled so computes what is computed without a schedule.
void agrees(const std::function<void(Pipe &)> &schedule, int width = 37, int height = 23) {
    Pipe plain, scheduled;
    const Buffer<int> wanted = plain.b.realize({width, height});
    schedule(scheduled);
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<int> found = scheduled.b.realize({width, height}, target);
        wanted.for_each_element([&](int i, int j) { REQUIRE(wanted(i, j) == found(i, j)); });
    }
}

}  // namespace

TEST_SUITE("kernels") {
    TEST_CASE("a requirement that does not hold tells its text, its values and its place") {
        Func f("f"), g("g");
        const int line = __LINE__ + 1;
        f(x) = require(x < 40, x, "x is", x, "and a quarter is", cast<float>(x) / 4);
        g(x) = f(x) + f(x + 1);
        g.split(x, xo, xi, 16).gpu_blocks(xo).gpu_threads(xi);
        f.compute_at(g, xo).gpu_threads(x);
        for (const Target &target : targets()) {
            CAPTURE(target.to_string());
            const std::string why = str("gpu_test.cpp:", line, ": Requirement failed: x is 4");
            CHECK_THROWS_WITH_AS(g.realize({64}, target), doctest::Contains(why.c_str()),
                                 RuntimeError);
            const Buffer<int> found = g.realize({32}, target);  // the GPU is as it was
            CHECK(found(31) == 63);
        }
    }
    TEST_CASE("threads print lines of their own") {
        static std::multiset<std::string> lines;
        Func f("f"), g("g");
        f(x) = print_when(x % 16 == 3, x * 2, "at", x, "of", cast<float>(x) / 4);
        g(x) = f(x) + 1;
        f.compute_root();
        const auto lines_on = [&](const Target &target) {
            lines.clear();
            JITUserContext context;
            context.handlers.custom_print = [](JITUserContext *, const char *text) {
                lines.insert(text);
            };
            const Buffer<int> found = g.realize(&context, {64}, target);
            CHECK(found(19) == 39);
            return lines;
        };
        const auto wanted = lines_on(Target("host-jit"));
        CHECK(wanted.size() == 4);
        CHECK(wanted.count("38 at 19 of 4.750000\n") == 1);
        f.gpu_tile(x, xi, 16);
        for (const Target &target : targets()) {
            CAPTURE(target.to_string());
            CHECK(lines_on(target) == wanted);
        }
    }
    TEST_CASE("pointers within a kernel are printed as on the CPU") {
        static std::string said;
        Param<const char *> p("p");
        p.set("there");
        Func f("f");
        f(x) = print(x, p);
        const auto line_on = [&](const Target &target) {
            said.clear();
            JITUserContext context;
            context.handlers.custom_print = [](JITUserContext *, const char *text) {
                said += text;
            };
            f.realize(&context, {1}, target);
            return said;
        };
        const std::string wanted = line_on(Target("host-jit"));
        CHECK(wanted.starts_with("0 0x"));
        f.gpu_single_thread();
        for (const Target &target : targets()) CHECK(line_on(target) == wanted);
    }
    TEST_CASE("vectors within a kernel are printed as on the CPU") {
        static std::multiset<std::string> lines;
        const auto lines_of = [&](bool on_gpu, const Target &target) {
            lines.clear();
            JITUserContext context;
            context.handlers.custom_print = [](JITUserContext *, const char *text) {
                lines.insert(text);
            };
            Func f("f");
            f(x) = print(x * 3, x > 5);
            f.split(x, xo, xi, 4, TailStrategy::GuardWithIf).vectorize(xi);
            if (on_gpu) f.gpu_blocks(xo);
            f.realize(&context, {8}, target);
            return lines;
        };
        const auto wanted = lines_of(false, Target("host-jit"));
        CHECK(!wanted.empty());
        for (const Target &target : targets()) {
            CAPTURE(target.to_string());
            CHECK(lines_of(true, target) == wanted);
        }
    }
    TEST_CASE("tiles of one and two dimensions, in the long and the short form") {
        agrees([](Pipe &p) { p.b.gpu_tile(x, xi, 8); });
        agrees([](Pipe &p) { p.b.gpu_tile(x, xo, xi, 8, TailStrategy::GuardWithIf); });
        agrees([](Pipe &p) { p.b.gpu_tile(x, y, xi, yi, 8, 4); });
        agrees([](Pipe &p) { p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4); });
        agrees([](Pipe &p) { p.b.gpu_tile(x, y, xo, yo, x, y, 8, 4, TailStrategy::GuardWithIf); });
    }
    TEST_CASE("blocks and threads in any order, without threads, and of all loops") {
        agrees([](Pipe &p) { p.b.gpu_blocks(x, y); });
        agrees([](Pipe &p) { p.b.gpu_blocks(y).gpu_threads(x); });
        agrees([](Pipe &p) {
            p.b.tile(x, y, xo, yo, xi, yi, 8, 4).gpu_threads(yi, xi).gpu_blocks(yo).gpu_blocks(xo);
        });
        agrees([](Pipe &p) { p.b.tile(x, y, xo, yo, xi, yi, 8, 4).gpu(xo, yo, xi, yi); });
        agrees([](Pipe &p) { p.b.gpu_single_thread(); });
    }
    TEST_CASE("stages at the root, each a kernel") {
        agrees([](Pipe &p) {
            p.b.gpu_tile(x, y, xi, yi, 8, 4);
            p.a.compute_root().gpu_tile(x, y, xi, yi, 4, 4);
            p.a.update().gpu_tile(x, y, xi, yi, 16, 2);
        });
    }
    TEST_CASE("a producer in the memory of a block") {
        agrees([](Pipe &p) {
            p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
            p.a.compute_at(p.b, xo).gpu_threads(x, y);
            p.a.update().gpu_threads(x, y);
        });
        // Its stages are in loops of different dimensions.
        agrees([](Pipe &p) {
            p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
            p.a.compute_at(p.b, xo).gpu_threads(x);
            p.a.update().gpu_threads(y);
        });
        agrees([](Pipe &p) {
            p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
            p.a.compute_at(p.b, xo);
            p.a.update().gpu_threads(x, y);
        });
    }
    TEST_CASE("a serial loop between blocks and threads, with a window that slides") {
        agrees([](Pipe &p) {
            p.b.tile(x, y, xo, yo, xi, yi, 8, 8, TailStrategy::GuardWithIf)
                .gpu_blocks(xo, yo)
                .gpu_threads(xi);
            p.a.compute_at(p.b, yi).store_at(p.b, xo).gpu_threads(x);
            p.a.update().gpu_threads(x);
        });
    }
    TEST_CASE("a producer of each thread") {
        agrees([](Pipe &p) {
            p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
            p.a.compute_at(p.b, xi);
        });
    }
    TEST_CASE("scratch memory of blocks and of threads, in all kinds of memory") {
        for (const MemoryType memory :
             {MemoryType::Heap, MemoryType::GPUShared, MemoryType::Auto}) {
            CAPTURE(int(memory));
            agrees([&](Pipe &p) {
                p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
                p.a.compute_at(p.b, xo).gpu_threads(x, y).store_in(memory);
                p.a.update().gpu_threads(x, y);
            });
            agrees([&](Pipe &p) {
                p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
                p.a.compute_at(p.b, xi).store_in(memory);
            });
            // Each thread walks along a row, whose length is known when the pipeline runs.
            agrees([&](Pipe &p) {
                p.b.split(y, yo, yi, 4, TailStrategy::GuardWithIf).gpu_blocks(yo).gpu_threads(yi);
                p.a.compute_at(p.b, yi).store_in(memory);
            });
            // The producer's size depends on a serial loop of the block.
            agrees([&](Pipe &p) {
                p.b.split(x, xo, xi, 16, TailStrategy::GuardWithIf)
                    .reorder(xi, xo, y)
                    .gpu_blocks(y)
                    .gpu_threads(xi);
                p.a.compute_at(p.b, xo).gpu_threads(x).store_in(memory);
                p.a.update().gpu_threads(x);
            });
        }
    }
    TEST_CASE("lanes share what is computed in a thread's row of them") {
        for (const int lanes : {7, 8, 12, 16}) {
            CAPTURE(lanes);
            // The producer's lanes read one another's values.
            agrees(
                [&](Pipe &p) {
                    p.b.split(x, xo, xi, lanes, TailStrategy::GuardWithIf)
                        .reorder(xi, y, xo)
                        .gpu_blocks(xo)
                        .gpu_threads(y)
                        .gpu_lanes(xi);
                    p.b.bound(y, 0, 23);
                    p.a.compute_at(p.b, y).gpu_lanes(x);
                    p.a.update().gpu_lanes(x);
                },
                10 - lanes / 8);
        }
        // Without threads, in a serial loop of the row, and on several levels.
        agrees([](Pipe &p) {
            p.b.split(x, xo, xi, 16, TailStrategy::GuardWithIf).gpu_blocks(xo, y).gpu_lanes(xi);
            p.a.compute_at(p.b, xo).gpu_lanes(x);
            p.a.update().gpu_lanes(x);
        });
        agrees([](Pipe &p) {
            p.b.split(x, xo, xi, 8, TailStrategy::GuardWithIf)
                .split(y, yo, yi, 4, TailStrategy::GuardWithIf)
                .reorder(xi, xo, yi, yo)
                .gpu_blocks(yo)
                .gpu_threads(yi)
                .gpu_lanes(xi);
            p.a.compute_at(p.b, xo).gpu_lanes(x);
            p.a.update().gpu_lanes(x);
        });
    }
    TEST_CASE("rows of lanes are a known number of at most a warp") {
        Pipe p;
        const int line = __LINE__ + 1;
        p.b.gpu_blocks(y).split(x, xo, xi, 64).gpu_threads(xo).gpu_lanes(xi);
        REFUSED_AT(line, p.b.realize({128, 16}, interpreted()), "at most 32 threads along x");
    }
    TEST_CASE("sums over lanes, one rfactor for each level") {
        RDom r(0, 1024, "r");
        RVar ro("ro"), ri("ri");
        Var u("u");
        Func f("f"), sum("sum");
        f(x) = cast<int64_t>(x) * x;
        sum(y) = cast<int64_t>(0);
        sum(y) += f(r + y);
        Func partial = sum.update().split(r, ro, ri, 32).rfactor(ri, u);
        sum.gpu_blocks(y);
        sum.update().gpu_blocks(y);
        partial.compute_at(sum, y).gpu_lanes(u);
        partial.update().gpu_lanes(u);
        for (const Target &target : targets()) {
            const Buffer<int64_t> found = sum.realize({3}, target);
            for (int64_t i = 0; i < 3; i++) {
                int64_t wanted = 0;
                for (int64_t k = i; k < 1024 + i; k++) wanted += k * k;
                CHECK(found(int(i)) == wanted);
            }
        }
    }
    TEST_CASE("vectors and unrolled loops on both sides of the threads") {
        agrees([](Pipe &p) {
            p.b.split(x, x, t, 4).gpu_tile(x, y, xi, yi, 4, 4).vectorize(t);
            p.a.compute_root().split(x, x, t, 2).reorder(x, y, t).gpu_tile(x, y, xi, yi, 4, 4);
            p.a.unroll(t);
        });
    }
    TEST_CASE("arms of a specialization with loops of different dimensions") {
        agrees([](Pipe &p) {
            p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
            p.a.compute_at(p.b, xo);
            p.a.gpu_threads(x, y);
            Stage wide = p.a.update().specialize(p.b.output_buffer().width() > 100);
            wide.gpu_threads(x, y);
            p.a.update().gpu_threads(x);
        });
    }
    TEST_CASE("an update is in order or atomic") {
        RDom r(0, 64, "r");
        Func sums("sums");
        sums(x) = 0;
        sums(r % 4) += r;
        RVar ro("ro"), ri("ri");
        REFUSED(sums.update().gpu_tile(r, ro, ri, 8), "call atomic() first");
        sums.gpu_single_thread();
        sums.update().atomic().gpu_tile(r, ro, ri, 8);
        for (const Target &target : targets()) {
            const Buffer<int> found = sums.realize({4}, target);
            for (int i = 0; i < 4; i++) CHECK(found(i) == 480 + 16 * i);
        }
    }
    TEST_CASE("what the target cannot do is refused at the directive") {
        Func f("f");
        f(x, y) = x + y;
        const int line = __LINE__ + 1;
        f.gpu_tile(x, y, xi, yi, 8, 8);
        REFUSED_AT(line, f.realize({16, 16}, Target("host-jit-interpret")), "has no GPU");
        Func g("g");
        g(x) = x;
        REFUSED(g.gpu_blocks(x, DeviceAPI::Metal), "no other GPUs than CUDA's");
    }
    TEST_CASE("storage of threads for what they compute together is refused") {
        Pipe p;
        p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
        const int line = __LINE__ + 1;
        p.a.compute_at(p.b, xo).gpu_threads(x, y).store_in(MemoryType::Register);
        p.a.update().gpu_threads(x, y);
        REFUSED_AT(line, p.b.realize({16, 16}, interpreted()), "private to each thread");
    }
    TEST_CASE("a nest that is no kernel is refused with the nest") {
        Pipe p;
        p.b.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
        const int line = __LINE__ + 1;
        p.a.compute_at(p.b, xi).gpu_threads(x);
        REFUSED_AT(line, p.b.realize({16, 16}, interpreted()), "each thread has values of its own");
        Func f("f");
        f(x, y) = x;
        f.gpu_threads(x);
        REFUSED_AT(line + 4, f.realize({16, 16}, interpreted()), "in no loop over blocks");
    }
}
