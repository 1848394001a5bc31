#include "autoscheduler/simple.h"
#include "autoscheduler/sketch.h"
#include "support.h"
#include <algorithm>

namespace tessera::autoscheduler::test {
namespace {

TEST_SUITE_BEGIN("autoscheduler, sketches");

// The sum of all elements, or of each column.
Func sum_of(const Buffer<float> &in, bool of_columns) {
    Var x("x");
    Func f("f");
    RDom r(0, in.width(), 0, in.height(), "r");
    if (of_columns) {
        RDom rows(0, in.height(), "rows");
        f(x) += in(x, rows);
        f.set_estimates({{0, in.width()}});
    } else {
        f() += in(r.x, r.y);
    }
    return f;
}

Buffer<float> numbers(int width, int height) {
    Buffer<float> in(width, height);
    in.for_each_element([&](int x, int y) { in(x, y) = float((3 * x + 5 * y) % 16); });
    return in;
}

std::vector<std::string> names_of(const std::vector<Sketch> &sketches) {
    std::vector<std::string> names;
    for (const Sketch &s : sketches) names.push_back(s.name);
    return names;
}

TEST_CASE("a reduction to few results is factored into lanes, on cores, and both") {
    Problem problem(sum_of(numbers(512, 256), false));
    const auto sketches = make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine);
    CHECK(names_of(sketches) ==
          std::vector<std::string>{"the functions as they are",
                                   "f.update(0): partial results in lanes",
                                   "f.update(0): partial results on cores",
                                   "f.update(0): partial results on cores and in lanes"});
    CHECK(sketches[0].graph->functions.size() == 1);
    CHECK(sketches[1].graph->functions.size() == 2);
    CHECK(sketches[3].graph->functions.size() == 3);
}

TEST_CASE("each sketch of a sum computes the sum") {
    Problem problem(sum_of(numbers(512, 256), false));
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    for (const Sketch &s :
         make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine)) {
        CAPTURE(s.name);
        const program::Schedule schedule = to_schedule(*s.graph, plain_plan(*s.graph), 8);
        CHECK(measurer({schedule}, 1e300)[0].outcome == Outcome::Measured);
    }
}

TEST_CASE("a reduction with results enough for vectors and cores is left as it is") {
    Problem problem(sum_of(numbers(8192, 256), true));
    CHECK(make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine).size() == 1);
}

TEST_CASE("the sums of many rows are factored into lanes together, and stay with their rows") {
    Var x("x"), y("y");
    const Buffer<float> in = numbers(256, 8192);
    RDom r(0, in.width(), "r");
    Func largest("largest"), total("total"), output("output");
    largest(y) = Float(32).min();
    largest(y) = max(largest(y), in(r, y));
    total(y) += in(r, y) - largest(y);
    output(x, y) = in(x, y) * total(y);
    output.set_estimates({{0, in.width()}, {0, in.height()}});
    Problem problem(output);
    const auto sketches = make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine);
    REQUIRE(sketches.size() >= 2);
    CHECK(sketches[1].name.starts_with("rows in lanes: largest"));
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    double cycles[2];
    for (size_t s = 0; s < 2; s++) {
        const SimpleResult simple = schedule_simply(*sketches[s].graph, problem.machine);
        CHECK(measurer({simple.schedule}, 1e300)[0].outcome == Outcome::Measured);
        cycles[s] = simple.cycles;
        CHECK(count_in<program::Rfactor>(simple.schedule) == (s == 0 ? 0 : 2));
    }
    CHECK(cycles[1] < cycles[0]);
}

TEST_CASE("a scan, whose steps need one another, is left as it is") {
    Var x("x");
    Func f("f");
    RDom r(1, 4000, "r");
    f(x) = cast<float>(x);
    f(r) = f(r) + f(r - 1);
    f.set_estimates({{0, 4001}});
    Problem problem(f);
    CHECK(make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine).size() == 1);
}

TEST_CASE("a Func that is scheduled by hand is not factored") {
    Func f = sum_of(numbers(512, 256), false);
    f.update().unscheduled();
    Problem problem(f);
    CHECK(make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine).size() == 1);
}

