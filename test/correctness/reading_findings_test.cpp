#include "../error/refusal.h"
#include "harness.h"
#include <limits>
#include <tessera.h>

using namespace tessera;
using namespace tessera::test;

// Programs that a reading of the code has found to be wrong, as small as they became.
TEST_SUITE("findings of a reading") {
    const Var x("x"), y("y"), yo("yo"), yi("yi");

    TEST_CASE("storage outside of a loop whose iterations run at once, computed inside") {
        for (bool ring : {false, true}) {
            for (bool parallel : {false, true}) {
                CAPTURE(ring);
                CAPTURE(parallel);
                Func f("f"), g("g");
                f(x, y) = x + 10 * y;
                g(x, y) = f(x, y) + f(x, y + 1);
                g.split(y, yo, yi, 4);
                parallel ? g.parallel(yi) : g.vectorize(yi);
                f.compute_at(g, yi).hoist_storage_root();
                if (ring) f.ring_buffer(2);
                const char *kind = parallel ? "parallel" : "vectorized";
                CHECK_THROWS_WITH_AS((void)Lowered(g), doctest::Contains(kind), CompileError);
            }
        }
        Func f("f"), g("g");
        f(x) = x;
        f(x) += 1;
        g(x) = f(x) + f(x + 1);
        g.split(x, yo, yi, 4).vectorize(yi);
        f.store_root().compute_at(g, yi);
        CHECK_THROWS_WITH_AS((void)Lowered(g), doctest::Contains("vectorized"), CompileError);
    }
    TEST_CASE("an atomic update exchanges elements") {
        for (bool inner : {false, true}) {
            Func f("f");
            RDom r(0, 4, "r");
            f(x, y) = x * 100 + y;
            f(x, scatter(Expr(r), 7 - r)) = f(x, gather(7 - r, Expr(r)));
            f.update().atomic(true);
            inner ? f.update().vectorize(r) : f.update().vectorize(x, 8);
            Lowered(f).check<int>({16, 8}, [](int x, int y) { return x * 100 + 7 - y; });
        }
    }
    TEST_CASE("of equal values that a reduction compares, the first one stays the first") {
        for (bool last : {false, true}) {
            Buffer<int> data(64);
            for (int i = 0; i < 64; i++) data(i) = i % 8 + 3;
            Func f("f"), u;
            RDom r(0, 64, "r");
            RVar ro("ro"), ri("ri");
            Var v("v");
            Expr value = data(r);
            f() = Tuple(255, -1);
            Expr better = last ? value <= f()[0] : value < f()[0];
            f() = Tuple(select(better, value, f()[0]), select(better, Expr(r), f()[1]));
            f.update().split(r, ro, ri, 8);
            if (last) {  // nothing but the largest number is worse than the largest
                REFUSED(f.update().rfactor(ro, v), "not known to be associative");
                continue;
            }
            f.update().rfactor(ro, v).compute_root();
            Realization result = f.realize();
            CHECK(Buffer<int>(result[0])() == 3);
            CHECK(Buffer<int>(result[1])() == 0);
        }
    }
    TEST_CASE("a factored reduction stays within the predicate of what it preserves") {
        Func f("f");
        Param<int> n("n");
        Var u("u");
        RDom r(0, 64, 0, 4, "r");
        r.where(r.x < n);
        f(x) = 0;
        f(r.x) += r.y + 1;
        f.update().rfactor(r.x, u).compute_root();
        n.set(10);
        Buffer<int> result = f.realize({10});
        for (int i = 0; i < 10; i++) CHECK(result(i) == 10);
    }
    TEST_CASE("an empty fused domain, of two extents below 0, is empty where it is factored, too") {
        Func f("f");
        Param<int> n("n"), m("m");
        RDom r(0, n, 0, m, "r");
        RVar rf("rf");
        Var u("u");
        f(x) = 0;
        f(x) += r.x * 10 + r.y + 1;
        f.update().fuse(r.x, r.y, rf).rfactor(rf, u).compute_root();
        n.set(-3);
        m.set(-3);
        Buffer<int> result = f.realize({4});
        for (int i = 0; i < 4; i++) CHECK(result(i) == 0);
    }
    TEST_CASE("one value of an update is kept, the other reads what it was") {
        Func f("f");
        f(x) = Tuple(x, 100 + x);
        f(x) = Tuple(f(x)[1], select(x % 2 == 0, undef<int>(), f(x)[0]));
        Realization result = f.realize({8});
        Buffer<int> first(result[0]), second(result[1]);
        for (int i = 0; i < 8; i++) {
            CHECK(first(i) == 100 + i);
            CHECK(second(i) == (i % 2 == 0 ? 100 + i : i));
        }
    }
    TEST_CASE("a sum of products that wrap before they are widened") {
        Buffer<uint8_t> a(64), b(64);
        a.fill(255);
        b.fill(255);
        Func f("f");
        RDom r(0, 32, "r");
        f(x) = 0;
        f(x) += cast<int>(cast<int16_t>(a(x + r)) * cast<int16_t>(b(x + r)));
        f.update().atomic().vectorize(r).vectorize(x, 8);
        const int product = int16_t(255 * 255);
        Lowered(f).check<int>({16}, [](int) { return 32 * product; });
    }
    TEST_CASE("an atomic update that reads another element of its Func twice") {
        Buffer<int> where(1000);
        for (int i = 0; i < 1000; i++) where(i) = i % 4;
        Func f("f");
        RDom r(0, 1000, "r");
        Expr i = clamp(where(r), 0, 3);
        f(x) = select(x == 7, 2, 0);
        f(i) = f(i) + f(7) * f(7) + where(r) * where(r);
        f.update().atomic(true).parallel(r, 10);
        Buffer<int> result = f.realize({8});
        for (int k = 0; k < 4; k++) CHECK(result(k) == 250 * (4 + k * k));
    }
    TEST_CASE("a Func read at a distance has a region") {
        Func f("f"), g("g"), h("h");
        f(x, y) = x + 10 * y;
        g(x, y) = f(x, cast<int>(abs(y - 3)));
        h(x, y) = f(x, cast<int>(absd(y, 3)));
        f.compute_root();
        g.compute_root();
        h.compute_root();
        Lowered out({g, h});
        Buffer<int> one({4, 8}), two({4, 8});
        out.run({one, two});
        auto expected = [](int x, int y) { return x + 10 * std::abs(y - 3); };
        Lowered::compare(one, expected);
        Lowered::compare(two, expected);
    }
    TEST_CASE("a reduction loop that is fused with a pure one is not factored") {
        Func f("f");
        RDom r(0, 5, 0, 4, "r");
        Var u("u");
        RVar t("t");
        f(x) = x;
        f(x) += r.x * 10 + r.y + x;
        f.update().fuse(r.x, x, t);
        REFUSED(f.update().rfactor(r.y, u), "t is made from a reduction and a pure loop");
    }

    TEST_CASE("a loop that runs at once is fused with none whose iterations depend on each other") {
        RDom s(0, 5, "s");
        Var xo("xo"), xi("xi");
        RVar t("t");
        Func f("f");
        f(x) = 0;
        f(x) += x + s + 1;
        f.update().split(x, xo, xi, 8, TailStrategy::GuardWithIf).reorder(xi, s, xo).vectorize(xi);
        REFUSED(f.update().fuse(xi, s, t), "fuse: iterations of the reduction loop t");
        f.update().unroll(s);  // the schedule is as it was
        Lowered(f).check<int>({64}, [](int x) { return 5 * (x + 1) + 10; });

        RDom r(0, 2, 0, 200, "r");
        Func g("g");
        g(x) = 0;
        g(r.x) += 1;
        g.update().parallel(r.x);
        REFUSED(g.update().fuse(r.x, r.y, t), "fuse: iterations of the reduction loop t");
    }
    TEST_CASE("an atomic update that the last iteration decides does not run in parallel") {
        RDom r(0, 4000, "r");
        Func f("f"), g("g");
        f() = 0;
        f() = r * r;
        f.update().atomic();
        REFUSED(f.update().parallel(r), "not known to be commutative");
        g() = 0;
        g() = max(g(), r * r);
        g.update().atomic().parallel(r);
        Lowered(g).check<int>({}, [] { return 3999 * 3999; });
    }
    TEST_CASE("a domain that a predicate leaves empty, far from where it is") {
        RDom s(0, 8, "s");
        s.where(s >= (1 << 29));
        Func f("f"), g("g");
        f(x) = x;
        g(x) = 0;
        g(x) += f(s + x) + 1;
        f.compute_root();
        Lowered(g).check<int>({2}, [](int) { return 0; });
    }
    TEST_CASE("Target::StrictFloat is strict of what is simplified") {
        Param<float> v("v");
        v.set(-0.0f);
        Func f("f");
        f(x) = 1 / (v + 0.0f);
        Buffer<float> out = f.realize({1}, get_host_target().with_feature(Target::StrictFloat));
        CHECK(out(0) == std::numeric_limits<float>::infinity());
    }
}
