#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

Var x("x"), y("y");

}  // namespace

TEST_SUITE("reduction domains") {
    TEST_CASE("of five dimensions, the first varying fastest") {
        Func f("f");
        RDom r({{0, 2}, {0, 3}, {0, 2}, {0, 3}, {1, 2}}, "r");
        CHECK(r.dimensions() == 5);
        f() = 0;
        f() = (f() * 3 + r.x + 2 * r.y + 5 * r.z + 7 * r.w + 11 * r[4]) % 10007;
        Lowered(f).check<int>({}, [] {
            int v = 0;
            for (int e = 1; e < 3; e++) {
                for (int d = 0; d < 3; d++) {
                    for (int c = 0; c < 2; c++) {
                        for (int b = 0; b < 3; b++) {
                            for (int a = 0; a < 2; a++) {
                                v = (v * 3 + a + 2 * b + 5 * c + 7 * d + 11 * e) % 10007;
                            }
                        }
                    }
                }
            }
            return v;
        });
    }
    TEST_CASE("over all of an image, and what its variables say of themselves") {
        ImageParam im(Int(32), 2, "im");
        Buffer<int> in(4, 3);
        in.set_min(2, 5);
        in.fill([](int i, int j) { return i + 100 * j; });
        im.set(in);
        RDom r(im, "r"), same = r, all(in);
        CHECK(r.same_as(same));
        CHECK_FALSE(r.same_as(all));
        Func f("f"), bounds("bounds");
        f() += im(r.x, r.y);
        int sum = 0;
        in.for_each_value([&](int v) { sum += v; });
        Buffer<int> b = f.realize();
        CHECK(b() == sum);
        bounds() = Tuple(r.x.min(), r.x.extent(), r.y.min(), r.y.extent() + im(2, 5) * 0);
        Realization said = bounds.realize();
        int expected[] = {2, 4, 5, 3};
        for (size_t i = 0; i < 4; i++) CHECK(Buffer<int>(said[i])() == expected[i]);
    }
    TEST_CASE("an inline reduction with a Func of its own, for its schedule") {
        Func in("in"), f("f"), total("total"), best("best");
        RDom r(0, 8, "r");
        in(x) = (x * 5) % 16;
        f(x) = sum(r, in(x + r), total) + maximum(r, in(x + r), best);
        in.compute_root();
        total.compute_root().vectorize(x, 4).update().reorder(x, r).vectorize(x, 4);
        Lowered l(f);
        CHECK(l.flat().find("allocate total") != std::string::npos);
        CHECK(l.flat().find("allocate best") != std::string::npos);
        CHECK(l.stores(4) > 0);
        l.check<int>({9}, [](int x) {
            int sum = 0, most = 0;
            for (int r = 0; r < 8; r++) {
                int v = (x + r) * 5 % 16;
                sum += v;
                most = std::max(most, v);
            }
            return sum + most;
        });
    }
    TEST_CASE("every inline reduction computes in the Func that it is given") {
        Func in("in"), f("f");
        RDom r(0, 8, "r");
        in(x) = (x * 5) % 16;
        in.compute_root();
        Expr small = cast<uint8_t>(in(x + r) * 4);
        for (bool named_domain : {false, true}) {
            CAPTURE(named_domain);
            Func own[6];
            for (int i = 0; i < 6; i++) own[i] = Func("own" + std::to_string(i));
            if (named_domain) {
                f = Func("f");
                f(x) = Tuple(cast<int>(saturating_sum(r, small, own[0])),
                             product(r, in(x + r) + 1, own[1]), minimum(r, in(x + r), own[2]),
                             maximum(r, in(x + r), own[3]), argmin(r, in(x + r), own[4])[0],
                             argmax(r, in(x + r), own[5])[0]);
            } else {
                f(x) =
                    Tuple(cast<int>(saturating_sum(small, own[0])), product(in(x + r) + 1, own[1]),
                          minimum(in(x + r), own[2]), maximum(in(x + r), own[3]),
                          argmin(in(x + r), own[4])[0], argmax(in(x + r), own[5])[0]);
            }
            for (Func &g : own) g.compute_root();
            Lowered l(f);
            for (const Func &g : own) {
                CHECK(l.flat().find("allocate " + g.name()) < l.flat().find("produce f"));
            }
            std::vector<Buffer<>> out(6, Buffer<int>(9));
            for (Buffer<> &b : out) b = Buffer<int>(9);
            l.run(out);
            for (int i = 0; i < 9; i++) {
                int sum = 0, product = 1, least = 99, most = -1, at_least = 0, at_most = 0;
                for (int k = 0; k < 8; k++) {
                    int v = (i + k) * 5 % 16;
                    sum = std::min(sum + 4 * v, 255);
                    product = int(unsigned(product) * unsigned(v + 1));
                    if (v < least) least = v, at_least = k;
                    if (v > most) most = v, at_most = k;
                }
                const int expected[] = {sum, product, least, most, at_least, at_most};
                for (size_t j = 0; j < 6; j++) CHECK(Buffer<int>(out[j])(i) == expected[j]);
            }
        }
    }
    TEST_CASE("the loops of a stage can be asked for") {
        Var xi("xi"), xo("xo");
        RVar ro("ro"), ri("ri");
        RDom r(0, 8, "r");
        Func f("f");
        f(x, y) = 0;
        f(x, y) += r;
        auto names = [](const Stage &s) {
            std::string all;
            for (const VarOrRVar &v : s.split_vars()) all += v.name() + (v.is_rvar ? "* " : " ");
            return all;
        };
        CHECK(names(f) == "x y ");
        CHECK(f.split_vars().size() == 2);
        f.split(x, xo, xi, 4).reorder(xi, y, xo);
        CHECK(names(f) == "xi y xo ");
        f.update().split(r, ro, ri, 2);
        CHECK(names(f.update()) == "ri* ro* x y ");
    }
    TEST_CASE("a predicate is tested from left to right") {
        for (int order = 0; order < 3; order++) {
            CAPTURE(order);
            Buffer<int> table(1);
            table(0) = 3;
            Var x("x");
            Func limit("limit"), g("g"), f("f");
            limit(x) = clamp(table(clamp(x, 0, 0)), 0, 4);
            g(x) = x + 1;
            RDom r(0, 40);
            const Expr below = r.x < limit(0), positive = g(r.x) > 0;
            if (order == 0) r.where(below), r.where(positive);
            if (order == 1) r.where(below && positive);
            if (order == 2) r.where(positive && below);
            f() = 0;
            f() += g(r.x);
            g.compute_root();
            limit.compute_root();
            Lowered(f).check<int>({}, [] { return 1 + 2 + 3; });
        }
    }
    TEST_CASE("a reduction within an update is computed where its predicate holds only") {
        Var x("x");
        Func g("g");
        Buffer<int> in(4);
        in.for_each_element([&](int i) { in(i) = 10 * i; });
        RDom r(0, 5, 0, 5, "r"), s(0, 2, "s");
        r.where(r.y < r.x - 1);
        g(x) = 0;
        g(x) += sum(s, in(r.y + s));
        Buffer<int> out = g.realize({1});
        // r.y is 0 three times, 1 twice and 2 once.
        CHECK(out(0) == 3 * 10 + 2 * 30 + 50);
    }
    TEST_CASE("a domain that a predicate leaves empty, far from where it is, adds nothing") {
        Var x("x");
        RDom s(0, 8, "s");
        s.where(s >= (1 << 29));
        Func f("f"), g("g");
        f(x) = x;
        g(x) = 0;
        g(x) += f(s + x) + 1;
        f.compute_root();
        Lowered(g).check<int>({2}, [](int) { return 0; });
    }
}