TEST_CASE("a sum of everything is found to be faster with partial results") {
    Problem problem(sum_of(numbers(2048, 512), false));
    SearchOptions options;
    options.trials = 16;
    options.measure.threads = 2;
    const SearchResult found = search(problem.workload, problem.machine, options);
    const bool is_factored =
        std::ranges::any_of(found.schedule.steps, [](const program::Step &step) {
            const auto *s = std::get_if<program::StageStep>(&step.what);
            return s && std::holds_alternative<program::Rfactor>(s->written.directive);
        });
    CHECK(is_factored);
}

// A product of matrices, one of which is computed.
Func product_of_computed() {
    Var x("x"), y("y");
    Func a("a"), product("product");
    RDom r(0, 128, "r");
    a(x, y) = cast<float>((x + 3 * y) % 8);
    product(x, y) += a(r, y) * cast<float>((r * 5 + x) % 4);
    product.set_estimates({{0, 128}, {0, 128}});
    return product;
}

TEST_CASE("an operand that is read often may be copied, and the result is the same") {
    Problem problem(product_of_computed());
    const auto sketches = make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine);
    REQUIRE(names_of(sketches) == std::vector<std::string>{"the functions as they are",
                                                           "product.update(0): sums of tiles",
                                                           "product: a copy of a",
                                                           "product_1_s: a copy of a"});
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    const Graph &graph = *sketches[2].graph;
    REQUIRE(graph.functions.size() == 3);
    Plan plan = plain_plan(graph);
    plan.functions[1].innermost = 1;
    plan.functions[1].aligned = true;
    plan.functions[1].stages[0].vector = 0;
    plan.functions[1].stages[0].lanes = 16;
    CHECK(measurer({to_schedule(graph, plan, 8)})[0].outcome == Outcome::Measured);
}

// Two transcendental functions a value, of which `half` takes four, and the output one.
Func half_and_whole(const ImageParam &in) {
    Var x("x"), y("y");
    Func bright("bright"), half("half"), output("output");
    bright(x, y) = exp(in(x, y)) * exp(in(x, y) * 0.5f + 1.0f);
    half(x, y) =
        bright(2 * x, y) + bright(2 * x + 1, y) + bright(2 * x + 2, y) + bright(2 * x + 3, y);
    output(x, y) = bright(x, y) + half(x / 2, y);
    output.set_estimates({{0, 2048}, {0, 2048}});
    return output;
}

TEST_CASE("what one reader takes several values of may be stored for that one alone") {
    const ImageParam in(Float(32), 2, "in");
    Problem problem(half_and_whole(in));
    const auto sketches = make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine);
    REQUIRE(names_of(sketches) == std::vector<std::string>{"the functions as they are",
                                                           "half: bright is stored for it alone"});
    const SimpleResult simple = schedule_simply(*sketches[1].graph, problem.machine);
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    CHECK(measurer({simple.schedule}, 1e300)[0].outcome == Outcome::Measured);
}

TEST_CASE("where all readers take one value, or all of them several, none has its own") {
    Var x("x");
    for (const int apart : {0, 1}) {
        const ImageParam in(Float(32), 1, "in");
        Func f("f"), g("g"), h("h"), output("output");
        f(x) = exp(in(x)) * in(x) + in(x + 1);
        g(x) = f(x) + f(x + apart);
        h(x) = f(x) * f(x + 2 * apart);
        output(x) = g(x) + h(x);
        output.set_estimates({{0, 1 << 20}});
        Problem problem(output);
        CAPTURE(apart);
        CHECK(make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine).size() == 1);
    }
}

TEST_CASE("a rule of the user's own makes sketches, too") {
    add_sketch_rule([](const Graph &graph, const Machine &) {
        const program::FunctionRef &f = graph.functions[0].function;
        if (graph.functions[0].name != "copied_by_rule") return std::vector<Variant>();
        const Symbol made = Symbol::interned("copy_by_rule");
        return std::vector<Variant>{{"mine", {{f->name, program::WrapStep{{}, made, false, {}}}}}};
    });
    Var x("x");
    Func f("copied_by_rule"), g("g");
    f(x) = x;
    g(x) = f(x) + f(x + 1);
    g.set_estimates({{0, 100}});
    Problem problem(g);
    CHECK(names_of(make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine)) ==
          std::vector<std::string>{"the functions as they are", "mine"});
}

TEST_SUITE_END();

}  // namespace
}  // namespace tessera::autoscheduler::test
