#include "autoscheduler/copies.h"
#include "autoscheduler/plan_costs.h"
#include "autoscheduler/register_tiles.h"
#include "autoscheduler/simple.h"
#include "autoscheduler/sketch.h"
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
    const SimpleResult simple = schedule_simply(*sketch.graph, problem.machine);
    REQUIRE(simple.by_hand);
    const auto of_padded = size_t(number_of(*sketch.graph, padded.name()));
    CHECK(simple.by_hand.value_or(Plan()).functions[of_padded].place == Place::Root);
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    const Plan plan = simple.by_hand.value_or(Plan());
    CHECK(measurer({to_schedule(*sketch.graph, plan, 8)}, 1e300)[0].outcome == Outcome::Measured);
}

TEST_CASE("products that are added up at once are read as they lie in memory") {
    Var x("x"), y("y"), i("i"), g("g");
    ImageParam a(UInt(8), 2, "a"), b(Int(8), 3, "b");
    RDom k(0, 4, 0, 64, "k");
    // Four products of a sum lie together, or in rows of their own.
    auto pattern = [&](bool is_together) {
        Func product("product");
        const Expr other = is_together ? b(k.x, x, k.y) : b(x, k.x, k.y);
        product(x, y) += cast<int32_t>(a(k.y * 4 + k.x, y)) * cast<int32_t>(other);
        product.set_estimates({{0, 256}, {0, 256}});
        a.set_estimates({{0, 256}, {0, 256}});
        b.set_estimates({{0, is_together ? 4 : 256}, {0, is_together ? 256 : 4}, {0, 64}});
        const Problem problem(product, Target("x86-64-linux-avx512_sapphirerapids"));
        Plan plan = plain_plan(problem.graph);
        StagePlan &update = plan.functions.back().stages[1];
        update.vector = 0;
        update.lanes = 16;
        update.dot = 4;
        for (size_t f = 0; f + 1 < plan.functions.size(); f++)
            plan.functions[f].place = Place::Inline;
        LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(plan)));
        const StageView view(tree, problem.machine, int(tree.stages.size()) - 1);
        REQUIRE(view.dot_lanes == 4);
        const auto read = std::ranges::find_if(view.work->leaves, [&](const Leaf &l) {
            return l.source.image >= 0 && problem.graph.images[size_t(l.source.image)].name == "b";
        });
        REQUIRE(read != view.work->leaves.end());
        return view.pattern(read->growths, read->source, read->bytes);
    };
    CHECK(pattern(true) == AccessPattern::Dense);
    CHECK(pattern(false) == AccessPattern::Strided);
}

