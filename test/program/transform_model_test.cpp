#include "interpret/tape.h"
#include "ir/operators.h"
#include "program/loop_transforms.h"
#include "program/transform_model.h"
#include "random.h"
#include <algorithm>
#include <doctest/doctest.h>
#include <map>

using namespace tessera;
using namespace tessera::program;
using ir::Expr;
using test::Random;

namespace {

const Symbol x = Symbol::interned("x"), y = Symbol::interned("y"), xo = Symbol::interned("xo"),
             xi = Symbol::interned("xi"), t = Symbol::interned("t");

Expr variable(Symbol s) { return ir::Variable::make(Int(32), s); }

// Numbers by the name of the variable that stands for them in expressions.
class Numbers {
public:
    Expr name(int64_t value) {
        const Symbol s = Symbol::fresh("n");
        set(s, value);
        return variable(s);
    }
    void set(Symbol s, int64_t value) { values[s] = interpret::Value::of_int(Int(32), value); }
    int64_t value(const Expr &e) const { return interpret::evaluate(e, values).as_int(); }
    int64_t extent(const Interval &i) const { return value(i.max) - value(i.min) + 1; }

private:
    std::unordered_map<Symbol, interpret::Value> values;
};

constexpr TailStrategy all_tails[] = {TailStrategy::RoundUp,
                                      TailStrategy::GuardWithIf,
                                      TailStrategy::Predicate,
                                      TailStrategy::PredicateLoads,
                                      TailStrategy::PredicateStores,
                                      TailStrategy::ShiftInwards,
                                      TailStrategy::ShiftInwardsAndBlend,
                                      TailStrategy::RoundUpAndBlend};

// A split of x, whose range and factor are drawn, and what its loops compute.
struct SplitCase {
    Numbers numbers;
    int64_t min, extent, factor;
    TailStrategy tail;
    std::vector<Interval> old;
    std::unique_ptr<const TransformModel> model;
    std::vector<Interval> ranges;  // of xi and xo
    const std::vector<Expr> made{variable(xi), variable(xo)};

    SplitCase(Random &random, TailStrategy tail) : tail(tail) {
        min = random.between(-5, 5);
        extent = random.between(0, 20);
        factor = random.between(1, 7);
        old = {{numbers.name(min), numbers.name(min + extent - 1)}};
        model = model_of(
            Split{x, xo, xi, random.chance(50) ? Expr(int(factor)) : numbers.name(factor), tail});
        ranges = model->ranges_made(old, false);
    }
    int64_t max() const { return min + extent - 1; }
    LoopFacts facts() const { return {extent, true}; }
    bool divides() const { return extent % factor == 0; }

    int64_t value_at(int64_t outer, int64_t inner, bool exact = false) {
        numbers.set(xo, outer);
        numbers.set(xi, inner);
        const int64_t value = numbers.value(model->value_taken(0, old, made, exact));
        numbers.set(x, value);
        return value;
    }
    // Calls f with the value of x in each iteration, in their order.
    template<typename F>
    void run(F &&f) {
        for (int64_t o = 0; o <= numbers.value(ranges[1].max); o++) {
            for (int64_t i = 0; i <= numbers.value(ranges[0].max); i++) f(value_at(o, i));
        }
    }
    bool is_let_through(int64_t value) const {
        const Expr last = model->last_let_through(old[0]);
        return !last.defined() || value <= numbers.value(last);
    }
    bool is_written() const {
        const Expr e = model->is_written(old[0], variable(x), made);
        return !e.defined() || numbers.value(e) != 0;
    }
    int64_t last_computed(int64_t beyond_inner, int64_t beyond_outer) const {
        const int64_t beyond[] = {beyond_inner, beyond_outer};
        return numbers.value(model->last_computed(
            0, old,
            {.last = [&](size_t i, const Interval &range) { return range.max + int(beyond[i]); },
             .most_beyond = [&](size_t i) { return Expr(int(beyond[i])); }}));
    }
};

using Counts = std::map<int64_t, int>;

Counts once_each(int64_t min, int64_t max) {
    Counts all;
    for (int64_t v = min; v <= max; v++) all[v] = 1;
    return all;
}

// Draws splits with this tail.
template<typename F>
void for_splits(TailStrategy tail, F &&f) {
    Random random(uint64_t(tail) + 1);
    for (int i = 0; i < 300; i++) {
        SplitCase c(random, tail);
        CAPTURE(name_of(tail));
        CAPTURE(c.min);
        CAPTURE(c.extent);
        CAPTURE(c.factor);
        f(c, random);
    }
}

template<typename F>
void for_splits(F &&f) {
    for (TailStrategy tail : all_tails) for_splits(tail, f);
}

// A fuse of x and y, whose ranges are drawn, and t.
struct FuseCase {
    Numbers numbers;
    int64_t min[2], extent[2];
    std::vector<Interval> old;
    std::unique_ptr<const TransformModel> model = model_of(Fuse{x, y, t});

