#include "autoscheduler/by_hand.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/simple.h"
#include "autoscheduler/test/support.h"
#include "program/print_schedule.h"
#include <algorithm>
#include <random>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

const Target target = get_jit_target_from_environment();

AutoSchedulerResults schedule(const Func &f, const AutoschedulerParams &params) {
    return Pipeline(f).apply_autoscheduler(target, params);
}

// Four stages, of which nothing has a schedule.
struct Chain {
    Var x{"x"}, y{"y"};
    Func e{"e"}, f{"f"}, g{"g"}, h{"h"};
    Chain() {
        e(x, y) = x * 3 + y;
        f(x, y) = e(x, y) * 2 + e(x + 1, y);
        g(x, y) = f(x, y - 1) + f(x, y + 1);
        h(x, y) = g(x - 1, y) + g(x + 1, y);
        h.set_estimates({{0, 64}, {0, 48}});
    }
};

Buffer<int> result_of(Chain &c) { return c.h.realize({64, 48}); }

bool are_equal(const Buffer<int> &a, const Buffer<int> &b) {
    for (int y = 0; y < b.height(); y++) {
        for (int x = 0; x < b.width(); x++) {
            if (a(x, y) != b(x, y)) return false;
        }
    }
    return true;
}

// The schedule of the rules and that of the model keep what the Chain computes. Returns the first.
std::string source_where_results_stay(const std::function<void(Chain &)> &by_hand) {
    static const Buffer<int> expected = [] {
        Chain plain;
        return result_of(plain);
    }();
    std::string source;
    for (const AutoschedulerParams &params :
         {AutoschedulerParams("simple"), AutoschedulerParams("tessera", {{"trials", "0"}})}) {
        Chain c;
        by_hand(c);
        const std::string found = schedule(c.h, params).schedule_source;
        CAPTURE(found);
        CHECK(are_equal(result_of(c), expected));
        if (source.empty()) source = found;
    }
    return source;
}

