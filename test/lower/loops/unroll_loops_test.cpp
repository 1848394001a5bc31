#include "lower/loops/unroll_loops.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("unroll_loops") {
    TEST_CASE("copies the body once per iteration") {
        CHECK(run(unroll_loops, "unrolled for i in [a, +3): f[i] = i * 2") ==
              printed("f[a] = a * 2\nf[a + 1] = (a + 1) * 2\nf[a + 2] = (a + 2) * 2"));
    }
    TEST_CASE("nested ones multiply") {
        CHECK(run(unroll_loops, "unrolled for j in [0, +2): unrolled for i in [0, +2): "
                                "f[i + j * 2] = 0") ==
              printed("f[0 + 0 * 2] = 0\nf[1 + 0 * 2] = 0\nf[0 + 1 * 2] = 0\nf[1 + 1 * 2] = 0"));
    }
    TEST_CASE("leaves other loops alone, and shares them") {
        ir::Stmt before = ir::parse_stmt("for i in [0, +2): f[i] = i");
        CHECK(apply(unroll_loops, before).same_as(before));
    }
    TEST_CASE("the extent may be named by a let") {
        CHECK(run(unroll_loops, "let n = 2\nunrolled for i in [0, +n): f[i] = 7") ==
              printed("let n = 2\nf[0] = 7\nf[1] = 7"));
    }
    TEST_CASE("no iterations are nothing") {
        CHECK(run(unroll_loops, "unrolled for i in [0, +0): f[i] = 7") == printed("no_op"));
        CHECK(run(unroll_loops, "unrolled for i in [0, +-3): f[i] = 7") == printed("no_op"));
    }
    TEST_CASE("an extent with a constant bound guards each copy") {
        CHECK(run(unroll_loops, "unrolled for i in [0, +min(n, 2)): f[i] = 7") ==
              printed("if 0 < min(n, 2): f[0] = 7\nif 1 < min(n, 2): f[1] = 7"));
    }
    TEST_CASE("a loop of unknown extent is the user's error") {
        ir::Stmt before = ir::parse_stmt("unrolled for i in [0, +n): f[i] = i");
        CHECK_THROWS_WITH_AS(apply(unroll_loops, before),
                             doctest::Contains("cannot unroll loop i: its extent n is not"),
                             CompileError);
    }
    TEST_CASE("the error names the user's loop and line") {
        ir::Stmt before = ir::parse_stmt("unrolled for i in [0, +n) of blur xi update 0: f[i] = i");
        ir::LoopOrigin origin = before.as<ir::For>()->origin;
        origin.kind_written = Location("user.cpp", 12);
        const ir::For &loop = *before.as<ir::For>();
        before = ir::For::make(loop.name, loop.min, loop.extent, loop.loop_kind, loop.partition,
                               loop.body, origin);
        CHECK_THROWS_WITH_AS(apply(unroll_loops, before),
                             doctest::Contains("loop xi of blur.update(0)"), CompileError);
        CHECK_THROWS_WITH_AS(apply(unroll_loops, before), doctest::Contains("user.cpp:12"),
                             CompileError);
    }
    TEST_CASE("millions of copies are refused") {
        ir::Stmt before = ir::parse_stmt("unrolled for i in [0, +1000000): f[i] = i");
        CHECK_THROWS_WITH_AS(apply(unroll_loops, before), doctest::Contains("too many"),
                             CompileError);
    }
}