TEST_CASE("rows that are a power of two of bytes apart take more of a cache than they have") {
    const auto box = [](int64_t width, int64_t height) {
        return Box{Span{0, width - 1}, Span{0, height - 1}};
    };
    // 64 rows of 256 bytes, 4096 bytes apart, lie in a sixteenth of a cache.
    CHECK(room_in(box(64, 64), box(1024, 1024), 4) == 64 * 4096);
    CHECK(room_in(box(64, 64), box(256, 1024), 4) == 64 * 1024);
    // In rows of 4160 bytes, each line goes to another place.
    CHECK(room_in(box(64, 64), box(1040, 1024), 4) == bytes_in(box(64, 64), 4));
    CHECK(room_in(box(1024, 64), box(1024, 1024), 4) == bytes_in(box(1024, 64), 4, 0, 1024));
    CHECK(room_in(box(64, 1), box(1024, 1024), 4) == 4096);

    // With 1024 columns, those of a block of sums are no longer in the second cache.
    auto cycles_per_sum = [](int size) {
        Var x("x"), y("y");
        Func out("out");
        out(x, y) = product_of_images(size)(x, y) + 1;
        out.set_estimates({{0, size}, {0, size}});
        const Problem problem(out);
        Machine machine = problem.machine;
        machine.caches = {{{48 << 10, 44}, {2 << 20, 8.5}, {300 << 20, 5}}};
        const auto plan =
            plan_with_register_tiles(problem.graph, machine, plain_plan(problem.graph));
        REQUIRE(plan);
        const auto cycles = PlanCosts(problem.graph, machine).cycles(plan.value_or(Plan()));
        return cycles.value_or(0) / (double(size) * size * size);
    };
    CHECK(cycles_per_sum(1024) > 1.5 * cycles_per_sum(1088));
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
        const SimpleResult simple = schedule_simply(*s.graph, problem.machine);
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
    for (const Plan &plan : schedule_simply(*sketch.graph, problem.machine).summits)
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

// A product with a matrix that the program holds, whose rows are columns of the result.
Func product_with_constant(int size) {
    Var x("x"), y("y");
    ImageParam a(Float(32), 2, "a");
    Buffer<float> weights(size, size, "weights");
    weights.for_each_element([&](int i, int j) { weights(i, j) = float((i * 3 + j) % 8); });
    Func product("product");
    RDom k(0, size, "k");
    product(x, y) += a(k, y) * weights(k, x);
    product.set_estimates({{0, size}, {0, size}});
    return product;
}
constexpr const char *sums_with_constant = "product_1_s: a copy of weights";
constexpr const char *copy_of_constant = "weights_for_product_1_s";

TEST_CASE("a stage reads a Buffer of the program through a copy, which is none of an image") {
    const Problem problem(product_with_constant(256));
    const Sketch sketch = sketch_named(problem, sums_with_constant);
    const Graph &graph = *sketch.graph;
    const int copy = number_of(graph, copy_of_constant);
    CHECK(is_copy(graph, copy));
    CHECK(dimension_along(graph, copy, 0) == 1);
    const StageNode &sums = graph.stages[size_t(graph.functions[size_t(copy)].consumers[0])];
    CHECK(graph.functions[size_t(sums.function)].name == "product_1_s");
    CHECK(std::ranges::none_of(sums.accesses, [](const Access &a) { return a.source.image >= 0; }));
    CHECK(copy_constants(graph, problem.machine).empty());
}

TEST_CASE("a copy of a Buffer is stored in the order in which a block of sums reads it") {
    const Problem problem(product_with_constant(256));
    const Sketch sketch = sketch_named(problem, sums_with_constant);
    const SimpleResult simple = schedule_simply(*sketch.graph, problem.machine);
    const auto copy = size_t(number_of(*sketch.graph, copy_of_constant));
    REQUIRE(simple.by_hand);
    CHECK(simple.by_hand.value_or(Plan()).functions[copy].innermost == 1);
    const program::Schedule schedule =
        to_schedule(*sketch.graph, simple.by_hand.value_or(Plan()), 8);
    CHECK(program::print_schedule(problem.algorithm, schedule).find(".reorder_storage({_1, _0})") !=
          std::string::npos);
}

TEST_CASE("a Buffer that is read seldom, or whose name another has, is not copied") {
    const Problem small(product_with_constant(32));
    CHECK(copy_constants(small.graph, small.machine).empty());
    Var x("x"), y("y");
    Buffer<float> a(256, 256, "same"), b(256, 256, "same");
    Func f("f");
    RDom k(0, 256, "k");
    f(x, y) += a(k, x) * b(k, y);
    f.set_estimates({{0, 256}, {0, 256}});
    const Problem twice(f);
    CHECK(copy_constants(twice.graph, twice.machine).empty());
}

TEST_CASE("the copy of a Buffer is a step like others: in C++, in JSON, and to be compared") {
    const Problem problem(product_with_constant(256));
    const Sketch sketch = sketch_named(problem, sums_with_constant);
    const program::Schedule schedule =
        to_schedule(*sketch.graph, plan_by_hand(problem, *sketch.graph), 8);
    const std::string source = program::print_schedule(problem.algorithm, schedule);
    CHECK(source.find("ImageParam weights = pipeline.get_image_param(\"weights\");") !=
          source.npos);
    CHECK(
        source.find("Func weights_for_product_1_s = product_1_s.update(0).copy_input(weights);") !=
        source.npos);
    const std::string json = program::schedule_to_json(problem.algorithm, schedule);
    const program::Schedule again = program::schedule_from_json(problem.algorithm, json, {}, {});
    CHECK(again.hash(problem.algorithm) == schedule.hash(problem.algorithm));
    CHECK(program::schedule_to_json(problem.algorithm, again) == json);
    // The same steps, by a program built anew.
    const Problem other(product_with_constant(256));
    const program::Schedule there = program::schedule_from_json(other.algorithm, json, {}, {});
    CHECK(there.hash(other.algorithm) == schedule.hash(problem.algorithm));
}

TEST_CASE("schedules by rules of each sketch compute a product with a constant") {
    const Problem problem(product_with_constant(128));
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    std::vector<program::Schedule> schedules;
    size_t copies = 0;
    for (const Sketch &s : sketches_of(problem)) {
        const SimpleResult simple = schedule_simply(*s.graph, problem.machine);
        for (const Plan &plan : simple.summits) {
            schedules.push_back(to_schedule(*s.graph, plan, problem.machine.least_tasks()));
            copies += size_t(count_in<program::CopyInput>(schedules.back()));
        }
    }
    REQUIRE(copies > 8);
    for (const Measurement &m : measurer(schedules, 1e300)) {
        CAPTURE(m.message);
        CHECK(m.outcome == Outcome::Measured);
    }
}

TEST_CASE("a product with a constant is tuned, with another layout of the constant, and right") {
    constexpr int size = 256;
    Func product = product_with_constant(size);
    const AutoSchedulerResults found = Pipeline(product).apply_autoscheduler(
        get_jit_target_from_environment(), {"tessera", {{"trials", "24"}, {"parallelism", "1"}}});
    CAPTURE(found.schedule_source);
    CHECK(found.schedule_source.find("copy_input(weights)") != std::string::npos);
    CHECK(found.schedule_source.find("reorder_storage") != std::string::npos);
    Buffer<float> a(size, size);
    a.for_each_element([&](int i, int j) { a(i, j) = float((i + j * 5) % 4); });
    Pipeline(product).get_image_param("a").set(a);
    const Buffer<float> result = product.realize({size, size});
    int wrong = 0;
    for (int y = 0; y < size; y += 7) {
        for (int x = 0; x < size; x++) {
            float sum = 0;
            for (int k = 0; k < size; k++) sum += a(k, y) * float((k * 3 + x) % 8);
            wrong += result(x, y) != sum;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a product may be sums of tiles, by rules, and computes the same") {
    const Problem problem(product_of_images(256));
    const auto sketches = make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine);
    const auto found = std::ranges::find_if(
        sketches, [](const Sketch &s) { return s.name.ends_with("sums of tiles"); });
    REQUIRE(found != sketches.end());
    const SimpleResult simple = schedule_simply(*found->graph, problem.machine);
    CHECK(count_in<program::Rfactor>(simple.schedule) == 1);
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    CHECK(measurer({simple.schedule}, 1e300)[0].outcome == Outcome::Measured);
}

TEST_SUITE_END();

}  // namespace
}  // namespace tessera::autoscheduler::test
