#include "calls.h"
#include "harness.h"
#include "lang/boundary_conditions.h"
#include <cstdlib>

using namespace tessera;
using namespace tessera::test;

TEST_SUITE("bound and align") {
    TEST_CASE("bound makes loops constant, and is checked") {
        Var x("x"), y("y");
        Func f("f");
        f(x, y) = x + y;
        f.bound(x, 0, 12).bound(y, -1, 3).unroll(y);
        Lowered l(f);
        CHECK(l.count("for `f.x") == 3);  // y is written out
        auto ref = [](int x, int y) { return x + y; };
        l.check<int>({12, 3}, ref, {0, -1});
        CHECK_THROWS_WITH_AS(l.check<int>({5, 3}, ref, {3, -1}),
                             doctest::Contains("the pipeline touches [0, 11]"), RuntimeError);
        CHECK_THROWS_WITH_AS(l.check<int>({13, 3}, ref, {0, -1}), doctest::Contains("bound"),
                             RuntimeError);
    }
    TEST_CASE("bound of a producer: all of it is computed, whatever is needed") {
        Var x("x");
        Func f("f"), g("g");
        f(x) = counted(x);
        g(x) = f(x) * 2;
        f.compute_root().bound(x, -2, 20);
        Lowered l(g);
        CHECK(calls_during([&] { l.check<int>({5}, [](int x) { return 2 * x; }); }) == 2 * 20);
        CHECK_THROWS_AS(l.check<int>({30}, [](int x) { return 2 * x; }), RuntimeError);
    }
    TEST_CASE("bound_extent leaves the min free") {
        Var x("x");
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x) + f(x + 2);
        f.compute_at(g, x).bound_extent(x, 4).vectorize(x);
        Lowered l(g);
        CHECK(l.stores(4) > 0);
        for (int min : {-5, 0, 5}) l.check<int>({7}, [](int x) { return 2 * x + 2; }, {min});
    }
    TEST_CASE("align_bounds rounds the region outwards") {
        Var x("x");
        Func f("f"), g("g");
        f(x) = counted(x * 3);
        g(x) = f(x);
        f.compute_root().align_bounds(x, 8, 1);
        Lowered l(g);
        auto ref = [](int x) { return 3 * x; };
        for (auto [min, size, computed] :
             {std::array{1, 8, 8}, {0, 1, 8}, {0, 2, 16}, {-7, 9, 16}, {2, 8, 16}, {9, 16, 16}}) {
            CAPTURE(min);
            CAPTURE(size);
            CHECK(calls_during([&] { l.check<int>({size}, ref, {min}); }) == 2 * computed);
        }
    }
    TEST_CASE("align_extent rounds the extent only") {
        Var x("x");
        Func f("f"), g("g");
        f(x) = counted(x * 3);
        g(x) = f(x);
        f.compute_root().align_extent(x, 8);
        Lowered l(g);
        auto ref = [](int x) { return 3 * x; };
        for (auto [min, size, computed] : {std::array{1, 8, 8}, {3, 1, 8}, {0, 9, 16}}) {
            CHECK(calls_during([&] { l.check<int>({size}, ref, {min}); }) == 2 * computed);
        }
    }
    TEST_CASE("align_bounds and bound together") {
        Var x("x"), y("y");
        Func f("f"), g("g");
        f(x, y) = x + 10 * y;
        g(x, y) = f(x / 2, y) + f(x / 2 + 1, y);
        f.compute_root().align_bounds(x, 4).vectorize(x, 4).bound(y, 0, 6);
        g.bound(y, 0, 6);
        Lowered l(g);
        for (int size : {1, 7, 9}) {
            l.check<int>({size, 6}, [](int x, int y) { return x / 2 * 2 + 1 + 20 * y; });
        }
    }
    TEST_CASE("regions whose extent is aligned, tile by tile, fit the storage around all tiles") {
        Var x("x"), o("o"), i("i");
        Func f("f"), g("g");
        f(x) = x * 3;
        g(x) = f(x);
        g.split(x, o, i, 3, TailStrategy::Predicate);
        f.compute_at(g, o).store_root().align_extent(x, 6);
        Buffer<int> result = g.realize({16}, get_host_target().with_feature(Target::Interpret));
        for (int k = 0; k < 16; k++) CHECK(result(k) == 3 * k);
    }
    TEST_CASE("an extent aligned within a fused loop asks for no more than the rounding") {
        Var x("x"), y("y"), t("t"), o("o"), i("i");
        ImageParam in(Int(32), 2, "in");
        Func f("f"), g("g");
        f(x, y) = in(x, y) + 1;
        g(x, y) = f(x, y);
        g.fuse(x, y, t).split(t, o, i, 3, TailStrategy::GuardWithIf);
        f.compute_at(g, o).align_extent(y, 8);
        g.infer_input_bounds({16, 36});
        Buffer<int> image = in.get();
        CHECK(image.dim(0).extent() == 16);
        CHECK(image.dim(1).min() == 0);
        CHECK(image.dim(1).extent() <= 36 + 7);
    }
}

