#include "autoscheduler/cost.h"
#include "support.h"
#include <cmath>

namespace tessera::autoscheduler::test {
namespace {

TEST_SUITE_BEGIN("autoscheduler, quotients in indices");

// Returns how the first index that the last stage reads by grows with the stage's first variable.
Growth growth_of(const std::function<Expr(Var)> &index) {
    Var x("x");
    ImageParam in(Float(32), 1, "in");
    Func f("f");
    f(x) = in(index(x));
    f.set_estimates({{0, 100}});
    const Graph graph(program::Algorithm({f.function()}), program::schedule_of({f.function()}));
    // The first stage reads the image by its own name.
    return graph.stages.back().accesses[0].index[0].growth(0);
}

TEST_CASE("a quotient stays the same for some points, and a rest begins anew") {
    CHECK(growth_of([](Expr x) { return x * 2 + 1; }) == Growth::linear(2));
    CHECK(growth_of([](Expr x) { return (x + 1) / 2; }) == Growth{0.5, 0, 2});
    CHECK(growth_of([](Expr x) { return x >> 2; }) == Growth{0.25, 0, 4});
    CHECK(growth_of([](Expr x) { return x / 64 * 64 + 3; }) == Growth{1, 0, 64});
    CHECK(growth_of([](Expr x) { return x / 2 / 3; }) == Growth{1.0 / 6, 0, 6});
    CHECK(growth_of([](Expr x) { return (2 * x + 1) / 2; }) == Growth::linear(1));
    CHECK(growth_of([](Expr x) { return x * 2 / 8; }) == Growth{0.25, 0, 4});
    const Growth rest = growth_of([](Expr x) { return x % 4 + 7; });
    CHECK(std::isnan(rest.mean));
    CHECK(rest.within == 1);
    CHECK(rest.period == 4);
    CHECK(rest.repeats);
    const Growth twice = growth_of([](Expr x) { return x % 4 * 3 + (x + 1) % 6; });
    CHECK(twice.repeats);
    CHECK(twice.period == 12);
    CHECK_FALSE(growth_of([](Expr x) { return x + x % 4; }).repeats);
    CHECK_FALSE(growth_of([](Expr x) { return x / 4; }).repeats);
    CHECK(growth_of([](Expr x) { return x % 8 / 3; }).repeats);
    const Growth both = growth_of([](Expr x) { return x / 6 + x / 4; });
    CHECK(both.period == 12);
    CHECK(both.within == 0);
}

TEST_CASE("growths go through one another") {
    const Growth half = Growth::of_quotient(2), third = Growth::of_quotient(3);
    CHECK(through(half, Growth::linear(2)) == Growth::linear(1));
    CHECK(through(half, third) == Growth{half.mean * third.mean, 0, 6});
    CHECK(through(Growth(), half).is_none());
    CHECK(through(Growth::linear(64), Growth::of_quotient(64)) == Growth{1, 0, 64});
    // Three points at once do not always end where a quotient steps.
    CHECK(std::isnan(through(half, Growth::linear(3)).within));
}

// The index is that of channels of a grouped convolution.
AccessPattern pattern_of_groups(bool is_promised, int lanes) {
    Var c("c");
    ImageParam in(Float(32), 1, "in");
    RDom r(0, 64, "r");
    Func sum("sum");
    sum(c) += in(c / 64 * 64 + r);
    sum.set_estimates({{0, 256}});
    if (is_promised) sum.bound(c, 0, 256);
    const Problem problem(sum, Target("x86-64-linux-avx512_skylake"));
    Plan plan = plain_plan(problem.graph);
    plan.functions[0].place = Place::Inline;  // the image by another name
    plan.functions[1].stages[1].vector = 0;
    plan.functions[1].stages[1].lanes = lanes;
    LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(plan)));
    const StageView view(tree, problem.machine, int(tree.stages.size()) - 1);
    const auto read =
        std::ranges::find_if(view.work->leaves, [](const Leaf &l) { return l.source.image >= 0; });
    REQUIRE(read != view.work->leaves.end());
    return view.pattern(read->growths, read->source, read->bytes);
}

TEST_CASE("lanes of a group read one element where it is known where groups begin") {
    CHECK(pattern_of_groups(true, 16) == AccessPattern::Same);
    CHECK(pattern_of_groups(false, 16) == AccessPattern::Gathered);
    CHECK(pattern_of_groups(true, 24) == AccessPattern::Gathered);
}

