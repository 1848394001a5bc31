#include "calls.h"
#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

int f_ref(int x, int y) { return x * 5 + y * y * 3; }
int out_ref(int x, int y) {
    int sum = 0;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) sum += f_ref(x + i, y + j) * (i + 2) * (j + 3);
    }
    return sum;
}

// out is a 3 x 3 stencil of f, which counts how often it is computed.
struct Stencil {
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"};
    Func f{"f"}, out{"out"};
    Stencil() {
        f(x, y) = counted(x * 5 + y * y * 3);
        Expr sum = 0;
        for (int j = -1; j <= 1; j++) {
            for (int i = -1; i <= 1; i++) sum += f(x + i, y + j) * (i + 2) * (j + 3);
        }
        out(x, y) = sum;
    }
    // How often f is computed for an output of this size.
    int calls(const Lowered &l, int width, int height, std::vector<int> mins = {}) const {
        return calls_during([&] { l.check<int>({width, height}, out_ref, mins); }) / 2;
    }
};

}  // namespace

TEST_SUITE("compute and store levels") {
    TEST_CASE("inline: once per use") {
        Stencil s;
        Lowered l(s.out);
        CHECK(Lowered::count(l.flat(), "allocate") == 0);
        CHECK(s.calls(l, 10, 6) == 10 * 6 * 9);
    }
    TEST_CASE("compute_inline takes back compute_root") {
        Stencil s;
        s.f.compute_root().compute_inline();
        CHECK(s.calls(Lowered(s.out), 10, 6) == 10 * 6 * 9);
    }
    TEST_CASE("compute_root: each needed point once") {
        Stencil s;
        s.f.compute_root();
        Lowered l(s.out);
        CHECK(Lowered::count(l.flat(), "allocate") == 1);
        CHECK(s.calls(l, 10, 6) == 12 * 8);
        CHECK(s.calls(l, 10, 6, {-100, 50}) == 12 * 8);
        CHECK(s.calls(l, 1, 1) == 9);
    }
    TEST_CASE("compute_at the outer loop: whole rows, again for each") {
        Stencil s;
        s.f.compute_at(s.out, s.y);
        CHECK(s.calls(Lowered(s.out), 10, 6) == 12 * 3 * 6);
    }
    TEST_CASE("compute_at the inner loop") {
        Stencil s;
        s.f.compute_at(s.out, s.x);
        CHECK(s.calls(Lowered(s.out), 10, 6) == 9 * 10 * 6);
    }
    TEST_CASE("compute_at a tile") {
        Stencil s;
        s.out.tile(s.x, s.y, s.xo, s.yo, s.xi, s.yi, 5, 3);
        s.f.compute_at(s.out, s.xo);
        CHECK(s.calls(Lowered(s.out), 10, 6) == 4 * 7 * 5);
    }
    TEST_CASE("sliding in y: each row once") {
        Stencil s;
        s.f.store_root().compute_at(s.out, s.y);
        Lowered l(s.out);
        CHECK(s.calls(l, 10, 6) == 12 * 8);
        CHECK(l.flat().find("% 4") != std::string::npos);
        CHECK(s.calls(l, 1, 1) == 9);
        CHECK(s.calls(l, 3, 40, {5, -17}) == 5 * 42);
    }
    TEST_CASE("sliding in x: each point of a row once") {
        Stencil s;
        s.f.store_at(s.out, s.y).compute_at(s.out, s.x);
        Lowered l(s.out);
        CHECK(s.calls(l, 10, 6) == 12 * 3 * 6);
        CHECK(l.flat().find("% 4") != std::string::npos);
    }
    TEST_CASE("sliding in both dimensions: each point once") {
        Stencil s;
        s.f.store_root().compute_at(s.out, s.x);
        Lowered l(s.out);
        CHECK(s.calls(l, 10, 6) == 12 * 8);
        CHECK(s.calls(l, 1, 1) == 9);
        CHECK(s.calls(l, 2, 9, {4, 4}) == 4 * 11);
    }
    TEST_CASE("sliding within a tile, and along tiles") {
        Stencil s;
        s.out.tile(s.x, s.y, s.xo, s.yo, s.xi, s.yi, 5, 3);
        s.f.store_at(s.out, s.xo).compute_at(s.out, s.yi);
        CHECK(s.calls(Lowered(s.out), 10, 6) == 4 * 7 * 5);
        Stencil t;
        t.out.split(t.y, t.yo, t.yi, 3);
        t.f.store_root().compute_at(t.out, t.yo);
        CHECK(t.calls(Lowered(t.out), 10, 6) == 12 * 8);
    }
    TEST_CASE("sliding under a split with every tail") {
        for (TailStrategy tail :
             {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards, TailStrategy::Predicate}) {
            CAPTURE(int(tail));
            Stencil s;
            s.out.split(s.y, s.yo, s.yi, 4, tail);
            s.f.store_root().compute_at(s.out, s.yi);
            Lowered l(s.out);
            for (int size : {4, 5, 7, 8, 9, 37}) {
                CAPTURE(size);
                int calls = s.calls(l, 5, size);
                if (tail == TailStrategy::GuardWithIf)
                    CHECK(calls <= 7 * (size + 2 * ((size + 3) / 4)));
                else
                    CHECK(calls >= 7 * (size + 2));
            }
        }
    }
    TEST_CASE("rows that align_bounds rounds slide: each once") {
        for (int modulus : {2, 3}) {
            CAPTURE(modulus);
            Stencil s;
            s.f.store_root().compute_at(s.out, s.y).align_bounds(s.y, modulus, 1);
            Lowered l(s.out);
            int rows = modulus == 2 ? 32 : 33;
            CHECK(s.calls(l, 10, 30) == 12 * rows);
            CHECK(l.flat().find(modulus == 2 ? "% 4" : "% 8") != std::string::npos);
        }
    }
    TEST_CASE("what is split slides where align_bounds makes its regions multiples") {
        for (TailStrategy tail :
             {TailStrategy::ShiftInwards, TailStrategy::RoundUp, TailStrategy::GuardWithIf}) {
            CAPTURE(int(tail));
            Stencil s;
            s.out.split(s.y, s.yo, s.yi, 2, TailStrategy::GuardWithIf);
            s.f.store_root()
                .compute_at(s.out, s.yo)
                .align_bounds(s.y, 4, 1)
                .split(s.y, s.yo, s.yi, 2, tail)
                .unroll(s.yi);
            Lowered l(s.out);
            CHECK(s.calls(l, 10, 30) == 12 * 36);  // -1 to 30 are read, -3 to 32 computed
            CHECK(s.calls(l, 10, 30, {7, -12}) == 12 * 36);
        }
    }
    TEST_CASE("a split that does not divide what is aligned computes as much as before") {
        Stencil s;
        s.f.store_root()
            .compute_at(s.out, s.y)
            .align_bounds(s.y, 2)
            .split(s.y, s.yo, s.yi, 4, TailStrategy::RoundUp);
        CHECK(s.calls(Lowered(s.out), 10, 30) == 12 * 30 * 4);
    }
    TEST_CASE("what is split slides, rounded up at its beginning") {
        for (TailStrategy tail :
             {TailStrategy::ShiftInwards, TailStrategy::RoundUp, TailStrategy::GuardWithIf}) {
            CAPTURE(int(tail));
            bool exact = tail == TailStrategy::GuardWithIf;
            Stencil s;
            s.out.split(s.y, s.yo, s.yi, 4);
            s.f.store_root().compute_at(s.out, s.yo).split(s.y, s.y, s.yi, 4, tail);
            Lowered l(s.out);
            // The first time 6 rows, in tiles of 4, then 4.
            CHECK(s.calls(l, 10, 32) == 12 * (28 + (exact ? 6 : 8)));
            // The last tile moves inwards by 3: one new row.
            CHECK(s.calls(l, 10, 29) == 12 * (24 + (exact ? 1 + 6 : 4 + 8)));
            CHECK(s.calls(l, 10, 29, {3, -17}) == s.calls(l, 10, 29));
        }
    }
    TEST_CASE(
        "what a split rounds up is folded by enough for a loop further in that still reads it") {
        Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
        Func f("f"), g("g");
        f(x, y) = x * 7 + y * y * 3;
        g(x, y) = f(x, y) + f(x + 2, y) * 3 + f(x, y + 1) * 5;
        g.tile(x, y, xo, yo, xi, yi, 6, 4);
        f.store_at(g, yo).compute_at(g, xi).vectorize(x, 4);
        auto of_f = [](int x, int y) { return x * 7 + y * y * 3; };
        Lowered(g).check<int>({24, 16}, [&](int x, int y) {
            return of_f(x, y) + of_f(x + 2, y) * 3 + of_f(x, y + 1) * 5;
        });
    }
    TEST_CASE(
        "a version without a tail, thanks to align_bounds, computes multiples when it slides") {
        Var x("x"), y("y"), yo("yo"), yi("yi"), u("u"), v("v");
        Param<int> p("p");
        Func f("f"), g("g");
        f(x, y) = x * 7 + y * y * 3;
        g(x, y) = f(x, y) + f(x, y + 1) * 3 + f(x, y + 2) * 5;
        g.bound(y, 0, 48).split(y, yo, yi, 6);
        f.store_root().compute_at(g, yo).align_bounds(y, 6, 0);
        f.specialize(p == 1).split(y, u, v, 4, TailStrategy::RoundUp);
        f.split(y, u, v, 6);
        auto of_f = [](int x, int y) { return x * 7 + y * y * 3; };
        for (int version : {0, 1}) {
            p.set(version);
            for (bool interpreted : {false, true}) {
                Target t = get_host_target();
                if (interpreted) t = t.with_feature(Target::Interpret);
                Buffer<int> out = g.realize({8, 48}, t);
                int wrong = 0;
                out.for_each_element([&](int x, int y) {
                    wrong += out(x, y) != of_f(x, y) + of_f(x, y + 1) * 3 + of_f(x, y + 2) * 5;
                });
                CHECK(wrong == 0);
            }
        }
    }
    TEST_CASE("what is split does not slide where another one was told where it begins") {
        Var x("x"), y("y"), yo("yo"), yi("yi");
        Func g("g"), f("f"), out("out");
        g(x, y) = counted(x + y);
        f(x, y) = g(x, y) * 2;
        out(x, y) = f(x, y - 1) + f(x, y + 1);
        out.split(y, yo, yi, 4);
        f.store_root().compute_at(out, yo).split(y, y, yi, 4, TailStrategy::RoundUp);
        g.compute_at(out, yo);
        auto wanted = [](int x, int y) { return 4 * (x + y); };
        Lowered l(out);
        CHECK(calls_during([&] { l.check<int>({5, 16}, wanted); }) == 2 * 5 * 4 * 8);
    }
    TEST_CASE("backwards: a consumer that walks down") {
        Var x("x"), y("y");
        Func f("f"), out("out");
        f(x, y) = counted(x * 3 + y);
        out(x, y) = f(x, 100 - y) + f(x, 101 - y) + f(x, 102 - y);
        f.store_root().compute_at(out, y);
        Lowered l(out);
        auto ref = [](int x, int y) { return 9 * x + 303 - 3 * y; };
        int calls = calls_during([&] { l.check<int>({4, 10}, ref); }) / 2;
        CHECK(calls == 4 * 12);
        CHECK(l.flat().find("% 4") != std::string::npos);
    }
    TEST_CASE("a chain of three, all sliding") {
        Var x("x"), y("y");
        Func a("a"), b("b"), c("c"), out("out");
        a(x, y) = counted(x + y * y);
        b(x, y) = a(x, y - 1) + a(x, y + 1);
        c(x, y) = b(x, y - 1) + b(x, y + 1);
        out(x, y) = c(x, y) + c(x, y + 1);
        for (Func f : {a, b, c}) f.store_root().compute_at(out, y);
        Lowered l(out);
        auto a_ref = [](int x, int y) { return x + y * y; };
        auto b_ref = [&](int x, int y) { return a_ref(x, y - 1) + a_ref(x, y + 1); };
        auto c_ref = [&](int x, int y) { return b_ref(x, y - 1) + b_ref(x, y + 1); };
        auto ref = [&](int x, int y) { return c_ref(x, y) + c_ref(x, y + 1); };
        int calls = calls_during([&] { l.check<int>({4, 10}, ref); }) / 2;
        CHECK(calls == 4 * 15);
        l.check<int>({3, 1}, ref);
        l.check<int>({1, 30}, ref, {-4, -9});
    }
    TEST_CASE("a producer of a producer at its loop") {
        Var x("x"), y("y");
        Func a("a"), b("b"), out("out");
        a(x, y) = x + y * y;
        b(x, y) = a(x - 1, y) + a(x + 1, y);
        out(x, y) = b(x, y - 1) + b(x, y + 1);
        b.compute_at(out, y);
        a.compute_at(b, y);
        Lowered l(out);
        auto a_ref = [](int x, int y) { return x + y * y; };
        auto b_ref = [&](int x, int y) { return a_ref(x - 1, y) + a_ref(x + 1, y); };
        l.check<int>({13, 7}, [&](int x, int y) { return b_ref(x, y - 1) + b_ref(x, y + 1); });
    }
    TEST_CASE("a LoopLevel that is set after it was used") {
        Stencil s;
        LoopLevel compute, store;
        s.f.compute_at(compute).store_at(store);
        store.set(LoopLevel::root());
        compute.set(LoopLevel(s.out, s.y));
        CHECK(s.calls(Lowered(s.out), 10, 6) == 12 * 8);
        compute.set(LoopLevel::root());
        CHECK(s.calls(Lowered(s.out), 10, 6) == 12 * 8);
        compute.set(LoopLevel(s.out, s.x));
        store.set(compute);
        CHECK(s.calls(Lowered(s.out), 10, 6) == 9 * 60);
    }
    TEST_CASE("a LoopLevel that is inlined") {
        Stencil s;
        s.f.compute_root().compute_at(LoopLevel::inlined());
        CHECK(s.calls(Lowered(s.out), 10, 6) == 10 * 6 * 9);
        Stencil t;
        LoopLevel level(t.out, t.y);
        t.f.compute_at(level);
        CHECK(t.calls(Lowered(t.out), 10, 6) == 12 * 3 * 6);
        level.set(LoopLevel::inlined());
        CHECK(t.calls(Lowered(t.out), 10, 6) == 10 * 6 * 9);
    }
    TEST_CASE("compute_at Var::outermost: within the consumer, around its loops") {
        Stencil s;
        Func g("g");
        g(s.x, s.y) = s.out(s.x, s.y) + s.out(s.x, s.y + 1);
        s.out.compute_at(g, s.y);
        s.f.compute_at(s.out, Var::outermost());
        Lowered l(g);
        CHECK(l.flat().find("allocate f") > l.flat().find("for `g.y`"));
        CHECK(l.flat().find("allocate f") < l.flat().find("for `out.y`"));
        auto run = [&] {
            l.check<int>({10, 6}, [](int x, int y) { return out_ref(x, y) + out_ref(x, y + 1); });
        };
        CHECK(calls_during(run) / 2 == 12 * 4 * 6);
    }
    TEST_CASE("a LoopLevel of one stage of several") {
        Var x("x");
        RDom r(0, 5, "r");
        Func f("f"), g("g");
        f(x) = counted(x * 2);
        g(x) = x;
        g(r) += f(r);
        f.compute_at(LoopLevel(g, r.x, 1));
        Lowered l(g);
        int calls =
            calls_during([&] { l.check<int>({9}, [](int x) { return x < 5 ? 3 * x : x; }); }) / 2;
        CHECK(calls == 5);
    }
    TEST_CASE("hoist_storage allocates further out than it stores, and does not slide") {
        Stencil s;
        s.f.compute_at(s.out, s.y).hoist_storage_root();
        Lowered l(s.out);
        CHECK(s.calls(l, 10, 6) == 12 * 3 * 6);
        CHECK(l.flat().find("allocate f") < l.flat().find("for `out.y`"));
        Stencil t;
        t.f.compute_at(t.out, t.x).hoist_storage(t.out, t.y);
        Lowered m(t.out);
        CHECK(t.calls(m, 10, 6) == 9 * 60);
        CHECK(m.flat().find("allocate f") < m.flat().find("for `out.x`"));
        CHECK(m.flat().find("allocate f") > m.flat().find("for `out.y`"));
        LoopLevel level;
        t.f.hoist_storage(level);
        level.set(LoopLevel::root());
        Lowered at_root(t.out);
        CHECK(at_root.flat().find("allocate f") < at_root.flat().find("for `out.y`"));
        CHECK(t.calls(at_root, 10, 6) == 9 * 60);
        level.set(LoopLevel(t.out, t.y));
        std::string at_row = Lowered(t.out).flat();
        CHECK(at_row.find("allocate f") > at_row.find("for `out.y`"));
        CHECK(at_row.find("allocate f") < at_row.find("for `out.x`"));
    }
    TEST_CASE("without hoist_storage it allocates inside of the loop") {
        Stencil s;
        s.f.compute_at(s.out, s.y);
        Lowered l(s.out);
        CHECK(l.flat().find("allocate f") > l.flat().find("for `out.y`"));
    }
    TEST_CASE("two consumers, computed further out than both") {
        Var x("x"), y("y");
        Func f("f"), a("a"), b("b"), out("out");
        f(x, y) = counted(x + y);
        a(x, y) = f(x, y) * 2;
        b(x, y) = f(x + 1, y + 1) * 3;
        out(x, y) = a(x, y) + b(x, y);
        f.compute_at(out, y);
        a.compute_at(out, y);
        b.compute_at(out, x);
        Lowered(out).check<int>({9, 8}, [](int x, int y) { return 5 * (x + y) + 6; });
    }
    TEST_CASE("an update stage reads what slides") {
        Var x("x"), y("y");
        Func f("f"), g("g"), out("out");
        f(x, y) = counted(x + y * 3);
        g(x, y) = f(x, y - 1);
        g(x, y) += f(x, y + 1) * 10;
        out(x, y) = g(x, y) + g(x, y + 1);
        g.compute_at(out, y);
        f.store_root().compute_at(out, y);
        Lowered l(out);
        auto fr = [](int x, int y) { return x + y * 3; };
        auto gr = [&](int x, int y) { return fr(x, y - 1) + 10 * fr(x, y + 1); };
        int calls =
            calls_during([&] {
                l.check<int>({4, 10}, [&](int x, int y) { return gr(x, y) + gr(x, y + 1); });
            }) /
            2;
        CHECK(calls == 4 * 13);
    }
    TEST_CASE("a function with updates slides where its updates are pure") {
        Var x("x"), y("y");
        Func g("g"), out("out");
        RDom r(0, 3, "r");
        g(x, y) = counted(x);
        g(x, y) += r + y;
        g(x, y) = g(x, y) * 2;
        out(x, y) = g(x, y) + g(x, y + 1);
        g.store_root().compute_at(out, y);
        Lowered l(out);
        auto gr = [](int x, int y) { return 2 * (x + 3 + 3 * y); };
        int calls =
            calls_during([&] {
                l.check<int>({4, 10}, [&](int x, int y) { return gr(x, y) + gr(x, y + 1); });
            }) /
            2;
        CHECK(calls == 4 * 11);
    }
    TEST_CASE("a function with a scan does not slide along it") {
        Var x("x"), y("y");
        Func g("g"), out("out");
        RDom r(1, 20, "r");
        g(x, y) = x + y;
        g(x, r) += g(x, r - 1);
        out(x, y) = g(x, y) + g(x, y + 1);
        g.store_root().compute_at(out, y);
        auto gr = [](int x, int y) {
            int sum = x;
            for (int i = 1; i <= y; i++) sum += x + i;
            return sum;
        };
        Lowered(out).check<int>({4, 15}, [&](int x, int y) { return gr(x, y) + gr(x, y + 1); });
    }
}

