#include "autoscheduler/cost.h"
#include "autoscheduler/simple.h"
#include "autoscheduler/stage_view.h"
#include "support.h"
#include <doctest/doctest.h>
#include <tessera.h>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

Graph graph_of(const Func &f) {
    return Graph(program::Algorithm({f.function()}), program::schedule_of({f.function()}));
}
const FunctionNode &node_of(const Graph &graph, const Func &f) {
    const int n = graph.find(f.function()->name);
    REQUIRE(n >= 0);
    return graph.functions[size_t(n)];
}
const StageNode &last_stage_of(const Graph &graph, const Func &f) {
    return graph.stages[size_t(node_of(graph, f).stages.back())];
}

}  // namespace

TEST_SUITE("autoscheduler, graph") {
    TEST_CASE("what is required of each function follows from the estimates of the output") {
        Var x("x"), y("y");
        ImageParam in(Float(32), 2, "in");
        Func blur_x("blur_x"), blur("blur");
        blur_x(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
        blur(x, y) = blur_x(x, y) + blur_x(x, y + 1) + blur_x(x, y + 2);
        blur.set_estimates({{0, 1000}, {0, 500}});
        const Graph graph = graph_of(blur);
        CHECK(node_of(graph, blur_x).required == Box{{0, 999}, {0, 501}});
        REQUIRE(graph.images.size() == 1);
        CHECK(graph.images[0].box == Box{{0, 1001}, {0, 501}});
    }
    TEST_CASE("each variable of a stage knows the dimension that it is along") {
        Var x("x"), y("y"), c("c");
        Func f("f");
        RDom r(0, 8, "r");
        f(x, y, c) = x + y;
        f(3, y, c) += r.x;  // no loop over x
        f.set_estimates({{0, 16}, {0, 32}, {0, 3}});
        const Graph graph = graph_of(f);
        const StageNode &update = last_stage_of(graph, f);
        CHECK(update.dimensions == std::vector<size_t>{1, 2});
        CHECK(update.pure == 2);
        CHECK(graph.spans_of(update) == std::vector<Span>{{0, 31}, {0, 2}, {0, 7}});
    }
    TEST_CASE("what several expressions read at one place is read once") {
        Var x("x");
        ImageParam in(Float(32), 1, "in");
        Func f("f");
        f(x) = in(x)*in(x) + in(x + 1);
        f.set_estimates({{0, 100}});
        const Graph graph = graph_of(f);
        const StageNode &stage = last_stage_of(graph, f);
        CHECK(stage.accesses.size() == 2);
        CHECK(stage.operations.of(OperationClass::FloatMul) == 1);
        CHECK(stage.operations.fused_count == 1);
    }
    TEST_CASE("branches that not all points take are counted apart") {
        Var x("x");
        ImageParam in(Float(32), 1, "in");
        Func f("f");
        f(x) = select(x % 2 == 0, in(x) / 3.0f, in(x + 1));
        f.set_estimates({{0, 100}});
        const Graph graph = graph_of(f);
        CHECK(node_of(graph, f).periods == std::vector<int64_t>{2});
        const StageNode &stage = last_stage_of(graph, f);
        REQUIRE(stage.chosen.size() == 1);
        CHECK(stage.chosen[0].operations.of(OperationClass::FloatDiv) == 1);
        CHECK(stage.chosen[0].choices[0].part(100) == 0.5);
        CHECK(stage.operations.of(OperationClass::FloatDiv) == 1);
    }
    TEST_CASE("what stands beside what is likely is for the border alone") {
        Var x("x"), y("y");
        ImageParam in(Float(32), 2, "in");
        Func padded = BoundaryConditions::constant_exterior(in, 0.0f, {{}, {0, 1000}});
        Func f("f");
        f(x, y) = padded(x, y + 1);
        f.set_estimates({{0, 64}, {0, 1000}});
        const Problem problem(f);
        auto choices = [&](int64_t rows) {  // of a point of f, computed in tasks of so many rows
            Plan plan = plain_plan(problem.graph);
            for (FunctionPlan &inner : plan.functions) inner.place = Place::Inline;
            plan.functions.back().place = Place::Root;
            plan.functions.back().stages[0].tile = {0, rows};
            LoopTree tree(problem.graph,
                          program::apply(problem.algorithm, problem.scheduled(plan)));
            const StageView view(tree, problem.machine, int(tree.stages.size()) - 1);
            return view.work->operations.of(OperationClass::Choice);
        };
        const StageNode &stage = last_stage_of(problem.graph, padded);
        const double all = stage.operations.of(OperationClass::Choice), of_rows = choices(1),
                     of_tasks = choices(50);
        CHECK(all > 1);
        CHECK(of_rows == doctest::Approx(all * 2 / 1000));
        CHECK(of_tasks == doctest::Approx(all * 2 / 20));
    }
    TEST_CASE("more than is required can be computed where no image ends") {
        Var x("x");
        ImageParam in(Float(32), 1, "in");
        in.dim(0).set_estimate(0, 100);
        Func of_image("of_image"), of_place("of_place"), f("f");
        of_image(x) = in(x) * 2.0f;
        of_place(x) = cast<float>(x) * 2.0f;
        f(x) = of_image(x) + of_place(x);
        f.set_estimates({{0, 100}});
        const Graph graph = graph_of(f);
        CHECK(node_of(graph, of_image).room == std::vector<int64_t>{0});
        CHECK(node_of(graph, of_place).may_be_extended(0));
    }
    TEST_CASE("what an output promises does not depend on sizes, nor does what is read for it") {
        Var x("x"), c("c");
        Func channel("channel"), f("f");
        channel(x, c) = x + c;
        f(x, c) = channel(x, c) + channel(x + 1, c);
        f.bound(c, 0, 3);
        f.set_estimates({{0, 100}, {0, 3}});
        const Graph graph = graph_of(f);
        CHECK(node_of(graph, channel).is_constant == std::vector<bool>{false, true});
    }
}
