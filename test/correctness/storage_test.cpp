#include "error/refusal.h"
#include "stencil.h"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE("storage") {
    TEST_CASE("fold_storage: the factor that the user gives") {
        Stencil s;
        s.f.store_root().compute_at(s.out, s.y).fold_storage(s.y, 5);
        Lowered l(s.out);
        CHECK(l.regions().find("% 5") != std::string::npos);
        s.check(l);
        CHECK(s.calls(l, 10, 6) == 10 * 8);
    }
    TEST_CASE("fold_storage by a parameter is checked when it runs") {
        Stencil s;
        Param<int> rows("rows");
        s.f.store_root().compute_at(s.out, s.y).fold_storage(s.y, rows);
        Lowered l(s.out);
        rows.set(3);
        s.check(l);
        rows.set(2);
        CHECK_THROWS_WITH_AS(l.check<int>({3, 9}, Stencil::expected), doctest::Contains("fold"),
                             RuntimeError);
    }
    TEST_CASE("fold_storage that is too small is an error") {
        Stencil s;
        s.f.store_root().compute_at(s.out, s.y).fold_storage(s.y, 2);
        FAILS(Lowered(s.out).check<int>({3, 9}, Stencil::expected), "folded along y by 2");
    }
    TEST_CASE("fold_storage where nothing can be folded is refused") {
        Stencil s;
        s.f.compute_root().fold_storage(s.y, 4);
        REFUSED_ABOVE(Lowered(s.out), "fold_storage(y) of f");
    }
    TEST_CASE("fold_storage backwards") {
        Var x("x"), y("y");
        Func f("f"), out("out");
        f(x, y) = x + y;
        out(x, y) = f(x, 50 - y) + f(x, 51 - y);
        f.store_root().compute_at(out, y).fold_storage(y, 3, false);
        Lowered l(out);
        CHECK(l.regions().find("% 3") != std::string::npos);
        l.check<int>({4, 20}, [](int x, int y) { return 2 * x + 101 - 2 * y; });
    }
    TEST_CASE("storage that slides is folded without being asked, to a power of two") {
        Stencil s;
        s.f.store_root().compute_at(s.out, s.y);
        Lowered l(s.out);
        CHECK(l.regions().find("% 4") != std::string::npos);
        s.check(l);
    }
    TEST_CASE("a fold along strips") {
        Stencil s;
        s.out.split(s.y, s.yo, s.yi, 3, TailStrategy::GuardWithIf);
        s.f.store_root().compute_at(s.out, s.yo);
        Lowered l(s.out);
        CHECK(l.regions().find("% 8") != std::string::npos);
        s.check(l);
    }
    TEST_CASE("no fold below a parallel loop: stored inside of it") {
        Stencil s;
        s.out.split(s.y, s.yo, s.yi, 4, TailStrategy::GuardWithIf).parallel(s.yo);
        s.f.store_at(s.out, s.yo).compute_at(s.out, s.yi);
        Lowered l(s.out);
        CHECK(l.regions().find("% 4") != std::string::npos);
        s.check(l);
    }
    TEST_CASE("a vectorized producer slides and folds") {
        Stencil s;
        s.f.store_root().compute_at(s.out, s.y).vectorize(s.x, 4);
        s.out.vectorize(s.x, 4, TailStrategy::GuardWithIf);
        Lowered l(s.out);
        CHECK(l.regions().find("% 4") != std::string::npos);
        s.check(l);
    }
    TEST_CASE("reorder_storage: another dimension is dense") {
        Stencil s;
        s.f.compute_root();
        std::string plain = Lowered(s.out).flat();
        s.f.reorder_storage(s.y, s.x);
        Lowered l(s.out);
        CHECK(l.flat() != plain);
        s.check(l);
    }
    TEST_CASE("align_storage pads rows") {
        Var x("x"), y("y");
        Func f("f"), out("out");
        f(x, y) = x + y;
        out(x, y) = f(x, y);
        f.compute_root().bound(x, 0, 13).bound(y, 0, 3).align_storage(x, 16);
        Lowered l(out);
        CHECK(l.text().find("* 16") != std::string::npos);
        l.check<int>({13, 3}, [](int x, int y) { return x + y; });
    }
    TEST_CASE("bound_storage fixes an allocation's extent, and is checked") {
        Var x("x"), y("y");
        Func f("f"), out("out");
        f(x, y) = x + y;
        out(x, y) = f(x, y) + f(x + 1, y);
        f.compute_at(out, y).bound_storage(x, 20).store_in(MemoryType::Stack);
        Lowered l(out);
        CHECK(l.text().find("[20") != std::string::npos);
        auto ref = [](int x, int y) { return 2 * x + 1 + 2 * y; };
        l.check<int>({19, 3}, ref);
        CHECK_THROWS_WITH_AS(l.check<int>({20, 3}, ref), doctest::Contains("storage"),
                             RuntimeError);
    }
    TEST_CASE("store_in: the memory that the user names") {
        for (MemoryType memory :
             {MemoryType::Heap, MemoryType::Stack, MemoryType::Register, MemoryType::Auto}) {
            CAPTURE(int(memory));
            Stencil s;
            s.out.split(s.x, s.yo, s.yi, 4, TailStrategy::GuardWithIf);
            s.f.compute_at(s.out, s.yo).store_in(memory);
            Lowered l(s.out);
            if (memory == MemoryType::Stack) CHECK(l.text().find("in Stack") != std::string::npos);
            if (memory == MemoryType::Heap) CHECK(l.text().find("in Heap") != std::string::npos);
            s.check(l);
        }
    }
    TEST_CASE("store_in(Auto): small storage is on the stack, large storage is not") {
        static int allocations;
        auto allocated = [](int extent, MemoryType memory, bool automatic = false) {
            Var x("x");
            Func f("f"), out("out");
            f(x) = x * 3;
            out(x) = f(x) + f(extent - 1 - x);
            f.compute_root().bound(x, 0, extent);
            f.store_in(memory);
            if (automatic) f.store_in(MemoryType::Auto);
            JITUserContext context;
            context.handlers.custom_malloc = [](JITUserContext *, size_t n) {
                allocations++;
                return std::aligned_alloc(128, (n + 127) / 128 * 128);
            };
            context.handlers.custom_free = [](JITUserContext *, void *p) { std::free(p); };
            allocations = 0;
            Buffer<int> b = out.realize(&context, {extent});
            CHECK(b(2) == 3 * (extent - 1));
            return allocations;
        };
        CHECK(allocated(50, MemoryType::Heap) == 1);
        CHECK(allocated(50, MemoryType::Heap, true) == 0);
        CHECK(allocated(10000, MemoryType::Stack) == 0);
        CHECK(allocated(10000, MemoryType::Stack, true) == 1);
    }
    TEST_CASE("tuples: an allocation per value") {
        Var x("x"), y("y");
        Func f("f"), out("out");
        f(x, y) = Tuple(x + y, cast<float>(x), cast<uint8_t>(y));
        f(x, y) = Tuple(f(x, y)[0] + cast<int>(f(x, y)[2]), f(x, y)[1] * 2, f(x, y)[2]);
        out(x, y) = f(x, y)[0] + cast<int>(f(x, y + 1)[1]) + cast<int>(f(x, y - 1)[2]);
        auto ref = [](int x, int y) { return x + y + uint8_t(y) + 2 * x + uint8_t(y - 1); };
        for (int place = 0; place < 4; place++) {
            CAPTURE(place);
            if (place == 0) f.compute_root();
            if (place == 1) f.compute_at(out, y);
            if (place == 2) f.compute_at(out, y).store_root().vectorize(x, 4);
            if (place == 3) f.compute_at(out, x).store_root();
            Lowered l(out);
            CHECK(Lowered::count(l.flat(), "allocate") == 3);
            for (int size : {1, 7, 9}) l.check<int>({size, 5}, ref);
        }
    }
    TEST_CASE("tuple outputs, and several outputs of different sizes") {
        Var x("x"), y("y");
        Func f("f"), g("g"), h("h");
        f(x, y) = Tuple(x + y, cast<float>(x * y));
        g(x) = f(x, 3)[0] * 2;
        h(x, y) = cast<uint8_t>(f(x, y)[0] + g(x));
        f.compute_root();
        Lowered l({f, g, h});
        for (int size : {1, 8, 9}) {
            Buffer<int> f0(size + 2, 6);
            Buffer<float> f1(size + 2, 6);
            Buffer<int> g0(size);
            Buffer<uint8_t> h0(size, 3);
            l.run({f0, f1, g0, h0});
            Lowered::compare(f0, [](int x, int y) { return x + y; });
            Lowered::compare(f1, [](int x, int y) { return x * y; });
            Lowered::compare(g0, [](int x) { return 2 * (x + 3); });
            Lowered::compare(h0, [](int x, int y) { return x + y + 2 * (x + 3); });
        }
    }
    TEST_CASE("an output that another output reads must be large enough") {
        Var x("x");
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x + 1);
        Lowered l({f, g});
        Buffer<int> small(5), other(5);
        CHECK_THROWS_AS(l.run({small, other}), RuntimeError);
    }
    TEST_CASE("stream_loads and stream_stores mark loads and stores") {
        Stencil s;
        s.f.compute_root().vectorize(s.x, 4).stream_stores();
        s.out.vectorize(s.x, 4, TailStrategy::GuardWithIf).stream_loads({s.f}).stream_stores();
        Lowered l(s.out);
        CHECK(l.text().find("stream") != std::string::npos);
        s.check(l);
        Stencil t;
        t.f.compute_root().vectorize(t.x, 4);
        CHECK(Lowered(t.out).text().find("stream") == std::string::npos);
    }
    TEST_CASE(
        "a stage streams what its inline reductions read, and a specialization what it says") {
        Var x("x"), y("y");
        ImageParam in(Int(32), 2, "in");
        RDom r(0, 4, "r");
        Func f("f"), g("g");
        f(x, y) = sum(in(x + r, y));
        f.stream_loads({in});
        CHECK(Lowered(f).text().find("stream") != std::string::npos);
        Param<bool> p("p");
        g(x, y) = in(x, y);
        g.specialize(p).stream_stores();
        CHECK(Lowered(g).text().find("stream") != std::string::npos);
    }
    TEST_CASE("prefetch of a function and of an input") {
        for (PrefetchBoundStrategy strategy :
             {PrefetchBoundStrategy::Clamp, PrefetchBoundStrategy::GuardWithIf,
              PrefetchBoundStrategy::NonFaulting}) {
            Var x("x"), y("y");
            ImageParam in(Int(32), 2, "in");
            Buffer<int> image(40, 8);
            image.for_each_element([&](int i, int j) { image(i, j) = i + j; });
            in.set(image);
            Func f("f"), out("out");
            f(x, y) = in(x, y) * 2;
            out(x, y) = f(x, y) + f(x, y + 1);
            f.compute_root().prefetch(in, y, y, 2, strategy);
            out.prefetch(f, x, y, 1, strategy);
            out.prefetch(out, y, y, 1, strategy);  // what it writes next
            Lowered l(out);
            CHECK(l.count("prefetch") >= 3);
            l.check<int>({37, 7}, [](int x, int y) { return 4 * x + 4 * y + 2; });
        }
    }
    TEST_CASE("prefetch of what a specialization, another one and an update write") {
        for (bool wide : {true, false}) {
            Var x("x"), y("y"), xi("xi");
            RDom r(0, 5, "r");
            Param<bool> is_wide("is_wide");
            Func f("f");
            f(x, y) = x + y;
            f(r, y) += 1;
            f.specialize(is_wide).split(x, x, xi, 16).prefetch(f, x, x, 0);
            f.split(x, x, xi, 8, TailStrategy::GuardWithIf).prefetch(f, x, x, 1);
            f.update().prefetch(f, y, y, 1);
            is_wide.set(wide);
            Lowered l(f);
            CHECK(l.count("prefetch") == 3);
            l.check<int>({37, 7}, [](int x, int y) { return x + y + (x < 5); });
        }
    }
    TEST_CASE("of what is read in loops that are rounded up and fused, in tiles of such") {
        Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), yoo("yoo"), yoi("yoi"), t("t");
        Func f("f"), g("g"), h("h"), edges("edges"), out("out");
        f(x, y) = x + 10 * y;
        g(x, y) = f(x * 2, y);
        h(x, y) = g(x, y) + g(5, y * 2);
        edges(x, y) = h(clamp(x, 0, 11), y);
        out(x, y) = edges(-2, x) + y;
        out.split(x, xo, xi, 2).reorder(y, xo, xi).fuse(xo, xi, t);
        edges.store_root().compute_at(out, t).split(x, xo, xi, 3, TailStrategy::GuardWithIf);
        h.compute_at(edges, xo).split(y, yo, yi, 16, TailStrategy::RoundUp).reorder(yo, x, yi);
        h.fuse(x, yi, t).split(yo, yoo, yoi, 3, TailStrategy::RoundUp);
        g.compute_at(h, yoo).split(y, yo, yi, 5, TailStrategy::RoundUp).fuse(x, yi, t);
        f.store_root().compute_at(edges, xo);
        Lowered l(out);
        for (int width : {2, 3, 7}) {
            l.check<int>({width, 2}, [](int i, int j) { return 10 * i + 10 + 20 * i + j; });
        }
    }
    TEST_CASE("prefetch of a tuple whose first value alone is read may fetch both") {
        Var x("x");
        Func f("f"), g("g");
        f(x) = Tuple(x, 2 * x);
        f.compute_root();
        g(x) = f(x)[0];
        g.prefetch(f, x, x, 3);
        Buffer<int> result = g.realize({20});
        for (int i = 0; i < 20; i++) CHECK(result(i) == i);
    }
    TEST_CASE("small elements are loaded by stages that stream their loads") {
        Var x("x");
        for (int lanes : {1, 8, 32}) {
            Buffer<int8_t> bytes(64);
            Buffer<uint16_t> words(64);
            bytes.for_each_element(
                [&](int i) { bytes(i) = int8_t(i - 30), words(i) = uint16_t(i); });
            Func f("f");
            f(x) = cast<int>(bytes(x)) * words(63 - x);
            f.stream_loads().vectorize(x, lanes);
            Buffer<int> result = f.realize({64});
            for (int i = 0; i < 64; i++) REQUIRE(result(i) == (i - 30) * (63 - i));
        }
    }
    TEST_CASE("prefetch of what lies in a ring buffer") {
        Var x("x"), y("y");
        for (PrefetchBoundStrategy strategy :
             {PrefetchBoundStrategy::Clamp, PrefetchBoundStrategy::GuardWithIf}) {
            Func f("f"), g("g");
            f(x, y) = x + 10 * y;
            g(x, y) = f(x, y) + f(x + 1, y);
            g.prefetch(f, y, y, 2, strategy).prefetch(f, x, y, 1, strategy);
            f.compute_at(g, y).hoist_storage_root().ring_buffer(2);
            Buffer<int> result = g.realize(
                {4, 5},
                get_host_target().with_feature(Target::Interpret).with_feature(Target::Debug));
            result.for_each_element(
                [&](int a, int b) { REQUIRE(result(a, b) == 2 * a + 20 * b + 1); });
        }
    }
    TEST_CASE("storage outside of a loop whose iterations run at once is refused for what is "
              "computed inside") {
        Var x("x"), y("y"), yo("yo"), yi("yi");
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
}