    FuseCase(Random &random, int64_t least) {
        for (int d = 0; d < 2; d++) {
            min[d] = random.between(-5, 5);
            extent[d] = random.between(least, 6);
            old.push_back({numbers.name(min[d]), numbers.name(min[d] + extent[d] - 1)});
        }
    }
    int64_t max(int d) const { return min[d] + extent[d] - 1; }
    int64_t value_at(size_t loop, int64_t fused) {
        numbers.set(t, fused);
        return numbers.value(model->value_taken(loop, old, {variable(t)}, true));
    }
};

template<typename F>
void for_fuses(int64_t least, F &&f) {
    Random random(77);
    for (int i = 0; i < 300; i++) {
        FuseCase c(random, least);
        CAPTURE(c.extent[0]);
        CAPTURE(c.extent[1]);
        f(c, random);
    }
}

}  // namespace

TEST_SUITE("model of splits") {
    TEST_CASE("what tests let through and is written is each value of the range once") {
        for_splits([](SplitCase &c, Random &) {
            Counts written;
            c.run([&](int64_t value) {
                if (c.is_let_through(value) && c.is_written()) written[value]++;
            });
            const bool rounds = !traits_of(c.tail).leaves_out && !traits_of(c.tail).blends;
            if (!rounds) CHECK(written == once_each(c.min, c.max()));
        });
    }
    TEST_CASE("tests leave out only what is beyond the last value") {
        for_splits([](SplitCase &c, Random &) {
            c.run([&](int64_t value) {
                CHECK(value >= c.min);
                CHECK(c.is_let_through(value) ==
                      (value <= c.max() || !traits_of(c.tail).leaves_out));
            });
        });
    }
    TEST_CASE("tails that round up compute whole tiles, each value once") {
        for (TailStrategy tail : {TailStrategy::RoundUp, TailStrategy::RoundUpAndBlend}) {
            for_splits(tail, [](SplitCase &c, Random &) {
                Counts values;
                c.run([&](int64_t value) { values[value]++; });
                const int64_t tiles = (c.extent + c.factor - 1) / c.factor;
                CHECK(values == once_each(c.min, c.min + tiles * c.factor - 1));
            });
        }
    }
    TEST_CASE("tails that shift inwards go beyond the end of what is shorter than a tile only") {
        for (TailStrategy tail : {TailStrategy::ShiftInwards, TailStrategy::ShiftInwardsAndBlend}) {
            for_splits(tail, [](SplitCase &c, Random &) {
                Counts values;
                c.run([&](int64_t value) { values[value]++; });
                CHECK(values.empty() == (c.extent == 0));
                if (c.extent == 0) return;
                const int64_t last = c.min + std::max(c.extent, c.factor) - 1;
                for (int64_t v = c.min; v <= last; v++) {
                    // The last tile and the one before it.
                    const bool in_last = v > last - c.factor;
                    const bool in_other = v < c.min + (c.extent - 1) / c.factor * c.factor;
                    CHECK(values[v] == int(in_last) + int(in_other));
                }
                CHECK(int64_t(values.size()) == last - c.min + 1);
            });
        }
    }
    TEST_CASE("where a factor divides the extent, each value is computed once, whatever the tail") {
        for_splits([](SplitCase &c, Random &) {
            if (!c.divides()) return;
            Counts values;
            for (int64_t o = 0; o < c.extent / c.factor; o++) {
                for (int64_t i = 0; i < c.factor; i++) values[c.value_at(o, i, true)]++;
            }
            CHECK(values == once_each(c.min, c.max()));
        });
    }
    TEST_CASE("what is said of the loops made is so") {
        for_splits([](SplitCase &c, Random &) {
            const std::vector<LoopFacts> facts = c.model->facts_made({c.facts()});
            for (size_t i = 0; i < facts.size(); i++) {
                const int64_t extent = c.numbers.extent(c.ranges[i]);
                const int64_t multiple = facts[i].multiple;
                CHECK((facts[i].is_constant ? extent == multiple : extent % multiple == 0));
            }
            CHECK(c.value_at(0, 1) - c.value_at(0, 0) == facts[0].step);
            if (facts[1].step == 0 || traits_of(c.tail).overlaps) return;
            CHECK(c.value_at(1, 0) - c.value_at(0, 0) == facts[1].step);
        });
    }
    TEST_CASE("of a multiple, only what it is a multiple of is known") {
        const auto model = model_of(Split{x, xo, xi, 4, TailStrategy::RoundUp});
        const std::vector<LoopFacts> made = model->facts_made({{12, false, 2}});
        CHECK(made[0].multiple == 4);
        CHECK(made[0].is_constant);
        CHECK(made[0].step == 2);
        CHECK(made[1].multiple == 3);
        CHECK_FALSE(made[1].is_constant);
        CHECK(made[1].step == 8);
        CHECK(model->facts_made({{6, false, 1}})[1].multiple == 1);
    }
    TEST_CASE("it is exact, or goes beyond the end, just where its values say so") {
        for_splits([](SplitCase &c, Random &) {
            Counts values;
            c.run([&](int64_t value) { values[value]++; });
            const bool exact = values == once_each(c.min, c.max());
            if (c.model->is_exact(std::vector{c.facts()})) CHECK(exact);
            if (c.model->is_exact(c.old)) CHECK(exact);
            int64_t last = c.min - 1;
            for (auto [value, count] : values) {
                if (c.is_let_through(value)) last = std::max(last, value);
            }
            if (last > c.max()) CHECK(c.model->may_run_beyond({c.facts()}));
        });
    }
    TEST_CASE("a constant factor decides by a constant extent") {
        for (TailStrategy tail : all_tails) {
            const auto model = model_of(Split{x, xo, xi, 4, tail});
            const std::vector<LoopFacts> twelve{{12, true}}, six{{6, true}}, three{{3, true}};
            CHECK(model->is_exact(twelve));
            CHECK_FALSE(model->is_exact(six));
            CHECK(model->is_exact(std::vector<Interval>{{2, 13}}));
            CHECK_FALSE(model->is_exact(std::vector<Interval>{{2, 12}}));
            CHECK_FALSE(model->may_run_beyond(twelve));
            const TailTraits traits = traits_of(tail);
            CHECK(model->may_run_beyond(six) == (!traits.leaves_out && !traits.overlaps));
            CHECK(model->may_run_beyond(three) == !traits.leaves_out);
            CHECK(model->may_run_beyond({LoopFacts{}}) == !traits.leaves_out);
        }
    }
    TEST_CASE("values lie in the interval that is told for parts of the loops") {
        for_splits([](SplitCase &c, Random &random) {
            int64_t low[2], high[2];
            std::vector<Interval> parts;
            const int64_t further = random.chance(50) ? random.between(1, 3) : 0;
            for (size_t i = 0; i < 2; i++) {
                const int64_t last =
                    std::max<int64_t>(c.numbers.value(c.ranges[i].max), 0) + (i == 1 ? further : 0);
                low[i] = random.between(0, last);
                high[i] = random.between(low[i], last);
                parts.push_back({c.numbers.name(low[i]), c.numbers.name(high[i])});
            }
            const bool exact = further == 0 && c.divides() && random.chance(50);
            const Interval told = c.model->interval_taken(
                0, c.old, [&](size_t i) { return parts[i]; }, exact, further > 0);
            const int64_t told_min = c.numbers.value(told.min);
            const int64_t told_max = c.numbers.value(told.max);
            const bool leaves_out = traits_of(c.tail).leaves_out && !exact;
            if (leaves_out) CHECK((told_min >= c.min && told_max <= c.max()));
            if (c.extent == 0) return;
            CHECK(told_min <= told_max);
            for (int64_t o = low[1]; o <= high[1]; o++) {
                for (int64_t i = low[0]; i <= high[0]; i++) {
                    const int64_t value = c.value_at(o, i, exact);
                    if (!exact && !c.is_let_through(value)) continue;
                    CHECK(value >= told_min);
                    CHECK(value <= told_max);
                }
            }
        });
    }
    TEST_CASE("the last value computed is known, also where the loops made run further") {
        for_splits([](SplitCase &c, Random &random) {
            if (c.extent == 0 || traits_of(c.tail).leaves_out) return;
            const int64_t inner = random.between(0, 3), outer = random.between(0, 2);
            int64_t last = c.min;
            for (int64_t o = 0; o <= c.numbers.value(c.ranges[1].max) + outer; o++) {
                for (int64_t i = 0; i < c.factor + inner; i++)
                    last = std::max(last, c.value_at(o, i));
            }
            CHECK(c.last_computed(inner, outer) == last);
            const int64_t beyond[] = {inner, outer};
            const Expr most =
                c.model->most_beyond(0, [&](size_t i) { return Expr(int(beyond[i])); });
            CHECK(last - c.max() <= c.numbers.value(most));
        });
    }
    TEST_CASE("beyond the end of the inner loop lies the next tile") {
        for_splits([](SplitCase &c, Random &) {
            CHECK(c.model->tiles_of(0) == 1u);
            CHECK_FALSE(c.model->tiles_of(1));
            if (traits_of(c.tail).overlaps) return;
            CHECK(c.value_at(1, c.factor) == c.value_at(2, 0));
        });
    }
}