TEST_SUITE("pyramids") {
    TEST_CASE("down and up, in every place") {
        for (int place = 0; place < 5; place++) {
            CAPTURE(place);
            Var x("x"), y("y");
            Func f("f"), down("down"), up("up"), out("out");
            f(x, y) = x * 3 + y * y;
            down(x, y) = f(2 * x, 2 * y) + f(2 * x + 1, 2 * y + 1);
            up(x, y) = down(x / 2, y / 2) + down((x + 1) / 2, (y + 1) / 2);
            out(x, y) = up(x, y) - f(x, y);
            if (place == 0) f.compute_root(), down.compute_root(), up.compute_root();
            if (place == 1) up.compute_at(out, y), down.compute_at(out, y), f.compute_root();
            if (place == 2) {
                for (Func g : {f, down, up}) g.store_root().compute_at(out, y);
            }
            if (place == 3) {
                Var xi("xi"), yi("yi");
                out.tile(x, y, xi, yi, 4, 4, TailStrategy::GuardWithIf).vectorize(xi);
                for (Func g : {f, down, up}) g.compute_at(out, x).vectorize(x, 4);
            }
            if (place == 4) down.store_root().compute_at(out, x);
            auto fr = [](int x, int y) { return x * 3 + y * y; };
            auto dr = [&](int x, int y) { return fr(2 * x, 2 * y) + fr(2 * x + 1, 2 * y + 1); };
            auto half = [](int v) { return v >= 0 ? v / 2 : (v - 1) / 2; };
            auto ur = [&](int x, int y) {
                return dr(half(x), half(y)) + dr(half(x + 1), half(y + 1));
            };
            auto ref = [&](int x, int y) { return ur(x, y) - fr(x, y); };
            Lowered l(out);
            for (int size : {1, 7, 8, 9, 37}) {
                CAPTURE(size);
                l.check<int>({size, 5}, ref);
                l.check<int>({3, size}, ref, {-7, -3});
            }
        }
    }
    TEST_CASE("what is kept for every other row is computed once") {
        Var x("x"), y("y");
        Func f("f"), out("out");
        f(x, y) = counted(x + y);
        out(x, y) = f(x, y / 2) + f(x, y / 2 + 1);
        f.store_root().compute_at(out, y);
        Lowered l(out);
        int calls = calls_during([&] {
                        l.check<int>({3, 12}, [](int x, int y) { return 2 * x + y / 2 * 2 + 1; });
                    }) /
                    2;
        CHECK(calls == 3 * 7);
    }
}
