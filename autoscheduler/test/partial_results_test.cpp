#include "autoscheduler/cost.h"
#include "autoscheduler/simple.h"
#include "autoscheduler/vector_reductions.h"
#include "support.h"

namespace tessera::autoscheduler::test {
namespace {

TEST_SUITE_BEGIN("autoscheduler, partial results");

// The mean and the spread of each row.
struct Rows {
    Var x{"x"}, y{"y"};
    Func sum{"sum"}, squares{"squares"}, output{"output"};

    Rows(int width, int rows) {
        ImageParam in(Float(32), 2, "in");
        RDom r(0, width, "r");
        sum(y) += in(r, y);
        const Expr distance = in(r, y) - sum(y);
        squares(y) += distance * distance;
        output(x, y) = (in(x, y) - sum(y)) * squares(y);
        output.set_estimates({{0, width}, {0, rows}});
    }
};

TEST_CASE("all sums of rows have partial results in lanes at once, be they few or many") {
    for (const int rows : {64, 2048}) {
        const Rows pipeline(768, rows);
        const Problem problem(pipeline.output, Target("x86-64-linux-avx512_skylake"));
        const std::vector<Sketch> sketches =
            make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine);
        const auto both = std::ranges::find(sketches, "rows in lanes: sum, squares", &Sketch::name);
        INFO(rows, " rows");
        REQUIRE(both != sketches.end());
        // They are added up side by side, in the lanes of a few vectors.
        const Graph &graph = *both->graph;
        int sums = 0;
        for (size_t n = 0; n < graph.functions.size(); n++) {
            const FunctionNode &f = graph.functions[n];
            if (dimension_of_partial_results(graph, int(n)) == 1) sums++;
            if (f.name != "sum" && f.name != "squares") continue;
            const StageNode &stage = graph.stages[size_t(f.stages.back())];
            CHECK(reduction_lanes(graph, stage, problem.machine) == 64);
        }
        CHECK(sums == 2);
    }
}

TEST_CASE("by rules, rows are added up without a loop over single results") {
    const Rows pipeline(768, 512);
    const Problem problem(pipeline.output, Target("x86-64-linux-avx512_skylake"));
    double least = 1e300;
    std::string best;
    for (const Sketch &s :
         make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine)) {
        const SimpleResult result = schedule_simply(*s.graph, problem.machine);
        if (result.cycles >= least) continue;
        least = result.cycles;
        best = s.name;
    }
    CHECK(best == "rows in lanes: sum, squares");
}

TEST_CASE("what does not depend on a channel is computed once for channels side by side") {
    Var x("x"), y("y"), c("c");
    ImageParam in(Float(32), 2, "in");
    Func gray("gray"), output("output");
    gray(x, y) = sqrt(in(x, y)) / (in(x + 1, y) + 1.0f);
    output(x, y, c) = gray(x, y) + cast<float>(c);
    output.bound(c, 0, 3);
    output.set_estimates({{0, 512}, {0, 512}, {0, 3}});
    const Problem problem(output, Target("x86-64-linux-avx512_skylake"));
    const auto divisions = [&](bool side_by_side) {
        Plan plan = plain_plan(problem.graph);
        for (FunctionPlan &p : plan.functions) p.place = Place::Inline;
        FunctionPlan &last = plan.functions.back();
        last.place = Place::Root;
        last.stages[0].vector = 0;
        last.stages[0].lanes = 16;
        if (side_by_side) last.stages[0].unroll = {0, 0, 3};
        LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(plan)));
        const StageView view(tree, problem.machine, int(tree.stages.size()) - 1);
        return view.work->operations.of(OperationClass::FloatDiv);
    };
    CHECK(divisions(false) == doctest::Approx(2));
    CHECK(divisions(true) == doctest::Approx(2.0 / 3));
}

TEST_CASE("a sum that is one number has no block of sums in registers") {
    Var x("x"), y("y");
    RDom r(0, 4, "r");
    ImageParam in(Float(32), 1, "in");
    Func sum("sum"), output("output");
    sum() = 0.0f;
    sum() += in(r);
    output(x, y) = sum();
    output.set_estimates({{0, 256}, {0, 256}});
    const Problem problem(output);
    const SimpleResult result = schedule_simply(problem.graph, problem.machine);
    CHECK_FALSE(result.by_hand.has_value());
    for (const StagePlan &s :
         result.plan.functions[size_t(problem.graph.find(sum.function()->name))].stages)
        CHECK(s.vector == -1);
}

TEST_CASE("a large output goes past the caches, a small one stays in them") {
    for (const int size : {256, 4096}) {
        Var x("x"), y("y");
        ImageParam in(Float(32), 2, "in");
        Func output("output");
        output(x, y) = in(x, y) * 2.0f;
        output.set_estimates({{0, size}, {0, size}});
        const Problem problem(output, Target("x86-64-linux-avx512_skylake"));
        const SimpleResult result = schedule_simply(problem.graph, problem.machine);
        CHECK(result.plan.functions.back().stages[0].streams == (size > 1000));
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace tessera::autoscheduler::test
