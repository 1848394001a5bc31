// Schedules for GPUs by rules: what they compute, in the interpreter, and which rule is taken.
#include "autoscheduler/space/gpu_rules.h"
#include "autoscheduler/test/support.h"
#include "autoscheduler/tuning_problem.h"
#include <tessera.h>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

Var x("x"), y("y"), c("c");

Target interpreted() { return Target("host-jit-cuda-interpret-cuda_capability_90"); }

template<typename T> Buffer<T> numbers(const std::vector<int> &sizes) {
    Buffer<T> b(sizes);
    int i = 0;
    b.for_each_value([&](T &v) { v = T((i++ * 37) % 101); });
    return b;
}

Region region_of(const std::vector<int> &sizes) {
    Region r;
    for (int s : sizes) r.emplace_back(0, s);
    return r;
}

// Schedules `f` by rules for estimates of this size, and compares with what it computes on the CPU
// without a schedule, at this size and at a smaller one. Returns the schedule.
template<typename T>
std::string check(const std::function<Func()> &make, const std::vector<int> &sizes,
                  const char *scheduler = "simple") {
    Func plain = make(), scheduled = make();
    scheduled.set_estimates(region_of(sizes));
    const auto found = Pipeline(scheduled).apply_autoscheduler(interpreted(), {scheduler});
    std::vector<int> smaller = sizes;
    for (int &s : smaller) s = s > 8 ? s - 5 : s;
    for (const std::vector<int> &size : {sizes, smaller}) {
        const Buffer<T> expected = plain.realize(size, Target("host-jit"));
        const Buffer<T> result = scheduled.realize(size, interpreted());
        bool is_same = true;
        expected.for_each_element([&](const int *at) { is_same &= result(at) == expected(at); });
        CHECK_MESSAGE(is_same, found.schedule_source);
    }
    return found.schedule_source;
}

// The schedule by rules for estimates of this size, as text.
std::string schedule_for(Func f, const std::vector<int> &sizes) {
    f.set_estimates(region_of(sizes));
    return Pipeline(f).apply_autoscheduler(interpreted(), {"simple"}).schedule_source;
}
bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }
int count_of(const std::string &text, const std::string &part) {
    int count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

}  // namespace

TEST_SUITE("autoscheduler, GPUs by rules") {
    TEST_CASE("what is computed point by point has 16 bytes a thread") {
        const auto make = [] {
            static const Buffer<float> in = numbers<float>({200, 100});
            Func f("f");
            f(x, y) = in(min(x, 199), min(y, 99)) * 2 + 1;
            return f;
        };
        check<float>(make, {200, 100});
        const std::string schedule = schedule_for(make(), {4096, 4096});
        CAPTURE(schedule);
        CHECK(has(schedule, ".split(x, xs, xp, 4"));
        CHECK(has(schedule, ".vectorize(xp)"));
        CHECK(has(schedule, ".gpu_threads("));
    }
    TEST_CASE("rows that share what they read are in one thread") {
        const auto make = [](const std::function<Expr(Expr, Expr)> &in) {
            Func rows("rows"), f("f");
            rows(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
            f(x, y) = rows(x, y) + rows(x, y + 1) + rows(x, y + 2);
            return f;
        };
        const Buffer<float> small = numbers<float>({202, 102});
        check<float>(
            [&] { return make([&](const Expr &i, const Expr &j) { return small(i, j); }); },
            {200, 100});
        ImageParam in(Float(32), 2, "in");
        const std::string schedule = schedule_for(
            make([&](const Expr &i, const Expr &j) { return in(i, j); }), {4096, 4096});
        CAPTURE(schedule);
        CHECK(has(schedule, ".unroll(yp)"));
        CHECK(has(schedule, ".vectorize(xp)"));
    }
    TEST_CASE("a warp has a row that is reduced") {
        const Buffer<float> in = numbers<float>({150, 140});
        const std::string schedule = check<float>(
            [&] {
                Func largest("largest"), f("f");
                RDom r(0, 150, "r");
                largest(y) = 0.0f;
                largest(y) = max(largest(y), in(r, y));
                f(x, y) = in(x, y) - largest(y);
                return f;
            },
            {150, 140});
        CAPTURE(schedule);
        CHECK(count_of(schedule, ".gpu_lanes(") == 4);
    }
    TEST_CASE("a sum of all has partial results on all multiprocessors") {
        const Buffer<int> in = numbers<int>({400, 300});
        const std::string schedule = check<int>(
            [&] {
                Func sum("sum");
                RDom r(0, 400, 0, 300, "r");
                sum() += in(r.x, r.y);
                return sum;
            },
            {});
        CAPTURE(schedule);
        CHECK(has(schedule, ".rfactor("));
        CHECK(has(schedule, ".gpu_lanes("));
    }
    TEST_CASE("blocks count for themselves") {
        const Buffer<int> in = numbers<int>({300, 200});
        const std::string schedule = check<int>(
            [&] {
                Func bins("bins"), f("f");
                RDom r(0, 300, 0, 200, "r");
                bins(x) = 0;
                bins(clamp(in(r.x, r.y), 0, 127)) += 1;
                f(x) = bins(x);
                return f;
            },
            {128});
        CAPTURE(schedule);
        CHECK(has(schedule, ".atomic()"));
        CHECK(has(schedule, "Func bins_in_strips"));
    }
    TEST_CASE("sums are formed in registers, whatever reads them then") {
        const Buffer<int> in = numbers<int>({80, 70});
        check<int>(
            [&] {
                Func sum("sum"), f("f");
                RDom r(0, 9, "r");
                sum(x, y) += in(clamp(x + r, 0, 79), clamp(y, 0, 69));
                f(x, y) = sum(x, y) + sum(x + 1, y) * sum(x, y + 1);
                return f;
            },
            {70, 60});
    }
    TEST_CASE("a number has a kernel of one thread") {
        check<int>(
            [&] {
                Func f("f");
                f() = 17;
                return f;
            },
            {});
    }
    TEST_CASE("a scan goes along its columns, which are in threads") {
        const Buffer<int> in = numbers<int>({200, 100});
        check<int>(
            [&] {
                Func f("f"), out("out");
                RDom r(1, 99, "r");
                f(x, y) = in(x, y);
                f(x, r) = f(x, r - 1) + f(x, r);
                out(x, y) = f(x, y) * 2;
                return out;
            },
            {200, 100});
    }
    TEST_CASE("the schedule that is printed is the one that is used") {
        const Buffer<float> in = numbers<float>({300, 200});
        Func f("f");
        f(x, y) = in(x, y) * 2 + 1;
        f.set_estimates(region_of({300, 200}));
        const auto found = Pipeline(f).apply_autoscheduler(interpreted(), {"tessera"});
        CHECK(has(found.schedule_source, ".gpu_blocks("));
        Func again("f");
        again(x, y) = in(x, y) * 2 + 1;
        Pipeline(again).apply_schedule(Pipeline(f).schedule_as_json());
        CHECK(Pipeline(again).schedule_as_cpp() == Pipeline(f).schedule_as_cpp());
    }
}
