#include "autoscheduler/learned_cost.h"
#include "support.h"
#include <cmath>
#include <random>
#include <set>

namespace tessera::autoscheduler::test {
namespace {

TEST_SUITE_BEGIN("autoscheduler, learned cost");

constexpr std::string_view ab[] = {"a", "b"};

// 3 where the first of two numbers is above 0.5, else 0.
BoostedTrees trained_step(std::vector<float> &rows) {
    std::mt19937 random(1);
    for (int i = 0; i < 400; i++) rows.push_back(float(random() % 1000) / 1000);
    auto gradient = [&](std::span<const float> values, std::span<float> first,
                        std::span<float> second) {
        for (size_t i = 0; i < values.size(); i++) {
            first[i] = values[i] - (rows[2 * i] > 0.5f ? 3.f : 0.f);
            second[i] = 1;
        }
    };
    return train(rows, 2, gradient, {.rounds = 30, .depth = 3, .rate = 0.3});
}

TEST_CASE("trees learn a step of one column") {
    REQUIRE(can_train());
    std::vector<float> rows;
    const BoostedTrees trees = trained_step(rows);
    CHECK(trees.tree_count() == 30);
    CHECK(trees(std::vector<float>{0.9f, 0.1f}) == doctest::Approx(3).epsilon(0.02));
    CHECK(std::abs(trees(std::vector<float>{0.1f, 0.9f})) < 0.05);
    CHECK(trees.uses(2)[0] > 0);
}

TEST_CASE("a model is the same after it was written and read") {
    std::vector<float> rows;
    const BoostedTrees trees = trained_step(rows);
    const BoostedTrees again = BoostedTrees::from_json(trees.to_json(ab), ab);
    CHECK(again.tree_count() == trees.tree_count());
    for (size_t i = 0; i < rows.size(); i += 2) {
        const std::span<const float> row(&rows[i], 2);
        CHECK(again(row) == doctest::Approx(trees(row)).epsilon(1e-3));
    }
}

TEST_CASE("a damaged model is refused") {
    for (
        const char *text : {
            "",
            "{}",
            "[1]",
            R"({"columns":["a","b"],"roots":[0],"left":[1],"column":[0],"value":[0]})",  // no
                                                                                         // children
            R"({"columns":["a","b"],"roots":[0],"left":[0,-1],"column":[0,0],"value":[0,0]})",  // a loop
            R"({"columns":["a","b"],"roots":[7],"left":[-1],"column":[0],"value":[0]})",  // no root
            R"({"columns":["a","b"],"roots":[0],"left":[-1],"column":[999],"value":[0]})",  // no
                                                                                            // such
                                                                                            // column
            R"({"columns":["a","b"],"roots":[0],"left":[-1,-1],"column":[0],"value":[0]})",  // lists
                                                                                             // differ
        }) {
        CHECK_THROWS_AS(BoostedTrees::from_json(text, ab), std::exception);
    }
}

Features row_of(float tasks, float lanes) {
    Features f = {};
    f[size_t(Feature::Tasks)] = tasks;
    f[size_t(Feature::Lanes)] = lanes;
    return f;
}

// Stages of 4 lanes take as long as estimated, of 2 three times as long; a program has two stages.
std::vector<LearnedProgram> programs_with_slow_stages() {
    std::vector<LearnedProgram> programs;
    for (int i = 0; i < 80; i++) {
        const bool a = i & 1, b = i & 2;
        LearnedProgram p;
        p.features.stages = {row_of(float(i % 7), a ? 2 : 4), row_of(float(i % 5), b ? 2 : 4)};
        p.features.milliseconds = {1.0 + i % 3, 2.0 + i % 4};
        p.milliseconds =
            p.features.milliseconds[0] * (a ? 3 : 1) + p.features.milliseconds[1] * (b ? 3 : 1);
        programs.push_back(p);
    }
    return programs;
}

double worst_error(const LearnedCost &cost, const std::vector<LearnedProgram> &programs) {
    double worst = 0;
    for (const LearnedProgram &p : programs)
        worst = std::max(worst, std::abs(std::log(cost.milliseconds(p.features) / p.milliseconds)));
    return worst;
}

TEST_CASE("a model of stages is learned from the times of whole programs") {
    const std::vector<LearnedProgram> programs = programs_with_slow_stages();
    const BoostedTrees none;
    CHECK(worst_error(LearnedCost(none), programs) > 0.7);
    const BoostedTrees model = train_cost(programs, {.rounds = 60, .depth = 3, .rate = 0.3});
    CHECK(worst_error(LearnedCost(model), programs) < 0.1);
}

TEST_CASE("measurements of a pipeline correct the model that ships") {
    const std::vector<LearnedProgram> programs = programs_with_slow_stages();
    const BoostedTrees none;
    LearnedCost cost(none);
    for (const LearnedProgram &p : programs) cost.add(p.features, 2 * p.milliseconds);
    cost.refit();
    std::vector<LearnedProgram> slower = programs;
    for (LearnedProgram &p : slower) p.milliseconds *= 2;
    CHECK(worst_error(cost, slower) < 0.25);
}

TEST_CASE("features of a schedule are finite, and there is a name for each") {
    Problem problem(small_blur());
    const SimpleResult simple = schedule_simply(problem.graph, problem.machine);
    LoopTree tree(problem.graph, program::apply(problem.algorithm, simple.schedule));
    const ProgramFeatures features =
        features_of(tree, estimate_cost(tree, problem.machine), problem.machine);
    REQUIRE_FALSE(features.stages.empty());
    CHECK(features.stages.size() == features.milliseconds.size());
    for (const Features &f : features.stages) {
        for (float v : f) CHECK(std::isfinite(v));
    }
    std::set<std::string_view> names;
    for (size_t i = 0; i < feature_count; i++) names.insert(feature_names()[i]);
    CHECK(names.size() == feature_count);
}

TEST_CASE("the model that ships is readable, and orders what differs much") {
    Problem problem(small_blur(1024, 1024));
    const SimpleResult simple = schedule_simply(problem.graph, problem.machine);
    auto expected = [&](const program::Schedule &schedule) {
        LoopTree tree(problem.graph, program::apply(problem.algorithm, schedule));
        return LearnedCost().milliseconds(
            features_of(tree, estimate_cost(tree, problem.machine), problem.machine));
    };
    const program::Schedule plain = problem.scheduled(plain_plan(problem.graph));
    CHECK(2 * expected(simple.schedule) < expected(plain));
}

TEST_SUITE_END();

}  // namespace
}  // namespace tessera::autoscheduler::test
