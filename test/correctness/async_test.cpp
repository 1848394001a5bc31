#include "error/refusal.h"
#include "stencil.h"

using namespace tessera;
using namespace tessera::test;

namespace {

void check_async(const Stencil &s, const Lowered &l) {
    CHECK(l.count("fork") > 0);
    s.check(l);
}

}  // namespace

TEST_SUITE("async") {
    TEST_CASE("at the root") {
        Stencil s;
        s.f.compute_root().async();
        check_async(s, Lowered(s.out));
    }
    TEST_CASE("without async there is no fork") {
        Stencil s;
        s.f.compute_root();
        CHECK(Lowered(s.out).count("fork") == 0);
    }
    TEST_CASE("inside of a loop") {
        Stencil s;
        s.f.compute_at(s.out, s.y).async();
        Lowered l(s.out);
        check_async(s, l);
        CHECK(s.calls(l, 10, 6) == 10 * 6 * 3);
    }
    TEST_CASE("with a sliding window, folded by itself") {
        Stencil s;
        s.f.store_root().compute_at(s.out, s.y).async();
        Lowered l(s.out);
        check_async(s, l);
        CHECK(s.calls(l, 10, 6) == 10 * 8);
        CHECK(l.regions().find("% 4") != std::string::npos);
    }
    TEST_CASE("with fold_storage") {
        Stencil s;
        s.f.store_root().compute_at(s.out, s.y).fold_storage(s.y, 8).async();
        Lowered l(s.out);
        CHECK(l.regions().find("% 8") != std::string::npos);
        check_async(s, l);
    }
    TEST_CASE("with ring_buffer: several copies of the storage") {
        for (int copies : {1, 2, 3}) {
            CAPTURE(copies);
            Stencil s;
            s.out.split(s.y, s.yo, s.yi, 2, TailStrategy::GuardWithIf);
            s.f.compute_at(s.out, s.yo).hoist_storage_root().ring_buffer(copies).async();
            Lowered l(s.out);
            if (copies > 1) CHECK(l.regions().find(str("% ", copies)) != std::string::npos);
            check_async(s, l);
            CHECK(s.calls(l, 10, 6) == 10 * 3 * 4);
        }
    }
    TEST_CASE("ring_buffer without async") {
        Stencil s;
        s.f.compute_at(s.out, s.y).hoist_storage_root().ring_buffer(3);
        Lowered l(s.out);
        CHECK(l.regions().find("% 3") != std::string::npos);
        for (int size : {1, 7, 9}) l.check<int>({3, size}, Stencil::expected);
    }
    TEST_CASE("ring_buffer over two loops") {
        Stencil s;
        Var xo("xo"), xi("xi");
        s.out.tile(s.x, s.y, xo, s.yo, xi, s.yi, 4, 3, TailStrategy::GuardWithIf);
        s.f.compute_at(s.out, xo).hoist_storage_root().ring_buffer(2).async();
        check_async(s, Lowered(s.out));
    }
    TEST_CASE("a chain: each in its own thread") {
        Var x("x"), y("y");
        Func a("a"), b("b"), out("out");
        a(x, y) = x + y * y;
        b(x, y) = a(x, y) + a(x, y + 1);
        out(x, y) = b(x, y) + b(x, y + 2);
        for (int mode = 0; mode < 5; mode++) {
            CAPTURE(mode);
            if (mode == 0) a.compute_root().async(), b.compute_root().async();
            if (mode == 1) {
                a.store_root().compute_at(out, y);
                b.store_root().compute_at(out, y);
            }
            if (mode == 2)
                a.compute_at(out, y).store_at(out, y), b.compute_at(out, y).store_at(out, y);
            if (mode == 3) a.store_root().compute_at(b, y), b.store_root().compute_root();
            if (mode == 4) a.compute_root(), b.store_root().compute_at(out, y);
            Lowered l(out);
            CHECK(l.count("fork") >= 2);
            auto ar = [](int x, int y) { return x + y * y; };
            auto br = [&](int x, int y) { return ar(x, y) + ar(x, y + 1); };
            for (int size : {1, 9}) {
                l.check<int>({3, size}, [&](int x, int y) { return br(x, y) + br(x, y + 2); });
            }
        }
    }
    TEST_CASE("inside of a parallel loop") {
        Stencil s;
        s.out.split(s.y, s.yo, s.yi, 4, TailStrategy::GuardWithIf).parallel(s.yo);
        s.f.store_at(s.out, s.yo).compute_at(s.out, s.yi).async();
        check_async(s, Lowered(s.out));
    }
    TEST_CASE("two async producers of one consumer") {
        Var x("x"), y("y");
        Func a("a"), b("b"), out("out");
        a(x, y) = x + y;
        b(x, y) = x - y;
        out(x, y) = a(x, y) + b(x, y + 1) * 10 + b(x, y);
        a.compute_at(out, y).store_root().async();
        b.compute_at(out, y).store_root().async();
        Lowered l(out);
        CHECK(l.count("fork") == 2);
        for (int size : {1, 9}) {
            l.check<int>({3, size}, [](int x, int y) { return x + y + 10 * (x - y - 1) + x - y; });
        }
    }
    TEST_CASE("one that two others read, all in threads of their own") {
        Var x("x"), y("y");
        Func a("a"), b("b"), c("c"), out("out");
        a(x, y) = x + y * y;
        b(x, y) = a(x, y) + a(x, y + 1);
        c(x, y) = a(x, y) * 3 + b(x, y);
        out(x, y) = a(x, y) + b(x, y) * 10 + c(x, y) * 100;
        for (Func f : {a, b, c}) f.store_root().compute_at(out, y).async();
        Lowered l(out);
        CHECK(l.count("fork") == 3);
        auto ar = [](int x, int y) { return x + y * y; };
        auto br = [&](int x, int y) { return ar(x, y) + ar(x, y + 1); };
        for (int size : {1, 9}) {
            l.check<int>({3, size}, [&](int x, int y) {
                return ar(x, y) + br(x, y) * 10 + (ar(x, y) * 3 + br(x, y)) * 100;
            });
        }
    }
    TEST_CASE("of a reduction: what has been summed up stays with the consumer") {
        Var x("x");
        RDom r(0, 9, "r");
        Func a("a"), sum("sum");
        a(x) = x * x;
        sum() = 5;
        sum() += a(r) + a(r + 1);
        a.store_root().compute_at(sum, r.x).async();
        Lowered l(sum);
        CHECK(l.count("fork") == 1);
        l.check<int>({}, [] {
            int total = 5;
            for (int i = 0; i < 9; i++) total += i * i + (i + 1) * (i + 1);
            return total;
        });
    }
    TEST_CASE("with update stages and tuples") {
        Var x("x"), y("y");
        RDom r(0, 4, "r");
        Func f("f"), out("out");
        f(x, y) = Tuple(x, y);
        f(x, y) = Tuple(f(x, y)[0] + r, f(x, y)[1] * 2);
        out(x, y) = f(x, y)[0] + f(x, y + 1)[1];
        f.store_root().compute_at(out, y).async();
        Lowered(out).check<int>({5, 9}, [](int x, int y) { return x + 6 + 16 * (y + 1); });
    }
    TEST_CASE("copies of a ring buffer are used in turn only where no iteration is left out") {
        Var x("x"), y("y"), yo("yo"), yi("yi"), t("t"), to("to"), ti("ti");
        for (bool guarded : {false, true}) {
            Func f("f"), out("out");
            f(x, y) = x + 10 * y;
            out(x, y) = f(x, y) + 1;
            auto tail = guarded ? TailStrategy::GuardWithIf : TailStrategy::RoundUp;
            out.bound(y, 0, 16).split(y, yo, yi, 8).split(yi, to, ti, guarded ? 3 : 4, tail);
            f.compute_at(out, ti).hoist_storage_root().ring_buffer(2).async();
            Lowered l(out);
            CHECK(l.count("semaphore_init(`f.free`, 2)") == (guarded ? 0 : 1));
            CHECK(l.count("semaphore_init(`f.free`, 1)") == (guarded ? 1 : 0));
            for (int repeat = 0; repeat < 20; repeat++) {
                l.check<int>({4, 16}, [](int x, int y) { return x + 10 * y + 1; });
            }
        }
    }
    TEST_CASE("a producer within an asynchronous one, whose storage is between the two") {
        Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");
        Func f("f"), g("g"), out("out");
        f(x, y) = x + y;
        g(x, y) = f(x, y) + 1;
        out(x, y) = g(x, y) * 2;
        out.split(y, yo, yi, 2);
        g.compute_at(out, yo).hoist_storage_root().ring_buffer(4).async().split(x, xo, xi, 2);
        f.compute_at(g, xo).store_at(out, yo).async();
        Lowered l(out);
        CHECK(l.count("fork") == 2);
        l.check<int>({7, 9}, [](int x, int y) { return 2 * (x + y + 1); });
    }
    TEST_CASE("a producer of one update of an asynchronous tuple, stored further out") {
        Var x("x"), y("y"), xo("xo"), xi("xi");
        Func f("f"), g("g"), out("out");
        f(x, y) = x + y;
        g(x, y) = Tuple(x, y);
        g(x, y) = Tuple(g(x, y)[0], select(g(x, y)[0] < 1, 1, 2));
        g(x, 4) = Tuple(f(x, 2), 1);
        out(x, y) = g(x, y)[0] + 10 * g(x, y)[1];
        g.compute_root().async().update(1).split(x, xo, xi, 8, TailStrategy::RoundUpAndBlend);
        f.compute_at(g, xo).hoist_storage_root().ring_buffer(2).async();
        Lowered l(out);
        CHECK(l.count("fork") == 2);
        l.check<int>({7, 6},
                     [](int x, int y) { return y == 4 ? x + 2 + 10 : x + 10 * (x < 1 ? 1 : 2); });
    }
    TEST_CASE("what both threads compute is allocated for each of them, however far out") {
        Var x("x"), xo("xo"), xi("xi");
        Func f("f"), g("g"), out("out");
        f(x) = x * 7;
        g(x) = f(x) + 1;
        out(x) = f(x) + g(x);
        out.split(x, xo, xi, 16);
        g.store_root().compute_at(out, xi).async();
        f.compute_at(out, xo).hoist_storage_root();
        Lowered l(out);
        CHECK(l.count("allocate f:") == 2);
        for (int repeat = 0; repeat < 20; repeat++) {
            l.check<int>({64}, [](int x) { return 14 * x + 1; });
        }
    }
    TEST_CASE("a ring buffer of storage that is folded holds one production of each copy") {
        Var x("x"), y("y"), z("z");
        Func f("f"), out("out");
        f(x, y, z) = x + 10 * y + 100 * z;
        out(x, y, z) = f(x, y, z) * 2;
        f.compute_at(out, y).store_at(out, z).hoist_storage_root().ring_buffer(3).async();
        Lowered l(out);
        CHECK(l.count("semaphore_init(`f.free`, 1)") == 1);
        for (int repeat = 0; repeat < 20; repeat++) {
            l.check<int>({4, 5, 3}, [](int x, int y, int z) { return 2 * (x + 10 * y + 100 * z); });
        }
    }
    TEST_CASE("what only the producer reads is not computed in the consumer for its own sake") {
        Var x("x"), y("y"), z("z"), yo("yo"), yi("yi");
        RDom r(0, 2);
        Func at("at"), f("f"), g("g"), out("out");
        at(x) = x % 2;
        at.compute_root();
        f(x, y) = x + y;
        f(clamp(at(r), 0, 1), y) += 0;  // read once, under a let
        g(x, y) = f(x, y) * 2;
        out(x, y, z) = g(x, y) + z;
        f.update().split(y, yo, yi, 5, TailStrategy::RoundUpAndBlend);
        f.compute_at(out, y).hoist_storage(out, z).ring_buffer(4).async();
        g.compute_at(out, y).store_root().async();
        Lowered l(out);
        CHECK(l.count("produce f in stages:") == 1);
        l.check<int>({4, 5, 3}, [](int x, int y, int z) { return 2 * (x + y) + z; });
    }
    TEST_CASE("two stages that read one another, in each version of a specialized stage") {
        Var x("x"), y("y");
        Param<int> p("p");
        Func f("f"), g("g"), out("out");
        f(x, y) = x + y;
        f(x, y) += 1;
        g(x) = f(x, 1) * 2;
        out(x, y) = f(x, y) + g(x);
        out.specialize(p > 2);
        g.compute_at(out, x).hoist_storage(out, y).ring_buffer(3).async();
        f.compute_at(out, x).store_root().async();
        Lowered l(out);
        for (int value : {2, 3}) {
            p.set(value);
            l.check<int>({5, 4}, [](int x, int y) { return x + y + 1 + (x + 2) * 2; });
        }
    }
    TEST_CASE("far from 0: parts of an index that do not fit into 32 bits, of which the sum does") {
        Var x("x"), y("y"), z("z"), xy("xy");
        const int far = -(1 << 29);
        Func f("f"), out("out");
        RDom r(0, 1, "r");
        f(x, y, z) = x + 1;
        out(x, y, z) = 1;
        out(x, y, z) = f(x, y - far, r.x);
        f.compute_at(out, r.x).store_at(out, z).async().fuse(y, x, xy).bound_storage(x, 512);
        out.compile_jit();
        Buffer<int> b({3, 2, 1});
        b.set_min(0, far, 0);
        out.realize(b);
        for (int i = 0; i < 3; i++) CHECK(b(i, far + 1, 0) == i + 1);
    }
    TEST_CASE("a part of the pipeline that both threads would write is refused") {
        Var x("x"), y("y");
        Func shared("shared"), f("f"), out("out");
        shared(x, y) = x + y;
        f(x, y) = shared(x, y) + shared(x, y + 1);
        out(x, y) = f(x, y) + shared(x, y);
        shared.store_root().compute_at(out, y);
        f.store_root().compute_at(out, y).async();
        REFUSED_ABOVE(Lowered(out), "async of f: shared is used both");
    }
    TEST_CASE("a producer at a loop of a function that is written in two stages") {
        Var x("x"), o("o"), i("i");
        Func f("f"), g("g"), h("h");
        f(x) = x * 3;
        g(x) = f(x - 2) + f(x + 3);
        g(x) = max(g(x), 4);
        h(x) = g(x + 2);
        g.split(x, o, i, 3, TailStrategy::RoundUp).unroll(i);
        f.compute_at(g, o).async();
        Buffer<int> result = h.realize({66});
        for (int k = 0; k < 66; k++) CHECK(result(k) == std::max(4, 6 * (k + 2) + 3));
    }
    TEST_CASE("a ring buffer holds what each specialization of its consumer reads") {
        Var x("x"), y("y");
        Param<int> p("p");
        Func f("f"), g("g");
        f(x, y) = x + 10 * y;
        g(x, y) = f(x, y) + f(x + 1, y);
        g.specialize(p > 3);
        f.compute_at(g, y).hoist_storage_root().ring_buffer(2);
        for (int value : {1, 5}) {
            p.set(value);
            Buffer<int> result =
                g.realize({4, 5}, get_host_target().with_feature(Target::Interpret));
            result.for_each_element(
                [&](int a, int b) { REQUIRE(result(a, b) == 2 * a + 20 * b + 1); });
        }
    }
    TEST_CASE("a producer of several stages does not write again what is being read") {
        Var x("x"), o("o"), i("i"), oo("oo"), oi("oi");
        Func f("f"), g("g");
        f(x) = 1;
        f(3) = 1;
        f(x) = 8;
        g(x) = f(x) + f(x + 3);
        g.split(x, o, i, 4, TailStrategy::GuardWithIf)
            .split(o, oo, oi, 5, TailStrategy::GuardWithIf);
        f.compute_at(g, oi).store_at(g, oo).async();
        Buffer<int> result = g.realize({33}, get_host_target().with_feature(Target::Interpret));
        for (int k = 0; k < 33; k++) CHECK(result(k) == 16);
    }
    TEST_CASE("a half holds what a shared expression reads, for each that it is part of") {
        Var x("x"), y("y"), xo("xo"), xi("xi");
        RDom r(0, 1, 0, 1, "r");
        Func f("f"), g("g"), h("h");
        f(x, y) = Tuple(cast<double>(1 < minimum(r, cast<uint16_t>(1))), 1);
        g(x, y) = f(x, y)[1] * 2;
        h(x, y) = g(x, y);
        h.split(x, xo, xi, 3, TailStrategy::ShiftInwards);
        g.compute_at(h, xo).hoist_storage_root().ring_buffer(2).async();
        f.compute_at(h, xo);
        Lowered(h).check<int>({6, 1}, [](int, int) { return 2; });
    }
    TEST_CASE("a stage whose accesses are traced waits for room in its folded storage") {
        Var x("x"), y("y");
        Func f("f"), g("g");
        f(x, y) = x;
        g(x, y) = f(x, y);
        g.reorder(y, x);
        f.compute_at(g, y).store_root().async().trace_stores();
        g.jit_handlers().custom_trace = [](JITUserContext *, const tessera_trace_event_t *) {
            return 0;
        };
        for (const Target &t :
             {get_host_target(), get_host_target().with_feature(Target::Interpret)}) {
            Buffer<int> out = g.realize({8, 2}, t);
            out.for_each_element([&](int i, int j) { CHECK(out(i, j) == i); });
        }
    }
}
