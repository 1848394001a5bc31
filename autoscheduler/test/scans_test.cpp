#include "autoscheduler/cost.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/plan_json.h"
#include "autoscheduler/simple.h"
#include "support.h"

namespace tessera::autoscheduler::test {
namespace {

TEST_SUITE_BEGIN("autoscheduler, scans and windows");

// Down the columns of each channel, and then along its rows.
Func two_scans(int size) {
    Var x("x"), y("y"), c("c");
    ImageParam in(Float(32), 3, "in");
    RDom r(1, size - 1, "r");
    const auto scan_of = [&](const Func &from, const std::string &name) {
        Func scan(name), turned(name + "_turned");
        scan(x, y, c) = undef<float>();
        scan(x, 0, c) = from(x, 0, c);
        scan(x, r, c) = 0.5f * scan(x, r - 1, c) + 0.5f * from(x, r, c);
        turned(x, y, c) = scan(y, x, c);
        return turned;
    };
    Func output = scan_of(scan_of(in, "down"), "along");
    output.set_estimates({{0, size}, {0, size}, {0, 3}});
    return output;
}

Cost cost_of(const Problem &problem, const Plan &plan) {
    LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(plan)));
    return estimate_cost(tree, problem.machine);
}
size_t number_of(const Problem &problem, const std::string &function) {
    const auto found = std::ranges::find(problem.graph.functions, function, &FunctionNode::name);
    REQUIRE(found != problem.graph.functions.end());
    return size_t(found - problem.graph.functions.begin());
}
const StageCost &stage_of(const Problem &problem, const Cost &cost, const std::string &function,
                          size_t number) {
    const FunctionNode &f = problem.graph.functions[number_of(problem, function)];
    return cost.stages[size_t(f.stages[number])];
}

TEST_CASE("a stage that stores nothing costs nothing, and one of a row reads a row") {
    const Problem problem = known_problem(two_scans(4096));
    const Cost cost = cost_of(problem, plain_plan(problem.graph));
    const StageCost &nothing = stage_of(problem, cost, "down", 0);
    CHECK(nothing.compute + nothing.memory + nothing.far == 0);
    const StageCost &first_row = stage_of(problem, cost, "down", 1),
                    &others = stage_of(problem, cost, "down", 2);
    CHECK(others.bytes.back() > 2.0 * 4096 * 4096 * 3 * 4);
    CHECK(first_row.bytes.back() < 0.01 * others.bytes.back());
}

TEST_CASE("a scan waits for what it has stored, unless several go on side by side") {
    const Problem problem(two_scans(1024));
    Plan plan = plain_plan(problem.graph);
    StagePlan &scan = plan.functions[number_of(problem, "down")].stages[2];
    scan.vector = 0;
    scan.lanes = 16;
    const double one = stage_of(problem, cost_of(problem, plan), "down", 2).compute;
    scan.unroll = {4, 0, 0};
    CHECK(stage_of(problem, cost_of(problem, plan), "down", 2).compute < 0.5 * one);
}

TEST_CASE("by rules, two passes over channels are one channel at a time, each on all cores") {
    const Problem problem(two_scans(2048));
    Machine machine = problem.machine;
    machine.fault_per_byte = 5;  // pages that come from the system are dear
    const SimpleResult simple = schedule_simply(problem.graph, machine);
    const StagePlan &output = simple.plan.functions.back().stages.back();
    CHECK(output.serial_tiles);
    REQUIRE(output.tile.size() >= 3);
    CHECK(output.tile[2] == 1);
    const FunctionPlan &between = simple.plan.functions[number_of(problem, "down_turned")];
    CHECK(between.place == Place::Tile);
    CHECK(between.stages[0].parallel);
    CHECK(plan_from_json(to_json(simple.plan), problem.graph) == std::optional(simple.plan));
    // The loop over channels is serial, and within it two are parallel.
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    CHECK(measurer({simple.schedule}, 1e300)[0].outcome == Outcome::Measured);
}

TEST_CASE("by rules, scans in the tiles of another are several vectors side by side") {
    const auto problem = known_problem(two_scans(4096));
    const Plan plan = schedule_simply(problem.graph, problem.machine).plan;
    for (const char *name : {"down", "along"}) {
        CAPTURE(name);
        const FunctionPlan &scan = plan.functions[number_of(problem, name)];
        REQUIRE((scan.place == Place::Tile || scan.place == Place::Block));
        const StagePlan &loops = scan.stages[2];
        REQUIRE(loops.vector >= 0);
        CHECK(loops.lanes * loops.unroll[size_t(loops.vector)] >= 32);
    }
}

TEST_CASE("what is turned has its vectors and its storage along another dimension") {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    Func wide("wide"), doubled("doubled"), across("across"), output("output");
    RDom r(0, 4, "r");
    wide(x, y) = exp(in(x, y));
    doubled(x, y) = wide(x, y) * 2;
    across(x, y) += doubled(x + r, y);
    output(x, y) = across(x, y) + 1;
    output.set_estimates({{0, 512}, {0, 512}});
    const Problem problem(output);
    Plan plan = plain_plan(problem.graph);
    const size_t sum = number_of(problem, "across");
    plan.functions[number_of(problem, "doubled")].place = Place::Inline;
    turn(problem.graph, plan, int(sum), 1);
    CHECK(plan.functions[sum].innermost == 1);
    for (const StagePlan &s : plan.functions[sum].stages) CHECK(s.vector == 1);
    CHECK(plan.functions[number_of(problem, "wide")].innermost == 1);  // through what is inlined
    CHECK(plan.functions[number_of(problem, "output")].innermost == -1);
    for (StagePlan &s : plan.functions[sum].stages) s.lanes = 16;
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    CHECK(measurer({problem.scheduled(plan)})[0].outcome == Outcome::Measured);
}

