#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr TailStrategy pure_tails[] = {
    TailStrategy::Auto,           TailStrategy::RoundUp,
    TailStrategy::GuardWithIf,    TailStrategy::Predicate,
    TailStrategy::PredicateLoads, TailStrategy::PredicateStores,
    TailStrategy::ShiftInwards,   TailStrategy::ShiftInwardsAndBlend,
    TailStrategy::RoundUpAndBlend};

int producer(int x, int y) { return x * 7 + y * y; }

// out(x, y) = f(x - 1, y) + f(x + 1, y)
struct Stencil {
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"};
    Func f{"f"}, out{"out"};
    Stencil() {
        f(x, y) = x * 7 + y * y;
        out(x, y) = f(x - 1, y) + f(x + 1, y);
        f.compute_root();
    }
    static int reference(int x, int y) { return producer(x - 1, y) + producer(x + 1, y); }
};

// What an output may be for a tail: some want at least one whole tile, or whole tiles only.
bool fits(TailStrategy tail, int size, int factor) {
    bool whole = tail == TailStrategy::RoundUp || tail == TailStrategy::RoundUpAndBlend;
    bool one = tail == TailStrategy::Auto || tail == TailStrategy::ShiftInwards ||
               tail == TailStrategy::ShiftInwardsAndBlend;
    return whole ? size % factor == 0 : !one || size >= factor;
}

}  // namespace

