#pragma once
#include "autoscheduler/search.h"
#include "autoscheduler/tuning_problem.h"
#include <doctest/doctest.h>
#include <tessera.h>

namespace tessera::autoscheduler::test {

// The problem of scheduling `f`, for two cores.
struct Problem : TuningProblem {
    explicit Problem(const Func &f, const Target &target = get_jit_target_from_environment())
        : TuningProblem(Pipeline(f), target, Machine::usual(target, 2)) {}
    program::Schedule scheduled(const Plan &plan) const { return to_schedule(graph, plan, 8); }
};

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

}  // namespace tessera::autoscheduler::test
