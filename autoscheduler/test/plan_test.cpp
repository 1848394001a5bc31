#include "autoscheduler/cost.h"
#include "autoscheduler/groups.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/plan_json.h"
#include "autoscheduler/vector_reductions.h"
#include "support.h"
#include <algorithm>
#include <map>
#include <ranges>

namespace tessera::autoscheduler::test {
namespace {

TEST_SUITE_BEGIN("autoscheduler, plans");

// Returns whether what a schedule computes is what the pipeline computes without one.
Outcome outcome_of(const Problem &problem, const Plan &plan) {
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    return measurer({problem.scheduled(plan)}, 1e300)[0].outcome;
}

template<typename Directive>
size_t count_of(const Problem &problem, const Plan &plan) {
    return size_t(count_in<Directive>(problem.scheduled(plan)));
}

Func chain_of_stencils(int length) {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    Func f("s0");
    f(x, y) = in(x, y);
    for (int i = 1; i <= length; i++) {
        const Func before = f;
        f = Func("s" + std::to_string(i));
        f(x, y) = (before(x, y) + before(x + 1, y) + before(x + 2, y) + before(x, y + 1) +
                   before(x, y + 2)) /
                  5.0f;
    }
    f.set_estimates({{0, 3000}, {0, 2000}});
    return f;
}

TEST_CASE("a chain of stencils becomes groups, each in tiles of its last function") {
    const Problem problem(chain_of_stencils(8));
    Plan plan = plain_plan(problem.graph);
    for (FunctionPlan &f : plan.functions) {
        f.stages[0].vector = 0;
        f.stages[0].lanes = 8;
    }
    const auto cost_of = [&](const Plan &p) -> std::optional<double> {
        LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(p)));
        return estimate_cost(tree, problem.machine).cycles;
    };
    const Plan groups = merge_into_groups(problem.graph, problem.machine, plan, cost_of);
    const auto in_tiles = std::ranges::count(groups.functions, Place::Tile, &FunctionPlan::place);
    CHECK(in_tiles >= 4);
    CHECK(cost_of(groups).value_or(1e300) < 0.8 * cost_of(plan).value_or(0));
}

TEST_CASE("a group has sixteen functions at most, whatever a merge would save") {
    constexpr int stages = 40, most = 16;
    const Problem problem(chain_of_stencils(stages - 1));
    double cost = 1e300;
    const auto cheaper = [&](const Plan &) { return std::optional<double>(cost /= 2); };
    const Plan groups =
        merge_into_groups(problem.graph, problem.machine, plain_plan(problem.graph), cheaper);
    std::map<int, int> sizes;  // by the last function
    for (int n = 0; n < int(groups.functions.size()); n++) {
        int last = n;
        while (groups.functions[size_t(last)].place == Place::Tile)
            last = groups.functions[size_t(last)].at;
        sizes[last]++;
    }
    CHECK(std::ranges::max(sizes | std::views::values) > most / 2);
    CHECK(std::ranges::max(sizes | std::views::values) <= most);
}

TEST_CASE("the work of scheduling a chain by rules grows as the chain does") {
    const auto estimates = [](int stages) {
        const auto problem = known_problem(chain_of_stencils(stages));
        PlanCosts costs(problem.graph, problem.machine);
        schedule_simply(problem.graph, problem.machine, costs);
        return double(costs.estimated_stages());
    };
    CHECK(estimates(48) < 2.6 * estimates(24));
}

TEST_CASE("what is read by two groups stays at the root") {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    Func shared("shared"), a("a"), b("b");
    shared(x, y) = in(x, y) + in(x + 1, y);
    a(x, y) = shared(x, y) + shared(x, y + 1);
    b(x, y) = shared(x, y) * 2.0f;
    a.set_estimates({{0, 1000}, {0, 1000}});
    b.set_estimates({{0, 1000}, {0, 1000}});
    const TuningProblem problem(Pipeline({a, b}), get_jit_target_from_environment(),
                                Machine::usual(get_jit_target_from_environment(), 2));
    // Whoever asks is told that each merge saves much.
    double cost = 1e9;
    const auto cheaper = [&](const Plan &) { return std::optional<double>(cost /= 2); };
    const Plan groups =
        merge_into_groups(problem.graph, problem.machine, plain_plan(problem.graph), cheaper);
    const int of_shared = problem.graph.find(shared.function()->name);
    REQUIRE(of_shared >= 0);
    CHECK(groups.functions[size_t(of_shared)].place == Place::Root);
}

// A product of matrices of small whole numbers.
template<typename A, typename B, typename Sum>
Func product_of() {
    Var x("x"), y("y");
    Buffer<A> a(64, 32);
    Buffer<B> b(48, 64);
    a.for_each_element([&](int k, int y) { a(k, y) = A(float((3 * k + y) % 7)); });
    b.for_each_element([&](int x, int k) { b(x, k) = B(float((x + 5 * k) % 5)); });
    Func product("product");
    RDom k(0, 64, "k");
    product(x, y) += cast<Sum>(a(k, y)) * cast<Sum>(b(x, k));
    product.set_estimates({{0, 48}, {0, 32}});
    return product;
}

