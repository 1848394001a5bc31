#include "autoscheduler/copies.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/test/support.h"

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

// Copies a point of two dimensions, or of one, to where it is asked for; what it reads is dense.
extern "C" int autoscheduler_test_copy(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host) {
        for (int d = 0; d < in->dimensions; d++) in->dim[d] = out->dim[d];
        return 0;
    }
    if (in->dim[0].stride != 1) return 1;
    const int rows = out->dimensions > 1 ? out->dim[1].extent : 1;
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < out->dim[0].extent; x++) {
            const int dx = out->dim[0].min - in->dim[0].min,
                      dy = rows > 1 ? out->dim[1].min - in->dim[1].min : 0;
            const int to = rows > 1 ? y * out->dim[1].stride : 0,
                      from = rows > 1 ? (y + dy) * in->dim[1].stride : 0;
            reinterpret_cast<float *>(out->host)[to + x * out->dim[0].stride] =
                reinterpret_cast<float *>(in->host)[from + x + dx];
        }
    }
    return 0;
}

// The sum of a point and of the one that is three further.
extern "C" int autoscheduler_test_apart(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host) {
        in->dim[0] = out->dim[0];
        in->dim[0].extent += 3;
        return 0;
    }
    const auto *from = reinterpret_cast<float *>(in->host) + out->dim[0].min - in->dim[0].min;
    for (int x = 0; x < out->dim[0].extent; x++)
        reinterpret_cast<float *>(out->host)[x] = from[x] + from[x + 3];
    return 0;
}

namespace {

// A stage in C between others, of which one reads what it reads as well.
struct Around {
    Var x{"x"}, y{"y"};
    Func first{"first"}, before{"before"}, middle{"middle"}, out{"out"};
    Around() {
        first(x, y) = cast<float>(x + 2 * y);
        before(x, y) = first(x, y) + first(x + 1, y);
        middle.define_extern("autoscheduler_test_copy", {before}, Float(32), 2);
        out(x, y) = middle(x, y) + middle(x, y + 1) + before(x, y);
        out.set_estimates({{0, 200}, {0, 100}});
    }
    bool is_right() {
        const Buffer<float> result = out.realize({200, 100});
        const auto before_at = [](int x, int y) { return float(2 * x + 4 * y + 1); };
        for (int y = 0; y < 100; y++) {
            for (int x = 0; x < 200; x++) {
                const float right = 2 * before_at(x, y) + before_at(x, y + 1);
                if (result(x, y) != right) return false;
            }
        }
        return true;
    }
};

}  // namespace

TEST_SUITE("autoscheduler, stages in C") {
    TEST_CASE("what they read is a part of the graph, and is no Func to inline") {
        const Problem problem(Around().out);
        const Graph &graph = problem.graph;
        REQUIRE(graph.functions.size() == 4);
        const FunctionNode &before = graph.functions[1];
        CHECK(before.name == "before");
        CHECK(before.is_read_by_extern);
        CHECK(before.consumers.size() == 2);
        CHECK(before.required == Box{{0, 199}, {0, 100}});
        CHECK_FALSE(may_be_inlined(graph, 1));
        CHECK(may_be_inlined(graph, 0));
        // The function in C says how much it reads.
        CHECK(before.is_constant == std::vector<bool>{false, false});
    }
    TEST_CASE("an estimate says what they read in other dimensions than their own") {
        Var x("x"), y("y");
        Func table("table"), sums("sums");
        ImageParam in(Float(32), 3, "in");
        table(x, y) = cast<float>(x + y);
        sums.define_extern("autoscheduler_test_copy", {table, in}, Float(32), 1);
        table.set_estimate(y, 10, 20);
        in.dim(2).set_estimate(0, 5);
        sums.set_estimates({{0, 100}});
        const Problem problem(sums);
        CHECK(problem.graph.functions[0].required == Box{{0, 99}, {10, 29}});
        REQUIRE(problem.graph.images.size() == 1);
        CHECK(problem.graph.images[0].box == Box{{0, 99}, {0, 0}, {0, 4}});
    }
    TEST_CASE("each autoscheduler makes a schedule that compiles, and computes the same") {
        for (const AutoschedulerParams &params :
             {AutoschedulerParams("simple"), AutoschedulerParams("tessera", {{"trials", "0"}}),
              AutoschedulerParams("Mullapudi2016"), AutoschedulerParams("Adams2019"),
              AutoschedulerParams("Li2018")}) {
            CAPTURE(params.name);
            Around p;
            Pipeline(p.out).apply_autoscheduler(get_host_target(), params);
            CHECK(p.is_right());
        }
        Around measured;
        Pipeline(measured.out)
            .apply_autoscheduler(get_host_target(), {"tessera", {{"trials", "6"}}});
        CHECK(measured.is_right());
    }
    TEST_CASE("images that are measured with are as large as they ask for") {
        ImageParam in(Float(32), 1, "in");
        Var x("x");
        Func apart("apart"), out("out");
        apart.define_extern("autoscheduler_test_apart", {in}, Float(32), 1);
        out(x) = apart(x) * 2;
        out.set_estimates({{10, 1000}});
        const AutoschedulerParams params = {"tessera", {{"trials", "2"}, {"parallelism", "1"}}};
        CHECK_NOTHROW(Pipeline(out).apply_autoscheduler(get_host_target(), params));
    }
    TEST_CASE("no plan lays out what they read in another way") {
        const Problem problem(Around().out);
        std::mt19937_64 random(5);
        Plan plan = schedule_simply(problem.graph, problem.machine).plan;
        plan.functions[1].innermost = 1;
        plan.functions[1].aligned = true;
        for (int i = 0; i < 200; i++) {
            plan = mutated(problem.graph, plan, problem.machine, random);
            for (const program::Step &step : problem.scheduled(plan).steps) {
                const auto *of_func = std::get_if<program::FuncStep>(&step.what);
                if (!of_func || step.function.text() != "before") continue;
                const auto &directive = of_func->written.directive;
                CHECK_FALSE(std::holds_alternative<program::ReorderStorage>(directive));
                CHECK_FALSE(std::holds_alternative<program::AlignStorage>(directive));
            }
        }
    }
}