TEST_SUITE("split") {
    TEST_CASE("of an output by every tail strategy") {
        for (TailStrategy tail : pure_tails) {
            Stencil s;
            s.out.split(s.x, s.xo, s.xi, 8, tail);
            Lowered l(s.out);
            CHECK(l.flat().find("for `out.xo` in") != std::string::npos);
            for (int size : {1, 7, 8, 9, 37}) {
                CAPTURE(int(tail));
                CAPTURE(size);
                if (fits(tail, size, 8))
                    l.check<int>({size, 3}, Stencil::reference);
                else
                    CHECK_THROWS_AS(l.check<int>({size, 3}, Stencil::reference), RuntimeError);
            }
        }
    }
    TEST_CASE("of an output, vectorized, by every tail strategy") {
        for (TailStrategy tail : pure_tails) {
            Stencil s;
            s.out.vectorize(s.x, 8, tail);
            Lowered l(s.out);
            CHECK(l.stores(8) > 0);
            for (int size : {1, 7, 8, 9, 37}) {
                CAPTURE(int(tail));
                CAPTURE(size);
                if (fits(tail, size, 8)) l.check<int>({size, 3}, Stencil::reference, {-5, 2});
            }
        }
    }
    TEST_CASE("of a producer by every tail strategy") {
        for (TailStrategy tail : pure_tails) {
            for (bool inside : {false, true}) {
                CAPTURE(int(tail));
                CAPTURE(inside);
                Stencil s;
                s.f.split(s.x, s.xo, s.xi, 8, tail).vectorize(s.xi);
                if (inside) s.f.compute_at(s.out, s.y);
                Lowered l(s.out);
                for (int size : {1, 6, 7, 8, 9, 37}) {
                    CAPTURE(size);
                    l.check<int>({size, 3}, Stencil::reference);
                }
            }
        }
    }
    TEST_CASE("of splits, in both dimensions") {
        for (TailStrategy outer : pure_tails) {
            for (TailStrategy inner :
                 {TailStrategy::GuardWithIf, TailStrategy::RoundUp, TailStrategy::ShiftInwards}) {
                CAPTURE(int(outer));
                CAPTURE(int(inner));
                Stencil s;
                Var xio("xio"), xii("xii");
                s.f.split(s.x, s.xo, s.xi, 6, outer).split(s.xi, xio, xii, 4, inner);
                s.f.split(s.y, s.yo, s.yi, 3, outer).reorder(xii, s.yi, xio, s.xo, s.yo);
                Lowered l(s.out);
                for (int size : {1, 9}) {
                    CAPTURE(size);
                    l.check<int>({size, 5}, Stencil::reference, {3, -4});
                }
            }
        }
    }
    TEST_CASE("of the outer of two loops") {
        for (TailStrategy tail : pure_tails) {
            CAPTURE(int(tail));
            Stencil s;
            Var xoo("xoo"), xoi("xoi");
            s.f.split(s.x, s.xo, s.xi, 4, tail).split(s.xo, xoo, xoi, 3, TailStrategy::GuardWithIf);
            s.f.vectorize(s.xi);
            Lowered l(s.out);
            for (int size : {1, 7, 8, 9, 37}) {
                CAPTURE(size);
                l.check<int>({size, 2}, Stencil::reference);
            }
        }
    }
    TEST_CASE("of a pure variable of an update, by every tail that updates may have") {
        for (TailStrategy tail : pure_tails) {
            if (tail == TailStrategy::ShiftInwards) continue;
            for (bool vectorized : {false, true}) {
                CAPTURE(int(tail));
                CAPTURE(vectorized);
                Stencil s;
                Func g("g");
                g(s.x, s.y) = s.f(s.x, s.y) + 1;
                g(s.x, s.y) = g(s.x, s.y) * 2 + s.f(s.x + 1, s.y);
                g.compute_root().update().split(s.x, s.xo, s.xi, 8, tail);
                if (vectorized) g.update().vectorize(s.xi);
                Func h("h");
                h(s.x, s.y) = g(s.x, s.y) + g(s.x + 2, s.y);
                Lowered l(h);
                auto ref = [](int x, int y) {
                    auto g = [](int x, int y) {
                        return (producer(x, y) + 1) * 2 + producer(x + 1, y);
                    };
                    return g(x, y) + g(x + 2, y);
                };
                for (int size : {1, 7, 8}) {
                    CAPTURE(size);
                    l.check<int>({size, 2}, ref);
                }
            }
        }
    }
    TEST_CASE("that blends updates no point of the next tile, and none twice") {
        for (TailStrategy tail :
             {TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend}) {
            for (int tile : {2, 6, 8, 12, 18}) {
                for (TailStrategy outer : {TailStrategy::GuardWithIf, tail}) {
                    CAPTURE(int(tail));
                    CAPTURE(tile);
                    Var x("x"), xo("xo"), xi("xi");
                    Func f("f"), g("g");
                    f(x) = x;
                    f(x) += 1000;
                    g(x) = f(x) + f(x + 1);
                    f.compute_root().update().split(x, xo, xi, tile, outer).vectorize(xi, 8, tail);
                    Lowered l(g);
                    for (int size : {1, 11, 40}) {
                        l.check<int>({size}, [](int x) { return 2 * x + 2001; }, {-3});
                    }
                }
            }
        }
    }
    TEST_CASE(
        "that blends within a part that the vector divides has no tail, and may be parallel") {
        Var x("x"), xo("xo"), xi("xi");
        Func f("f");
        f(x) = x;
        f(x) += 9;
        f.update().split(x, xo, xi, 16, TailStrategy::GuardWithIf).parallel(xo);
        f.update().vectorize(xi, 8, TailStrategy::RoundUpAndBlend);
        Lowered l(f);
        CHECK(l.count("select") == 0);
        l.check<int>({45}, [](int x) { return x + 9; });
    }
    TEST_CASE("that blends in tiles of rows, or in rows that are fused") {
        for (TailStrategy tail :
             {TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend}) {
            for (bool fused : {false, true}) {
                CAPTURE(int(tail));
                CAPTURE(fused);
                Var x("x"), y("y"), yo("yo"), yi("yi"), t("t");
                Func f("f"), g("g");
                f(x, y) = x + 100 * y;
                f(x, y) += 7;
                g(x, y) = f(x, y) - f(x, y + 1);
                Stage s = f.compute_root().update();
                s.split(y, yo, yi, 3, TailStrategy::GuardWithIf);
                if (fused) s.fuse(x, yi, t).vectorize(t, 8, tail);
                if (!fused) s.split(yi, yi, t, 4, tail).reorder(x, t).vectorize(x, 4, tail);
                Lowered l(g);
                for (int size : {1, 5, 9}) {
                    l.check<int>({size, 7}, [](int, int) { return -100; });
                }
            }
        }
    }
    TEST_CASE("of a reduction variable never leaves the domain") {
        for (TailStrategy tail :
             {TailStrategy::Auto, TailStrategy::GuardWithIf, TailStrategy::Predicate,
              TailStrategy::PredicateLoads, TailStrategy::PredicateStores}) {
            for (int extent : {1, 7, 8, 9}) {
                CAPTURE(int(tail));
                CAPTURE(extent);
                Var x("x");
                RVar ro("ro"), ri("ri");
                RDom r(0, extent, "r");
                Func f("f"), g("g");
                f(x) = x * x;
                g(x) += f(x + r);
                f.compute_root();
                g.update().split(r, ro, ri, 4, tail);
                Lowered l(g);
                auto ref = [&](int x) {
                    int sum = 0;
                    for (int i = 0; i < extent; i++) sum += (x + i) * (x + i);
                    return sum;
                };
                for (int size : {1, 5}) l.check<int>({size}, ref);
            }
        }
    }
    TEST_CASE("by a factor that is a parameter") {
        for (TailStrategy tail : pure_tails) {
            CAPTURE(int(tail));
            Stencil s;
            Param<int> factor("factor");
            s.f.split(s.x, s.xo, s.xi, factor, tail);
            Lowered l(s.out);
            for (int n : {1, 3, 8}) {
                factor.set(n);
                for (int size : {1, 7, 8, 9}) l.check<int>({size, 2}, Stencil::reference);
            }
        }
    }
    TEST_CASE("by a parameter that is not positive fails when it runs") {
        Stencil s;
        Param<int> factor("factor");
        factor.set(0);
        s.f.split(s.x, s.xo, s.xi, factor);
        Lowered l(s.out);
        CHECK_THROWS_WITH_AS(l.check<int>({4, 4}, Stencil::reference), doctest::Contains("factor"),
                             RuntimeError);
    }
    TEST_CASE("by a constant that divides has no tail") {
        Stencil s;
        s.out.bound(s.x, 0, 16).split(s.x, s.xo, s.xi, 8, TailStrategy::GuardWithIf);
        Lowered l(s.out);
        CHECK(l.flat().find("if ") == l.flat().rfind("if "));  // that of the bounds query
        l.check<int>({16, 3}, Stencil::reference);
    }
    TEST_CASE("of an empty output, around the loop over it: nothing is stored before its begin") {
        Var x("x"), y("y"), xo("xo"), xi("xi"), t("t"), to("to"), ti("ti"), tii("tii"), yi("yi");
        Func f("f"), out("out");
        f(x, y) = x + 10 * y;
        out(x, y) = 0;
        out(x, y) = f(x + 3, y);
        out.update()
            .split(x, xo, xi, 3, TailStrategy::GuardWithIf)
            .fuse(xi, xo, t)
            .split(t, to, ti, 2, TailStrategy::PredicateLoads)
            .tile(ti, y, ti, y, tii, yi, 3, 3, TailStrategy::Auto);
        f.store_root().compute_at(out, ti);
        Lowered l(out);
        for (int width : {0, 1, 5}) {
            l.check<int>({width, 4}, [](int x, int y) { return x + 3 + 10 * y; });
        }
    }
    TEST_CASE(
        "of a tile of which nothing is left in some iterations, read where that is no interval") {
        const auto indices = std::to_array<Expr (*)(const Var &)>(
            {[](const Var &x) { return x * (x - 3); }, [](const Var &x) { return x * x - 4 * x; },
             [](const Var &x) { return cast<int>(cast<float>(x) * cast<float>(x - 3)); }});
        for (auto index : indices) {
            Var x("x"), y("y"), i("i"), t("t"), to("to"), ti("ti");
            Func f("f"), out("out");
            f(x) = x * 2;
            out(y, x) = f(index(x));
            out.split(x, x, i, 8, TailStrategy::GuardWithIf)
                .fuse(y, i, t)
                .split(t, to, ti, 2, TailStrategy::GuardWithIf);
            f.compute_root();
            f.in(out).compute_at(out, to);
            Lowered l(out);
            Func plain("plain");
            plain(x) = index(x);
            Buffer<int> at = plain.realize({12});
            for (int size : {1, 3, 8, 11}) {
                l.check<int>({2, size}, [&](int, int x) { return at(x) * 2; });
            }
        }
    }
    TEST_CASE("of a fused loop that is rounded up, over nothing") {
        Var x("x"), y("y"), t("t"), o("o"), i("i");
        Func f("f");
        f(x, y) = x + y;
        f.fuse(x, y, t).split(t, o, i, 4, TailStrategy::RoundUp);
        for (auto [width, height] : {std::pair(0, 5), std::pair(5, 0), std::pair(0, 0)}) {
            Buffer<int> out = f.realize({width, height});
            CHECK(out.number_of_elements() == 0);
        }
    }
    TEST_CASE("a blend may put back what has not been computed yet") {
        Var x("x"), y("y"), o("o"), i("i");
        Func f("f");
        f(x, y) = x + 10 * y;
        f.split(x, o, i, 2, TailStrategy::ShiftInwardsAndBlend).reorder(y, o, i);
        Buffer<int> result = f.realize({17, 2}, get_host_target().with_feature(Target::Interpret));
        result.for_each_element([&](int a, int b) { REQUIRE(result(a, b) == a + 10 * b); });
    }
    TEST_CASE("a split that divides its loop guards it still where the loop over tiles runs on") {
        Var x("x"), y("y"), o("o"), i("i"), oo("oo"), oi("oi");
        for (TailStrategy tail : {TailStrategy::ShiftInwards, TailStrategy::GuardWithIf}) {
            Func f("f"), g("g");
            f(x, y) = x + 10 * y;
            g(x, y) = f(x, y - 2) + f(x, y + 3);
            f.compute_at(g, y).split(y, o, i, 3, tail).split(o, oo, oi, 8);
            Buffer<int> result =
                g.realize({3, 4}, get_host_target().with_feature(Target::Interpret));
            result.for_each_element(
                [&](int a, int b) { REQUIRE(result(a, b) == 2 * a + 20 * b + 10); });
        }
    }
}