// The transform of rows of 8 columns: each column of a row needs all of them, by a table of 8x8.
struct Transform {
    Var x{"x"}, y{"y"}, xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, u{"u"};
    Func before{"before"}, rows{"rows"}, output{"output"};
    ImageParam in{Float(32), 2, "in"}, table{Float(32), 2, "table"};
    RDom k{0, 8, "k"};

    explicit Transform(int tile) {
        before(x, y) = in(x, y) + 1.0f;
        rows(x, y) += table(k, x % 8) * before(x / 8 * 8 + k, y);
        output(x, y) = rows(x, y);
        output.align_bounds(x, 8).set_estimates({{0, 960}, {0, 64}});
        table.set_estimates({{0, 8}, {0, 8}});
        output.tile(x, y, xo, yo, xi, yi, tile, 8);
        before.compute_at(output, xo).vectorize(x, 16);
        rows.compute_at(output, xo).update().split(x, x, u, 8).reorder(u, k, x, y).vectorize(u);
        rows.update().unroll(k);
    }
};

TEST_CASE("in tiles of a reader, lanes know where groups begin as far as the tiles tell") {
    for (const int tile : {64, 60}) {
        CAPTURE(tile);
        const Transform t(tile);
        const Problem problem(t.output, Target("x86-64-linux-avx512_skylake"));
        LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.graph.by_hand));
        const FunctionNode &rows =
            problem.graph.functions[size_t(problem.graph.find(t.rows.function()->name))];
        const StageView view(tree, problem.machine, rows.stages[1]);
        for (const Leaf &l : view.work->leaves) {
            const bool is_table = l.source.image >= 0;
            if (!is_table && l.source.function == view.node.function) continue;
            const AccessPattern pattern = view.pattern(l.growths, l.source, l.bytes);
            if (is_table) CHECK(view.points_served(l) >= double(tile / 8));
            if (!is_table) CHECK((pattern == AccessPattern::Same) == (tile == 64));
        }
    }
}

// Every second pixel from another function, and every second row from two others, in three
// channels.
struct Mosaic {
    Var x{"x"}, y{"y"}, c{"c"};
    Func even{"even"}, odd{"odd"}, whole{"whole"}, output{"output"};
    ImageParam in{Int(16), 2, "in"};

    // The picture has so many more columns on either side than are read.
    explicit Mosaic(int margin) {
        even(x, y) = sqrt(cast<float>(in(x, y)));
        odd(x, y) = even(x, y) + even(x + 1, y);
        whole(x, y, c) =
            mux(c, {select(x % 2 == 0, even(x / 2, y), odd(x / 2, y)),
                    select(y % 2 == 0, even(x / 2, y), odd(x / 2, y)), even(x / 2, y)});
        output(x, y, c) = whole(x, y, c) + whole(x + 1, y, c);
        output.bound(c, 0, 3);
        output.set_estimates({{0, 512}, {0, 64}, {0, 3}});
        in.set_estimates({{-margin, 258 + 2 * margin}, {-margin, 64 + 2 * margin}});
    }
};

struct MosaicProblem : Problem {
    explicit MosaicProblem(const Mosaic &mosaic)
        : Problem(mosaic.output, Target("x86-64-linux-avx512_skylake")) {}
    size_t number(const Func &f) const { return size_t(graph.find(f.function()->name)); }
};

TEST_CASE("how much more can be computed is known for each dimension") {
    const Mosaic mosaic(9);
    const MosaicProblem problem(mosaic);
    const FunctionNode &even = problem.graph.functions[problem.number(mosaic.even)];
    CHECK(even.room == std::vector<int64_t>{8, 8});
    const FunctionNode &whole = problem.graph.functions[problem.number(mosaic.whole)];
    CHECK(whole.room[0] >= 8);
    CHECK(whole.may_be_extended(2));
    CHECK(whole.is_constant == std::vector<bool>{false, false, true});
}

