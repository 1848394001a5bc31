#include "error/refusal.h"
#include "harness.h"
#include <atomic>

using namespace tessera;
using namespace tessera::test;

namespace {

int f_ref(int x, int y) { return x * 5 + y * y * 3; }
int out_ref(int x, int y) { return f_ref(x, y) + f_ref(x + 1, y + 2); }

struct TwoStages {
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"}, t{"t"};
    Func f{"f"}, out{"out"};
    TwoStages() {
        f(x, y) = x * 5 + y * y * 3;
        out(x, y) = f(x, y) + f(x + 1, y + 2);
        f.compute_root();
    }
    void check(const Lowered &l) const {
        for (int size : {1, 7, 8, 9, 37}) {
            CAPTURE(size);
            l.check<int>({size, 5}, out_ref);
            l.check<int>({5, size}, out_ref, {-3, -20});
        }
    }
};

// The order in which loops begin in a text.
bool in_order(const std::string &text, std::vector<std::string> parts) {
    size_t at = 0;
    for (const std::string &p : parts) {
        at = text.find(p, at);
        if (at == text.npos) return false;
    }
    return true;
}

}  // namespace

TEST_SUITE("loops") {
    TEST_CASE("fuse makes one loop of two") {
        TwoStages p;
        p.out.fuse(p.x, p.y, p.t);
        Lowered l(p.out);
        CHECK(l.flat().find("for `out.t` in") != std::string::npos);
        CHECK(l.flat().find("for `out.x` in") == std::string::npos);
        p.check(l);
    }
    TEST_CASE("fuse, outer variable inside") {
        TwoStages p;
        p.out.fuse(p.y, p.x, p.t).parallel(p.t);
        p.f.fuse(p.x, p.y, p.t).vectorize(p.t, 4);
        p.check(Lowered(p.out));
    }
    TEST_CASE("fuse of halves of splits") {
        for (TailStrategy tail :
             {TailStrategy::GuardWithIf, TailStrategy::RoundUp, TailStrategy::ShiftInwards}) {
            CAPTURE(int(tail));
            TwoStages p;
            p.f.tile(p.x, p.y, p.xo, p.yo, p.xi, p.yi, 4, 3, tail).fuse(p.xo, p.yo, p.t);
            p.f.fuse(p.xi, p.yi, Var("u")).parallel(p.t);
            p.check(Lowered(p.out));
        }
    }
    TEST_CASE("split of a fused loop") {
        TwoStages p;
        Var to("to"), ti("ti");
        p.f.fuse(p.x, p.y, p.t).split(p.t, to, ti, 8, TailStrategy::GuardWithIf).vectorize(ti);
        p.out.fuse(p.x, p.y, p.t).split(p.t, to, ti, 5, TailStrategy::GuardWithIf).parallel(to);
        p.check(Lowered(p.out));
    }
    TEST_CASE("reorder changes which loop is inside") {
        TwoStages p;
        p.out.reorder(p.y, p.x);
        Lowered l(p.out);
        CHECK(in_order(l.flat(), {"consume f", "for `out.x` in", "for `out.y` in"}));
        p.check(l);
        TwoStages q;
        CHECK(in_order(Lowered(q.out).flat(), {"consume f", "for `out.y` in", "for `out.x` in"}));
    }
    TEST_CASE("reorder of four loops by naming two of them") {
        Var x("x"), y("y"), z("z"), w("w");
        Func f("f");
        f(x, y, z, w) = x + 10 * y + 100 * z + 1000 * w;
        f.reorder(w, y);
        Lowered l(f);
        CHECK(in_order(l.flat(), {"for `f.y` in", "for `f.z` in", "for `f.w` in", "for `f.x` in"}));
        l.check<int>({2, 3, 4, 5},
                     [](int x, int y, int z, int w) { return x + 10 * y + 100 * z + 1000 * w; });
    }
    TEST_CASE("rename gives a loop another name, for later directives") {
        TwoStages p;
        Var u("u");
        p.out.rename(p.x, u).vectorize(u, 4, TailStrategy::GuardWithIf);
        p.f.compute_at(p.out, p.y).rename(p.y, u);
        Lowered l(p.out);
        CHECK(l.flat().find("for `out.x` in") == std::string::npos);
        CHECK(l.flat().find("for `f.u` in") != std::string::npos);
        p.check(l);
    }
    TEST_CASE("tile in two dimensions, with and without new names for the outer loops") {
        TwoStages p;
        p.out.tile(p.x, p.y, p.xo, p.yo, p.xi, p.yi, 8, 4, TailStrategy::GuardWithIf);
        p.f.compute_at(p.out, p.xo).tile(p.x, p.y, p.xi, p.yi, 4, 2);
        Lowered l(p.out);
        CHECK(in_order(l.flat(), {"for `out.yo` in", "for `out.xo` in", "for `out.yi` in",
                                  "for `out.xi` in"}));
        p.check(l);
    }
    TEST_CASE("tile in three dimensions, each with its own tail") {
        Var x("x"), y("y"), z("z"), xo, yo, zo, xi("xi"), yi("yi"), zi("zi");
        Func f("f"), g("g");
        f(x, y, z) = x + 10 * y + 100 * z;
        g(x, y, z) = f(x, y, z) * 2;
        f.compute_root().tile(
            {x, y, z}, {xo, yo, zo}, {xi, yi, zi}, {4, 2, 3},
            {TailStrategy::RoundUp, TailStrategy::GuardWithIf, TailStrategy::ShiftInwards});
        Lowered l(g);
        CHECK(in_order(l.flat(), {"for `f.zi` in", "for `f.yi` in", "for `f.xi` in"}));
        for (int size : {1, 7, 8, 9}) {
            l.check<int>({size, size, size},
                         [](int x, int y, int z) { return 2 * (x + 10 * y + 100 * z); });
        }
    }
    TEST_CASE("tile of a list of loops, without names for the outer ones") {
        Var x("x"), y("y"), z("z"), xi("xi"), yi("yi"), zi("zi");
        Func f("f");
        f(x, y, z) = x + 10 * y + 100 * z;
        f.tile({x, y, z}, {xi, yi, zi}, {4, 2, 3}, TailStrategy::GuardWithIf);
        Lowered l(f);
        CHECK(in_order(l.flat(),
                       {"for `f.z` in", "for `f.y` in", "for `f.x` in", "for `f.zi` in [0, +3)",
                        "for `f.yi` in [0, +2)", "for `f.xi` in [0, +4)"}));
        l.check<int>({9, 7, 5}, [](int x, int y, int z) { return x + 10 * y + 100 * z; });
    }
    TEST_CASE("parallel, and parallel inside of parallel") {
        TwoStages p;
        p.out.split(p.y, p.yo, p.yi, 2, TailStrategy::GuardWithIf)
            .parallel(p.yo)
            .parallel(p.x, 3, TailStrategy::GuardWithIf);
        p.f.compute_at(p.out, p.yo).parallel(p.y);
        Lowered l(p.out);
        CHECK(l.count("parallel for") >= 3);
        p.check(l);
        TwoStages serial;
        CHECK(Lowered(serial.out).count("parallel") == 0);
    }
    TEST_CASE("vectorize a constant loop, and in two dimensions") {
        TwoStages p;
        p.f.tile(p.x, p.y, p.xi, p.yi, 4, 2, TailStrategy::RoundUp).vectorize(p.xi).vectorize(p.yi);
        p.out.tile(p.x, p.y, p.xi, p.yi, 4, 3, TailStrategy::GuardWithIf).vectorize(p.xi);
        p.out.vectorize(p.yi);
        Lowered l(p.out);
        CHECK(l.stores(8) > 0);
        CHECK(l.stores(12) > 0);
        p.check(l);
    }
    TEST_CASE("vectorize the outer dimension") {
        TwoStages p;
        p.f.vectorize(p.y, 4, TailStrategy::RoundUp);
        p.out.vectorize(p.y, 8, TailStrategy::GuardWithIf);
        Lowered l(p.out);
        CHECK(l.stores(4) > 0);
        CHECK(l.stores(8) > 0);
        p.check(l);
    }
    TEST_CASE("vectorize every type") {
        Var x("x");
        auto run = [&](auto zero) {
            using T = decltype(zero);
            Func f("f"), g("g");
            f(x) = cast(type_of<T>(), x % 50);
            g(x) = cast(type_of<T>(), f(x) + f(x + 1));
            f.compute_root().vectorize(x, 16, TailStrategy::RoundUp);
            g.vectorize(x, 8, TailStrategy::GuardWithIf);
            Lowered l(g);
            for (int size : {1, 8, 37}) {
                l.check<T>({size}, [](int x) { return T(T(x % 50) + T((x + 1) % 50)); });
            }
        };
        run(uint8_t()), run(int8_t()), run(uint16_t()), run(int16_t()), run(uint32_t());
        run(int32_t()), run(uint64_t()), run(int64_t()), run(float()), run(double());
    }
    TEST_CASE("unroll writes the body out") {
        TwoStages p;
        p.out.unroll(p.x, 3, TailStrategy::GuardWithIf);
        p.f.compute_at(p.out, p.y).unroll(p.x, 2);
        Lowered l(p.out);
        CHECK(l.count("unrolled") == 0);
        CHECK(l.count("out[") >= 3);
        p.check(l);
    }
    TEST_CASE("partition: the steady state runs without its tests, unless never") {
        auto text = [](Partition partition) {
            Var x("x");
            Func f("f"), g("g");
            f(x) = x * 3;
            g(x) = f(clamp(x - 1, 0, 99)) + select(likely(x > 5), 1, 2);
            f.compute_root();
            g.partition(x, partition);
            Lowered l(g);
            for (int size : {1, 7, 37}) {
                l.check<int>({size},
                             [](int x) { return 3 * std::clamp(x - 1, 0, 99) + (x > 5 ? 1 : 2); });
            }
            return l.text();
        };
        std::string with = text(Partition::Auto), without = text(Partition::Never);
        CHECK(Lowered::count(with, "for `g.x") > Lowered::count(without, "for `g.x"));
        CHECK(Lowered::count(text(Partition::Always), "for `g.x") >=
              Lowered::count(with, "for `g.x"));
    }
    TEST_CASE("never_partition_all, always_partition") {
        auto loops = [](auto schedule) {
            Var x("x"), y("y");
            Func g("g");
            g(x, y) = select(likely(x > 5), 1, 2) + select(likely(y > 2), 10, 20);
            schedule(g, x, y);
            Lowered l(g);
            l.check<int>({13, 7}, [](int x, int y) { return (x > 5 ? 1 : 2) + (y > 2 ? 10 : 20); });
            return l.count("for `g.");
        };
        int all = loops([](Func &, Var, Var) {});
        int none = loops([](Func &g, Var, Var) { g.never_partition_all(); });
        int one = loops([](Func &g, Var x, Var) { g.never_partition(x); });
        CHECK(none == 2);
        CHECK(one > none);
        CHECK(all > one);
        CHECK(loops([](Func &g, Var x, Var y) { g.always_partition(x, y); }) >= all);
        CHECK(loops([](Func &g, Var, Var) { g.always_partition_all(); }) >= all);
    }
    TEST_CASE("Always splits a long loop for one scalar max, and Auto does not") {
        auto loops = [](auto schedule) {
            Var x("x"), y("y");
            Func f("f"), g("g");
            f(x, y) = x * 3 + y;
            f.compute_root();
            Expr sum = f(max(likely_if_innermost(x), 3), y), at = f(x, y);
            for (int i = 1; i < 40; i++) sum += (at ^ i) * (x + i);
            g(x, y) = sum;
            schedule(g, x);
            Lowered l(g);
            l.check<int>({13, 3}, [](int x, int y) {
                int sum = std::max(x, 3) * 3 + y;
                for (int i = 1; i < 40; i++) sum += ((x * 3 + y) ^ i) * (x + i);
                return sum;
            });
            return l.count("for `g.x");
        };
        CHECK(loops([](Func &, Var) {}) == 1);
        CHECK(loops([](Func &g, Var x) { g.partition(x, Partition::Always); }) > 1);
        CHECK(loops([](Func &g, Var x) { g.always_partition(x); }) > 1);
        CHECK(loops([](Func &g, Var) { g.always_partition_all(); }) > 1);
        CHECK(loops([](Func &g, Var x) { g.always_partition(x).partition(x, Partition::Auto); }) ==
              1);
    }
    TEST_CASE("what is likely_if_innermost splits the innermost loop only") {
        auto loops = [](Expr (*mark)(Expr), bool inner) {
            Var x("x"), y("y");
            Func g("g");
            g(x, y) = select(mark((inner ? x : y) > 5), 1, 2);
            Lowered l(g);
            l.check<int>({13, 13}, [&](int x, int y) { return (inner ? x : y) > 5 ? 1 : 2; });
            return l.count(inner ? "for `g.x" : "for `g.y");
        };
        CHECK(loops([](Expr e) { return e; }, true) == 1);
        CHECK(loops([](Expr e) { return likely_if_innermost(e); }, true) > 1);
        CHECK(loops([](Expr e) { return likely_if_innermost(e); }, false) == 1);
        CHECK(loops([](Expr e) { return likely(e); }, false) > 1);
    }
    TEST_CASE("a loop of a producer below a vectorized loop of its consumer") {
        TwoStages p;
        p.out.split(p.x, p.xo, p.xi, 8, TailStrategy::GuardWithIf).vectorize(p.xi);
        p.f.compute_at(p.out, p.xo).vectorize(p.x, 4);
        p.check(Lowered(p.out));
    }
    TEST_CASE("a producer inside of an unrolled loop and of a parallel one") {
        TwoStages p;
        p.out.split(p.x, p.xo, p.xi, 4, TailStrategy::GuardWithIf).unroll(p.xi).parallel(p.y);
        p.f.compute_at(p.out, p.xi);
        p.check(Lowered(p.out));
    }
    TEST_CASE("a producer inside of a vectorized loop") {
        TwoStages p;
        p.out.split(p.x, p.xo, p.xi, 4, TailStrategy::GuardWithIf).vectorize(p.xi);
        p.f.compute_at(p.out, p.xi);
        p.check(Lowered(p.out));
    }
    TEST_CASE("what is twice as large as its producer reads it densely") {
        Var x("x");
        Func f("f"), g("g");
        f(x) = x * x;
        g(x) = f(x / 2) + 3 * f(x / 2 - 1 + 2 * (x % 2));
        f.compute_root();
        g.vectorize(x, 8);
        Lowered l(g);
        CHECK(l.count("/ x8(2)") == 0);
        CHECK(l.count("interleave(") > 0);
        for (int min : {-3, 0, 5}) {
            l.check<int>({31},
                         [](int x) {
                             int half = (x - (x & 1)) / 2, other = half - 1 + 2 * (x & 1);
                             return half * half + 3 * other * other;
                         },
                         {min});
        }
    }
    TEST_CASE("outputs of size zero are left alone") {
        TwoStages p;
        p.out.vectorize(p.x, 8, TailStrategy::GuardWithIf).parallel(p.y);
        Lowered l(p.out);
        l.check<int>({0, 5}, out_ref);
        l.check<int>({5, 0}, out_ref);
        l.check<int>({0, 0}, out_ref, {7, -7});
    }
    TEST_CASE("serial takes back parallel, vectorize and unroll") {
        TwoStages p;
        p.out.parallel(p.y).serial(p.y);
        CHECK(Lowered(p.out).count("parallel") == 0);
        for (bool vectorize : {true, false}) {
            auto text = [&](bool serial) {
                TwoStages p;
                p.out.split(p.x, p.xo, p.xi, 4, TailStrategy::GuardWithIf);
                vectorize ? p.out.vectorize(p.xi) : p.out.unroll(p.xi);
                if (serial) p.out.serial(p.xi);
                Lowered l(p.out);
                CHECK((l.stores(4) > 0) == (vectorize && !serial));
                p.check(l);
                return l.text();
            };
            CHECK(text(false).find("for `out.xi") == std::string::npos);
            CHECK(text(true).find("for `out.xi") != std::string::npos);
        }
    }
    TEST_CASE("no dimensions") {
        Func f("f"), g("g");
        f() = 5;
        g() = f() + 1;
        f.compute_root();
        Lowered(g).check<int>({}, [] { return 6; });
    }
    TEST_CASE("interleaved stores of an unrolled loop keep the lets of each copy apart") {
        Var x("x"), xo("xo"), xi("xi"), xoo("xoo"), xoi("xoi");
        for (int width : {1, 31, 32, 37, 100}) {
            Func f("f");
            f(x) = x * 3 + 1;
            f.split(x, xo, xi, 8, TailStrategy::PredicateStores).unroll(xi);
            f.split(xo, xoo, xoi, 4, TailStrategy::PredicateLoads).vectorize(xoi);
            Buffer<int> result = f.realize({width});
            for (int i = 0; i < width; i++) {
                CAPTURE(width);
                CAPTURE(i);
                REQUIRE(result(i) == i * 3 + 1);
            }
        }
    }
    TEST_CASE("a fused loop does not run where neither of its dimensions has a point to compute") {
        Var x("x"), y("y"), t("t");
        RVar o("o"), i("i"), oo("oo"), oi("oi");
        Func f("f"), g("g");
        RDom r(0, 6, "r");
        f(x, y) = x + y;
        g(x) = 0;
        g(x) += f(r, r);
        g.update().split(r, o, i, 5, TailStrategy::Predicate);
        g.update().split(o, oo, oi, 4, TailStrategy::Predicate).reorder(i, x, oo, oi);
        f.compute_at(g, oi).fuse(x, y, t);
        Lowered(g).check<int>({2}, [](int) { return 30; });
    }
    TEST_CASE("a loop that runs at once is fused with none whose iterations depend on each other") {
        Var x("x");
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
}
