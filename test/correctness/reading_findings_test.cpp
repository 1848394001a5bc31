#include "../error/refusal.h"
#include "harness.h"
#include <cmath>
#include <driver/compile.h>
#include <functional>
#include <limits>
#include <program/changes.h>
#include <sstream>
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
    TEST_CASE("a loop that is factored may have the name of what it was split from") {
        auto sum = [](auto schedule) {
            Func f("f");
            Var u("u");
            RDom r(0, 13, 0, 3, "r");
            f() = 0;
            f() += r.x + 100 * r.y;
            schedule(f.update(), r, u);
            Buffer<int> result = f.realize();
            return result();
        };
        const int all = 78 * 3 + 13 * 300;
        RVar c("c"), d("d");
        CHECK(sum([&](Stage s, const RDom &r, const Var &u) {
                  s.split(r.x, r.x, c, 8).rfactor(r.x, u).compute_root();
              }) == all);
        CHECK(sum([&](Stage s, const RDom &r, const Var &u) {
                  s.split(r.x, c, r.x, 8).rfactor(r.x, u).compute_root();
              }) == all);
        CHECK(sum([&](Stage s, const RDom &r, const Var &u) {
                  s.split(r.x, c, r.x, 8).rfactor(c, u).compute_root();
              }) == all);
        CHECK(sum([&](Stage s, const RDom &r, const Var &u) {
                  s.split(r.x, r.x, c, 4).split(r.x, r.x, d, 3).rfactor(d, u).compute_root();
              }) == all);
        CHECK(sum([&](Stage s, const RDom &r, const Var &u) {
                  s.fuse(r.x, r.y, r.x).split(r.x, r.x, c, 8).rfactor(r.x, u).compute_root();
              }) == all);
        CHECK(sum([&](Stage s, const RDom &r, const Var &u) {
                  s.split(r.x, r.x, c, 8).fuse(r.x, r.y, r.y).rfactor(c, u).compute_root();
              }) == all);
        CHECK(sum([&](Stage s, const RDom &r, const Var &u) {
                  s.split(r.x, r.x, c, 8).rename(r.x, d).rfactor(d, u).compute_root();
              }) == all);
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
    TEST_CASE("64-bit integers become bfloat16 rounded once") {
        const int64_t half = int64_t(1) << 54, one = int64_t(1) << 62, step = int64_t(1) << 55;
        struct {
            int64_t value;
            double expected;
        } cases[] = {{one + half, double(one)},
                     {one + half + 1, double(one + step)},
                     {-one - half - 1, -double(one + step)},
                     {one + half - 1, double(one)},
                     {(int64_t(1) << 40) + (int64_t(1) << 32) + 1, 0x1.02p40},
                     {257, 256},
                     {-259, -260},
                     {-1, -1}};
        const int n = int(std::size(cases));
        Buffer<int64_t> in(n);
        Buffer<uint64_t> in_unsigned(n);
        for (int i = 0; i < n; i++) {
            in(i) = cases[i].value;
            in_unsigned(i) = cases[i].value > 0 ? uint64_t(cases[i].value) * 2 : 1;
        }
        for (bool interpreted : {false, true}) {
            for (int lanes : {1, 8}) {
                CAPTURE(interpreted);
                CAPTURE(lanes);
                Target t = get_host_target();
                if (interpreted) t = t.with_feature(Target::Interpret);
                Func f("f"), g("g");
                f(x) = cast<bfloat16_t>(in(x));
                g(x) = cast<bfloat16_t>(in_unsigned(x));
                Buffer<bfloat16_t> got = f.vectorize(x, lanes).realize({n}, t);
                Buffer<bfloat16_t> got_unsigned = g.vectorize(x, lanes).realize({n}, t);
                for (int i = 0; i < n; i++) {
                    CHECK(float(got(i)) == cases[i].expected);
                    double twice = cases[i].value > 0 ? 2 * cases[i].expected : 1;
                    CHECK(float(got_unsigned(i)) == twice);
                }
            }
        }
        CHECK(float(bfloat16_t((1 << 30) + (1 << 22) + 1)) == 0x1.02p30f);
        CHECK(float(evaluate<bfloat16_t>(cast<bfloat16_t>(Expr(16842753)))) == 16908288);
        CHECK(float(evaluate<bfloat16_t>(cast<bfloat16_t>(Expr(cases[1].value)))) ==
              cases[1].expected);
    }
    TEST_CASE("a saturating cast to bool asks whether there is anything above 0") {
        Buffer<float> in(8);
        const float values[] = {-2, -0.5f, -0.0f, 0, 0.25f, 1, 100, NAN};
        for (int i = 0; i < 8; i++) in(i) = values[i];
        for (bool interpreted : {false, true}) {
            CAPTURE(interpreted);
            Target t = get_host_target();
            if (interpreted) t = t.with_feature(Target::Interpret);
            Func f("f");
            f(x) = saturating_cast<bool>(in(x));
            Buffer<bool> got = f.vectorize(x, 8).realize({8}, t);
            for (int i = 0; i < 8; i++) CHECK(bool(got(i)) == (values[i] > 0));
        }
    }
    TEST_CASE("the values of an output lie in Buffers of one shape") {
        Func f("f");
        f(x) = Tuple(x, x * 10);
        Callable c = f.compile_to_callable({});
        Buffer<int> a(4), longer(9), moved(4);
        moved.set_min(1);
        FAILS(f.realize({a, longer}), "f.1.extent.0 is 9, but must be 4 (f.0.extent.0)");
        FAILS(f.realize({longer, a}), "f.1 is too small in dimension 0");
        FAILS(f.realize({a, moved}), "f.1 is too small in dimension 0");
        Buffer<int> earlier(5);
        earlier.set_min(-1);
        FAILS(f.realize({a, earlier}), "f.1.min.0 is -1, but must be 0 (f.0.min.0)");
        FAILS(c(a, longer), "f.1.extent.0 is 9, but must be 4");
        Buffer<int> same(4);
        f.realize({a, same});
        CHECK(same(3) == 30);
    }
    TEST_CASE("a function of a JITExtern lives as long as what calls it") {
        Func sub("my_sub"), ext("ext"), f("f");
        sub(x) = x * 3 + 1;
        ext.define_extern("my_sub", {}, Int(32), {x});
        ext.compute_root();
        f(x) = ext(x) + 1;
        f.set_jit_externs({{"my_sub", JITExtern(sub)}});
        Callable c = f.compile_to_callable({});
        Buffer<int> out(10);
        for (int round = 0; round < 2; round++) {
            c(out);
            CHECK(out(9) == 29);
            out.fill(0);
            f.realize(out);
            CHECK(out(9) == 29);
            JITSharedRuntime::release_all();
        }
    }
    TEST_CASE("code is at hand for the second call") {
        Func f("f"), g("g"), h("h");
        LoopLevel place;
        f(x) = x;
        g(x) = f(x) + f(x + 1);
        h(x) = g(x);
        f.compute_at(place);
        g.compute_root();
        place.set(LoopLevel(h, x));
        Buffer<int> out(4);
        f.compute_root();
        h.realize(out);
        auto before = driver::cache_counts();
        uint64_t changes = program::count_of_changes();
        h.realize(out);
        CHECK(driver::cache_counts().compiled == before.compiled);
        CHECK(driver::cache_counts().found == before.found);
        CHECK(program::count_of_changes() == changes);
        CHECK(out(3) == 7);
    }
    TEST_CASE("whatever changes the code is noticed by the next call") {
        Func f("f"), g("g"), h("h");
        ImageParam im(Int(32), 1, "im");
        Param<int> p("p");
        RDom r(0, 4, "r");
        LoopLevel place;
        f(x) = im(x) + p;
        g(x) = f(x);
        g(x) += f(x + r);
        h(x) = g(x);
        Pipeline pipeline(h);
        const std::pair<const char *, std::function<void()>> changes[] = {
            {"set_extent", [&] { im.dim(0).set_extent(8); }},
            {"set_extent of nothing", [&] { im.dim(0).set_extent(Expr()); }},
            {"set_min", [&] { im.dim(0).set_min(0); }},
            {"set_stride", [&] { im.dim(0).set_stride(Expr()); }},
            {"set_host_alignment", [&] { im.set_host_alignment(16); }},
            {"output_buffer", [&] { h.output_buffer().dim(0).set_min(0); }},
            {"set_range", [&] { p.set_range(0, 9); }},
            {"compute_at", [&] { f.compute_at(place); }},
            {"LoopLevel::set", [&] { place.set(LoopLevel(h, x)); }},
            {"compute_root", [&] { g.compute_root(); }},
            {"store_in", [&] { g.store_in(MemoryType::Heap); }},
            {"split", [&] { h.split(x, yo, yi, 4); }},
            {"update", [&] { g.update().unroll(r); }},
            {"specialize", [&] { h.specialize(p > 3).parallel(yo); }},
            {"wrapper", [&] { g.in(h).compute_root(); }},
            {"trace_stores", [&] { f.trace_stores(); }},
            {"trace of an image", [&] { im.trace_loads(); }},
            {"requirement", [&] { pipeline.add_requirement(p < 100, "p"); }},
            {"externs", [&] { pipeline.set_jit_externs({}); }},
            {"trace_pipeline", [&] { pipeline.trace_pipeline(); }},
            {"apply_schedule",
             [&] {
                 Func first("k"), second("k");
                 first(x) = x;
                 second(x) = x;
                 second.apply_schedule(first.vectorize(x, 4).schedule_as_json());
             }},
        };
        for (const auto &[name, change] : changes) {
            CAPTURE(name);
            uint64_t before = program::count_of_changes();
            change();
            CHECK(program::count_of_changes() > before);
        }
        uint64_t before = program::count_of_changes();
        p.set(3);
        p.set_estimate(4);
        im.set(Buffer<int>(9));
        CHECK(program::count_of_changes() == before);
    }
    TEST_CASE("constraints are answered by what the pipeline needs") {
        auto round_up = [](const Expr &e) { return (e + 7) / 8 * 8; };
        Func f("f");
        ImageParam im(Int(32), 1, "im");
        f(x) = im(x - 1) + im(x + 3);
        im.dim(0).set_extent(round_up(im.dim(0).extent()));
        f.infer_input_bounds({10});
        Buffer<int> got = im.get();
        CHECK(got.min(0) == -1);
        CHECK(got.extent(0) == 16);
        got.fill(3);
        CHECK(Buffer<int>(f.realize({10}))(9) == 6);

        im.reset();
        im.dim(0).set_min(im.dim(0).min() / 4 * 4);
        f.infer_input_bounds({10});
        got = im.get();
        CHECK(got.min(0) == -4);
        CHECK(got.extent(0) == 24);
        got.fill(4);
        CHECK(Buffer<int>(f.realize({10}))(9) == 8);
    }
    TEST_CASE("constraints that follow another buffer") {
        Func f("f");
        ImageParam a(Int(32), 1, "a"), b(Int(32), 1, "b");
        f(x) = a(x) + b(x) + b(x - 2) + a(x - 4);
        b.dim(0).set_bounds(a.dim(0).min(), a.dim(0).extent());
        f.infer_input_bounds({10});
        CHECK(Buffer<int>(b.get()).min(0) == -4);
        CHECK(Buffer<int>(b.get()).extent(0) == 14);
        b.reset();
        Buffer<int> mine(20);
        mine.set_min(-5);
        a.set(mine);
        f.infer_input_bounds({10});
        CHECK(Buffer<int>(b.get()).min(0) == -5);
        CHECK(Buffer<int>(b.get()).extent(0) == 20);

        Func g("g");
        g(x) = a(x) + b(x + 3) + b(x - 2);
        a.reset();
        b.reset();
        FAILS(g.infer_input_bounds({10}), "The constraints on buffer b limit dimension 0 to [0, "
                                          "9], but the pipeline needs [-2, 12]");
    }
    TEST_CASE("checks are left out where nobody wants them, queries are answered all the same") {
        Func f("f");
        ImageParam im(Int(32), 1, "im");
        f(x) = im(x + 3);
        im.dim(0).set_bounds(0, 10);
        FAILS(f.infer_input_bounds({10}), "limit dimension 0 to [0, 9]");
        f.infer_input_bounds({10}, get_host_target().with_feature(Target::NoAsserts));
        CHECK(Buffer<int>(im.get()).extent(0) == 10);
    }
    TEST_CASE("bounds of a clamp that another type writes") {
        Func f("f");
        f(x) = clamp(x, 1.0f, 5.0f) + clamp(x, cast<uint8_t>(2), cast<int64_t>(Expr(3)));
        Buffer<int> out = f.realize({8});
        CHECK(out(0) == 3);
        CHECK(out(7) == 8);
        REFUSED(clamp(x, 0.5f, 3.0f), "clamp: 0.5");
    }
    TEST_CASE("a bool is printed as a word") {
        for (bool interpreted : {false, true}) {
            Target t = get_host_target();
            if (interpreted) t = t.with_feature(Target::Interpret);
            Func f("f");
            f(x) = require(x < 0, x, "x is above 1:", x > 1);
            FAILS(f.realize({3}, t), "x is above 1: false");
        }
    }
    TEST_CASE("limits that the type of a Param cannot hold") {
        Param<uint8_t> p("p");
        REFUSED(p.set_range(3, 300), "set_max_value: the Param p is of type uint8, which cannot "
                                     "hold 300");
        REFUSED(p.set_min_value(-1), "set_min_value: the Param p is of type uint8, which cannot");
        REFUSED(p.set_estimate(1000), "set_estimate: the Param p is of type uint8, which cannot");
        p.set_range(3, 255);
        CHECK(p.max_value().defined());
        Param<float> scale("scale");
        scale.set_range(0, 300);
    }
    TEST_CASE("what has to be known before the pipeline runs, and is not") {
        ImageParam n(Int(32), 1, "n");
        Func h("h"), s("s"), e("e");
        h(x) = x + 5;
        s(x) = x;
        const char *image = "depends on values of n_im";
        REFUSED(RDom(0, n(0)), image);
        REFUSED(RDom(n(0), 5), "make the box large enough and use where()");
        REFUSED(RDom(0, h(0)), "RDom: the bound h(0) depends on values of h");
        REFUSED(RDom(0, undef<int>()), "depends on an undefined value");
        REFUSED(RDom(0, random_int()), "depends on a random number");
        Pipeline p(s);
        REFUSED(p.add_requirement(n(0) > 7), image);
        REFUSED(p.add_requirement(Expr(x) > 7), "depends on the variable x");
        REFUSED(p.add_requirement(Param<int>("q") > 7, h(0)), "depends on values of h");
        REFUSED(e.define_extern("nothing", {n(0)}, Int(32), {x}), image);
        REFUSED(e.define_extern("nothing", {Expr(x)}, Int(32), {x}), "depends on the variable x");
        REFUSED(s.prefetch(n, x, x, n(0)), image);
        REFUSED(s.specialize(undef<int>() > 3), "depends on an undefined value");
        REFUSED(s(undef<int>()) = 3, "undef is a value, and no coordinate");
        Buffer<int> known(1), many(10);
        known(0) = 4;
        many.fill(1);
        RDom r(0, known(Expr(0)));
        Func sum("sum");
        sum() += many(clamp(r, 0, 9));
        CHECK(Buffer<int>(sum.realize())() == 4);
    }
    TEST_CASE("a target whose instructions this machine does not have") {
        Func f("f");
        f(x) = x;
        Target t("x86-64-linux-avx-fma4");
        if (get_host_target().arch != Target::X86 || get_host_target().has_feature(Target::FMA4)) {
            return;
        }
        REFUSED_WITHOUT_LINE(f.realize({8}, t), "this machine, which has no fma4; it is x86-64");
        REFUSED_WITHOUT_LINE(f.compile_jit(t), "has no fma4");
        CHECK(Buffer<int>(f.realize({8}, t.with_feature(Target::Interpret)))(7) == 7);
        CHECK(Buffer<int>(f.realize({8}, Target("x86-64-linux")))(7) == 7);
    }
    TEST_CASE("an Expr is printed") {
        std::ostringstream text;
        text << Expr(x) + 3;
        CHECK(text.str() == "x + 3");
    }
}