// Vectors of 32 columns; `together`: rows and channels, too.
Plan in_vectors(const MosaicProblem &problem, const Mosaic &mosaic, bool together) {
    Plan plan = plain_plan(problem.graph);
    for (const FunctionNode &f : problem.graph.functions) {
        if (f.function->args.empty()) continue;
        FunctionPlan &p = plan.functions[problem.graph.find(f.function->name)];
        const bool is_image = f.name == "in_im";
        if (is_image || f.name == "odd") p.place = Place::Inline;
        StagePlan &s = p.stages[0];
        s.vector = 0;
        s.lanes = 32;
        if (together && f.name != "even") s.unroll = {0, 2, 3};
    }
    FunctionPlan &whole = plan.functions[problem.number(mosaic.whole)];
    whole.place = Place::Step;
    whole.at = int(problem.number(mosaic.output));
    return plan;
}

TEST_CASE("code that knows which case it is at computes no other") {
    const Mosaic mosaic(64);
    const MosaicProblem problem(mosaic);
    const auto operations = [&](bool together) {
        const Plan plan = in_vectors(problem, mosaic, together);
        LoopTree tree(problem.graph, program::apply(problem.algorithm, problem.scheduled(plan)));
        const int stage = problem.graph.functions[problem.number(mosaic.whole)].stages[0];
        const StageView view(tree, problem.machine, stage);
        double gathered = 0, loads = 0;
        for (const Leaf &l : view.work->leaves) {
            loads += l.loads;
            if (view.pattern(l.growths, l.source, l.bytes) == AccessPattern::Gathered)
                gathered += l.loads;
        }
        return std::pair(loads, gathered);
    };
    const auto [all, of_lanes] = operations(false);
    const auto [few, gathered] = operations(true);
    // odd, which reads two values, is for two of three channels.
    CHECK(few < 0.8 * all);
    // Regions begin at multiples of two in both.
    CHECK(of_lanes == 0);
    CHECK(gathered == 0);
}

// The tails of the function's loops along x.
std::vector<TailStrategy> tails_of(const MosaicProblem &problem, const Plan &plan, const Func &f) {
    std::vector<TailStrategy> tails;
    for (const program::Step &step : problem.scheduled(plan).steps) {
        const auto *s = std::get_if<program::StageStep>(&step.what);
        const auto *split = s ? std::get_if<program::Split>(&s->written.directive) : nullptr;
        if (split && step.function == f.function()->name && split->old.text() == "x")
            tails.push_back(split->tail);
    }
    return tails;
}

TEST_CASE("pieces are moved back into regions that are never smaller than those of their readers") {
    const Mosaic mosaic(9);  // no room for a vector
    const MosaicProblem problem(mosaic);
    Plan plan = in_vectors(problem, mosaic, true);
    CHECK(tails_of(problem, plan, mosaic.whole) == std::vector{TailStrategy::Auto});
    // A vector of even is needed for two of whole.
    CHECK(tails_of(problem, plan, mosaic.even) == std::vector{TailStrategy::GuardWithIf});
    plan.functions[problem.number(mosaic.even)].stages[0].lanes = 16;
    CHECK(tails_of(problem, plan, mosaic.even) == std::vector{TailStrategy::Auto});
    // Vectors are no longer than the tiles that they are in.
    plan.functions[problem.number(mosaic.output)].stages[0].tile = {16, 0, 0};
    CHECK(tails_of(problem, plan, mosaic.whole) == std::vector{TailStrategy::GuardWithIf});
    plan.functions[problem.number(mosaic.output)].stages[0].tile.clear();
    // An output that is narrower than a vector is refused, and nothing else.
    plan.functions[problem.number(mosaic.output)].stages[0].lanes = 8;
    CHECK(tails_of(problem, plan, mosaic.whole) == std::vector{TailStrategy::GuardWithIf});
}

TEST_CASE("a schedule with pieces that are moved back and aligned computes the same") {
    const Mosaic mosaic(9);
    const Problem problem(mosaic.output);
    const MosaicProblem other(mosaic);
    Plan plan = in_vectors(other, mosaic, true);
    plan.functions[other.number(mosaic.even)].stages[0].lanes = 16;
    Measurer measurer(problem.workload, problem.scheduled(plain_plan(problem.graph)));
    CHECK(measurer({problem.scheduled(plan)}, 1e300)[0].outcome == Outcome::Measured);
}

TEST_SUITE_END();

}  // namespace
}  // namespace tessera::autoscheduler::test
