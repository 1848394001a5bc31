#include "lower/program_test.h"

using namespace tessera;
using namespace tessera::lower;
using namespace tessera::program;

namespace {

const ir::Expr x = var("x"), y = var("y");

// Three rows of f for each of out.
struct Rows {
    Small f{"f", x + y * y};
    Small out{"out", f(x, y - 1) + f(x, y) + f(x, y + 1)};
    Rows() { f.store_root().compute_at(out, "y"); }
};

}  // namespace

TEST_SUITE("sliding_window") {
    TEST_CASE("each iteration but the first computes the rows that are new") {
        Rows r;
        Passes p(r.out);
        const char *first_row = "let `f.y.min` = `out.y` - 1";
        CHECK(Passes::has(p.before("sliding window"), {first_row}));
        CHECK_FALSE(p.after("sliding window").find(first_row) != std::string::npos);
        CHECK(Passes::has(p.after("sliding window"),
                          {"let `f.y.min` = select(`out.y` == ", "likely_if_innermost("}));
    }
    TEST_CASE("not where storage is inside of the loop, or the loop is parallel") {
        Rows r;
        r.f.schedule(StoreLevel{LoopLevel::at(r.out.f->name, Symbol::interned("y"))});
        Passes p(r.out);
        CHECK(p.before("sliding window") == p.after("sliding window"));
        Rows parallel;
        parallel.out.loops(SetLoopKind{Symbol::interned("y"), LoopKind::Parallel});
        CHECK_THROWS_AS(Passes q(parallel.out), CompileError);
    }
}

TEST_SUITE("sliding_window of windows that stand still") {
    TEST_CASE("the first iteration computes what all of them read") {
        Small f{"f", x * x, {"x"}};
        Small out{"out", f(3) + x, {"x"}};
        f.store_root().compute_at(out, "x");
        Passes p(out);
        CHECK(Passes::has(p.before("sliding window"), {"produce f of [", "f(", "consume f:"}));
        CHECK(p.before("sliding window").find("if `out.x`") == std::string::npos);
        CHECK(Passes::has(p.after("sliding window"),
                          {"produce f:", "if `out.x` == `out.x.min`:", "f(", "consume f:"}));
    }
    TEST_CASE("not where the user folds what the loop further in walks over") {
        Small f{"f", x * x, {"x"}};
        Small out{"out", f(x) + f(x + 1) + y};
        f.store_root().compute_at(out, "x").schedule(FoldStorage{Symbol::interned("x"), 2});
        Passes p(out);
        CHECK(p.after("sliding window").find("if `out.y`") == std::string::npos);
        CHECK(Passes::has(p.after("sliding window"), {"select(`out.x` == `out.x.min`"}));
    }
}

TEST_SUITE("sliding_window of specialized stages") {
    TEST_CASE("each version slides on its own") {
        Rows r;
        auto wide = make_scalar_parameter(Symbol::interned("wide"), Bool());
        specialize(stage_of(r.out.f, 0), ir::Variable::make(Bool(), wide->name, wide), {});
        Passes p(r.out);
        CHECK(Passes::has(p.after("sliding window"), {"if wide:", "select(`out.y` == `out.y.min`",
                                                      "else:", "select(`out.y.1` == `out.y.min`"}));
    }
}

TEST_SUITE("fold_storage") {
    TEST_CASE("rows within planes that have nothing in common") {
        Small f{"f", x + y * y, {"x", "y", "z"}};
        Small out{"out", f(x, y, var("z")) + f(x, y + 1, var("z")), {"x", "y", "z"}};
        f.store_root().compute_at(out, "y");
        Passes p(out);
        CHECK(Passes::has(p.after("fold storage"),
                          {"realize f", ", [0, +2 folded], [0, +1 folded]"}));
        CHECK(Passes::has(p.after("fold storage"), {"% 2, ", "% 1) = "}));
    }
    TEST_CASE("not a loop within one whose iterations have rows in common") {
        Small f{"f", x + y * y, {"x", "y"}};
        Small out{"out", f(x, y) + f(x + 1, y + 1)};
        f.store_root().compute_at(out, "x");
        Passes p(out);
        CHECK(Passes::has(p.after("fold storage"), {"realize f", "1], [0, +2 folded]"}));
    }
    TEST_CASE("a power of two of rows is stored, and used in turn") {
        Rows r;
        Passes p(r.out);
        CHECK(p.before("fold storage").find("%") == std::string::npos);
        CHECK(Passes::has(p.after("fold storage"),
                          {"realize f: {int32} over ", ", +4 folded]", "f("}));
        CHECK(Passes::has(p.after("fold storage"), {"% 4) = ", "(`out.y` - 1) % 4"}));
    }
    TEST_CASE("as many as the user says") {
        Rows r;
        r.f.schedule(FoldStorage{Symbol::interned("y"), 3});
        Passes p(r.out);
        CHECK(
            Passes::has(p.after("fold storage"), {"realize f", ", +3 folded y by 3]", "% 3) = "}));
    }
    TEST_CASE("what is computed at the root is stored whole") {
        Rows r;
        r.f.compute_root();
        Passes p(r.out);
        CHECK(p.before("fold storage") == p.after("fold storage"));
    }
}

TEST_SUITE("add_ring_buffers") {
    TEST_CASE("a dimension more, used by the iterations in turn") {
        Rows r;
        r.f.schedule(StoreLevel{LoopLevel::at(r.out.f->name, Symbol::interned("y"))});
        r.f.schedule(HoistStorageLevel{LoopLevel::root()}).schedule(RingBuffer{3});
        Passes p(r.out);
        CHECK(p.before("ring buffers").find("% 3") == std::string::npos);
        CHECK(Passes::has(p.after("ring buffers"), {"realize f", "[0, +3]", "% 3) = "}));
    }
}

TEST_SUITE("fork_async") {
    TEST_CASE("producer and consumer run beside each other, and take turns by semaphores") {
        Rows r;
        r.f.schedule(AsyncDirective{});
        Passes p(r.out);
        CHECK(p.before("fork async").find("fork") == std::string::npos);
        const std::string &text = p.after("fork async");
        CHECK(Passes::has(text, {"realize f", "semaphore", "fork:", "acquire", "produce f:"}));
        CHECK(Passes::has(text, {"produce f:", "semaphore_release", "acquire", "consume f:"}));
    }
    TEST_CASE("what is stored anew for each iteration needs one semaphore") {
        Rows r;
        r.f.compute_root().schedule(AsyncDirective{});
        Passes p(r.out);
        CHECK(Passes::has(p.after("fork async"), {"fork:", "produce f:", "acquire", "consume f:"}));
    }
    TEST_CASE("nothing without the directive") {
        Rows r;
        Passes p(r.out);
        CHECK(p.before("fork async") == p.after("fork async"));
    }
}

TEST_SUITE("hoisted storage of programs") {
    TEST_CASE("memory is taken around the loop, though rows are computed within it") {
        Small f{"f", x + y};
        Small out{"out", f(x, y) + f(x + 1, y)};
        f.compute_at(out, "y");
        CHECK(Passes::has(Passes(out).after("hoist storage"), {"for `out.y`", "allocate f"}));
        f.schedule(HoistStorageLevel{LoopLevel::root()});
        CHECK(Passes::has(Passes(out).after("hoist storage"), {"allocate f", "for `out.y`"}));
    }
}
