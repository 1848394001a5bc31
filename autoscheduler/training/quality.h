#pragma once
#include "autoscheduler/learned_cost.h"
#include <array>

namespace tessera::autoscheduler::training {

// Says how well a model tells the schedules of a pipeline apart, in the mean of all pipelines.
struct Quality {
    size_t programs = 0, groups = 0;
    // Holds the part of the pairs of schedules that differ by more than 5 % whose order is right.
    double pairs_in_order = 0;
    // The time of the best of the first 1, 5 and 10 by the model, over that of the best of all: the
    // geometric mean.
    std::array<double, 3> best_of = {};
};

Quality quality_of(const BoostedTrees &model, const std::vector<LearnedProgram> &programs);

}  // namespace tessera::autoscheduler::training