TEST_SUITE("model of fuses") {
    TEST_CASE("the fused loop visits each pair once, the inner loop fastest") {
        for_fuses(-2, [](FuseCase &c, Random &) {
            const int64_t count = c.numbers.extent(c.model->ranges_made(c.old, false)[0]);
            const bool empty = c.extent[0] <= 0 || c.extent[1] <= 0;
            CHECK(empty == (count <= 0));
            if (empty) return;
            int64_t fused = 0;
            for (int64_t outer = c.min[1]; outer <= c.max(1); outer++) {
                for (int64_t inner = c.min[0]; inner <= c.max(0); inner++, fused++) {
                    CHECK(c.value_at(0, fused) == inner);
                    CHECK(c.value_at(1, fused) == outer);
                }
            }
            CHECK(count == fused);
            CHECK(c.numbers.extent(c.model->ranges_made(c.old, true)[0]) == fused);
        });
    }
    TEST_CASE("it is exact; of constant extents the product is known") {
        for_fuses(1, [](FuseCase &c, Random &) {
            const std::vector<LoopFacts> facts{{c.extent[0], true}, {c.extent[1], true}};
            const LoopFacts fused = c.model->facts_made(facts)[0];
            CHECK(c.model->is_exact(facts));
            CHECK_FALSE(c.model->may_run_beyond(facts));
            CHECK(fused.is_constant);
            CHECK(fused.multiple == c.extent[0] * c.extent[1]);
            CHECK(fused.step == 0);
            CHECK_FALSE(c.model->facts_made({facts[0], {}})[0].is_constant);
        });
    }
    TEST_CASE("values lie in the intervals that are told for a part of the fused loop") {
        for_fuses(1, [](FuseCase &c, Random &random) {
            const int64_t low = random.between(0, c.extent[0] * c.extent[1] - 1);
            const int64_t high = random.between(low, c.extent[0] * c.extent[1] - 1);
            const Interval part{c.numbers.name(low), c.numbers.name(high)};
            for (size_t loop = 0; loop < 2; loop++) {
                const Interval told =
                    c.model->interval_taken(loop, c.old, [&](size_t) { return part; }, true, false);
                for (int64_t fused = low; fused <= high; fused++) {
                    CHECK(c.value_at(loop, fused) >= c.numbers.value(told.min));
                    CHECK(c.value_at(loop, fused) <= c.numbers.value(told.max));
                }
            }
        });
    }
    TEST_CASE("where the fused loop runs further, so does the outer loop, and the inner does not") {
        for_fuses(1, [](FuseCase &c, Random &random) {
            const int beyond = int(random.between(0, 9));
            int64_t last[2] = {c.min[0], c.min[1]};
            for (int64_t fused = 0; fused < c.extent[0] * c.extent[1] + beyond; fused++) {
                for (size_t loop = 0; loop < 2; loop++) {
                    last[loop] = std::max(last[loop], c.value_at(loop, fused));
                }
            }
            for (size_t loop = 0; loop < 2; loop++) {
                const Expr told = c.model->last_computed(
                    loop, c.old,
                    {.last = [&](size_t, const Interval &range) { return range.max + beyond; },
                     .most_beyond = [&](size_t) { return Expr(beyond); }});
                CHECK(c.numbers.value(told) == last[loop]);
                const Expr most = c.model->most_beyond(loop, [&](size_t) { return Expr(beyond); });
                CHECK(last[loop] - c.max(int(loop)) <= c.numbers.value(most));
            }
            CHECK(c.model->ends_with(0) == 1);
        });
    }
}

