#include "error/refusal.h"

using namespace tessera;

TEST_SUITE("constraints of buffers") {
    TEST_CASE("queries are answered with what the pipeline needs, rounded as the constraints say") {
        Var x("x");
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
    TEST_CASE("of one buffer may follow another one") {
        Var x("x");
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
        Var x("x");
        Func f("f");
        ImageParam im(Int(32), 1, "im");
        f(x) = im(x + 3);
        im.dim(0).set_bounds(0, 10);
        FAILS(f.infer_input_bounds({10}), "limit dimension 0 to [0, 9]");
        f.infer_input_bounds({10}, get_host_target().with_feature(Target::NoAsserts));
        CHECK(Buffer<int>(im.get()).extent(0) == 10);
    }
}