template<typename A, typename B, typename Sum>
int64_t group_for(const std::string &target) {
    const Problem problem(product_of<A, B, Sum>(), Target(target));
    return reduction_lanes(problem.graph, problem.graph.stages[1], problem.machine);
}

TEST_CASE("the groups of dot products are those of the machine's instructions") {
    const std::string avx2 = "x86-64-linux-avx2", spr = "x86-64-linux-avx512_sapphirerapids";
    CHECK(group_for<uint8_t, int8_t, int32_t>(spr) == 4);
    CHECK(group_for<uint8_t, int8_t, int32_t>(avx2) == 2);
    CHECK(group_for<int16_t, int16_t, int32_t>(avx2) == 2);
    CHECK(group_for<bfloat16_t, bfloat16_t, float>(spr) == 2);
    CHECK(group_for<bfloat16_t, bfloat16_t, float>(avx2) == 1);
    CHECK(group_for<float, float, float>(spr) == 1);
    CHECK(group_for<uint8_t, int8_t, int32_t>("arm-64-linux") == 1);
}

TEST_CASE("lanes of a dot product are added to one sum") {
    const Problem problem(product_of<int16_t, int16_t, int32_t>());
    Plan plan = plain_plan(problem.graph);
    StagePlan &s = plan.functions[0].stages[1];
    s.vector = 0;
    s.lanes = 16;
    const auto cost_of = [&](const Plan &p) {
        LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(p)));
        return estimate_cost(tree, problem.machine).cycles;
    };
    const double without = cost_of(plan);
    s.dot = 2;
    CHECK(cost_of(plan) < without);
    CHECK(count_of<program::AtomicDirective>(problem, plan) == 1);
    CHECK(outcome_of(problem, plan) == Outcome::Measured);
}

TEST_CASE("tiles may have blocks, in which others are computed") {
    const Problem problem(chain_of_stencils(2));
    Plan plan = plain_plan(problem.graph);
    const size_t output = plan.functions.size() - 1;
    StagePlan &last = plan.functions[output].stages[0];
    last.tile = {128, 64};
    last.block = {32, 16};
    plan.functions[output - 1].place = Place::Block;
    plan.functions[output - 1].at = int(output);
    CHECK(count_of<program::Split>(problem, plan) == 4);
    CHECK(outcome_of(problem, plan) == Outcome::Measured);
    SUBCASE("that do not divide the tile are made smaller") {
        last.block = {96, 48};
        CHECK(outcome_of(problem, plan) == Outcome::Measured);
    }
    SUBCASE("and are kept in a log") {
        CHECK(plan_from_json(to_json(plan), problem.graph) == std::optional(plan));
    }
}

TEST_CASE("rows of what comes from far away may be fetched ahead") {
    const Problem problem(chain_of_stencils(2));
    Plan plan = plain_plan(problem.graph);
    const size_t output = plan.functions.size() - 1;
    plan.functions[output].stages[0].prefetch = 2;
    CHECK(count_of<program::PrefetchDirective>(problem, plan) == 1);
    CHECK(outcome_of(problem, plan) == Outcome::Measured);
    // Values that are computed within the loop are near.
    plan.functions[output - 1].place = Place::Row;
    plan.functions[output - 1].at = int(output);
    CHECK(count_of<program::PrefetchDirective>(problem, plan) == 0);
}

int parallel_loops_in(const program::Schedule &schedule) {
    return int(std::ranges::count_if(schedule.steps, [](const program::Step &step) {
        const auto *s = std::get_if<program::StageStep>(&step.what);
        const auto *k = s ? std::get_if<program::SetLoopKind>(&s->written.directive) : nullptr;
        return k && k->kind == LoopKind::Parallel;
    }));
}

TEST_CASE("tasks of a stage with guards are loops within loops, and those of others are one loop") {
    const Problem problem(product_of_images(1024));
    Plan plan = plain_plan(problem.graph);
    StagePlan &update = plan.functions.back().stages[1];
    update.tile = {64, 512, 0};
    update.parallel = true;
    const program::Schedule guarded = problem.scheduled(plan);
    CHECK(count_in<program::Fuse>(guarded) == 0);
    CHECK(parallel_loops_in(guarded) == 2);
    update.parallel = false;
    StagePlan &zeros = plan.functions.back().stages[0];
    zeros.tile = {64, 512};
    zeros.parallel = true;
    const program::Schedule whole = problem.scheduled(plan);
    CHECK(count_in<program::Fuse>(whole) == 1);
    CHECK(parallel_loops_in(whole) == 1);
}

// Each stage reads three points of the one before.
Func chain_of_products(int stages) {
    Var x("x");
    std::vector<Func> all;
    for (int i = 0; i < stages; i++) {
        Func f(str("stage", i));
        f(x) = i == 0 ? cast<float>(x) : all.back()(x - 1) + all.back()(x) * all.back()(x + 1);
        all.push_back(f);
    }
    all.back().set_estimates({{0, 4096}});
    return all.back();
}

