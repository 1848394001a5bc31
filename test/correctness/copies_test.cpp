#include "calls.h"
#include "harness.h"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE("wrappers and clones") {
    TEST_CASE("in(consumer): a copy that only this consumer reads") {
        Var x("x"), y("y");
        Func f("f"), a("a"), out("out");
        f(x, y) = counted(x + y);
        a(x, y) = f(x, y) * 2;
        out(x, y) = a(x, y) + f(x, y);
        f.compute_root();
        Func copy = f.in(a);
        copy.compute_root();
        a.compute_root();
        Lowered l(out);
        CHECK(Lowered::count(l.flat(), "allocate") == 3);
        int calls =
            calls_during([&] { l.check<int>({5, 4}, [](int x, int y) { return 3 * (x + y); }); });
        CHECK(calls == 2 * 20);
    }
    TEST_CASE("in() for all consumers, at a tile, with another layout") {
        Var x("x"), y("y"), xi("xi"), yi("yi");
        Func f("f"), out("out");
        f(x, y) = x * 10 + y;
        out(x, y) = f(y, x);
        f.compute_root();
        out.tile(x, y, xi, yi, 4, 4, TailStrategy::GuardWithIf).vectorize(xi);
        f.in().compute_at(out, x).reorder_storage(y, x).vectorize(y, 4).unroll(x);
        f.in().bound_extent(x, 4).bound_extent(y, 4);
        Lowered l(out);
        CHECK(Lowered::count(l.flat(), "allocate") == 2);
        for (int size : {1, 7, 8}) {
            l.check<int>({size, size + 1}, [](int x, int y) { return y * 10 + x; });
        }
    }
    TEST_CASE("copy_input: a Buffer that a stage reads in another order") {
        Var x("x"), y("y");
        RDom k(0, 24, "k");
        Buffer<int> weights(24, 16, "weights");
        weights.for_each_element([&](int i, int j) { weights(i, j) = i * 7 - j; });
        Func product("product"), out("out");
        product(x, y) += weights(k, x) * (k + y);
        out(x, y) = product(x, y) + weights(0, x);
        product.compute_root().update().reorder(x, k, y).vectorize(x, 8);
        Func packed = product.update().copy_input(weights);
        packed.compute_root().reorder_storage(packed.args()[1], packed.args()[0]);
        auto expected = [&](int x, int y) {
            int sum = weights(0, x);
            for (int i = 0; i < 24; i++) sum += weights(i, x) * (i + y);
            return sum;
        };
        Lowered l(out);
        CHECK(Lowered::count(l.flat(), "allocate") == 2);
        l.check<int>({16, 5}, expected);
        // What the Buffer has when the pipeline runs counts.
        Buffer<int> before = out.realize({16, 5});
        weights(3, 2) += 100;
        Buffer<int> after = out.realize({16, 5});
        CHECK(after(2, 4) == before(2, 4) + 100 * 7);
        CHECK(after(2, 4) == expected(2, 4));
    }
    TEST_CASE("copy_input: for each tile, of what a stage reads through data") {
        Var x("x"), xi("xi");
        Buffer<int> table(64, "table"), index(40, "index");
        table.for_each_element([&](int i) { table(i) = i * i; });
        index.for_each_element([&](int i) { index(i) = (i * 5) % 64; });
        Func out("out");
        out(x) = table(clamp(index(x), 0, 63)) + table(x);
        out.split(x, x, xi, 8, TailStrategy::GuardWithIf);
        out.copy_input(table).compute_root();
        out.copy_input(index).compute_at(out, x).vectorize(Var("_0"), 4, TailStrategy::GuardWithIf);
        Lowered l(out);
        l.check<int>({37}, [&](int x) { return table((x * 5) % 64) + x * x; });
    }
    TEST_CASE("in() of an input image") {
        Var x("x");
        ImageParam in(Int(32), 1, "in");
        Buffer<int> image(30);
        image.for_each_element([&](int i) { image(i) = i * i; });
        in.set(image);
        Func out("out");
        out(x) = in(x) + in(x + 1);
        in.in().compute_root();
        Lowered l(out);
        CHECK(Lowered::count(l.flat(), "allocate") == 1);
        l.check<int>({29}, [](int x) { return x * x + (x + 1) * (x + 1); });
    }
    TEST_CASE("in() of an input image for one consumer, and for several") {
        for (bool both : {false, true}) {
            CAPTURE(both);
            Var x("x");
            ImageParam im(Int(32), 1, "im");
            Buffer<int> image(30);
            image.fill([](int i) { return i * i; });
            im.set(image);
            Func a("a"), b("b"), c("c"), out("out");
            a(x) = im(x) * 2;
            b(x) = im(x + 1) * 3;
            c(x) = im(x + 2) * 5;
            out(x) = a(x) + b(x) + c(x);
            Func copy = both ? im.in({a, b}) : im.in(a);
            copy.compute_root();
            for (Func f : {a, b, c}) f.compute_root();
            Lowered l(out);
            // The copy is stored once and read by each of its consumers; the others read the image.
            CHECK(Lowered::count(l.regions(), " " + copy.name() + "(") == 2 + both);
            CHECK(Lowered::count(l.regions(), "image im(") == 3 - both);
            l.check<int>({20}, [](int x) {
                return 2 * x * x + 3 * (x + 1) * (x + 1) + 5 * (x + 2) * (x + 2);
            });
        }
    }
    TEST_CASE("one clone for several consumers") {
        Var x("x");
        Func f("f"), a("a"), b("b"), c("c"), out("out");
        f(x) = counted(x * x);
        a(x) = f(x) * 2;
        b(x) = f(x + 1) * 3;
        c(x) = f(x + 2) * 5;
        out(x) = a(x) + b(x) + c(x);
        for (Func g : {f, a, b, c}) g.compute_root();
        f.clone_in({a, b}).compute_root();
        Lowered l(out);
        CHECK(Lowered::count(l.flat(), "allocate") == 5);
        auto run = [&] {
            l.check<int>({8}, [](int x) {
                return 2 * x * x + 3 * (x + 1) * (x + 1) + 5 * (x + 2) * (x + 2);
            });
        };
        CHECK(calls_during(run) / 2 == 9 + 8);
    }
    TEST_CASE("clone_in computes again for some consumers") {
        Var x("x"), y("y");
        Func f("f"), a("a"), b("b"), out("out");
        f(x, y) = counted(x + y);
        a(x, y) = f(x, y) * 2;
        b(x, y) = f(x + 1, y) * 3;
        out(x, y) = a(x, y) + b(x, y);
        f.compute_root();
        f.clone_in(b).compute_at(b, y);
        a.compute_root();
        b.compute_root();
        Lowered l(out);
        int calls = calls_during(
            [&] { l.check<int>({5, 4}, [](int x, int y) { return 5 * (x + y) + 3; }); });
        CHECK(calls == 2 * 40);
    }
    TEST_CASE("clone_in reaches what the consumer reads through Funcs that are inline") {
        Var x("x");
        Func f("f"), g("g"), h("h"), a("a"), b("b"), out("out");
        f(x) = counted(x * x);
        g(x) = f(x) + f(x + 1);
        h(x) = g(x + 1);
        a(x) = h(x) * 2;
        b(x) = h(x) * 3;
        out(x) = a(x) + b(x);
        for (Func at_root : {f, a, b}) at_root.compute_root();
        f.clone_in(a).compute_at(a, x);
        Lowered l(out);
        CHECK(Lowered::count(l.flat(), "produce f_clone") == 1);
        int calls = calls_during([&] {
            l.check<int>({5}, [](int x) { return 5 * ((x + 1) * (x + 1) + (x + 2) * (x + 2)); });
        });
        CHECK(calls == 2 * (6 + 2 * 5));
    }
    TEST_CASE("a wrapper of a clone for what is inline, in one of several consumers") {
        Var x("x");
        Func f("f"), g("g"), a("a"), b("b"), c("c"), out("out");
        f(x) = counted(x);
        g(x) = f(x) + f(x + 1);
        a(x) = g(x);
        b(x) = f(x);
        c(x) = g(x) * 2;
        out(x) = a(x) + b(x) + c(x);
        for (Func at_root : {f, a, b, c}) at_root.compute_root();
        Func clone = f.clone_in({a, b});
        clone.compute_root();
        clone.in(a).compute_at(a, x);  // b reads the clone itself
        Lowered l(out);
        CHECK(Lowered::count(l.flat(), "produce f_clone_in_a") == 1);
        auto run = [&] { l.check<int>({5}, [](int x) { return 3 * (2 * x + 1) + x; }); };
        CHECK(calls_during(run) == 2 * (6 + 6));
    }
    TEST_CASE("a clone of what rfactor has changed reads the same partial results") {
        Var x("x"), u("u");
        Func in("in"), total("total"), doubled("doubled"), out("out");
        RDom r(0, 8, 0, 6, "r");
        in(x) = counted(x * 3);
        total(x) += in(x + r.x) * r.y;
        doubled(x) = total(x + 1) * 2;
        out(x) = doubled(x) + total(x);
        total.compute_root().update().rfactor(r.y, u).compute_root();
        total.clone_in(doubled).compute_at(doubled, x);
        doubled.compute_root();
        in.compute_root();
        Lowered l(out);
        CHECK(Lowered::count(l.flat(), "allocate") == 5);
        auto total_of = [](int x) {
            int sum = 0;
            for (int j = 0; j < 6; j++) {
                for (int i = 0; i < 8; i++) sum += 3 * (x + i) * j;
            }
            return sum;
        };
        int calls = calls_during(
            [&] { l.check<int>({5}, [&](int x) { return 2 * total_of(x + 1) + total_of(x); }); });
        CHECK(calls == 2 * 13);
    }
    TEST_CASE("a chain of wrappers") {
        Var x("x"), y("y");
        Func f("f"), out("out");
        f(x, y) = x + y * 100;
        out(x, y) = f(x, y) + f(x + 1, y);
        f.compute_root();
        Func first = f.in(out), second = first.in(out);
        first.compute_at(out, y);
        second.compute_at(out, x);
        Lowered l(out);
        CHECK(Lowered::count(l.flat(), "allocate") == 3);
        l.check<int>({7, 5}, [](int x, int y) { return 2 * x + 1 + y * 200; });
    }
}

