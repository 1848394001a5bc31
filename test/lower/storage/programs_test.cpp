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

TEST_SUITE("fold_storage") {
    TEST_CASE("a power of two of rows is stored, and used in turn") {
        Rows r;
        Passes p(r.out);
        CHECK(p.before("fold storage").find("%") == std::string::npos);
        CHECK(Passes::has(p.after("fold storage"), {"realize f: {int32} over ", ", +4]", "f("}));
        CHECK(Passes::has(p.after("fold storage"), {"% 4) = ", "(`out.y` - 1) % 4"}));
    }
    TEST_CASE("as many as the user says") {
        Rows r;
        r.f.schedule(FoldStorage{Symbol::interned("y"), 3});
        Passes p(r.out);
        CHECK(Passes::has(p.after("fold storage"), {"realize f", ", +3]", "% 3) = "}));
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
