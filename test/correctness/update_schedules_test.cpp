#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

}  // namespace

TEST_SUITE("schedules of updates and versions") {
    TEST_CASE("storage goes by the loops of the only stage that reads it") {
        Func f("f"), g("g");
        f(x, y) = 5 * x - y;
        g(x, y) = 1;
        g(x, y) *= f(x, y) + f(x, y + 1);
        g.update().reorder(y, x);
        f.store_at(g, x).compute_at(g, y);
        Lowered(g).check_definition({7, 9});
    }
    TEST_CASE("the same through what is computed within the stage") {
        Func f("f"), h("h"), g("g");
        f(x, y) = 5 * x - y;
        h(x, y) = f(x, y) + f(x, y + 1);
        g(x, y) = 1;
        g(x, y) *= h(x, y);
        g.update().reorder(y, x);
        h.compute_at(g, y);
        f.store_at(g, x).compute_at(h, y);
        Lowered(g).check_definition({7, 9});
    }
    TEST_CASE("but not if a stage of another order reads it, too") {
        Func f("f"), g("g");
        f(x, y) = 5 * x - y;
        g(x, y) = f(x, y);
        g(x, y) *= f(x, y);
        g.update().reorder(y, x);
        f.store_at(g, x).compute_at(g, y);
        CHECK_THROWS_WITH_AS(g.realize({7, 9}), doctest::Contains("storage must enclose"),
                             CompileError);
    }
    TEST_CASE(
        "a Func with updates that is computed inline has storage, which is bounded and laid out") {
        Param<int> gap("gap");
        Func f("f"), g("g");
        f(x) = 2 * x;
        f(x) -= 1;
        g(x) = f(x) * f(x + gap);
        f.bound_storage(x, 16).align_storage(x, 8).store_in(MemoryType::Stack);
        gap.set(5);
        Buffer<int> b = g.realize({20});
        CHECK(b(3) == 5 * 15);
        gap.set(300);
        CHECK_THROWS_WITH_AS(g.realize({20}), doctest::Contains("bound"), RuntimeError);
    }
    TEST_CASE("its storage is still none that others share") {
        Func f("f"), g("g");
        f(x) = 2 * x;
        f(x) -= 1;
        g(x) = f(x) + f(x + 1);
        f.fold_storage(x, 8);
        CHECK_THROWS_WITH_AS(g.realize({20}), doctest::Contains("is computed inline"),
                             CompileError);
    }
    TEST_CASE("specialize_fail stands in place of loops that lack a level") {
        Param<int> p("p");
        Func f("f"), g("g");
        f(x) = x * 2;
        g(x) = f(x) + select(p == 1, 1, 2);
        g.specialize(p == 1).split(x, xo, xi, 8, TailStrategy::GuardWithIf);
        g.specialize(p == 2).split(x, xo, xi, 16, TailStrategy::GuardWithIf);
        g.specialize_fail("neither");
        f.compute_at(g, xo);
        Lowered l(g);
        CHECK(l.count("error_specialize_fail") == 1);
        for (int value : {1, 2}) {
            p.set(value);
            l.check<int>({40}, [&](int x) { return 2 * x + value; });
        }
        p.set(3);
        CHECK_THROWS_WITH_AS(g.realize({40}), doctest::Contains("neither"), RuntimeError);
    }
    TEST_CASE("also within a specialization, and of an update") {
        Param<int> p("p"), q("q");
        Func f("f"), g("g");
        f(x) = x * 2;
        g(x) = 0;
        g(x) += f(x);
        Stage special = g.update().specialize(p == 1);
        special.specialize(q == 1).split(x, xo, xi, 8, TailStrategy::GuardWithIf);
        special.specialize_fail("q is not 1");
        g.update().split(x, xo, xi, 4, TailStrategy::GuardWithIf);
        f.compute_at(g, xo);
        p.set(1);
        q.set(1);
        Lowered(g).check<int>({21}, [](int x) { return 2 * x; });
        q.set(2);
        CHECK_THROWS_WITH_AS(g.realize({21}), doctest::Contains("q is not 1"), RuntimeError);
        p.set(2);
        Lowered(g).check<int>({21}, [](int x) { return 2 * x; });
    }
    TEST_CASE("where only a failure is left, the loops are those of the definition") {
        Func f("f"), g("g");
        f(x) = x * 2;
        g(x) = f(x);
        g.specialize_fail("always");
        f.compute_at(g, x);
        CHECK_THROWS_WITH_AS(g.realize({4}), doctest::Contains("always"), RuntimeError);
    }
    TEST_CASE("a producer may be at a loop of two updates, of which one does not read it") {
        Var x("x");
        RDom r(0, 8, "r");
        r.where(r.x * r.x < 20);
        Func f("f"), g("g");
        f(x) = x * 2;
        g(x) = 0;
        g(x) += r;
        g(x) += f(x + r);
        f.compute_at(g, r);
        Buffer<int> out = g.realize({3});
        for (int i = 0; i < 3; i++) CHECK(out(i) == 10 + 2 * (5 * i + 10));
    }
    TEST_CASE("both values of a tuple are summed in several rows at once") {
        RDom r(0, 5, "r");
        Var u("u"), v("v");
        Func f("f"), g("g");
        f(x, y) = Tuple(1, cast<uint64_t>(2));
        f(x, y) = Tuple(f(x, y)[0] + r * y, cast<uint64_t>(max(cast<int>(f(x, y)[1]), r * x)));
        g(x, y) = f(x, y)[0] + cast<int>(f(x, y)[1]);
        f.compute_root();
        f.update().tile(x, y, u, v, 8, 4).reorder(u, v, r, x, y).vectorize(u).unroll(v);
        Lowered(g).check<int>({19, 9},
                              [](int x, int y) { return 1 + 10 * y + std::max(2, 4 * x); });
    }
}