TEST_SUITE("specialize") {
    TEST_CASE("the first version whose condition holds") {
        Var x("x"), y("y");
        Param<int> mode("mode");
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = select(mode == 1, f(x, y), f(x, y) * mode);
        f.compute_root();
        g.specialize(mode == 1).vectorize(x, 8, TailStrategy::GuardWithIf);
        g.specialize(mode == 2).unroll(x, 4, TailStrategy::GuardWithIf).parallel(y);
        Lowered l(g);
        CHECK(l.stores(8) > 0);
        CHECK(l.count("parallel for") > 0);
        for (int m : {1, 2, 3}) {
            mode.set(m);
            for (int size : {1, 9}) {
                l.check<int>({size, 3}, [&](int x, int y) { return (x + y) * m; });
            }
        }
    }
    TEST_CASE("by the size of the output") {
        Var x("x"), xo("xo"), xi("xi");
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x) + f(x + 1);
        f.compute_root();
        Expr wide = g.output_buffer().width() >= 8;
        g.specialize(wide).split(x, xo, xi, 8).vectorize(xi);
        f.specialize(wide).vectorize(x, 8);
        Lowered l(g);
        for (int size : {1, 7, 8, 9, 37}) {
            l.check<int>({size}, [](int x) { return 2 * x + 1; });
        }
    }
    TEST_CASE("inside of each other") {
        Var x("x"), y("y");
        Param<bool> a("a"), b("b");
        Func g("g");
        g(x, y) = select(a, 1, 2) + select(b, 10, 20) + x + y;
        Stage first = g.specialize(a);
        first.specialize(b).vectorize(x, 4, TailStrategy::GuardWithIf);
        first.parallel(y);
        Lowered l(g);
        CHECK(l.stores(4) > 0);
        CHECK(l.count("parallel for") > 0);
        for (int m = 0; m < 4; m++) {
            a.set(m & 1);
            b.set(m & 2);
            l.check<int>({5, 3},
                         [&](int x, int y) { return (m & 1 ? 1 : 2) + (m & 2 ? 10 : 20) + x + y; });
        }
    }
    TEST_CASE("of an update, and of a producer computed at a loop") {
        Var x("x"), y("y");
        Param<int> n("n");
        RDom r(0, 4, "r");
        Func f("f"), g("g");
        f(x, y) = x;
        f(x, y) += r * n;
        g(x, y) = f(x, y) + f(x + 1, y);
        f.compute_at(g, y);
        f.specialize(n == 1).vectorize(x, 4);
        f.update().specialize(n == 0).reorder(r, x);
        f.update().specialize(n == 1).reorder(x, r).vectorize(x, 4);
        Lowered l(g);
        for (int value : {0, 1, 2}) {
            n.set(value);
            l.check<int>({9, 3}, [&](int x, int) { return 2 * x + 1 + 12 * value; });
        }
    }
    TEST_CASE("a producer at a loop of all versions") {
        Var x("x"), y("y");
        Param<bool> fast("fast");
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = f(x, y) + f(x, y + 1);
        f.compute_at(g, y);
        g.specialize(fast).vectorize(x, 4, TailStrategy::GuardWithIf);
        Lowered l(g);
        for (bool value : {false, true}) {
            fast.set(value);
            l.check<int>({9, 3}, [](int x, int y) { return 2 * (x + y) + 1; });
        }
    }
    TEST_CASE("specialize_fail: no other case may occur") {
        Var x("x");
        Param<int> n("n");
        Func g("g");
        g(x) = x * n;
        g.specialize(n == 2).vectorize(x, 4, TailStrategy::GuardWithIf);
        g.specialize_fail("n must be two");
        Lowered l(g);
        n.set(2);
        l.check<int>({9}, [](int x) { return 2 * x; });
        n.set(3);
        CHECK_THROWS_WITH_AS(l.check<int>({9}, [](int x) { return 3 * x; }),
                             doctest::Contains("n must be two"), RuntimeError);
    }
}