TEST_CASE("a long chain of what is inlined is turned in no time") {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    Func last = in;
    for (int i = 0; i < 40; i++) {  // each reads the one before twice: 2^40 ways lead to the first
        Func next("next" + std::to_string(i));
        next(x, y) = last(x, y) + last(x + 1, y);
        last = next;
    }
    last.set_estimates({{0, 512}, {0, 512}});
    const Problem problem(last);
    Plan plan = plain_plan(problem.graph);
    for (size_t n = 1; n + 1 < plan.functions.size(); n++) plan.functions[n].place = Place::Inline;
    turn(problem.graph, plan, int(plan.functions.size()) - 1, 1);
    CHECK(plan.functions[0].innermost == 1);
}

TEST_CASE("a border along other variables than the vector's cuts no vector off") {
    const auto cost_of_vectors_along = [](int variable) {
        Var c("c"), x("x"), y("y");
        ImageParam in(Float(32), 3, "in");
        Func padded = BoundaryConditions::constant_exterior(
            in, 0.0f, {{}, {0, in.dim(1).extent()}, {0, in.dim(2).extent()}});
        Func output("output");
        output(c, x, y) = padded(c, x - 1, y) + padded(c, x, y - 1);
        output.set_estimates({{0, 32}, {0, 32}, {0, 512}});
        in.set_estimates({{0, 32}, {0, 32}, {0, 512}});
        const Problem problem(output);
        Plan plan = plain_plan(problem.graph);
        for (FunctionPlan &p : plan.functions) p.place = Place::Inline;
        FunctionPlan &of_output = plan.functions.back();
        of_output.place = Place::Root;
        of_output.stages[0].vector = variable;
        of_output.stages[0].lanes = 16;
        return stage_of(problem, cost_of(problem, plan), "output", 0).compute;
    };
    CHECK(cost_of_vectors_along(0) < 0.5 * cost_of_vectors_along(1));
}

TEST_CASE("a window slides along the loops that move it, and begins anew in others") {
    Var x("x"), y("y"), c("c");
    ImageParam in(Float(32), 2, "in");
    Func sharp("sharp"), output("output");
    sharp(x, y) = in(x, y) * in(x, y);
    output(x, y, c) = sharp(x, y) + sharp(x, y + 1) + cast<float>(c);
    output.set_estimates({{0, 512}, {0, 512}, {0, 4}});
    const Problem problem(output);
    const size_t s = number_of(problem, "sharp");
    const auto tree_of = [&](const std::vector<Var> &order) {
        program::Schedule schedule = problem.graph.by_hand;
        std::vector<Symbol> names;
        for (const Var &v : order) names.push_back(Symbol::interned(v.name()));
        const Symbol of = problem.graph.functions.back().function->name,
                     window = problem.graph.functions[s].function->name;
        const auto level = [&](const char *var) {
            return program::LoopLevel::at(of, Symbol::interned(var), 0);
        };
        schedule.steps.push_back({of, program::StageStep{0, {}, {program::Reorder{names}, {}}}});
        schedule.steps.push_back(
            {window, program::FuncStep{{program::StoreLevel{program::LoopLevel::root()}, {}}}});
        schedule.steps.push_back(
            {window, program::FuncStep{{program::ComputeLevel{level("y")}, {}}}});
        return LoopTree(problem.graph, program::apply(problem.algorithm, schedule));
    };
    const LoopTree one_pass = tree_of({x, c, y}), four_passes = tree_of({x, y, c});
    const auto computed = [&](const LoopTree &tree) {
        const TreeFunction &f = tree.functions[s];
        return points_in(f.computed) * tree.iterations(f.compute_level);
    };
    CHECK(computed(one_pass) == doctest::Approx(512 * 512));
    CHECK(computed(four_passes) == doctest::Approx(4 * 512 * 512));
    CHECK(points_in(one_pass.functions[s].stored) == doctest::Approx(2 * 512));
    CHECK(points_in(four_passes.functions[s].stored) == doctest::Approx(513 * 512));
}

TEST_CASE("pieces that are moved back, and not cut off, make a region as large as they are") {
    Var x("x");
    Func source("source"), some("some"), output("output");
    source(x) = cast<float>(x) * 2.0f;
    some(x) = source(x) + source(x + 1);
    output(x) = some(x / 16);
    output.set_estimates({{0, 4096}});
    const Problem problem(output);
    const size_t s = number_of(problem, "source");
    Plan plan = plain_plan(problem.graph);
    plan.functions.back().stages[0].tile = {64};
    for (const char *name : {"source", "some"}) {
        plan.functions[number_of(problem, name)].place = Place::Tile;
        plan.functions[number_of(problem, name)].at = int(plan.functions.size()) - 1;
    }
    const auto computed = [&] {
        LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(plan)));
        return tree.functions[s].computed[0].extent();
    };
    CHECK(computed() == 5);
    StagePlan &loops = plan.functions[number_of(problem, "some")].stages[0];
    loops.vector = 0;
    loops.lanes = 16;
    CHECK(computed() == 17);
}

TEST_SUITE_END();

}  // namespace
}  // namespace tessera::autoscheduler::test
