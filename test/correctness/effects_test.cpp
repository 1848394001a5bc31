#include "harness.h"
#include "lang/boundary_conditions.h"

using namespace tessera;
using namespace tessera::test;

namespace {

Var x("x"), y("y");
int first_calls = 0, second_calls = 0;

extern "C" int effects_test_first(int i) {
    first_calls++;
    return i;
}
extern "C" int effects_test_second(int i) {
    second_calls++;
    return -i;
}
TesseraExtern_1(int, effects_test_first, int);
TesseraExtern_1(int, effects_test_second, int);

// Fails if the parameter is what the requirement refuses, and only then, over some sizes.
void check_fails(Func f, Param<int> &limit, int wrong, int right) {
    for (int size : {1, 5, 40}) {
        CAPTURE(size);
        limit.set(wrong);
        CHECK_THROWS_AS(f.realize({size}), RuntimeError);
        limit.set(right);
        CHECK_NOTHROW(f.realize({size}));
    }
}

}  // namespace

TEST_SUITE("effects") {
    TEST_CASE("a requirement in a likely comparison fails the run, wherever the loop is split") {
        for (bool vectorized : {false, true}) {
            Param<int> n("n"), m("m");
            n.set(20);
            Expr checked = require(n <= m, n, "n is too large");
            std::vector<Expr> values = {
                select(likely(x < checked), x, -x),
                select(likely(x > 2 && x < checked), x, -x),
                select(x < checked, likely(x), -x),
                min(likely(x), checked),
                max(likely_if_innermost(x), checked - 20),
                clamp(likely(x), 0, checked),
            };
            for (size_t i = 0; i < values.size(); i++) {
                CAPTURE(vectorized);
                CAPTURE(i);
                Func f("f");
                f(x) = values[i];
                if (vectorized) f.vectorize(x, 4, TailStrategy::GuardWithIf);
                check_fails(f, m, 11, 30);
            }
        }
    }
    TEST_CASE("a requirement in a boundary condition fails the run") {
        Buffer<uint8_t> samples(24);
        samples.fill(9);
        Param<int> n("n"), m("m");
        n.set(20);
        Region bounds = {{0, require(n <= m, n, "n is too large")}};
        check_fails(BoundaryConditions::repeat_edge(samples, bounds), m, 11, 30);
        check_fails(BoundaryConditions::mirror_image(samples, bounds), m, 11, 30);
        check_fails(BoundaryConditions::constant_exterior(samples, 3, bounds), m, 11, 30);
    }
    TEST_CASE("C functions in a likely comparison are called for each point") {
        Func f("f");
        f(x) = select(likely(effects_test_first(x) < 30), 1, 2);
        first_calls = 0;
        f.realize({40});
        CHECK(first_calls == 40);
    }
    TEST_CASE("a branch that is never taken is not computed") {
        Param<int> quality("quality");
        Expr low = quality < 5;
        Func f("f"), g("g");
        f(x) = select(low, effects_test_first(x), effects_test_second(x));
        f.specialize(low);
        first_calls = second_calls = 0;
        quality.set(1);
        f.realize({32});
        CHECK(first_calls == 32);
        CHECK(second_calls == 0);
        g(x) = select(Expr(2) < 1, effects_test_first(x), 3) + effects_test_second(x);
        first_calls = second_calls = 0;
        g.realize({8});
        CHECK(first_calls == 0);
        CHECK(second_calls == 8);
    }
}
