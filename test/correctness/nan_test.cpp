// These tests compute minima and maxima of data with NaNs: all schedules and machines agree.
#include "correctness/device_code.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <tessera.h>
#include <unistd.h>

using namespace tessera;
using test::count_of;

namespace {

constexpr float not_a_number = NAN, infinity = INFINITY;
constexpr int size = 203;

Var x("x"), u("u");

// Rows of data with NaNs at these places.
Buffer<float> data_with_nans(const std::function<bool(int)> &is_nan) {
    Buffer<float> data(size);
    data.fill(
        [&](int i) { return is_nan(i) ? not_a_number : float(i * 37 % 101) - (i > 150 ? 60 : 0); });
    return data;
}

std::vector<Buffer<float>> all_data() {
    return {data_with_nans([](int) { return false; }),
            data_with_nans([](int i) { return i == 0; }),
            data_with_nans([](int i) { return i == 100; }),
            data_with_nans([](int i) { return i == size - 1; }),
            data_with_nans([](int i) { return i % 3 != 1; }),
            data_with_nans([](int) { return true; })};
}

// The largest and the smallest number of the data, or NaN, beginning with what they begin with.
float largest(const Buffer<float> &data, float first) {
    for (int i = 0; i < size; i++) first = std::fmax(first, data(i));
    return first;
}
float smallest(const Buffer<float> &data, float first) {
    for (int i = 0; i < size; i++) first = std::fmin(first, data(i));
    return first;
}

std::vector<Target> device_targets() {
    std::vector<Target> all = {Target("host-jit-cuda-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

std::string assembly_of(const Func &f, const Target &target) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("tessera_nan" + std::to_string(getpid()) + ".s");
    Pipeline(f).compile_to_assembly(path, f.infer_arguments(), "f", target);
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    return text.str();
}

bool is_same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Both extrema of `in`, beginning with `first` and its opposite.
struct Extrema {
    Buffer<float> in;
    RDom r{0, size, "r"};
    RVar ro{"ro"}, ri{"ri"};
    Func most{"most"}, least{"least"}, out{"out"};

    Extrema(const Buffer<float> &in, const Expr &first) : in(in) {
        most() = first, least() = -first;
        most() = max(most(), in(r));
        least() = min(in(r), least());
        out(x) = select(x == 0, most(), least());
        most.compute_root(), least.compute_root();
    }
    std::pair<float, float> run(const Target &target) {
        Buffer<float> result = out.realize({2}, target);
        return {result(0), result(1)};
    }
};

using Schedule = std::function<void(Extrema &, Func &)>;

const std::vector<std::pair<const char *, Schedule>> schedules = {
    {"default", [](Extrema &, Func &) {}},
    {"unrolled", [](Extrema &e, Func &f) { f.update().unroll(e.r, 4, TailStrategy::GuardWithIf); }},
    {"vectorized", [](Extrema &e, Func &f) { f.update().atomic().vectorize(e.r, 8); }},
    {"parallel", [](Extrema &e, Func &f) { f.update().atomic().parallel(e.r); }},
    {"rfactor",
     [](Extrema &e, Func &f) {
         f.update().split(e.r, e.ro, e.ri, 8).rfactor(e.ri, u).compute_root().vectorize(u);
     }},
    {"rfactor of parts",
     [](Extrema &e, Func &f) {
         Func part = f.update().split(e.r, e.ro, e.ri, 64).rfactor(e.ro, u).compute_root();
         part.parallel(u).update().atomic().parallel(u).vectorize(e.ri, 16);
     }},
};

void check_schedules(const std::vector<Target> &targets,
                     const std::vector<std::pair<const char *, Schedule>> &schedules) {
    for (const Buffer<float> &in : all_data()) {
        for (const auto &[name, schedule] : schedules) {
            for (bool with_data : {false, true}) {
                CAPTURE(name);
                CAPTURE(with_data);
                Extrema e(in, with_data ? in(0) : Expr(-infinity));
                schedule(e, e.most), schedule(e, e.least);
                const float first = with_data ? in(0) : -infinity;
                for (const Target &target : targets) {
                    CAPTURE(target.to_string());
                    const auto [most, least] = e.run(target);
                    CHECK(is_same(most, largest(in, first)));
                    CHECK(is_same(least, smallest(in, -first)));
                }
            }
        }
    }
}

}  // namespace

TEST_SUITE("data that is not a number") {
    TEST_CASE("is left out of minima and maxima, whatever the schedule") {
        const Target host = get_host_target();
        check_schedules({host, host.with_feature(Target::StrictFloat),
                         host.with_feature(Target::Interpret), Target("x86-64-linux-sse41")},
                        schedules);
    }
    TEST_CASE("is left out by kernels") {
        const std::vector<std::pair<const char *, Schedule>> on_device = {
            {"one thread", [](Extrema &, Func &f) { f.gpu_single_thread(); }},
            {"lanes", [](Extrema &e, Func &f) {
                 Func part = f.update().split(e.r, e.ro, e.ri, 32).rfactor(e.ri, u);
                 part.compute_root().gpu_tile(u, Var("b"), Var("t"), 32);
                 part.update().gpu_tile(u, Var("b"), Var("t"), 32);
             }}};
        check_schedules(device_targets(), on_device);
    }
    TEST_CASE("is the lower end of a clamp, by kernels, too") {
        Buffer<float> in = data_with_nans([](int i) { return i % 3 == 0; });
        std::vector<Target> targets = device_targets();
        targets.push_back(get_host_target());
        for (const Target &target : targets) {
            CAPTURE(target.to_string());
            Func g("g");
            g(x) = clamp(in(x), 0.0f, 1.0f);
            if (target.has_gpu_feature()) g.gpu_tile(x, Var("b"), Var("t"), 32);
            Buffer<float> result = g.realize({size}, target);
            result.copy_to_host();
            for (int i = 0; i < size; i++)
                CHECK(result(i) == (i % 3 == 0 ? 0 : std::clamp(in(i), 0.0f, 1.0f)));
        }
    }
    TEST_CASE("does not hide what an output has had before") {
        Buffer<float> in = data_with_nans([](int i) { return i % 2 == 0; });
        for (int lanes : {1, 8}) {
            Func f("f");
            f(x) = undef<float>();
            f(x) = max(f(x), in(x));
            if (lanes > 1) f.update().vectorize(x, lanes);
            Buffer<float> out(size);
            out.fill([](int i) { return i % 3 == 0 ? not_a_number : 1000.0f; });
            f.realize(out);
            for (int i = 0; i < size; i++)
                CHECK(is_same(out(i), std::fmax(i % 3 == 0 ? not_a_number : 1000.0f, in(i))));
        }
    }
    TEST_CASE("stays the least that a written comparison has begun with") {
        Buffer<float> in = data_with_nans([](int i) { return i == 0; });
        for (bool factored : {false, true}) {
            RDom r(0, size, "r");
            RVar ro("ro"), ri("ri");
            Func f("f");
            f() = in(0);
            f() = select(in(r) < f(), in(r), f());
            if (factored) f.update().split(r, ro, ri, 8).rfactor(ri, u).compute_root();
            CHECK(std::isnan(Buffer<float>(f.realize())()));
        }
    }
    TEST_CASE("is left out of floats of every type") {
        for (Type t : {Float(64), Float(16), BFloat(16)}) {
            CAPTURE(t);
            Buffer<float> in = data_with_nans([](int i) { return i % 3 == 0; });
            for (int lanes : {1, 8}) {
                Func f("f");
                const Expr a = cast(t, in(x)), b = cast(t, in(size - 1 - x));
                f(x) = Tuple(cast<float>(min(a, b)), cast<float>(max(a, b)),
                             cast<float>(clamp(a, cast(t, 2), b)));
                if (lanes > 1) f.vectorize(x, lanes, TailStrategy::GuardWithIf);
                Realization result = f.realize({size});
                Buffer<float> low = result[0], high = result[1], within = result[2];
                for (int i = 0; i < size; i++) {
                    const float first = in(i), second = in(size - 1 - i);
                    CHECK(is_same(low(i), std::fmin(first, second)));
                    CHECK(is_same(high(i), std::fmax(first, second)));
                    CHECK(within(i) == std::fmin(std::fmax(first, 2.0f), second));
                }
            }
        }
    }
    TEST_CASE("costs nothing where a maximum begins with a number") {
        Buffer<float> in(1024, 64);
        RDom r(0, 64, "r");
        Func most("most"), apart("apart");
        most(x) = 0.0f;
        most(x) = max(most(x), in(x, r));
        apart(x) = 0.0f;
        apart(x) = max(apart(x), max(in(x, r), in(x, 63 - r)));
        const auto blends = [](Func f) {
            f.bound(f.args()[0], 0, 1024)
                .vectorize(f.args()[0], 8)
                .update()
                .vectorize(f.args()[0], 8);
            const std::string text = assembly_of(f, Target("x86-64-linux-avx2-fma-no_asserts"));
            CHECK(count_of(text, "vmaxps") > 0);
            return count_of(text, "vblendv") + count_of(text, "vcmp");
        };
        CHECK(blends(most) == 0);
        CHECK(blends(apart) > 0);
    }
    TEST_CASE("is what one instruction leaves out on other machines") {
        Func f("f");
        ImageParam a(Float(32), 1, "a"), b(Float(32), 1, "b");
        f(x) = max(a(x), b(x));
        f.vectorize(x, 4);
        CHECK(count_of(assembly_of(f, Target("arm-64-linux-no_asserts")), "fmaxnm") > 0);
        Func on_device("on_device");
        on_device(x) = clamp(max(a(x), b(x)), 0.0f, 1.0f);
        on_device.gpu_tile(x, Var("b"), Var("t"), 32);
        const std::string ptx = test::ptx_of(on_device, 80);
        CHECK(count_of(ptx, "max.f32") > 0);
        CHECK(count_of(ptx, "min.f32") > 0);
        CHECK(count_of(ptx, "setp.gt.f32") + count_of(ptx, "setp.lt.f32") == 0);
    }
}
