#include "autoscheduler/mutate.h"
#include "autoscheduler/plan_costs.h"
#include "autoscheduler/simple.h"
#include "support.h"

namespace tessera::autoscheduler::test {
namespace {

TEST_SUITE_BEGIN("autoscheduler, costs of plans");

// Holds what a loop tree of the whole schedule says.
struct Whole {
    std::optional<Cost> cost;
    ProgramFeatures features;
};

Whole whole_of(const Problem &problem, const Plan &plan) {
    const program::Schedule schedule =
        to_schedule(problem.graph, plan, problem.machine.least_tasks());
    try {
        LoopTree tree(problem.graph, program::apply(problem.algorithm, schedule));
        const Cost cost = estimate_cost(tree, problem.machine);
        return {cost, features_of(tree, cost, problem.machine)};
    } catch (const CompileError &) {
        return {};
    }
}

// A plan and others, each changed from one before it, are worth the same with and without memory.
void check_changes_of(const Func &output, int changes, uint64_t seed = 3) {
    const Problem problem(output);
    PlanCosts costs(problem.graph, problem.machine);
    std::mt19937_64 random(seed);
    std::vector<Plan> plans = {plain_plan(problem.graph),
                               schedule_simply(problem.graph, problem.machine).plan};
    int legal = 0;
    for (int i = 0; i < changes; i++) {
        Plan plan = plans[random() % plans.size()];
        for (uint64_t count = random() % 4; count > 0; count--)
            plan = mutated(problem.graph, plan, problem.machine, random);
        const Whole whole = whole_of(problem, plan);
        const std::optional<Cost> cost = costs.cost(plan);
        REQUIRE(cost.has_value() == whole.cost.has_value());
        if (!cost || !whole.cost) continue;
        legal++;
        CHECK(cost->cycles == whole.cost->cycles);
        CHECK(costs.cycles(plan) == whole.cost->cycles);
        const ProgramFeatures features = costs.features(plan, *cost);
        CHECK(features.stages == whole.features.stages);
        CHECK(features.milliseconds == whole.features.milliseconds);
        plans.push_back(std::move(plan));
    }
    CHECK(legal > changes / 4);
}

// Down and up again: each level is read by the next and by what goes back.
Func pyramid_of(const Func &in, int levels, const std::string &name) {
    Var x("x"), y("y");
    std::vector<Func> down(static_cast<size_t>(levels)), up(static_cast<size_t>(levels));
    down[0] = Func(name + "down0");
    down[0](x, y) = in(x, y) * 2.0f;
    for (size_t i = 1; i < down.size(); i++) {
        Func half(str(name, "half", i));
        half(x, y) = down[i - 1](2 * x, y) + down[i - 1](2 * x + 1, y);
        down[i] = Func(str(name, "down", i));
        down[i](x, y) = half(x, 2 * y) + half(x, 2 * y + 1);
    }
    up.back() = down.back();
    for (size_t i = down.size() - 1; i-- > 0;) {
        Func wide(str(name, "wide", i));
        wide(x, y) = up[i + 1](x / 2, y) + up[i + 1]((x + 1) / 2, y);
        up[i] = Func(str(name, "up", i));
        up[i](x, y) = down[i](x, y) + wide(x, y / 2) + wide(x, (y + 1) / 2);
    }
    return up[0];
}

// Some of them, one after the other.
Func pyramids(int count, int levels) {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    Func last = in;
    for (int i = 0; i < count; i++) last = pyramid_of(last, levels, str("p", i, "_"));
    last.set_estimates({{0, 2048}, {0, 2048}});
    return last;
}

Func histogram() {
    Var x("x"), y("y"), i("i");
    ImageParam in(UInt(8), 2, "in");
    Func counts("counts"), sums("sums"), output("output");
    RDom r(0, 512, 0, 512, "r"), k(1, 255, "k");
    counts(i) = 0;
    counts(clamp(cast<int>(in(r.x, r.y)), 0, 255)) += 1;
    sums(i) = 0;
    sums(k) = sums(k - 1) + counts(k);
    output(x, y) = sums(cast<int>(in(x, y))) * 255 / (512 * 512);
    output.set_estimates({{0, 512}, {0, 512}});
    return output;
}

TEST_CASE("what is remembered of groups is what the whole plan comes to") {
    SUBCASE("a blur") { check_changes_of(small_blur(), 300); }
    SUBCASE("a pyramid") { check_changes_of(pyramids(1, 4), 300); }
    SUBCASE("a reduction") { check_changes_of(product_of_images(256), 200); }
    SUBCASE("a histogram") { check_changes_of(histogram(), 200); }
}

TEST_CASE("a function at the root that changes costs the estimate of its group alone") {
    const Problem problem(pyramids(1, 6));
    PlanCosts costs(problem.graph, problem.machine);
    Plan plan = plain_plan(problem.graph);
    costs.cycles(plan);
    const size_t all = costs.estimated_stages();
    CHECK(all == problem.graph.stages.size());
    plan.functions[3].stages[0].vector = 0;
    plan.functions[3].stages[0].lanes = 8;
    costs.cycles(plan);
    CHECK(costs.estimated_stages() == all + 1);
    costs.cycles(plan);
    CHECK(costs.estimated_stages() == all + 1);
}

TEST_CASE("by rules, a hundred functions take little work") {
    const Problem problem(pyramids(3, 9));
    REQUIRE(problem.graph.functions.size() >= 100);
    PlanCosts costs(problem.graph, problem.machine);
    schedule_simply(problem.graph, problem.machine, costs);
    // Most levels are too small to be worth a try; a plan that is tried is a few stages' work.
    CHECK(costs.plans() < 25'000);
    CHECK(costs.estimated_stages() < 4 * costs.plans());
}

TEST_SUITE_END();

}  // namespace
}  // namespace tessera::autoscheduler::test
