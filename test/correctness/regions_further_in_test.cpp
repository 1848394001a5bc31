#include "harness.h"
#include "lang/boundary_conditions.h"

using namespace tessera;
using namespace tessera::test;

// Regions that are asked for in one place, and computed in another one further in: what is stored
// is as large as what all runs compute, also where they round up or know less.
TEST_SUITE("regions that are rounded up") {
    TEST_CASE("a fused loop that is rounded up stays within the storage of a producer") {
        Var x("x"), y("y"), z("z"), t("t"), o("o"), i("i");
        for (TailStrategy tail : {TailStrategy::Auto, TailStrategy::RoundUp}) {
            Func f("f"), g("g");
            f(x, y, z) = x + 10 * y + 100 * z;
            g(x, y, z) = f(x, y, z) + f(x, y + 1, z);
            f.compute_at(g, x).fuse(y, z, t).split(t, o, i, 4, tail);
            Buffer<int> result =
                g.realize({3, 4, 5}, get_host_target().with_feature(Target::Interpret));
            result.for_each_element([&](int a, int b, int c) {
                REQUIRE(result(a, b, c) == 2 * (a + 10 * b + 100 * c) + 10);
            });
        }
    }
    TEST_CASE("what a fused and rounded stage reads is known outside of its own lets") {
        Var x("x"), y("y"), o("o"), i("i"), t("t"), to("to"), ti("ti");
        Func f("f"), g("g"), h("h");
        f(x, y) = x + 10 * y;
        g(x, y) = f(0, y);
        h(x, y) = g(x, y);
        h.split(y, o, i, 8, TailStrategy::GuardWithIf);
        g.compute_at(h, o).fuse(x, y, t).split(t, to, ti, 8);
        f.compute_at(h, o);
        Buffer<int> result = h.realize({3, 11}, get_host_target().with_feature(Target::Interpret));
        result.for_each_element([&](int a, int b) { REQUIRE(result(a, b) == 10 * b); });
    }
    TEST_CASE("storage for all runs of a fused loop that is rounded up is as large as one needs") {
        // Not as the product of the dimensions: that was 20 GB.
        Var x("x"), y("y"), z("z"), t("t"), o("o"), i("i"), j("j");
        Func f("f"), g("g");
        f(x, y, z) = x + 10 * y + 100 * z;
        g(x, y) = f(y - 1, (y + 1) / 2, 3) + f(x + 3, y - 2, 1) + f(x - 3, y, x - 2);
        g.fuse(x, y, t).split(t, o, i, 4, TailStrategy::GuardWithIf);
        f.compute_at(g, o).hoist_storage_root().ring_buffer(2);
        f.fuse(x, y, t).fuse(t, z, t).split(t, o, i, 3, TailStrategy::ShiftInwards);
        f.split(o, o, j, 5, TailStrategy::RoundUp);
        Buffer<int> out = g.realize({60, 50});
        out.for_each_element([&](int a, int b) {
            auto f_at = [](int p, int q, int r) { return p + 10 * q + 100 * r; };
            int expected =
                f_at(b - 1, (b + 1) / 2, 3) + f_at(a + 3, b - 2, 1) + f_at(a - 3, b, a - 2);
            CHECK(out(a, b) == expected);
        });
    }
    TEST_CASE("of a tile beyond the last one, storage has room for what its parts compute") {
        Var x("x"), y("y"), tile("tile"), tiles("tiles"), one("one"), i("i"), part("part"), t("t");
        for (TailStrategy tail : {TailStrategy::ShiftInwards, TailStrategy::RoundUp}) {
            for (const int size : {1, 2, 7, 40}) {
                CAPTURE(size);
                Func f("f"), g("g"), h("h");
                f(x, y) = x + y * 10;
                g(x, y) = f(x, y) + f(x, y + 1);
                h(x, y) = g(x, y) + 1;
                g.compute_root().split(y, tile, i, 6, TailStrategy::GuardWithIf);
                g.split(i, part, i, 3).split(tile, tiles, one, 4, tail);
                g.reorder(i, part, x, one, tiles).fuse(part, x, t);
                f.store_at(g, one).compute_at(g, t);
                const Buffer<int> result =
                    h.realize({3, size}, get_host_target().with_feature(Target::Interpret));
                for (int a = 0; a < size; a++) CHECK(result(1, a) == a * 20 + 13);
            }
        }
    }
    TEST_CASE("what is rounded up for a part that slides ends later than for the whole") {
        Var x("x");
        ImageParam in(Int(32), 1, "in");
        Func g("g"), h("h"), out("out");
        g(x) = in(x) * 2;
        h(x) = g(x);
        out(x) = h(x - 1) + h(x + 1);
        g.compute_at(out, x);
        h.compute_at(out, x).store_root();
        SUBCASE("by a split") { g.split(x, x, Var("i"), 16, TailStrategy::RoundUp); }
        SUBCASE("by its alignment") { g.align_extent(x, 16); }
        out.infer_input_bounds({4});
        CHECK(in.get().min(0) == -1);
        CHECK(in.get().dim(0).max() >= 4 + 15);  // the last run of g is for h(4) alone
        CHECK(in.get().dim(0).max() <= 4 + 16);
    }
    TEST_CASE("quotients by a parameter that are rounded up in each run") {
        Var x("x"), xo("xo"), xi("xi"), i("i");
        ImageParam in(Int(32), 1, "in");
        Param<int> n("n");
        Func f("f"), out("out");
        f(x) = in(x) * 2;
        out(x) = f(x / n) + 1;
        out.split(x, xo, xi, 8, TailStrategy::RoundUp);
        f.compute_at(out, xo).split(x, x, i, 8, TailStrategy::RoundUp).vectorize(i);
        for (int divisor : {1, 3, 8}) {
            CAPTURE(divisor);
            // The last run begins at 24 / divisor.
            Buffer<int> data(24 / divisor + 8);
            data.fill([](int at) { return at * at; });
            in.set(data);
            n.set(divisor);
            Buffer<int> result = out.realize({32});
            for (int at = 0; at < 32; at++) {
                CHECK(result(at) == 2 * (at / divisor) * (at / divisor) + 1);
            }
        }
    }
    TEST_CASE(
        "what is rounded up for each point is not asked for as if it were rounded up for a tile") {
        // Each point of g needs f in [y - 2, y + 5], though 6 points rounded up to 8; of the 9
        // points of a tile, that is not 16.
        Var x("x"), y("y"), t("t"), o("o"), i("i");
        RDom r(0, 10, "r");
        Func in("in"), copy("copy"), f("f"), g("g");
        in(x, y) = x + 100 * y;
        copy(x, y) = in(x, y);
        f(x, y) = copy(x, y);
        f(r, y) = f(r, y) + 1;
        g(x, y) = f(x, y + 3) - f(x, y - 2);
        g.fuse(x, y, t).split(t, o, i, 64, TailStrategy::GuardWithIf);
        f.update(0).split(y, Var("fo"), Var("fi"), 8, TailStrategy::RoundUpAndBlend);
        copy.compute_at(g, o);
        in.compute_root();
        // The interpreter finds accesses outside of the storage of `in`.
        Buffer<int> out = g.realize({11, 9}, get_host_target().with_feature(Target::Interpret));
        CHECK(out(10, 8) == 500);
    }
    TEST_CASE("storage holds what a fused loop that is rounded further in asks for") {
        Var x("x"), y("y"), z("z"), yo("yo"), yi("yi"), t("t"), u("u"), uo("uo"), ui("ui");
        RVar ro("ro"), ri("ri");
        Func f("f"), g("g"), h("h");
        f(x, y, z) = x + y + z;
        g(x, y, z) = f(6, z, (z - 1) / 2) + f(clamp(x, 0, 15), y - 1, z - 2);
        RDom r(0, 2, 0, 5, "r");
        r.where(r.x == r.y + 2);
        h(x, y, z) = 1;
        h(x, y, z) += g(r.x, y + 3, r.y) + g(x + 3, y - 2 + r.x, z + 2 + r.y);
        h.update().split(r.x, ro, ri, 8, TailStrategy::GuardWithIf);
        g.compute_at(h, ri);
        g.split(y, yo, yi, 8, TailStrategy::GuardWithIf).fuse(yi, yo, t).fuse(t, z, u);
        g.split(u, uo, ui, 3, TailStrategy::RoundUp);
        f.compute_at(h, ro).store_at(h, r.y);
        // The interpreter finds accesses outside of the storage of f.
        Buffer<int> out({8, 6, 11});
        out.set_min(0, 0, 4);
        h.realize(out, get_host_target().with_feature(Target::Interpret));
        CHECK(out(2, 0, 5) == 1);
    }
}

