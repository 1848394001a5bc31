#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

Var x("x"), y("y");

}  // namespace

TEST_SUITE("scatter and gather") {
    TEST_CASE("two elements change places") {
        Func f("f");
        f(x) = x * 10;
        f(scatter(0, 3)) = f(gather(3, 0));
        Lowered(f).check<int>({5}, [](int x) { return x == 0 ? 30 : x == 3 ? 0 : x * 10; });
    }
    TEST_CASE("a row is turned around, pair by pair, in vectors over the other dimension") {
        Func f("f"), out("out");
        RDom r(0, 4, "r");
        f(x, y) = x * 100 + y;
        f(x, scatter(r, 7 - r)) = f(x, gather(7 - r, r));
        out(x, y) = f(x, y);
        f.compute_root().update().vectorize(x, 4);
        Lowered l(out);
        CHECK(l.stores(4) > 0);
        l.check<int>({10, 8}, [](int x, int y) { return x * 100 + 7 - y; });
    }
    TEST_CASE("values are gathered from another Func, and what it computes reaches as far") {
        Func f("f"), g("g");
        RDom r(0, 4, "r");
        g(x) = x * x;
        f(x) = -1;
        f(scatter(r, 10 + r)) = g(gather(20 - r, 2 * r) + 1) + gather(1000, 2000);
        g.compute_root();
        Lowered(f).check<int>({14}, [](int x) {
            if (x < 4) return (21 - x) * (21 - x) + 1000;
            if (x < 10) return -1;
            return (2 * (x - 10) + 1) * (2 * (x - 10) + 1) + 2000;
        });
    }
    TEST_CASE("updates of several elements at once, and of several values") {
        Func f("f");
        f(x) = Tuple(x, 100 * x);
        f(scatter(1, 2, 3)) += Tuple(gather(10, 20, 30), f(scatter(1, 2, 3))[0]);
        Realization r = f.realize({5});
        Buffer<int> a = r[0], b = r[1];
        for (int i = 0; i < 5; i++) {
            bool changed = i >= 1 && i <= 3;
            CHECK(a(i) == (changed ? 11 * i : i));
            CHECK(b(i) == (changed ? 101 * i : 100 * i));
        }
    }
    TEST_CASE("a parallel histogram counts two places at a time") {
        Func f("f");
        RDom r(0, 120, "r");
        f(x) = 0;
        f(scatter(r % 4, 4 + r % 3)) += 1;
        f.update().atomic().parallel(r);
        Lowered(f).check<int>({7}, [](int x) { return x < 4 ? 30 : 40; });
    }
}