TEST_SUITE("bounds inference") {
    TEST_CASE("regions that no rule of intervals makes larger than they are") {
        Var x("x"), y("y");
        Func f("f"), g("g");
        f(x, y) = counted(x * 3 + y);
        g(x, y) = f(x + 5 - y + (y - 2), y) + f(2 * x - x, y);
        f.compute_root();
        Lowered l(g);
        auto ref = [](int x, int y) { return 3 * (x + 3) + 3 * x + 2 * y; };
        CHECK(calls_during([&] { l.check<int>({10, 4}, ref); }) == 2 * 13 * 4);
    }
    TEST_CASE("gathers through clamp") {
        Var x("x");
        Buffer<int> index(20);
        index.for_each_element([&](int i) { index(i) = i * 37 % 50 - 10; });
        Func f("f"), g("g");
        f(x) = counted(x * x);
        g(x) = f(clamp(index(x), 3, 17));
        f.compute_root();
        Lowered l(g);
        auto ref = [](int x) {
            int i = std::clamp(x * 37 % 50 - 10, 3, 17);
            return i * i;
        };
        CHECK(calls_during([&] { l.check<int>({20}, ref); }) == 2 * 15);
        g.vectorize(x, 8, TailStrategy::GuardWithIf);
        Lowered(g).check<int>({19}, ref);
    }
    TEST_CASE("gathers by a function's values, whose bounds are known") {
        Var x("x");
        Func f("f"), index("index"), g("g");
        f(x) = counted(x * 2);
        index(x) = (x * 13) % 7;
        g(x) = f(index(x));
        f.compute_root();
        index.compute_root();
        Lowered l(g);
        CHECK(calls_during([&] { l.check<int>({20}, [](int x) { return x * 13 % 7 * 2; }); }) ==
              2 * 7);
    }
    TEST_CASE("gathers by values of a small type") {
        Var x("x");
        Buffer<uint8_t> image(10);
        image.for_each_element([&](int i) { image(i) = uint8_t(i * 29); });
        Func lut("lut"), g("g");
        lut(x) = counted(x + 1000);
        g(x) = lut(cast<int>(image(x)));
        lut.compute_root();
        Lowered l(g);
        int calls =
            calls_during([&] { l.check<int>({10}, [](int x) { return uint8_t(x * 29) + 1000; }); });
        CHECK(calls == 2 * 256);
    }
    TEST_CASE("an index without a bound is refused") {
        Var x("x");
        ImageParam index(Int(32), 1, "index");
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(index(x));
        f.compute_root();
        CHECK_THROWS_WITH_AS(Lowered l(g), doctest::Contains("clamp()"), CompileError);
    }
    TEST_CASE("scatters, and gathers of what was scattered") {
        Var x("x");
        RDom r(0, 30, "r");
        Func f("f"), g("g");
        f(x) = 0;
        f(clamp((r * 7) % 16, 0, 15)) += r + 1;
        g(x) = f(x % 16) * 10;
        f.compute_root();
        auto ref = [](int x) {
            int sum = 0;
            for (int r = 0; r < 30; r++) sum += r * 7 % 16 == x % 16 ? r + 1 : 0;
            return sum * 10;
        };
        Lowered l(g);
        for (int size : {1, 7, 37}) l.check<int>({size}, ref);
    }
    TEST_CASE("a scatter grows the storage beyond what is read") {
        Var x("x");
        RDom r(0, 10, "r");
        Func f("f"), g("g");
        f(x) = 1;
        f(r * 3) = 5;
        g(x) = f(x);
        f.compute_root();
        Lowered(g).check<int>({4}, [](int x) { return x % 3 == 0 ? 5 : 1; });
    }
    TEST_CASE("a histogram of an output's own size") {
        Var x("x");
        RDom r(0, 100, "r");
        Func f("f");
        f(x) = 0;
        f(clamp(r * r % 11, 0, 10)) += 1;
        Lowered(f).check<int>({11}, [](int x) {
            int n = 0;
            for (int i = 0; i < 100; i++) n += i * i % 11 == x;
            return n;
        });
    }
    TEST_CASE("where: only points for which it holds") {
        Var x("x"), y("y");
        RDom r(0, 8, 0, 8, "r");
        r.where(r.x + r.y < 8);
        r.where(r.x != 3);
        Func f("f"), g("g");
        f(x, y) = counted(x * 10 + y);
        g(x) = 0;
        g(x) += f(r.x + x, r.y);
        f.compute_root();
        auto ref = [](int x) {
            int sum = 0;
            for (int j = 0; j < 8; j++) {
                for (int i = 0; i < 8; i++)
                    if (i + j < 8 && i != 3) sum += (i + x) * 10 + j;
            }
            return sum;
        };
        Lowered l(g);
        for (int size : {1, 9}) l.check<int>({size}, ref);
    }
    TEST_CASE("where narrows what is computed of a producer") {
        Var x("x");
        RDom r(0, 100, "r");
        r.where(r >= 10 && r < 15);
        Func f("f"), g("g");
        f(x) = counted(x);
        g(x) = 0;
        g(x) += f(r);
        f.compute_root();
        Lowered l(g);
        CHECK(calls_during([&] { l.check<int>({3}, [](int) { return 60; }); }) == 2 * 5);
    }
    TEST_CASE("where with a parameter, and data") {
        Var x("x");
        Param<int> n("n");
        Buffer<int> mask(20);
        mask.for_each_element([&](int i) { mask(i) = i % 3; });
        RDom r(0, 20, "r");
        r.where(r < n && mask(r) == 1);
        Func g("g");
        g(x) = 0;
        g(x) += r + x;
        Lowered l(g);
        for (int limit : {0, 5, 30}) {
            n.set(limit);
            l.check<int>({4}, [&](int x) {
                int sum = 0;
                for (int i = 0; i < std::min(20, limit); i++) sum += i % 3 == 1 ? i + x : 0;
                return sum;
            });
        }
    }
    TEST_CASE("a reduction domain of no points") {
        Var x("x");
        Param<int> n("n");
        RDom r(0, n, "r");
        Func f("f"), g("g");
        f(x) = x;
        g(x) = 7;
        g(x) += f(r + x);
        f.compute_root();
        Lowered l(g);
        for (int extent : {-3, 0, 4}) {
            n.set(extent);
            l.check<int>({5}, [&](int x) {
                int sum = 7;
                for (int i = 0; i < extent; i++) sum += i + x;
                return sum;
            });
        }
    }
    TEST_CASE("a reduction domain in terms of an earlier function's bound") {
        Var x("x"), y("y");
        ImageParam in(Int(32), 2, "in");
        Buffer<int> image(6, 4);
        image.for_each_element([&](int i, int j) { image(i, j) = i * 10 + j; });
        in.set(image);
        RDom r(0, in.width(), 0, in.height());
        Func g("g");
        g() = 0;
        g() += in(r.x, r.y);
        Lowered(g).check<int>({}, [] { return (0 + 10 + 20 + 30 + 40 + 50) * 4 + 6 * 6; });
    }
    TEST_CASE("a scan over the outputs of its own stage") {
        Var x("x"), y("y");
        RDom r(1, 8, "r");
        Func f("f");
        f(x, y) = x + y;
        f(r, y) += f(r - 1, y);
        auto ref = [](int x, int y) {
            int sum = y;
            for (int i = 1; i <= x; i++) sum += i + y;
            return sum;
        };
        for (bool parallel : {false, true}) {
            if (parallel) f.update().parallel(y);
            Lowered(f).check<int>({9, 4}, ref);
        }
    }
    TEST_CASE("an input that is too small is an error that names it") {
        Var x("x");
        ImageParam in(Int(32), 1, "in");
        Buffer<int> image(10);
        image.fill(1);
        in.set(image);
        Func f("f");
        f(x) = in(x + 3);
        Lowered l(f);
        l.check<int>({7}, [](int) { return 1; });
        CHECK_THROWS_WITH_AS(l.check<int>({8}, [](int) { return 1; }), doctest::Contains("in"),
                             RuntimeError);
    }
    TEST_CASE("strides that the user fixes are used and checked") {
        Var x("x"), y("y");
        ImageParam in(Int(32), 2, "in");
        in.dim(0).set_stride(3);
        in.dim(1).set_bounds(0, 4);
        Buffer<int> storage(3, 8, 4);
        storage.for_each_element(
            [&](int c, int i, int j) { storage(c, i, j) = c + 10 * i + 100 * j; });
        Buffer<int> second = storage.sliced(0, 1);
        in.set(second);
        Func f("f");
        f(x, y) = in(x, y);
        Lowered l(f);
        l.check<int>({8, 4}, [](int x, int y) { return 1 + 10 * x + 100 * y; });
        Buffer<int> dense(8, 4);
        in.set(dense);
        CHECK_THROWS_WITH_AS(l.check<int>({8, 4}, [](int, int) { return 0; }),
                             doctest::Contains("stride"), RuntimeError);
    }
    TEST_CASE("a mirrored image is read within its bounds, and only there") {
        Var x("x");
        Buffer<int> image(5);
        for (int i = 0; i < 5; i++) image(i) = i;
        Func mirrored = BoundaryConditions::mirror_image(image), out("out");
        out(x) = mirrored(x);
        Buffer<int> result(13);
        result.set_min(-4);
        out.realize(result);
        const int expected[] = {3, 2, 1, 0, 0, 1, 2, 3, 4, 4, 3, 2, 1};
        for (int i = 0; i < 13; i++) CHECK(result(i - 4) == expected[i]);
    }
    TEST_CASE(
        "images repeated and mirrored need no more than themselves, with a reduction's variable") {
        Var x("x");
        Buffer<int> image(5);
        for (int i = 0; i < 5; i++) image(i) = i;
        RDom r(0, 2);
        Func sources[] = {BoundaryConditions::repeat_image(image),
                          BoundaryConditions::mirror_image(image),
                          BoundaryConditions::mirror_interior(image)};
        const int expected[] = {4 + 0, 0 + 0, 1 + 0};
        for (int s = 0; s < 3; s++) {
            Func out("out");
            out(x) = sum(r, sources[s](x + r));
            Buffer<int> result(7);
            result.set_min(-1);
            out.realize(result);
            CHECK(result(-1) == expected[s]);
            CHECK(result(2) == 2 + 3);
        }
    }
    TEST_CASE("an image that no needed value reads can be empty") {
        Var x("x");
        ImageParam image(Int(32), 1, "image");
        image.dim(0).set_stride(2);
        Func f("f"), g("g");
        f(x) = Tuple(3, image(x));
        g(x) = f(x)[0];
        g.infer_input_bounds({10});
        CHECK(image.get().dim(0).extent() == 0);
        Buffer<int> result = g.realize({10});
        CHECK(result(9) == 3);
    }
    TEST_CASE("iterations beyond a guard need nothing of what is computed in them") {
        Var x("x"), y("y"), o("o"), i("i"), io("io"), ii("ii");
        Func f("f"), g("g");
        f(x, y) = x + 10 * y;
        g(x, y) = f(x, y) + f(x + 1, y);
        g.split(y, o, i, 64, TailStrategy::GuardWithIf)
            .split(i, io, ii, 4, TailStrategy::GuardWithIf);
        f.compute_at(g, io).store_in(MemoryType::Heap);
        Buffer<int> result = g.realize({300, 7});
        result.for_each_element([&](int a, int b) { REQUIRE(result(a, b) == 2 * a + 20 * b + 1); });
    }
    TEST_CASE("the bound of a quotient of unsigned numbers is that of the number divided") {
        Var x("x");
        Func a("a"), f("f"), out("out");
        RDom r(0, 3);
        a(x) = cast<uint8_t>(x == 1);
        f(x) = a(x) / a(x + 1);  // 0 or 1: the clamp is not needed
        out(x) = 0;
        out(clamp(cast<int>(f(r)), 0, 7)) += r;
        Buffer<int> got = out.realize({8});
        CHECK(got(0) == 0 + 1 + 2);
    }
    TEST_CASE("coordinates that a large number brings near 0 may pass 2^31 on their way") {
        const int far = 1073741324;
        Var x("x"), y("y");
        Func f("f"), g("g");
        f(x, y) = cast<uint16_t>(x + y);
        g(x, y) = f(x - far, y) + f((x - far) * 2, y + 1);
        f.compute_root();
        Buffer<uint16_t> out(32, 15);
        out.set_min(far, 0);
        g.realize(out);
        for (int j = 0; j < 15; j++) {
            for (int i = 0; i < 32; i++) CHECK(int(out(far + i, j)) == 3 * i + 2 * j + 1);
        }
    }
    TEST_CASE("a Func read at a distance has a region") {
        Var x("x"), y("y");
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
}

TEST_SUITE("skipped stages") {
    TEST_CASE("what only one branch needs is computed only then") {
        Var x("x");
        Param<bool> choose("choose");
        Func f("f"), g("g"), out("out");
        f(x) = counted(x * 2);
        g(x) = counted(x * 3);
        out(x) = select(choose, f(x), g(x));
        f.compute_root();
        g.compute_root();
        Lowered l(out);
        choose.set(true);
        CHECK(calls_during([&] { l.check<int>({10}, [](int x) { return 2 * x; }); }) == 2 * 10);
        choose.set(false);
        CHECK(calls_during([&] { l.check<int>({10}, [](int x) { return 3 * x; }); }) == 2 * 10);
    }
    TEST_CASE("per iteration of a loop") {
        Var x("x"), y("y");
        Func f("f"), out("out");
        f(x, y) = counted(x + y);
        out(x, y) = select(y % 2 == 0, f(x, y), 0);
        f.compute_at(out, y);
        Lowered l(out);
        int calls = calls_during(
            [&] { l.check<int>({10, 6}, [](int x, int y) { return y % 2 ? 0 : x + y; }); });
        CHECK(calls == 2 * 30);
    }
    TEST_CASE("nothing is skipped that a later iteration reads") {
        Var x("x"), y("y");
        Func f("f"), out("out");
        f(x, y) = x + y;
        out(x, y) = select(y % 2 == 0, f(x, y) + f(x, y + 3), 1);
        f.store_root().compute_at(out, y);
        Lowered(out).check<int>({5, 12},
                                [](int x, int y) { return y % 2 ? 1 : 2 * x + 2 * y + 3; });
    }
    TEST_CASE("through a chain") {
        Var x("x");
        Param<int> mode("mode");
        Func a("a"), b("b"), out("out");
        a(x) = counted(x);
        b(x) = a(x) + a(x + 1);
        out(x) = select(mode == 1, b(x), x);
        a.compute_root();
        b.compute_root();
        Lowered l(out);
        mode.set(0);
        CHECK(calls_during([&] { l.check<int>({10}, [](int x) { return x; }); }) == 0);
        mode.set(1);
        CHECK(calls_during([&] { l.check<int>({10}, [](int x) { return 2 * x + 1; }); }) == 2 * 11);
    }
}