std::string refusal_of(const std::function<void(Chain &)> &by_hand) {
    Chain c;
    by_hand(c);
    try {
        schedule(c.h, {"simple"});
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

// ---- Pipelines and partial schedules at random ----

// Stages that read one or two of those before them; some have an update.
class RandomPipeline {
public:
    explicit RandomPipeline(uint64_t seed) : random(seed) {
        const size_t count = 3 + below(3);
        for (size_t i = 0; i < count; i++) add_stage(i);
        stages.back().set_estimates({{0, 24}, {0, 18}});
    }

    // Directives of a user who has begun somewhere. Some make no sense.
    void schedule_a_part() {
        for (uint64_t directives = 1 + below(3); directives > 0; directives--) {
            const size_t n = below(stages.size());
            const bool is_output = n + 1 == stages.size();
            Func f = stages[n];
            switch (below(is_output ? 4 : 9)) {
            case 0: f.vectorize(x, 4); break;
            case 3:
                if (f.num_update_definitions() > 0) f.update().vectorize(y, 4);
                break;
            case 1: f.unroll(x, 2); break;
            case 2: f.reorder(y, x); break;
            case 4: f.compute_root(); break;
            case 5: f.compute_inline(); break;
            default: compute_in(f, n);
            }
        }
    }

    std::vector<Func> stages;

private:
    uint64_t below(uint64_t n) { return random() % n; }

    void add_stage(size_t i) {
        Func f(str("s", i));
        const auto read = [&]() -> Expr {
            const int dx = int(below(3)) - 1, dy = int(below(3)) - 1;
            return i == 0 ? Expr(x * dx + y) : Expr(stages[below(i)](x + dx, y + dy));
        };
        // All are used: the last one of them at least.
        f(x, y) = (i == 0 ? Expr(x + 2 * y) : Expr(stages[i - 1](x, y))) + read();
        if (below(4) == 0) {
            RDom r(0, 3, "r");
            f(x, y) += r + (i == 0 ? Expr(y) : Expr(stages[below(i)](x + r, y)));
        }
        stages.push_back(f);
    }
    void compute_in(Func &f, size_t n) {
        Func consumer = stages[n + 1 + below(stages.size() - n - 1)];
        const Var inner = below(2) ? x : y;
        switch (below(4)) {
        case 0: f.store_root(); break;
        case 1:
            if (inner.name() == "x") f.store_at(consumer, y);
            break;
        default: break;
        }
        if (consumer.num_update_definitions() > 0 && below(2)) {
            f.compute_at(LoopLevel(consumer, inner, int(below(2))));
        } else {
            f.compute_at(consumer, inner);
        }
    }

    std::mt19937_64 random;
    Var x{"x"}, y{"y"};
};

// Returns true if this schedules and computes the same, and false if it is refused, with a place.
bool is_scheduled(uint64_t seed, const AutoschedulerParams &params) {
    RandomPipeline plain(seed), tuned(seed);
    const Buffer<int> expected = plain.stages.back().realize({24, 18});
    std::string source;
    try {
        tuned.schedule_a_part();
        source = schedule(tuned.stages.back(), params).schedule_source;
    } catch (const CompileError &e) {
        CHECK(std::string(e.what()).starts_with("by_hand_test.cpp:"));
        return false;
    }
    CAPTURE(seed);
    CAPTURE(source);
    CHECK(are_equal(tuned.stages.back().realize({24, 18}), expected));
    return true;
}

}  // namespace

TEST_SUITE("autoscheduler, beside schedules by hand") {
    TEST_CASE("the loops that Funcs are computed in stay, those of Funcs without a schedule, too") {
        const auto has = [](const std::string &source, const char *text) {
            CAPTURE(source);
            return source.find(text) != std::string::npos;
        };
        using C = Chain;
        const std::string in_output =
            source_where_results_stay([](C &c) { c.g.compute_at(c.h, c.x); });
        CHECK(has(in_output, "g.compute_at(h, x)"));
        CHECK_FALSE(has(in_output, "h.split("));
        CHECK(has(source_where_results_stay([](C &c) { c.f.compute_at(c.h, c.x); }),
                  "f.compute_at(h, x)"));
        CHECK(has(source_where_results_stay([](C &c) { c.f.store_root().compute_at(c.h, c.y); }),
                  "f.store_root()"));
        CHECK(has(source_where_results_stay([](C &c) { c.g.store_root().compute_at(c.h, c.y); }),
                  "g.store_root()"));
        const std::string at_g =
            source_where_results_stay([](C &c) { c.f.compute_at(c.g, c.x).vectorize(c.x, 4); });
        CHECK(has(at_g, "g.compute_root()"));
        CHECK_FALSE(has(at_g, "g.split("));
    }
    TEST_CASE("what has to be within a loop that others are computed in is computed there") {
        // g, whose loop f needs, reads e, which is there only in each row of h.
        Chain c;
        c.e.compute_at(c.h, c.y);
        c.f.compute_at(c.g, c.x);
        const Problem problem(c.h);
        REQUIRE(problem.graph.places.size() == 1);
        const auto &place = std::get<program::FuncStep>(problem.graph.places[0].what);
        const auto &level = std::get<program::ComputeLevel>(place.written.directive).level;
        CHECK(str(problem.graph.places[0].function, ": ", level) == "g: h, y");
        CHECK(source_where_results_stay([](Chain &c) {
                  c.e.compute_at(c.h, c.y);
                  c.f.compute_at(c.g, c.x);
              }).find("g.compute_at(h, y)") != std::string::npos);
    }
    TEST_CASE("Funcs with loops by hand and no place are computed at the root") {
        CHECK(source_where_results_stay([](Chain &c) {
                  c.f.vectorize(c.x, 8);
              }).find("    .compute_root();\n") != std::string::npos);
    }
    TEST_CASE("Funcs that are computed inline by hand, or have storage by hand, keep that") {
        const std::string source = source_where_results_stay([](Chain &c) {
            c.g.compute_inline();
            c.f.reorder_storage(c.y, c.x);
        });
        CAPTURE(source);
        CHECK(source.find("g.compute_root(") == std::string::npos);
        CHECK(source.find("g.compute_at(") == std::string::npos);
        CHECK(source.find(".compute_") != source.rfind(".compute_"));  // f, too
        const size_t order = source.find("reorder_storage");
        CHECK(source.find("reorder_storage", order + 1) == std::string::npos);
    }
    TEST_CASE("levels in the loops of updates") {
        const auto make = [](bool by_hand) {
            Var x("x"), y("y");
            RDom r(0, 5, "r");
            Func f("f"), sum("sum"), out("out");
            f(x, y) = x * y + 1;
            sum(x, y) = f(x, y);
            sum(x, y) += f(x + r, y);
            out(x, y) = sum(x, y) + sum(x, y + 1);
            out.set_estimates({{0, 64}, {0, 48}});
            if (by_hand) f.compute_at(sum, y);
            return out;
        };
        Func plain = make(false), tuned = make(true);
        const std::string source = schedule(tuned, {"simple"}).schedule_source;
        CAPTURE(source);
        CHECK(source.find("sum.compute_root()") != std::string::npos);
        CHECK(are_equal(tuned.realize({64, 48}), plain.realize({64, 48})));
    }
    TEST_CASE("a level that cannot be is refused with its place, and the Func's name") {
        const std::string no_loop = refusal_of([](Chain &c) { c.f.compute_at(c.h, Var("z")); });
        CHECK(no_loop.starts_with("by_hand_test.cpp:"));
        CHECK(no_loop.find("compute_at of f: h has no loop z; its loops are x, y") !=
              std::string::npos);
        const std::string inlined = refusal_of([](Chain &c) {
            c.g.compute_inline();
            c.f.compute_at(c.g, c.x);
        });
        CHECK(inlined.starts_with("by_hand_test.cpp:"));
        CHECK(inlined.find("compute_at of f: g has no loops in this pipeline") !=
              std::string::npos);
        const std::string outside = refusal_of([](Chain &c) {
            c.g.compute_root();
            c.f.compute_at(c.h, c.y);
        });
        CHECK(outside.starts_with("by_hand_test.cpp:"));
        CHECK(outside.find("compute_at(h, y) of f: g uses f too") != std::string::npos);
    }
    TEST_CASE("what is computed in one stage is not within the loops of another one") {
        Var x("x");
        Func f("f"), g("g"), h("h");
        f(x) = x;
        g(x) = f(x) + f(x + 1);
        h(x) = g(x);
        h(x) += f(x);
        h.set_estimates({{0, 64}});
        g.compute_at(LoopLevel(h, x, 0));
        f.store_root().compute_at(LoopLevel(h, x, 1));
        const auto is_outside = doctest::Contains("of f: g uses f too");
        CHECK_THROWS_WITH_AS(schedule(h, {"simple"}), is_outside, CompileError);
        CHECK_THROWS_WITH_AS(h.realize({64}), is_outside, CompileError);
    }
    TEST_CASE("a partial schedule is measured as the user has it") {
        Chain c, plain;
        c.f.compute_at(c.h, c.y);  // g, which reads it, is inlined
        CHECK_NOTHROW(schedule(c.h, {"tessera", {{"trials", "2"}, {"parallelism", "1"}}}));
        CHECK(are_equal(result_of(c), result_of(plain)));
    }
    TEST_CASE("a pipeline that is scheduled by hand as a whole stays as it is") {
        Var x("x"), y("y");
        ImageParam in(Int(32), 2, "in");
        Func f("f"), g("g");
        f(x, y) = in(x, y) + in(x + 1, y);
        g(x, y) = f(x, y) + f(x, y + 1);
        g.set_estimates({{0, 640}, {0, 480}});
        f.compute_at(g, y).vectorize(x, 8);
        g.parallel(y).vectorize(x, 8);
        const std::string before = Pipeline(g).schedule_as_cpp();
        for (const char *trials : {"0", "2"}) {
            schedule(g, {"tessera", {{"trials", trials}, {"parallelism", "1"}}});
            CHECK(Pipeline(g).schedule_as_cpp() == before);
        }
        schedule(g, {"simple"});
        CHECK(Pipeline(g).schedule_as_cpp() == before);
    }
    TEST_CASE("partial schedules at random are scheduled to the end, or refused") {
        // Drops the warnings that updates have no schedule where their Func has one.
        const WarningHandler before = set_warning_handler([](const std::string &) {});
        int scheduled = 0;
        constexpr int pipelines = 60;
        for (uint64_t seed = 0; seed < pipelines; seed++)
            scheduled += is_scheduled(seed, {"simple"});
        CHECK(scheduled > pipelines / 3);
        for (uint64_t seed = 1000; seed < 1012; seed++)
            is_scheduled(seed, {"tessera", {{"trials", "0"}}});
        set_warning_handler(before);
    }
}
