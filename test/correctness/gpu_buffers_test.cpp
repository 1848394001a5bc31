// Pipelines that run partly on the host and partly on a GPU, and Buffers on both sides.
#include "error/refusal.h"

using namespace tessera;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), xo("xo"), yo("yo");

bool has_gpu() { return host_supports_target_device(Target("host-cuda")); }

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-interpret")};
    if (has_gpu()) all.emplace_back("host-jit-cuda");
    return all;
}

Buffer<float> numbers(int width, int height) {
    Buffer<float> b(width, height);
    b.fill([](int i, int j) { return float((i * 37 + j * 11) % 101) / 7; });
    return b;
}

void is_same(const Buffer<float> &a, const Buffer<float> &b) {
    a.for_each_element([&](int i, int j) { REQUIRE(a(i, j) == b(i, j)); });
}

}  // namespace

TEST_SUITE("host and device") {
    TEST_CASE("stages of one pipeline on both, in all orders") {
        for (int on_device = 0; on_device < 8; on_device++) {
            CAPTURE(on_device);
            const Buffer<float> in = numbers(35, 22);
            Func a("a"), b("b"), c("c");
            a(x, y) = in(x, y) * 2;
            b(x, y) = a(x, y) + a(y % 22, x % 22);
            c(x, y) = b(x, y) - in(x, y);
            const Buffer<float> wanted = c.realize({22, 22});
            a.compute_root();
            b.compute_root();
            if (on_device & 1) a.gpu_tile(x, y, xi, yi, 8, 4);
            if (on_device & 2) b.gpu_tile(x, y, xi, yi, 4, 4, TailStrategy::GuardWithIf);
            if (on_device & 4) c.gpu_tile(x, y, xi, yi, 16, 2, TailStrategy::GuardWithIf);
            for (const Target &target : targets()) {
                CAPTURE(target.to_string());
                const Buffer<float> found = c.realize({22, 22}, target);
                is_same(wanted, found);
            }
        }
    }
    TEST_CASE("a loop of the host that launches a kernel per iteration, and reads its results") {
        Func a("a"), b("b");
        a(x, y) = x * 3 + y;
        b(x, y) = a(x, y) + a(x + 1, y);
        a.compute_at(b, y).gpu_tile(x, xi, 8);
        const Buffer<int> wanted = [] {
            Func p("p"), q("q");
            p(x, y) = x * 3 + y;
            q(x, y) = p(x, y) + p(x + 1, y);
            return Buffer<int>(q.realize({30, 9}));
        }();
        for (const Target &target : targets()) {
            const Buffer<int> found = b.realize({30, 9}, target);
            wanted.for_each_element([&](int i, int j) { REQUIRE(wanted(i, j) == found(i, j)); });
        }
    }
    TEST_CASE("one Buffer is an input and the output") {
        ImageParam in(Int(32), 1, "in");
        Func f("f");
        f(x) = in(x) * 2 + 1;
        f.gpu_tile(x, xi, 16);
        for (const Target &target : targets()) {
            Buffer<int> data(64);
            data.fill(1);
            in.set(data);
            for (int i = 0; i < 3; i++) f.realize(data, target);
            data.copy_to_host();
            for (int i = 0; i < 64; i++) CHECK(data(i) == 15);
        }
    }
    TEST_CASE("memory of the device is freed, however its size is written") {
        ImageParam in(Float(32), 2, "in");
        Func one("one"), two("two"), source = BoundaryConditions::repeat_edge(in);
        const auto at = [&](const Expr &u) { return one(clamp(u, 0, in.width() - 1), y); };
        one(x, y) = source(x - 1, y) + source(x + 1, y);
        two(x, y) = at(x - 1) + at(x + 1);
        for (Func f : {one, two}) f.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
        in.set(numbers(35, 22));
        for (const Target &target : targets()) two.realize({35, 22}, target);
    }
    TEST_CASE("arithmetic of all types") {
        for (const Target &target : targets()) {
            const auto check = [&](auto zero) {
                using T = decltype(zero);
                CAPTURE(target.to_string());
                Func f("f"), g("g");
                f(x) = cast<T>(x * 5 + 1);
                g(x) = f(x) * cast<T>(3) + f(x + 1) / cast<T>(2);
                const Buffer<T> wanted = g.realize({100});
                f.compute_root().gpu_tile(x, xi, 32);
                g.gpu_tile(x, xi, 16);
                const Buffer<T> found = g.realize({100}, target);
                for (int i = 0; i < 100; i++) REQUIRE(wanted(i) == found(i));
            };
            check(uint8_t());
            check(int8_t());
            check(uint16_t());
            check(int16_t());
            check(uint32_t());
            check(int32_t());
            check(uint64_t());
            check(int64_t());
            check(float());
            check(double());
        }
    }
    TEST_CASE("scalars of all types are passed to kernels") {
        Param<bool> p("p");
        Param<int8_t> q("q");
        Param<uint16_t> r("r");
        Param<double> s("s");
        Func f("f");
        f(x) = select(p, cast<double>(q), cast<double>(r)) * s + x;
        f.gpu_tile(x, xi, 8);
        p.set(true);
        q.set(-7);
        r.set(60000);
        s.set(0.5);
        for (const Target &target : targets()) {
            CHECK(Buffer<double>(f.realize({16}, target))(3) == -0.5);
            p.set(false);
            CHECK(Buffer<double>(f.realize({16}, target))(3) == 30003);
            p.set(true);
        }
    }
    TEST_CASE("functions of mathematics") {
        Func f("f"), g("g");
        const Expr v = cast<float>(x) / 10 + 0.1f;
        f(x) = sin(v) + cos(v) * exp(-v) + log(v) + pow(v, 1.5f) + sqrt(v) + atan2(v, 2.f) +
               tanh(v) + floor(v);
        g(x) = sin(cast<double>(x)) + exp(cast<double>(x) / 50);
        const Buffer<float> wanted = f.realize({100});
        const Buffer<double> wanted64 = g.realize({100});
        f.gpu_tile(x, xi, 32);
        g.gpu_tile(x, xi, 32);
        for (const Target &target : targets()) {
            const Buffer<float> found = f.realize({100}, target);
            const Buffer<double> found64 = g.realize({100}, target);
            for (int i = 0; i < 100; i++) {
                REQUIRE(std::abs(found(i) - wanted(i)) <= 1e-5f * std::abs(wanted(i)) + 1e-5f);
                REQUIRE(std::abs(found64(i) - wanted64(i)) <=
                        1e-13 * std::abs(wanted64(i)) + 1e-13);
            }
        }
    }
    TEST_CASE("results stay on the device until they are asked for") {
        if (!has_gpu()) return;
        Func f("f");
        ImageParam in(Float(32), 2, "in");
        f(x, y) = in(x, y) + 1;
        f.gpu_tile(x, y, xi, yi, 8, 8);
        Buffer<float> a = numbers(64, 32), b(64, 32), c(64, 32);
        in.set(a);
        f.realize(b, Target("host-jit-cuda"));
        CHECK(b.device_dirty());
        CHECK(b.has_device_allocation());
        CHECK(a.has_device_allocation());
        CHECK_THROWS_WITH_AS(b.for_each_value([](float &) {}),
                             doctest::Contains("call copy_to_host()"), RuntimeError);
        in.set(b);
        f.realize(c, Target("host-jit-cuda"));  // from device to device
        c.copy_to_host();
        CHECK(!c.device_dirty());
        CHECK(c(5, 6) == a(5, 6) + 2);
        b.copy_to_host();
        CHECK(b(5, 6) == a(5, 6) + 1);
        // A change here is seen there.
        a(5, 6) = 100;
        in.set(a);
        f.realize(c, Target("host-jit-cuda"));
        c.copy_to_host();
        CHECK(c(5, 6) == 101);
    }
    TEST_CASE("crops and slices of what is on the device") {
        if (!has_gpu()) return;
        Func f("f");
        f(x, y) = x * 100 + y;
        f.gpu_tile(x, y, xi, yi, 8, 8);
        Buffer<int> all(64, 32);
        all.fill(-1);
        all.copy_to_device();
        {
            Buffer<int> part = all.cropped(0, 16, 16).cropped(1, 8, 16);
            f.realize(part, Target("host-jit-cuda"));
            part.copy_to_host();
            CHECK(part(17, 9) == 1709);
            CHECK(part(31, 23) == 3123);
        }
        all.set_device_dirty();
        all.copy_to_host();
        CHECK(all(17, 9) == 1709);
        CHECK(all(15, 9) == -1);
        CHECK(all(17, 7) == -1);
        Buffer<int> kept;
        {
            Buffer<int> parent(64, 32);
            f.realize(parent, Target("host-jit-cuda"));
            kept = parent.cropped(1, 4, 8);
            kept.set_device_dirty();
        }
        kept.copy_to_host();  // of a parent that is gone
        CHECK(kept(3, 5) == 305);
    }
}