TEST_SUITE("storage around what is computed further in") {
    TEST_CASE("what is stored further out has room for all that is computed where less is known") {
        Var x("x"), xo("xo"), xi("xi");
        Func in("in"), f("f"), g("g"), out("out");
        in(x) = x;
        f(x) = in(x) * 10;
        in.compute_root();
        SUBCASE("of a condition") {
            g(x) = f(select(x < 0, x + 7, x));
            out(x) = g(-2) + x;
            out(x) += 1;
            g.compute_at(out, x);
            f.compute_at(g, x).store_root();
            Lowered(out).check<int>({2}, [](int x) { return 51 + x; });
        }
        SUBCASE("of a remainder") {
            g(x) = f(x % 22);
            g.bound(x, 0, 4).split(x, xo, xi, 4);
            f.compute_at(g, xo).store_root();
            Lowered(g).check<int>({4}, [](int x) { return 10 * x; });
        }
    }
    TEST_CASE("what a fused loop needs of a function that is stored at the root is no larger") {
        Var x("x"), y("y"), t("t");
        Func f("f"), g("g");
        f(x, y) = x * 100 + y;
        g(x, y) = f(2 * y, x);
        g.fuse(x, y, t);
        f.compute_at(g, t).store_root().bound_storage(x, 51).bound_storage(y, 10);
        Buffer<int> out = g.realize({10, 26});
        out.for_each_element([&](int i, int j) { CHECK(out(i, j) == 200 * j + i); });
    }
    TEST_CASE(
        "what is computed where a reduction's predicate cannot hold has its place in storage") {
        Var x("x");
        Func f("f"), g("g");
        RDom r(0, 5, 1, 6, "r");
        r.where(r.y < r.x);
        f(x) = 10 * x;
        g(x) = 0;
        g(x) += f(r.y) + r.x;
        f.compute_at(g, r.y).store_at(g, x);
        Buffer<int> out = g.realize({1});
        // (2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)
        CHECK(out(0) == 12 + 13 + 23 + 14 + 24 + 34);
        f.store_root();
        Buffer<int> again = g.realize({1});
        CHECK(again(0) == out(0));
    }
    TEST_CASE("what constants decide further out is computed nevertheless further in") {
        // Outside, r tells that no x is within the bounds; where f is computed, x may be anything.
        Var x("x"), y("y"), o("o"), i("i");
        Param<int> p("p");
        ImageParam in(Int(32), 2, "in");
        Func f("f"), repeated("repeated"), sum("sum");
        f(x, y) = in(x, y);
        f(x, y) = 1;
        repeated(x, y) = BoundaryConditions::repeat_image(f, {{0, 12}, {0, 12}})(x, y);
        RDom r(-3, 2, "r");
        sum(x, y) = 0;
        sum(x, y) += repeated(r, y);
        repeated.compute_at(sum, r);
        SUBCASE("") {}
        SUBCASE("within the test of another dimension's tail") {
            repeated.split(y, o, i, 5, TailStrategy::Predicate);
        }
        SUBCASE("within the test of its own tail") {
            repeated.split(x, o, i, 4, TailStrategy::GuardWithIf);
        }
        SUBCASE("rounded up where a parameter says so") {
            repeated.specialize(p > -3);
            repeated.specialize(p > 2).split(x, o, i, 2);
        }
        for (int value : {-5, 0, 3}) {
            p.set(value);
            in.reset();
            sum.infer_input_bounds({3, 4});
            // The interpreter finds accesses outside of the buffer.
            Buffer<int> out =
                sum.realize({3, 4}, get_host_target().with_feature(Target::Interpret));
            CHECK(out(2, 3) == 2);
            CHECK(in.get().dim(0).extent() <= 12);
        }
    }
    TEST_CASE("what is computed for each value of a domain that is empty has its storage") {
        Var x("x"), y("y");
        RDom r(0, 1, 0, 1, "r");
        r.where(r.y < r.x);
        Func f("f"), g("g"), h("h");
        f(x, y) = x + 10 * y;
        g(x, y) = f(x, y) + 1;
        h(x, y) = 1;
        h(x, y) += g(x + r.x, r.y);
        g.compute_at(h, r.y);
        f.compute_at(g, y).store_at(h, x);
        Lowered(h).check<int>({2, 1}, [](int, int) { return 1; });
    }
    TEST_CASE("what is stored for parts of a domain that is tested within them has its storage") {
        Var x("x"), tile("tile"), in_tile("in_tile"), o("o"), i("i");
        RVar ro("ro"), ri("ri");
        for (int condition = 0; condition < 4; condition++) {
            for (int order = 0; order < 4; order++) {
                CAPTURE(condition);
                CAPTURE(order);
                ImageParam in(Int(32), 1, "in");
                RDom r(0, 20, "r");
                if (condition == 0) r.where(r < 2);
                if (condition == 1) r.where(r >= 18);
                if (condition == 2) r.where(x < 25);
                if (condition == 3) r.where(r + 3 < x);
                Func f("f"), g("g"), h("h"), plain("plain");
                f(x) = in(x);
                g(x) = 1;
                g(x) += f(2 * x + r);
                h(x) = g(x);
                h.split(x, tile, in_tile, 64, TailStrategy::GuardWithIf);
                g.compute_at(h, tile);
                Stage sum = g.update();
                if (order < 2) sum.split(r, ro, ri, 8);
                if (order >= 2) sum.split(x, o, i, 8, TailStrategy::GuardWithIf);
                if (order == 0) sum.reorder(ri, x, ro), f.compute_at(g, ro);
                if (order == 1) sum.reorder(x, ro, ri), f.compute_at(g, ri);
                if (order == 2) sum.reorder(i, r, o), f.compute_at(g, o);
                if (order == 3) sum.reorder(o, r, i), f.compute_at(g, i);
                f.store_at(h, tile);
                h.infer_input_bounds({66});
                Buffer<int> image = in.get();
                image.for_each_element([&](int at) { image(at) = at; });
                // The interpreter finds accesses outside of storage and of the image.
                Buffer<int> out =
                    h.realize({66}, get_host_target().with_feature(Target::Interpret));
                plain(x) = 1;
                plain(x) += 2 * x + r;
                Buffer<int> expected = plain.realize({66});
                out.for_each_element([&](int at) { REQUIRE(out(at) == expected(at)); });
            }
        }
    }
    TEST_CASE(
        "what a predicate leaves is computed wherever it is not known further in which it is") {
        Var x("x");
        RDom s(0, 1, "s"), r(0, 1, 0, 2, "r");
        r.where(r.x * 3 < r.y);
        ImageParam in(Int(32), 1, "in");
        Func f("f"), mirrored("mirrored"), selected("selected");
        f(x) = minimum(s, in(x));
        Func around = BoundaryConditions::mirror_interior(f, {{0, 12}});
        mirrored(x) = 1;
        mirrored(0) = around(r.x);
        selected(x) = 1;
        selected(0) = f(select(r.x >= 0, r.x, r.x + 5));
        for (Func g : {mirrored, selected}) {
            in.reset();
            g.infer_input_bounds({3});
            Buffer<int> image = in.get();
            image.for_each_element([&](int i) { image(i) = 10 + i; });
            Buffer<int> out = g.realize({3});
            CHECK(out(0) == 10);
            CHECK(out(1) == 1);
            Buffer<int> again = g.realize({3}, get_host_target().with_feature(Target::Interpret));
            CHECK(again(0) == 10);
        }
    }
    TEST_CASE("a loop of one iteration slides no window, and rounds nothing up behind it") {
        Var x("x"), y("y"), c("c"), yo("yo"), yi("yi"), cs("cs"), cu("cu");
        // Three colours take one iteration; six take two, which move the colours that are needed.
        for (int colours : {3, 6}) {
            CAPTURE(colours);
            std::vector<Func> all = {Func("f0"), Func("f1"), Func("f2"), Func("f3"), Func("out")};
            all[0](x, y, c) = x + y + 100 * c;
            for (size_t i = 1; i < all.size(); i++)
                all[i](x, y, c) = all[i - 1](x, y, c) + all[i - 1](x, y + 1, c);
            Func out = all.back();
            all.pop_back();
            out.bound(c, 0, colours).split(y, yo, yi, 8).split(c, cs, cu, 3);
            out.reorder(x, cu, yi, cs, yo);
            for (Func &f : all) f.store_at(out, yo).compute_at(out, yi);
            for (Func &f : {std::ref(all[1]), std::ref(all[2])}) f.split(c, cs, cu, 3).unroll(cu);
            all[0].compute_root().store_root();
            const std::string regions = Lowered(out).regions();
            for (const Func &f : all) {
                const size_t at = regions.find("realize " + f.name() + ":");
                REQUIRE(at != std::string::npos);
                const std::string line = regions.substr(at, regions.find('\n', at) - at);
                CAPTURE(line);
                if (colours == 3) CHECK(line.find("[0, +3]") != std::string::npos);
            }
            for (const Target &target :
                 {get_host_target(), get_host_target().with_feature(Target::Interpret)}) {
                const Buffer<int> got = out.realize({5, 16, colours}, target);
                got.for_each_element([&](int i, int j, int k) {
                    REQUIRE(got(i, j, k) == 16 * (i + j + 100 * k) + 32);
                });
            }
        }
    }
    TEST_CASE("hoisted storage is as large as it needs to be where an index has a far lower end") {
        Var x("x"), outer("outer"), o("o"), i("i");
        for (int lowest : {INT32_MIN, INT32_MIN + 1}) {
            Func f("f"), g("g");
            f(x) = x;
            g(x) = f(max(x, lowest) - 3) + f(max(x, lowest));
            g.split(x, o, i, 8, TailStrategy::PredicateStores).split(o, outer, o, 8);
            g.reorder(i, outer, o);
            f.compute_at(g, o).hoist_storage_root();
            Buffer<int> out(137);
            out.set_min(9);
            g.realize(out);
            out.for_each_element([&](int at) { CHECK(out(at) == 2 * at - 3); });
        }
    }
}