TEST_SUITE("model of renames") {
    TEST_CASE("the loop is the same") {
        const auto model = model_of(Rename{x, y});
        Numbers numbers;
        const std::vector<Interval> old{{numbers.name(3), numbers.name(8)}};
        CHECK(model->ranges_made(old, false)[0].min.same_as(old[0].min));
        CHECK(model->ranges_made(old, false)[0].max.same_as(old[0].max));
        numbers.set(y, 5);
        CHECK(numbers.value(model->value_taken(0, old, {variable(y)}, true)) == 5);
        CHECK(model->facts_made({{6, true, 2}})[0].step == 2);
        CHECK(model->is_exact(old));
    }
}

TEST_SUITE("loops of a schedule") {
    TEST_CASE("what transforms say of a loop follows from those before it") {
        const Symbol u = Symbol::interned("u"), uo = Symbol::interned("uo"),
                     ui = Symbol::interned("ui");
        StageSchedule schedule;
        schedule.transforms = {{Split{x, xo, xi, 30}, {}},
                               {Rename{xi, u}, {}},
                               {Split{u, uo, ui, 7}, {}},
                               {Fuse{ui, uo, t}, {}}};
        CHECK(facts_of_loop(schedule, xi, 1).multiple == 30);
        CHECK(facts_of_loop(schedule, uo, 3).multiple == 5);
        CHECK(facts_of_loop(schedule, t, 4).multiple == 35);
        CHECK(facts_of_loop(schedule, t, 4).is_constant);
        CHECK_FALSE(facts_of_loop(schedule, xo, 4).is_constant);
        CHECK_FALSE(facts_of_loop(schedule, y, 4).is_constant);
    }
    TEST_CASE("the end of a loop is that of what it was made from") {
        const Symbol u = Symbol::interned("u");
        StageSchedule schedule;
        schedule.transforms = {
            {Split{x, xo, xi, 30}, {}}, {Rename{y, u}, {}}, {Fuse{u, xi, t}, {}}};
        const std::vector<Maker> makers = makers_of(schedule, t, 3);
        REQUIRE(makers.size() == 2);
        CHECK(makers[0].transform == 2);
        CHECK(makers[1].transform == 0);
        CHECK(makers[1].loop == 0);
        CHECK(makers_of(schedule, t, 2).empty());
    }
}
