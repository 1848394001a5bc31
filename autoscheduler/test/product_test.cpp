#include "autoscheduler/register_tiles.h"
#include "program/print_schedule.h"
#include "program/schedule_json.h"
#include "support.h"
#include <algorithm>

namespace tessera::autoscheduler::test {
namespace {

TEST_SUITE_BEGIN("autoscheduler, products of matrices");

std::vector<Sketch> sketches_of(const Problem &problem) {
    return make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine);
}
Sketch sketch_named(const Problem &problem, const std::string &name) {
    const std::vector<Sketch> all = sketches_of(problem);
    const auto found = std::ranges::find(all, name, &Sketch::name);
    REQUIRE(found != all.end());
    return *found;
}
constexpr const char *sums_with_copy = "product_1_s: a copy of b";

int number_of(const Graph &graph, const std::string &name) {
    const auto found = std::ranges::find(graph.functions, name, &FunctionNode::name);
    REQUIRE(found != graph.functions.end());
    return int(found - graph.functions.begin());
}
Plan plan_by_hand(const Problem &problem, const Graph &graph) {
    const auto plan = plan_with_register_tiles(graph, problem.machine, plain_plan(graph));
    REQUIRE(plan);
    return plan.value_or(Plan());
}

TEST_CASE("a product of inputs has sketches with sums of tiles and with copies of the inputs") {
    const Problem problem(product_of_images(256));
    std::vector<std::string> names;
    for (const Sketch &s : sketches_of(problem)) names.push_back(s.name);
    CHECK(names ==
          std::vector<std::string>{"the functions as they are", "product.update(0): sums of tiles",
                                   "product: a copy of a", "product: a copy of b",
                                   "product: copies of a and b", "product_1_s: a copy of a",
                                   sums_with_copy, "product_1_s: copies of a and b"});
}

TEST_CASE("a copy is not copied again") {
    const Problem problem(product_of_images(256));
    const Sketch sketch = sketch_named(problem, "product: copies of a and b");
    CHECK(cache_operands(*sketch.graph, problem.machine).empty());
}

TEST_CASE("sums of few points, and those of no output, are not made in tiles") {
    const Problem few(product_of_images(32));
    CHECK(sum_in_tiles(few.graph, few.machine).empty());
    Var x("x"), y("y");
    Func out("out");
    out(x, y) = product_of_images(256)(x, y) + 1;
    out.set_estimates({{0, 256}, {0, 256}});
    const Problem inner(out);
    CHECK(sum_in_tiles(inner.graph, inner.machine).empty());
}

TEST_CASE("a block of sums is computed at a step of the output, and the copy for each chunk") {
    const Problem problem(product_of_images(1024));
    const Sketch sketch = sketch_named(problem, sums_with_copy);
    const Graph &graph = *sketch.graph;
    const Plan plan = plan_by_hand(problem, graph);
    const int output = number_of(graph, "product");
    const FunctionPlan &sums = plan.functions[size_t(number_of(graph, "product_1_s"))];
    const FunctionPlan &copy = plan.functions[size_t(number_of(graph, "b_im_for_product_1_s"))];
    CHECK(sums.place == Place::Step);
    CHECK(sums.at == output);
    CHECK(copy.place == Place::Chunk);
    CHECK(copy.at == output);
    const StagePlan &tile = plan.functions[size_t(output)].stages.back();
    const int64_t in_registers = sums.stages[1].unroll[0] * sums.stages[1].unroll[1];
    CHECK(in_registers > problem.machine.registers / 4);
    CHECK(in_registers < problem.machine.registers);
    CHECK(tile.tile[0] == sums.stages[1].unroll[0] * sums.stages[1].lanes);
}

TEST_CASE("blocks of sums are whole, as far as the sizes have divisors") {
    for (int size : {128, 98, 147, 254}) {
        CAPTURE(size);
        const Problem problem(product_of_images(size));
        const Sketch sketch = sketch_named(problem, "product.update(0): sums of tiles");
        const Plan plan = plan_by_hand(problem, *sketch.graph);
        const StagePlan &s = plan.functions.back().stages.back();
        const int64_t vectors = (size + s.lanes - 1) / s.lanes;
        CHECK(vectors % std::max<int64_t>(1, s.unroll[0]) == 0);
        CHECK(size % std::max<int64_t>(1, s.unroll[1]) == 0);
    }
}

TEST_CASE("sums that an output reads are made in blocks, too, and copies for each tile") {
    Var x("x"), y("y");
    Func out("out");
    out(x, y) = product_of_images(512)(x, y) + 1;
    out.set_estimates({{0, 512}, {0, 512}});
    const Problem problem(out);
    const Sketch sketch = sketch_named(problem, "product: a copy of b");
    const Plan plan = plan_by_hand(problem, *sketch.graph);
    const auto of = [&](const char *name) {
        return plan.functions[size_t(number_of(*sketch.graph, name))].place;
    };
    CHECK(of("product") == Place::Step);
    CHECK(of("b_im_for_product") == Place::Tile);
}

TEST_CASE("what meets the border of an image is computed before, and not for each tile") {
    Var x("x"), y("y");
    ImageParam image(Float(32), 2, "image"), weights(Float(32), 3, "weights");
    Func padded = BoundaryConditions::constant_exterior(image, 0.0f, {{0, 64}, {0, 256}});
    Func conv("conv");
    RDom r(0, 64, 0, 3, "r");
    conv(x, y) += weights(x, r.x, r.y) * padded(r.x, y + r.y - 1);
    conv.set_estimates({{0, 64}, {0, 256}});
    const Problem problem(conv);
    const Sketch sketch = sketch_named(problem, "conv.update(0): sums of tiles");
    const SimpleResult simple = schedule_simply(problem.algorithm, *sketch.graph, problem.machine);
    REQUIRE(simple.by_hand);
    const auto of_padded = size_t(number_of(*sketch.graph, padded.name()));
    CHECK(simple.by_hand.value_or(Plan()).functions[of_padded].place == Place::Root);
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    const Plan plan = simple.by_hand.value_or(Plan());
    CHECK(measurer({to_schedule(*sketch.graph, plan, 8)}, 1e300)[0].outcome == Outcome::Measured);
}

TEST_CASE("without a measurement, a product is scheduled as by hand or better") {
    const Problem problem(product_of_images(512));
    SearchOptions options;
    options.trials = 0;
    for (bool uses_model : {false, true}) {
        options.uses_model = uses_model;
        const SearchResult found = search(problem.workload, problem.machine, options);
        CHECK(count_in<program::Rfactor>(found.schedule) == 1);
    }
}

TEST_CASE("schedules by rules of each sketch compute the product") {
    const Problem problem(product_of_images(100));
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    std::vector<program::Schedule> schedules;
    for (const Sketch &s : sketches_of(problem)) {
        const SimpleResult simple = schedule_simply(problem.algorithm, *s.graph, problem.machine);
        for (const Plan &plan : simple.summits)
            schedules.push_back(to_schedule(*s.graph, plan, problem.machine.least_tasks()));
    }
    REQUIRE(schedules.size() > 8);
    for (const Measurement &m : measurer(schedules, 1e300)) {
        CAPTURE(m.message);
        CHECK(m.outcome == Outcome::Measured);
    }
}

TEST_CASE("by rules, a copy is not inlined") {
    const Problem problem(product_of_images(512));
    const Sketch sketch = sketch_named(problem, "product: a copy of b");
    const auto copy = size_t(number_of(*sketch.graph, "b_im_for_product"));
    for (const Plan &plan :
         schedule_simply(problem.algorithm, *sketch.graph, problem.machine).summits)
        CHECK(plan.functions[copy].place != Place::Inline);
}

TEST_CASE("the copy of an image is a step like others: in C++, in JSON, and to be compared") {
    const Problem problem(product_of_images(256));
    const Sketch sketch = sketch_named(problem, sums_with_copy);
    const program::Schedule schedule =
        to_schedule(*sketch.graph, plan_by_hand(problem, *sketch.graph), 8);
    const std::string source = program::print_schedule(problem.algorithm, schedule);
    CHECK(source.find("Func b_im_for_product_1_s = b_im.in({product_1_s});") != source.npos);
    CHECK(source.find("b_im_for_product_1_s.compute_at(LoopLevel(product, ") != source.npos);
    const std::string json = program::schedule_to_json(problem.algorithm, schedule);
    const program::Schedule again = program::schedule_from_json(problem.algorithm, json, {}, {});
    CHECK(again.hash(problem.algorithm) == schedule.hash(problem.algorithm));
    CHECK(program::schedule_to_json(problem.algorithm, again) == json);
    program::Schedule without = schedule;
    std::erase_if(without.steps, [](const program::Step &step) {
        return std::holds_alternative<program::WrapStep>(step.what);
    });
    CHECK_FALSE(without == schedule);
}

TEST_CASE("a search finds sums of tiles") {
    const Problem problem(product_of_images(256));
    SearchOptions options;
    options.trials = 8;
    options.measure = {.threads = 1, .run_seconds = 0.01};
    const SearchResult found = search(problem.workload, problem.machine, options);
    CHECK(count_in<program::Rfactor>(found.schedule) == 1);
}

TEST_SUITE_END();

}  // namespace
}  // namespace tessera::autoscheduler::test
