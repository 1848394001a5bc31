#include "error/refusal.h"
#include "lang/boundary_conditions.h"
#include "stencil.h"

using namespace tessera;
using namespace tessera::test;

// What slides is computed as often as it says, and stored in as little; the values are those of
// plain C++, in machine code and in the interpreter.
namespace {

Var x("x"), y("y"), z("z"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

// How often `counted` is called in one of the two runs.
template<typename F>
int calls_of(const Lowered &l, const std::vector<int> &sizes, F reference) {
    return calls_during([&] { l.check<int>(sizes, reference); }) / 2;
}

// The size of the only allocation of this name, as it is written.
std::string allocation_of(const Lowered &l, const std::string &name) {
    const std::string &text = l.text();
    const size_t at = text.find("allocate " + name + ": ");
    if (at == text.npos) return "none";
    return text.substr(at, text.find('\n', at) - at);
}

}  // namespace

TEST_SUITE("windows of unrolled loops") {
    TEST_CASE("an unrolled loop that slides is one copy, but in the first iteration") {
        Func f("f"), out("out");
        f(x) = counted(x);
        out(x) = f(x) + f(x + 1);
        f.store_root().compute_at(out, x).unroll(x);
        Lowered l(out);
        CHECK(calls_of(l, {100}, [](int i) { return 2 * i + 1; }) == 101);
        CHECK(calls_of(l, {1}, [](int i) { return 2 * i + 1; }) == 2);
    }
    TEST_CASE("backwards, in steps of several points, and with an update") {
        Func f("f"), g("g"), out("out");
        f(x) = counted(2 * x);
        g(x) = counted(x);
        g(x) += counted(3 * x);
        out(x) = f(-2 * x) + f(2 - 2 * x) + f(3 - 2 * x) + g(x) + g(x + 2);
        f.store_root().compute_at(out, x).unroll(x);
        g.store_root().compute_at(out, x).unroll(x).update().unroll(x);
        Lowered l(out);
        auto expected = [](int i) { return 10 - 12 * i + 4 * (2 * i + 2); };
        CHECK(calls_of(l, {20}, expected) == 4 + 19 * 2 + 2 * 22);
    }
    TEST_CASE("whose storage is folded, vectorized along the other dimension") {
        Func f("f"), out("out");
        f(x, y) = counted(x + 10 * y);
        out(x, y) = f(x, y) + f(x, y + 1) + f(x, y + 2);
        f.store_root().compute_at(out, y).unroll(y).fold_storage(y, 4);
        out.vectorize(x, 4);
        Lowered l(out);
        CHECK(calls_of(l, {8, 12}, [](int i, int j) { return 3 * i + 30 * j + 30; }) == 8 * 14);
        CHECK(allocation_of(l, "f").find(", 4]") != std::string::npos);
    }
}

TEST_SUITE("windows that stand still") {
    TEST_CASE("the first iteration computes what all of them read") {
        Func f("f"), out("out");
        f(x) = counted(x * x);
        out(x) = x * f(2) + f(5);
        f.store_root().compute_at(out, x);
        Lowered l(out);
        CHECK(calls_of(l, {40}, [](int i) { return 4 * i + 25; }) == 4);
        CHECK(calls_of(l, {1}, [](int i) { return 4 * i + 25; }) == 4);
    }
    TEST_CASE("of no dimension at all, and with an update") {
        Func f("f"), g("g"), out("out");
        RDom r(0, 5, "r");
        f() = 7;
        g() = 0;
        g() += counted(r);
        out(x, y) = f() + g() * x + y;
        f.store_root().compute_at(out, x);
        g.store_root().compute_at(out, y);
        Lowered l(out);
        CHECK(calls_of(l, {9, 4}, [](int i, int j) { return 7 + 10 * i + j; }) == 5);
    }
    TEST_CASE("along the outer loop, while it moves along the inner one") {
        Func f("f"), out("out");
        f(x) = counted(x * 3);
        out(x, y) = f(x) + f(x + 1) + y;
        f.store_root().compute_at(out, x);
        Lowered l(out);
        CHECK(calls_of(l, {12, 5}, [](int i, int j) { return 6 * i + 3 + j; }) == 13);
    }
    TEST_CASE("along the inner loop, while it moves along the outer one") {
        Func f("f"), out("out");
        f(y) = counted(y * 3);
        out(x, y) = f(y) + f(y + 2) + x;
        f.store_root().compute_at(out, x);
        Lowered l(out);
        CHECK(calls_of(l, {12, 5}, [](int i, int j) { return 6 * j + 6 + i; }) == 7);
        CHECK(l.flat().find("% 4") != std::string::npos);
    }
    TEST_CASE("what is read for it alone is computed once, too") {
        Func g("g"), f("f"), out("out");
        g(x) = counted(x);
        f(x) = g(x) + g(x + 1);
        out(x) = x + f(3);
        f.store_root().compute_at(out, x);
        g.compute_at(out, x);
        Lowered l(out);
        CHECK(calls_of(l, {20}, [](int i) { return i + 7; }) == 2);
    }
    TEST_CASE("a stage that begins anew what another iteration has finished does not stand still") {
        Func f("f"), g("g");
        RDom r(0, 4, "r");
        f(x) = counted(1);
        f(r) = f(r + 1) + 1;
        f(x) += 10 * x;
        g(x, y) = f(x) + y;
        f.store_root().compute_at(g, x);
        Func again("again");
        again(x) = 1;
        again(r) = again(r + 1) + 1;
        again(x) += 10 * x;
        Func wanted("wanted");
        wanted(x, y) = again(x) + y;
        again.compute_root();
        Buffer<int> expected = wanted.realize({8, 6});
        Lowered(g).check<int>({8, 6}, [&](int i, int j) { return expected(i, j); });
    }
    TEST_CASE("beside a thread that computes it") {
        Func f("f"), out("out");
        f(x) = counted(x * x);
        out(x) = x * f(2) + f(5);
        f.store_root().compute_at(out, x).async();
        Lowered l(out);
        CHECK(calls_of(l, {40}, [](int i) { return 4 * i + 25; }) == 4);
    }
}

TEST_SUITE("windows that slide through a stage") {
    TEST_CASE("of one point: along the loop around both") {
        Func source("source"), taps("taps"), out("out");
        source(x) = counted(x * 3);
        taps(x) = source(x) + source(x + 2);
        out(x) = 5 * taps(x);
        taps.compute_at(out, x);
        source.store_root().compute_at(taps, x);
        Lowered l(out);
        CHECK(calls_of(l, {33}, [](int i) { return 30 * i + 30; }) == 35);
        CHECK(l.flat().find("% 4") != std::string::npos);
    }
    TEST_CASE("of one row: along rows and columns") {
        Func source("source"), taps("taps"), out("out");
        source(x, y) = counted(x + 10 * y);
        taps(x, y) = source(x, y) + source(x + 1, y + 2);
        out(x, y) = 2 * taps(x, y);
        taps.compute_at(out, y);
        auto ref = [](int i, int j) { return 4 * (i + 10 * j) + 42; };
        SUBCASE("row by row") {
            source.store_root().compute_at(taps, y);
            CHECK(calls_of(Lowered(out), {9, 7}, ref) == 10 * 9);
        }
        SUBCASE("point by point") {
            source.store_root().compute_at(taps, x);
            CHECK(calls_of(Lowered(out), {9, 7}, ref) == 10 * 9);
        }
        SUBCASE("stored around the rows of the stage") {
            source.store_at(out, y).compute_at(taps, x);
            CHECK(calls_of(Lowered(out), {9, 7}, ref) == 10 * 3 * 7);
        }
    }
    TEST_CASE("of one point, which asks for another point only now and then") {
        Func source("source"), taps("taps"), out("out");
        source(x) = counted(x * 3);
        taps(x) = source(x) + source(x + 2);
        out(x) = taps(x / 3) + x;
        taps.store_root().compute_at(out, x);
        source.store_root().compute_at(taps, x);
        auto ref = [](int i) { return 6 * (i / 3) + 6 + i; };
        CHECK(calls_of(Lowered(out), {30}, ref) == 12);
    }
}

TEST_SUITE("windows in each version of a specialized stage") {
    TEST_CASE("slide and are folded") {
        for (bool is_wide : {true, false}) {
            CAPTURE(is_wide);
            Param<bool> wide("wide");
            Func f("f"), out("out");
            f(x, y) = counted(x * y);
            out(x, y) = f(x, y) + f(x, y + 4);
            f.store_root().compute_at(out, y).fold_storage(y, 5);
            out.specialize(wide).vectorize(x, 8, TailStrategy::GuardWithIf);
            wide.set(is_wide);
            Lowered l(out);
            CHECK(Lowered::count(l.regions(), "% 5") >= 4);
            auto ref = [](int i, int j) { return 2 * i * j + 4 * i; };
            CHECK(calls_of(l, {16, 20}, ref) == 16 * 24);
            CHECK(calls_of(l, {16, 1}, ref) == 16 * 5);
        }
    }
    TEST_CASE("whose loops differ: the larger fold is taken") {
        for (int version : {0, 1, 2}) {
            CAPTURE(version);
            Param<int> p("p");
            Func f("f"), out("out");
            f(x, y) = counted(x + y * y);
            out(x, y) = f(x, y) + f(x, y + 2);
            out.specialize(p == 1).split(y, yo, y, 6, TailStrategy::GuardWithIf).reorder(x, yo, y);
            out.specialize(p == 2).reorder(y, x);
            f.store_root().compute_at(out, y);
            p.set(version);
            Lowered l(out);
            auto ref = [](int i, int j) { return 2 * i + j * j + (j + 2) * (j + 2); };
            for (int size : {1, 6, 13}) l.check<int>({5, size}, ref);
            if (version == 0) CHECK(calls_of(l, {5, 12}, ref) == 5 * 14);
        }
    }
    TEST_CASE("of a stage between, within another loop") {
        Param<bool> p("p");
        Func f("f"), g("g"), out("out");
        f(x, y) = counted(x + 7 * y);
        g(x, y) = f(x, y) + f(x + 1, y);
        out(x, y) = g(x, y) + g(x, y + 1);
        g.compute_at(out, y);
        g.specialize(p).unroll(x, 2, TailStrategy::GuardWithIf);
        f.store_at(out, y).compute_at(g, x);
        for (bool value : {false, true}) {
            p.set(value);
            auto ref = [](int i, int j) { return 4 * i + 2 + 28 * j + 14; };
            CHECK(calls_of(Lowered(out), {10, 6}, ref) >= 11 * 2 * 6);
        }
    }
    TEST_CASE("two stages of one consumer each walk over it on their own") {
        Func f("f"), out("out");
        f(x, y) = counted(x + 10 * y);
        out(x, y) = f(x, y) + f(x, y + 1);
        out(x, y) += f(x, y) * f(x, y + 2);
        f.store_root().compute_at(out, y);
        auto ref = [](int i, int j) {
            auto at = [&](int k) { return i + 10 * k; };
            return at(j) + at(j + 1) + at(j) * at(j + 2);
        };
        Lowered l(out);
        CHECK(calls_of(l, {6, 9}, ref) == 6 * 10 + 6 * 11);
        CHECK(l.regions().find("% 4") != std::string::npos);
    }
    TEST_CASE("two stages of a consumer within one loop do not rely on one another") {
        Func f("f"), g("g"), out("out");
        f(x, y) = counted(x + 10 * y);
        g(x, y) = f(x, y);
        g(x, y) += f(x + 1, y) * 2;
        out(x, y) = g(x, y);
        g.compute_at(out, y);
        f.store_root().compute_at(g, x);
        auto ref = [](int i, int j) { return 3 * (i + 10 * j) + 2; };
        for (int size : {1, 9}) Lowered(out).check<int>({size, 5}, ref);
    }
}

TEST_SUITE("folds in several loops") {
    TEST_CASE("tiles that do not overlap are stored as one tile") {
        Func f("f"), out("out");
        f(x, y) = counted(x + 3 * y);
        out(x, y) = f(4 * x, 3 * y) - f(4 * x + 3, 3 * y + 2);
        f.store_root().compute_at(out, x);
        Lowered l(out);
        CHECK(allocation_of(l, "f").find("[4, 4]") != std::string::npos);
        CHECK(calls_of(l, {10, 8}, [](int, int) { return -9; }) == 10 * 8 * 12);
    }
    TEST_CASE("rows are folded within planes that have nothing in common") {
        Func f("f"), out("out");
        f(x, y, z) = counted(x + 10 * y + 100 * z);
        out(x, y, z) = f(x, y, z) + f(x, y + 3, z);
        f.store_root().compute_at(out, x);
        Lowered l(out);
        auto ref = [](int i, int j, int k) { return 2 * (i + 10 * j + 100 * k) + 30; };
        CHECK(calls_of(l, {5, 9, 3}, ref) == 5 * 12 * 3);
        CHECK(Lowered::count(l.regions(), "% 4") > 0);
        CHECK(allocation_of(l, "f").find(", 4, 1]") != std::string::npos);
    }
    TEST_CASE("the user folds rows that an outer loop walks over again") {
        Func f("f"), out("out");
        f(x, y, z) = counted(x + 10 * y + 100 * z);
        out(x, y, z) = f(x, y, z) + f(x + 2, y + 3, z);
        f.store_root().compute_at(out, y).fold_storage(y, 4);
        Lowered l(out);
        auto ref = [](int i, int j, int k) { return 2 * (i + 10 * j + 100 * k) + 32; };
        CHECK(calls_of(l, {5, 9, 3}, ref) == 7 * 12 * 3);
        CHECK(allocation_of(l, "f").find(", 4, 1]") != std::string::npos);
    }
    TEST_CASE("the user folds both dimensions") {
        Func f("f"), out("out");
        f(x, y) = counted(x - y);
        out(x, y) = f(x, y) * f(x + 3, y);
        f.store_root().compute_at(out, x).fold_storage(x, 4).fold_storage(y, 1);
        Lowered l(out);
        CHECK(calls_of(l, {20, 6}, [](int i, int j) { return (i - j) * (i - j + 3); }) == 23 * 6);
        CHECK(allocation_of(l, "f").find("[4, 1]") != std::string::npos);
    }
    TEST_CASE("what the user folds further in is computed anew for each iteration further out") {
        // Rows overlap: what is kept of one walk along x would be overwritten by the end of it.
        Func f("f"), out("out");
        f(x, y) = counted(x + y * y);
        out(x, y) = f(x, y) + f(x + 1, y + 1);
        f.store_root().compute_at(out, x).fold_storage(x, 2);
        auto ref = [](int i, int j) { return 2 * i + 1 + j * j + (j + 1) * (j + 1); };
        Lowered l(out);
        CHECK(calls_of(l, {10, 6}, ref) == 11 * 2 * 6);
        Func g("g"), still("still");
        g(x) = counted(x * 5);
        still(x, y) = g(x) + g(x + 1) * y;
        g.store_root().compute_at(still, x).fold_storage(x, 2);
        Lowered m(still);
        auto of_still = [](int i, int j) { return 5 * i + 5 * (i + 1) * j; };
        CHECK(calls_of(m, {10, 6}, of_still) == 11 * 6);
        CHECK(allocation_of(m, "g").find("[2]") != std::string::npos);
    }
    TEST_CASE("a fold that fits the loop within strips only") {
        Func f("f"), out("out");
        f(x, y) = counted(x + y * y);
        out(x, y) = f(x, y) + f(x, y + 2);
        out.split(y, yo, yi, 8, TailStrategy::GuardWithIf);
        f.store_root().compute_at(out, yi).fold_storage(y, 3);
        Lowered l(out);
        auto ref = [](int i, int j) { return 2 * i + j * j + (j + 2) * (j + 2); };
        CHECK(calls_of(l, {5, 16}, ref) == 5 * 10 * 2);
        l.check<int>({5, 11}, ref);
    }
    TEST_CASE("backwards, and beside a thread") {
        for (bool async : {false, true}) {
            CAPTURE(async);
            Func f("f"), out("out");
            f(x, y) = counted(x + 2 * y);
            out(x, y) = f(x, 50 - y) + f(x + 1, 51 - y);
            f.store_root().compute_at(out, x).fold_storage(y, 2, false);
            if (async) f.async();
            Lowered l(out);
            l.check<int>({7, 9}, [](int i, int j) { return 2 * i + 1 + 2 * (101 - 2 * j); });
            CHECK(l.regions().find("% 2") != std::string::npos);
        }
    }
    TEST_CASE("tuples, with a ring buffer around") {
        Func f("f"), out("out");
        f(x, y, z) = Tuple(x + y, counted(z));
        out(x, y, z) = f(x, y, z)[0] + f(x, y + 1, z)[1];
        f.store_at(out, z).compute_at(out, y).hoist_storage_root().ring_buffer(2).async();
        Lowered l(out);
        l.check<int>({5, 6, 4}, [](int i, int j, int k) { return i + j + k; });
    }
}

TEST_SUITE("folds of what splits round up") {
    TEST_CASE("have room for all that is computed") {
        for (TailStrategy tail : {TailStrategy::RoundUp, TailStrategy::ShiftInwards}) {
            CAPTURE(int(tail));
            Stencil s;
            s.out.split(s.y, s.yo, s.yi, 4, TailStrategy::GuardWithIf);
            s.f.store_root().compute_at(s.out, s.yo).split(s.y, s.y, s.yi, 4, tail);
            Lowered l(s.out);
            CHECK(l.regions().find("% 8") != std::string::npos);
            s.check(l);
            CHECK(s.calls(l, 10, 32) == 10 * 36);
        }
    }
    TEST_CASE("where a loop further in reads what was rounded up") {
        Func f("f"), g("g");
        f(x, y) = counted(x * 7 + y * y * 3);
        g(x, y) = f(x, y) + f(x + 2, y) * 3 + f(x, y + 1) * 5;
        g.tile(x, y, xo, yo, xi, yi, 6, 4, TailStrategy::GuardWithIf);
        f.store_at(g, yo).compute_at(g, xi).split(x, xo, xi, 4, TailStrategy::RoundUp);
        auto of_f = [](int i, int j) { return i * 7 + j * j * 3; };
        Lowered l(g);
        CHECK(l.regions().find("% 16") != std::string::npos);
        for (int size : {1, 5, 24}) {
            l.check<int>({size, 16}, [&](int i, int j) {
                return of_f(i, j) + of_f(i + 2, j) * 3 + of_f(i, j + 1) * 5;
            });
        }
    }
    TEST_CASE("a chain of two slides, the first of which is told where the other begins") {
        Func g("g"), f("f"), out("out");
        g(x, y) = counted(x + y);
        f(x, y) = g(x, y) + g(x, y + 1);
        out(x, y) = f(x, y - 1) + f(x, y + 1);
        out.split(y, yo, yi, 4, TailStrategy::GuardWithIf);
        f.store_root().compute_at(out, yo).split(y, y, yi, 4, TailStrategy::RoundUp);
        g.store_root().compute_at(out, yo);
        auto ref = [](int i, int j) { return 4 * (i + j) + 2; };
        Lowered l(out);
        CHECK(calls_of(l, {5, 32}, ref) <= 5 * 40);
        for (int size : {1, 4, 17}) l.check<int>({5, size}, ref);
    }
}

TEST_SUITE("windows of updates") {
    TEST_CASE("in the order of their own loops") {
        Func f("f"), g("g");
        f(x, y) = counted(5 * x - y);
        g(x, y) = 1;
        g(x, y) *= f(x, y) + f(x, y + 1);
        g.update().reorder(y, x);
        f.store_at(g, x).compute_at(g, y);
        auto ref = [](int i, int j) { return 2 * (5 * i - j) - 1; };
        Lowered l(g);
        CHECK(calls_of(l, {7, 9}, ref) == 7 * 10);
        CHECK(l.regions().find("% 2") != std::string::npos);
    }
    TEST_CASE("though a stage that does not read it runs in parallel") {
        Func f("f"), g("g");
        f(x, y) = counted(5 * x - y);
        g(x, y) = 1;
        g.parallel(y);
        g(x, y) += f(x, y) + f(x, y + 1);
        f.store_root().compute_at(g, y);
        auto ref = [](int i, int j) { return 2 * (5 * i - j); };
        CHECK(calls_of(Lowered(g), {7, 9}, ref) == 7 * 10);
    }
    TEST_CASE("along a loop of a reduction") {
        Func f("f"), g("g");
        RDom r(0, 12, "r");
        f(x, y) = counted(x + y);
        g(x) = 0;
        g(x) += f(x, r) * f(x, r + 2);
        f.store_at(g, x).compute_at(g, r);
        auto ref = [](int i) {
            int sum = 0;
            for (int k = 0; k < 12; k++) sum += (i + k) * (i + k + 2);
            return sum;
        };
        CHECK(calls_of(Lowered(g), {5}, ref) == 5 * 14);
    }
    TEST_CASE("a stage that reads it stored inside of its loops is refused all the same") {
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = f(x, y);
        g(x, y) += f(x, y);
        g.update().reorder(y, x);
        f.store_at(g, x).compute_at(g, y);
        CHECK_THROWS_WITH_AS(Lowered{g}, doctest::Contains("storage must enclose"), CompileError);
    }
}

TEST_SUITE("windows along a stage that slides itself") {
    TEST_CASE("go on where the last iteration around it has ended") {
        Func a("a"), b("b"), c("c"), out("out");
        a(x, y) = counted(x + y * y);
        b(x, y) = a(x, y) + a(x, y + 1);
        c(x, y) = b(x, y) - b(x, y + 2);
        out(x, y) = c(x, y) * c(x, y + 1);
        auto of_b = [](int i, int j) { return 2 * i + j * j + (j + 1) * (j + 1); };
        auto of_c = [&](int i, int j) { return of_b(i, j) - of_b(i, j + 2); };
        auto ref = [&](int i, int j) { return of_c(i, j) * of_c(i, j + 1); };
        c.store_root().compute_at(out, y);
        SUBCASE("in the loop of one") {
            b.compute_root();
            a.store_root().compute_at(b, y);
        }
        SUBCASE("in the loop of another") {
            b.store_root().compute_at(c, y);
            a.store_root().compute_at(b, y);
        }
        SUBCASE("in the loop of another, stored in all of which") {
            b.store_root().compute_at(c, y);
            a.compute_at(b, y);
            Lowered(out).check<int>({4, 9}, ref);
            a.store_root();
        }
        Lowered l(out);
        CHECK(calls_of(l, {4, 20}, ref) == 4 * 24);
        for (int size : {1, 2, 7}) l.check<int>({3, size}, ref);
    }
    TEST_CASE("within a stage that is skipped in some iterations, which then is computed in all") {
        Func a("a"), b("b"), out("out");
        a(x) = 10 * x;
        b(x) = a(x) + a(x + 1);
        out(x) = select(x % 4 == 1, 0, b(x));
        auto ref = [](int i) { return i % 4 == 1 ? 0 : 20 * i + 10; };
        b.compute_at(out, x);
        SUBCASE("kept by the values inside") { a.store_root().compute_at(b, x); }
        SUBCASE("of storage that is each iteration's own, it is skipped") {
            a.compute_at(b, x);
            CHECK(Lowered(out).flat().find("% 4 != 1:") != std::string::npos);
        }
        Lowered l(out);
        for (int size : {1, 2, 9, 16}) l.check<int>({size}, ref);
    }
    TEST_CASE("what a stage of whole vectors reads, where the window further in slides too") {
        // That is asked for one point an iteration, and computes what fits before its end.
        struct Reader {
            std::function<Expr(Func)> out;
            std::function<int(std::function<int(int)>, int)> ref;
        };
        const Reader readers[] = {
            {[](Func c) { return c(x) + c(x + 2); }, [](auto c, int i) { return c(i) + c(i + 2); }},
            {[](Func c) { return c(100 - x) + c(120 - x); },
             [](auto c, int i) { return c(100 - i) + c(120 - i); }},
            {[](Func c) { return c(x / 2) + c(x / 2 + 20); },
             [](auto c, int i) { return c(i / 2) + c(i / 2 + 20); }},
            {[](Func c) { return c(x / 20); }, [](auto c, int i) { return c(i / 20); }},
        };
        for (const Reader &reader : readers) {
            for (int way : {0, 1, 2}) {
                CAPTURE(way);
                Func a("a"), b("b"), c("c"), out("out");
                a(x) = x * x;
                b(x) = a(x) + 1;
                c(x) = b(x);
                out(x) = reader.out(c);
                c.compute_at(out, x).store_root();
                b.compute_at(out, x).store_root().split(x, xo, xi, 8, TailStrategy::ShiftInwards);
                a.compute_at(out, x);
                if (way > 0) a.store_root();
                if (way > 1) a.vectorize(x, 4, TailStrategy::RoundUp);
                Lowered l(out);
                auto of_c = [](int i) { return i * i + 1; };
                for (int size : {1, 2, 20, 41}) {
                    l.check<int>({size}, [&](int i) { return reader.ref(of_c, i); });
                }
            }
        }
    }
    TEST_CASE("not past a predicate that leaves nothing to some iterations") {
        Func a("a"), b("b"), out("out");
        RDom r(0, 1, 0, 1, "r");
        r.where(r.y < r.x);
        RVar ro("ro"), ri("ri");
        a(x) = x;
        b(x) = a(x) + a(x + 1);
        out(x) = 1;
        out(x) = b(r.x);
        out.update().split(r.x, ro, ri, 16, TailStrategy::GuardWithIf);
        Var xo("xo"), xi("xi");
        b.compute_at(out, ro).split(x, xo, xi, 4, TailStrategy::ShiftInwards);
        a.compute_root();
        Lowered(out).check<int>({3}, [](int) { return 1; });
    }
    TEST_CASE("not where the loop around is walked over again") {
        Func a("a"), b("b"), out("out");
        a(x, y) = counted(x + 3 * y);
        b(x, y) = a(x, y) + a(x, y + 1);
        out(x, y, z) = b(x, y) - b(x, y + 1) * z;
        b.store_at(out, z).compute_at(out, y);
        a.store_root().compute_at(b, y);
        auto of_b = [](int i, int j) { return 2 * i + 6 * j + 3; };
        Lowered l(out);
        for (int size : {1, 9}) {
            l.check<int>({3, size, 4},
                         [&](int i, int j, int k) { return of_b(i, j) - of_b(i, j + 1) * k; });
        }
    }
}

TEST_SUITE("windows that do not slide") {
    TEST_CASE("where the row for one iteration undoes another's") {
        Var x("x"), y("y");
        Func f("f"), g("g");
        RDom r(0, 4, "r");
        f(x, y) = 1;
        // All of x is begun anew, and finished at what is asked for only.
        f(r, y) = f(r + 1, y) + 1;
        f(x, y) += 10 * y;
        g(x, y) = f(x, 2) + f(x, y);
        Buffer<int> expected = g.realize({8, 6});
        f.compute_at(g, x).store_root();
        Buffer<int> out = g.realize({8, 6});
        out.for_each_element([&](int a, int b) { CHECK(out(a, b) == expected(a, b)); });
    }
    TEST_CASE("along a loop that moves the rows in which they would") {
        // At each x, g is computed in other rows: what a row has of the columns before it is not
        // known.
        Var x("x"), y("y"), o("o"), i("i");
        Func f("f"), g("g"), h("h");
        f(x, y) = 3 * x + 50 * y;
        g(x, y) = f(x, y) + f(x + 2, y);
        g.compute_at(h, x);
        f.store_at(h, y);
        bool by_a_test = false;
        SUBCASE("by the loop's ends") { f.compute_at(g, y); }
        SUBCASE("by the ends of a loop around it") {
            g.split(y, o, i, 2, TailStrategy::RoundUp).reorder(x, i, o);
            f.compute_at(g, i);
        }
        SUBCASE("by a test in the loop") {
            by_a_test = true;
            g.split(y, o, i, 4, TailStrategy::GuardWithIf).reorder(x, i, o);
            f.compute_at(g, i);
        }
        h(x, y) = g(x, y) + g(x, by_a_test ? y + x % 4 : 4 - x);
        Buffer<int> out = h.realize({9, 5});
        auto g_at = [](int a, int b) { return 6 * a + 6 + 100 * b; };
        out.for_each_element([&](int a, int b) {
            CHECK(out(a, b) == g_at(a, b) + g_at(a, by_a_test ? b + a % 4 : 4 - a));
        });
    }
    TEST_CASE("along a loop that leaves out some iterations in between") {
        Var x("x"), y("y"), yo("yo"), yi("yi"), t("t");
        Func f("f"), g("g"), h("h");
        SUBCASE("the tail of a dimension that is fused with it") {
            f(x) = 10 * x;
            g(x, y) = f(4 * x + y % 4) + f(4 * x + y % 4 + 1);
            g.bound(x, 0, 8).bound(y, 0, 6);
            g.split(y, yo, yi, 4, TailStrategy::GuardWithIf).reorder(yi, x, yo).fuse(yi, x, t);
            f.store_at(g, yo).compute_at(g, t);
            Buffer<int> out = g.realize({8, 6});
            out.for_each_element(
                [&](int a, int b) { CHECK(out(a, b) == 20 * (4 * a + b % 4) + 10); });
        }
        SUBCASE("a loop further in that is empty") {
            RDom r(0, 4, 0, 9, "r");
            r.where(r.x < r.y % 4);
            f(x) = 10 * x;
            g(x, y) = f(x) + f(x + 1) + y;
            h() = 0;
            h() += g(r.y, r.x);
            g.compute_at(h, r.y);
            f.store_root().compute_at(g, y);
            int expected = 0;
            for (int b = 0; b < 9; b++) {
                for (int a = 0; a < b % 4; a++) expected += 20 * b + 10 + a;
            }
            Buffer<int> out = h.realize();
            CHECK(out() == expected);
        }
    }
}

TEST_SUITE("windows along loops that are split in parts") {
    TEST_CASE("a loop whose first iteration slides in more is not split as if it did not") {
        Var x("x"), y("y"), strip("strip");
        for (Partition policy : {Partition::Auto, Partition::Always}) {
            Buffer<int> image(5, 40);
            image.for_each_element([&](int i, int j) { image(i, j) = i + 10 * j; });
            Func in = BoundaryConditions::repeat_edge(image), f("f"), g("g");
            f(x, y) = in(x, y) * 2;
            g(x, y) = f(x, y - 3) + f(x, y + 3);
            g.split(y, strip, y, 16, TailStrategy::GuardWithIf).partition(strip, policy);
            f.store_at(g, strip).compute_at(g, y);
            Buffer<int> result =
                g.realize({5, 40}, get_host_target().with_feature(Target::Interpret));
            result.for_each_element([&](int i, int j) {
                REQUIRE(result(i, j) == 4 * i + 20 * (std::max(j - 3, 0) + std::min(j + 3, 39)));
            });
        }
    }
    TEST_CASE("what slides along a loop is computed where only the next iteration reads it, too") {
        Var x("x"), y("y"), o("o"), i("i");
        Func f("f"), g("g");
        f(x, y) = x + 100 * y;
        g(x, y) = f(x, y) + f(x + 3, y);
        // Blending keeps the first points of the last tile, and f's window begins there.
        g.split(x, o, i, 5, TailStrategy::ShiftInwardsAndBlend).reorder(i, y, o);
        f.compute_at(g, i).store_at(g, y);
        Buffer<int> out = g.realize({13, 10});
        out.for_each_element([&](int a, int b) { CHECK(out(a, b) == 2 * a + 3 + 200 * b); });
    }
}
