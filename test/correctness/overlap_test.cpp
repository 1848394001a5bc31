// Outputs in memory that inputs have, too: in place where that is right, refused where it is not.
#include <doctest/doctest.h>
#include <functional>
#include <tessera.h>

using namespace tessera;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

constexpr const char *refused =
    "Output f shares memory with input p, of which elements would be read after they have been "
    "overwritten; give the output memory of its own";

Buffer<int> numbers(int width) {
    Buffer<int> b(width);
    b.fill([](int i) { return i * 7 % 31; });
    return b;
}
Buffer<int> numbers(int width, int height) {
    Buffer<int> b(width, height);
    b.fill([](int i, int j) { return (i * 7 + j * 5) % 31; });
    return b;
}

// f of one dimension, computed into the memory of its input and apart: the same values.
bool is_right_in_place(Func f, ImageParam p, int width) {
    const Buffer<int> in = numbers(width);
    p.set(in.copy());
    const Buffer<int> wanted = f.realize({width});
    Buffer<int> both = in.copy();
    p.set(both);
    f.realize(both);
    bool same = true;
    both.for_each_element([&](int i) { same &= both(i) == wanted(i); });
    return same;
}

}  // namespace

TEST_SUITE("outputs in the memory of inputs") {
    TEST_CASE("a point that is read where it is written may be in place") {
        ImageParam p(Int(32), 1, "p");
        Func f("f");
        f(x) = p(x) * 2 + 1;
        CHECK(is_right_in_place(f, p, 16));
        f.vectorize(x, 8);
        CHECK(is_right_in_place(f, p, 64));
        f.parallel(x);
        CHECK(is_right_in_place(f, p, 64));
    }
    TEST_CASE("so it may in a kernel of one thread, whose loop is made of the outermost one") {
        ImageParam p(Int(32), 1, "p");
        Func f("f");
        f(x) = p(x) * 2 + 1;
        f.gpu_single_thread();
        Buffer<int> both = numbers(16);
        const Buffer<int> in = both.copy();
        p.set(both);
        const Target target = get_host_target().with_feature(Target::CUDA);
        f.realize(both, target.with_feature(Target::Interpret));
        both.copy_to_host();
        for (int i = 0; i < 16; i++) CHECK(both(i) == in(i) * 2 + 1);
    }
    TEST_CASE("so may one that is read through other stages, or all of which are read before") {
        ImageParam p(Int(32), 1, "p");
        Func f("f"), g("g"), h("h");
        g(x) = p(x) + 1;
        h(x) = g(x) * g(x);
        f(x) = h(x) - g(x);
        SUBCASE("inline") {}
        SUBCASE("in tiles") {
            f.split(x, xo, xi, 8, TailStrategy::GuardWithIf);
            g.compute_at(f, xo), h.compute_at(f, xo).vectorize(x, 4);
        }
        SUBCASE("at each point") { g.compute_at(f, x), h.compute_at(f, x); }
        SUBCASE("at root") { g.compute_root(); }
        CHECK(is_right_in_place(f, p, 37));
    }
    TEST_CASE("a stencil is right behind a stage that has read everything") {
        ImageParam p(Int(32), 1, "p");
        Func in = BoundaryConditions::repeat_edge(p), sum("sum"), f("f");
        sum(x) = in(x - 1) + in(x + 1);
        f(x) = sum(x) * 2;
        sum.compute_root();
        CHECK(is_right_in_place(f, p, 16));
        sum.compute_at(f, x);
        CHECK_THROWS_WITH_AS(is_right_in_place(f, p, 16), doctest::Contains(refused), RuntimeError);
    }
    TEST_CASE("a point that is read elsewhere is refused") {
        ImageParam p(Int(32), 1, "p");
        const std::vector<std::function<Expr()>> all = {
            [&] { return p(15 - x); }, [&] { return p(x) + p(0); },
            [&] { return p(clamp(x, 0, 7)); }, [&] { return select(x > 0, p(max(x - 1, 0)), 0); }};
        for (const auto &value : all) {
            Func f("f");
            f(x) = value();
            for (const Target &target :
                 {get_host_target(), get_host_target().with_feature(Target::Interpret)}) {
                Buffer<int> b = numbers(16);
                p.set(b);
                CHECK_THROWS_WITH_AS(f.realize(b, target), doctest::Contains(refused),
                                     RuntimeError);
                CHECK(b(3) == 21);
            }
        }
    }
    TEST_CASE("an update that reads its input again is refused") {
        ImageParam p(Int(32), 1, "p");
        Func f("f");
        f(x) = p(x);
        f(x) += p(x);
        CHECK_THROWS_WITH_AS(is_right_in_place(f, p, 16), doctest::Contains(refused), RuntimeError);
        Func g("f");
        RDom r(0, 3);
        g(x) = 0;
        g(x) += p(x) * r;
        CHECK_THROWS_WITH_AS(is_right_in_place(g, p, 16), doctest::Contains(refused), RuntimeError);
    }
    TEST_CASE("a second output that reads later is refused") {
        ImageParam p(Int(32), 1, "p");
        Func f("f"), g("g");
        f(x) = p(x) + 1;
        g(x) = f(x) * p(x);
        Buffer<int> first = numbers(16), second(16);
        p.set(first);
        CHECK_THROWS_WITH_AS(Pipeline({f, g}).realize({first, second}), doctest::Contains(refused),
                             RuntimeError);
    }
    TEST_CASE("all values of a Tuple are computed before the first of them is stored") {
        ImageParam p(Int(32), 1, "p");
        Func f("f");
        f(x) = Tuple(p(x) + 1, p(x) * 7);
        for (const bool by_interpreter : {false, true}) {
            Target target = get_host_target();
            if (by_interpreter) target = target.with_feature(Target::Interpret);
            const Buffer<int> in = numbers(16);
            Buffer<int> both = in.copy(), second(16);
            p.set(both);
            f.realize({both, second}, target);
            for (int i = 0; i < 16; i++) {
                CHECK(both(i) == in(i) + 1);
                CHECK(second(i) == in(i) * 7);
            }
        }
    }
    TEST_CASE("a row is in place whatever the distance to the next row would be") {
        ImageParam p(Int(32), 2, "p");
        Func f("f");
        f(x, y) = p(x, y) * 2;
        Buffer<int> image = numbers(100, 3);
        const Buffer<int> before = image.copy();
        const Buffer<int> row = image.cropped(1, 1, 1).cropped(0, 8, 16);
        Buffer<int> out(row.data(), 16, 1);
        out.set_min(8, 1);
        p.set(row);
        f.realize(out);
        for (int i = 8; i < 24; i++) CHECK(out(i, 1) == before(i, 1) * 2);
        out.set_min(8, 0);
        CHECK_THROWS_AS(f.realize(out), RuntimeError);
    }
    TEST_CASE("a tail that computes elements again is right where there is none") {
        ImageParam p(Int(32), 1, "p");
        Func f("f");
        f(x) = p(x) + 1;
        f.vectorize(x, 8, TailStrategy::ShiftInwards);
        CHECK(is_right_in_place(f, p, 24));
        CHECK_THROWS_WITH_AS(
            is_right_in_place(f, p, 21),
            doctest::Contains("Output f shares memory with input p, of which elements would be "
                              "read after they have been overwritten (in place, elements of the "
                              "same coordinates have to be the same, and the extent of x a "
                              "multiple of 8, as TailStrategy::ShiftInwards computes elements "
                              "again); give the output memory of its own"),
            RuntimeError);
        Func nested("f");
        nested(x) = p(x) + 1;
        nested.split(x, xo, xi, 8, TailStrategy::GuardWithIf)
            .unroll(xo, 4, TailStrategy::ShiftInwards);
        CHECK(is_right_in_place(nested, p, 62));
        CHECK_THROWS_WITH_AS(is_right_in_place(nested, p, 40),
                             doctest::Contains("the extent of xo a multiple of 4"), RuntimeError);
        f = Func("f");
        f(x) = p(x) + 1;
        f.vectorize(x, 8, TailStrategy::GuardWithIf);
        CHECK(is_right_in_place(f, p, 21));
    }
    TEST_CASE("the same coordinates have to be the same place") {
        ImageParam p(Int(32), 1, "p");
        Func f("f");
        f(x) = p(x) + 1;
        Buffer<int> all = numbers(20);
        Buffer<int> in = all.cropped(0, 0, 16), out = all.cropped(0, 4, 16);
        out.set_min(0);
        p.set(in);
        CHECK_THROWS_WITH_AS(
            f.realize(out),
            doctest::Contains("(in place, elements of the same coordinates have to be the same)"),
            RuntimeError);
    }
    TEST_CASE("parts of one image that have nothing in common are no overlap") {
        ImageParam p(Int(32), 2, "p");
        Func f("f");
        f(x, y) = p(x, 7 - y) + 1;
        Buffer<int> all = numbers(20, 16);
        Buffer<int> left = all.cropped(0, 0, 10), right = all.cropped(0, 10, 10);
        right.set_min(0, 0);
        const Buffer<int> before = all.copy();
        p.set(left);
        Buffer<int> rows = right.cropped(1, 0, 8);
        f.realize(rows);
        CHECK(all(13, 2) == before(3, 5) + 1);
        Buffer<int> interleaved = Buffer<int>::make_interleaved(10, 8, 3);
        interleaved.fill([](int i, int j, int c) { return i + j * 10 + c * 100; });
        p.dim(0).set_stride(3), f.output_buffer().dim(0).set_stride(3);
        p.set(interleaved.sliced(2, 1));
        Buffer<int> plane = interleaved.sliced(2, 0);
        f.realize(plane);
        CHECK(interleaved(4, 3, 0) == 4 + 4 * 10 + 100 + 1);
        p.set(plane);
        CHECK_THROWS_WITH_AS(f.realize(plane), doctest::Contains(refused), RuntimeError);
    }
    TEST_CASE("only what is read counts") {
        ImageParam p(Int(32), 1, "p");
        Func f("f");
        f(x) = p(20 - x);
        Buffer<int> all = numbers(30);
        p.set(all);
        Buffer<int> apart = all.cropped(0, 0, 5);
        f.realize(apart);
        CHECK(all(4) == 16 * 7 % 31);
        Buffer<int> meets = all.cropped(0, 0, 11);
        CHECK_THROWS_WITH_AS(f.realize(meets), doctest::Contains(refused), RuntimeError);
    }
    TEST_CASE("a Buffer of the program counts, too") {
        Buffer<int> b = numbers(16);
        b.set_name("p");
        Func f("f");
        f(x) = b(15 - x);
        CHECK_THROWS_WITH_AS(f.realize(b), doctest::Contains(refused), RuntimeError);
    }
}
