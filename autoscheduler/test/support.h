#pragma once
#include "autoscheduler/search.h"
#include "autoscheduler/tuning_problem.h"
#include <algorithm>
#include <doctest/doctest.h>
#include <tessera.h>

namespace tessera::autoscheduler::test {

// The machine whose schedules by rules the tests know, wherever they run: vectors of 64 bytes, and
// the caches that are taken where a system does not tell its own.
inline const Target &known_target() {
    static const Target target("x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-"
                               "avx512_sapphirerapids");
    return target;
}
inline Machine known_cores(int cores) {
    Machine m = Machine::usual(known_target(), cores);
    m.caches = {{{32e3, 64}, {1e6, 32}, {16e6, 10}}};
    return m;
}

// The problem of scheduling `f`, for two cores.
struct Problem : TuningProblem {
    explicit Problem(const Func &f, const Target &target = get_jit_target_from_environment())
        : Problem(f, target, Machine::usual(target, 2)) {}
    Problem(const Func &f, const Target &target, const Machine &machine)
        : TuningProblem(Pipeline(f), target, machine) {}
    program::Schedule scheduled(const Plan &plan) const { return to_schedule(graph, plan, 8); }
};

// The same wherever the tests run.
inline Problem known_problem(const Func &f) { return {f, known_target(), known_cores(2)}; }

// A blur of 3x3 in two steps, of a buffer that it holds.
inline Func small_blur(int width = 256, int height = 128) {
    Buffer<float> in(width + 2, height + 2);
    for (int y = 0; y < height + 2; y++) {
        for (int x = 0; x < width + 2; x++) in(x, y) = float((x * 7 + y * 3) % 32);
    }
    Var x("x"), y("y");
    Func across("across"), blur("blur");
    across(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y)) / 3;
    blur(x, y) = (across(x, y) + across(x, y + 1) + across(x, y + 2)) / 3;
    blur.set_estimates({{0, width}, {0, height}});
    return blur;
}

// A product of square matrices that are inputs.
inline Func product_of_images(int size) {
    Var x("x"), y("y");
    ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    Func product("product");
    RDom k(0, size, "k");
    product(x, y) += a(k, y) * b(x, k);
    product.set_estimates({{0, size}, {0, size}});
    return product;
}

// Collects what is warned of while it lives, a line each.
class Warnings {
public:
    Warnings() {
        before = set_warning_handler([this](const std::string &text) { all += text + "\n"; });
    }
    ~Warnings() { set_warning_handler(before); }
    Warnings(const Warnings &) = delete;
    const std::string &text() const { return all; }

private:
    std::string all;
    WarningHandler before;
};

// Returns how many directives of this kind the schedule has for stages.
template<typename Directive> int count_in(const program::Schedule &schedule) {
    return int(std::ranges::count_if(schedule.steps, [](const program::Step &step) {
        const auto *s = std::get_if<program::StageStep>(&step.what);
        return s && std::holds_alternative<Directive>(s->written.directive);
    }));
}

}  // namespace tessera::autoscheduler::test