TEST_CASE("a long chain that is inlined as a whole is made a schedule at once") {
    constexpr int stages = 40;  // of 3^40 paths
    const Problem problem(chain_of_products(stages));
    Plan plan = plain_plan(problem.graph);
    for (FunctionPlan &f : plan.functions) f.place = Place::Inline;
    plan.functions.back().place = Place::Root;
    CHECK(problem.scheduled(plan).steps.size() < stages);
}

TEST_CASE("by rules, a stage is tried only in the loops of those that read it, and around them") {
    constexpr int stages = 24, for_each = 200;
    const auto problem = known_problem(chain_of_products(stages));
    const SimpleResult simple = schedule_simply(problem.graph, problem.machine);
    CHECK(simple.candidates < stages * for_each);
}

// A plan that was changed at random so many times.
Plan random_plan(const Problem &problem, std::mt19937_64 &random, int changes) {
    Plan plan = plain_plan(problem.graph);
    for (; changes > 0; changes--) plan = mutated(problem.graph, plan, problem.machine, random);
    return plan;
}

TEST_CASE("as estimated, a schedule computes no less than what is required") {
    std::mt19937_64 random(1);
    int legal = 0;
    for (const int rows : {2000, 130}) {  // that pieces divide, and do not
        Func chain = chain_of_stencils(4);
        chain.set_estimates({{0, 200}, {0, rows}});
        const Problem problem(chain);
        for (int i = 0; i < 500; i++) {
            const Plan plan = random_plan(problem, random, 8);
            try {
                LoopTree tree(problem.graph,
                              program::apply(problem.algorithm, problem.scheduled(plan)));
                for (size_t s = 0; s < tree.stages.size(); s++) {
                    if (tree.stages[s].is_inlined) continue;
                    const StageView view(tree, problem.machine, int(s));
                    const double required = view.function.points();
                    CAPTURE(view.function.name);
                    REQUIRE(view.points >= 0.75 * required);
                }
                legal++;
            } catch (const CompileError &) {
                continue;  // a level that is not there
            }
        }
    }
    CHECK(legal > 300);
}

TEST_CASE("an image that another stage has just read comes from the cache") {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    RDom r(0, 4096, "r");
    Func sum("sum"), output("output");
    sum(y) += in(r, y);
    output(x, y) = in(x, y) * sum(y);
    output.set_estimates({{0, 4096}, {0, 4096}});
    const Problem problem(output);
    Plan plan = plain_plan(problem.graph);
    plan.functions[0].place = Place::Inline;  // the image by another name
    const auto bytes_of_output = [&] {
        LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(plan)));
        const Cost cost = estimate_cost(tree, problem.machine);
        return cost.stages[size_t(problem.graph.functions.back().stages[0])].bytes.back();
    };
    REQUIRE(problem.graph.functions.back().name == "output");
    const double at_root = bytes_of_output();
    REQUIRE(problem.graph.functions[1].name == "sum");
    plan.functions[1].place = Place::Row;
    plan.functions[1].at = 2;
    CHECK(bytes_of_output() < 0.8 * at_root);
}

TEST_CASE("lanes that read rows of a power of two push one another out of the first cache") {
    Var y("y");
    const auto cycles_for = [&](int width) {
        ImageParam in(Float(32), 2, "in");
        RDom r(0, width, "r");
        Func sum("sum");
        sum(y) += in(r, y);
        sum.set_estimates({{0, 4096}});
        const Problem problem(sum, Target("x86-64-linux-avx512_skylake"));
        Plan plan = plain_plan(problem.graph);
        plan.functions[0].place = Place::Inline;  // the image by another name
        plan.functions[1].stages[1].vector = 0;
        plan.functions[1].stages[1].lanes = 16;
        LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(plan)));
        return estimate_cost(tree, problem.machine).stages.back().compute;
    };
    CHECK(cycles_for(1024) > 2 * cycles_for(1040));
}

TEST_CASE(
    "partial results are added to one sum at once, products with vectors of results are not") {
    Var x("x"), y("y");
    Buffer<float> in(64, 32);
    RDom r(0, 64, "r"), taps(0, 8, "taps");
    Func sum("sum"), convolved("convolved");
    sum(y) += in(r, y);
    sum.set_estimates({{0, 32}});
    const Problem rows(sum, Target("x86-64-linux-avx2"));
    CHECK(reduction_lanes(rows.graph, rows.graph.stages[1], rows.machine) == 1);  // too many
    const Problem wide(sum, Target("x86-64-linux-avx512_skylake"));
    CHECK(reduction_lanes(wide.graph, wide.graph.stages[1], wide.machine) == 64);
    convolved(x) += in(x + taps, 0);
    convolved.set_estimates({{0, 32}});
    const Problem stencil(convolved, Target("x86-64-linux-avx512_skylake"));
    CHECK(reduction_lanes(stencil.graph, stencil.graph.stages[1], stencil.machine) == 1);
}

TEST_SUITE_END();

}  // namespace
}  // namespace tessera::autoscheduler::test
