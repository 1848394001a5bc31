#include "error/refusal.h"
#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

int in_ref(int x, int y) { return (x * 31 + y * 17) % 23; }

// sum(x) over y in [0, 20) of in(x, y)
struct Sum {
    Var x{"x"}, u{"u"};
    RVar ro{"ro"}, ri{"ri"};
    RDom r{0, 20, "r"};
    Func in{"in"}, sum{"sum"};
    explicit Sum(int extent = 20) : r(0, extent, "r"), extent(extent) {
        in(x, u) = (x * 31 + u * 17) % 23;
        sum(x) = 0;
        sum(x) += in(x, r);
        in.compute_root();
    }
    void check(const Lowered &l) const {
        for (int size : {1, 7, 8, 9, 37}) {
            CAPTURE(size);
            l.check<int>({size}, [&](int x) {
                int total = 0;
                for (int i = 0; i < extent; i++) total += in_ref(x, i);
                return total;
            });
        }
    }
    int extent;
};

}  // namespace

TEST_SUITE("reductions") {
    TEST_CASE("update loops in any order, vectorized over what is pure") {
        Sum s;
        s.sum.update().reorder(s.x, s.r).vectorize(s.x, 8);
        Lowered l(s.sum);
        CHECK(l.stores(8) > 0);
        s.check(l);
    }
    TEST_CASE("a vectorized reduction under atomic becomes a reduction of lanes") {
        for (int extent : {1, 7, 8, 9, 16}) {
            CAPTURE(extent);
            Sum s(extent);
            s.sum.update().atomic().vectorize(s.r, 8);
            Lowered l(s.sum);
            if (extent >= 8) CHECK(l.count("reduce_add") + l.count("vector_reduce") > 0);
            s.check(l);
        }
    }
    TEST_CASE("every operator that is known to be associative") {
        Var x("x");
        RDom r(0, 16, "r");
        auto run = [&](auto update, auto initial, auto op, bool is_logical = false) {
            using T = decltype(initial);
            Func in("in"), f("f");
            in(x) =
                is_logical ? cast(type_of<T>(), x % 5 != 0) : cast(type_of<T>(), (x * 13) % 7 + 1);
            f(x) = cast(type_of<T>(), Expr(int(initial)));
            f(x) = update(f(x), in(x + r));
            in.compute_root();
            f.update().atomic().vectorize(r, 8);
            Lowered(f).check<T>({5}, [&](int x) {
                T v = initial;
                for (int i = 0; i < 16; i++) {
                    T element = is_logical ? T((x + i) % 5 != 0) : T((x + i) * 13 % 7 + 1);
                    v = T(op(v, element));
                }
                return v;
            });
        };
        run([](Expr a, Expr b) { return a + b; }, 3, [](int a, int b) { return a + b; });
        run([](Expr a, Expr b) { return a * b; }, int64_t(1),
            [](int64_t a, int64_t b) { return a * b; });
        run([](Expr a, Expr b) { return min(a, b); }, 100,
            [](int a, int b) { return std::min(a, b); });
        run([](Expr a, Expr b) { return max(a, b); }, -5,
            [](int a, int b) { return std::max(a, b); });
        run([](Expr a, Expr b) { return a & b; }, 0xFF, [](int a, int b) { return a & b; });
        run([](Expr a, Expr b) { return a | b; }, 0, [](int a, int b) { return a | b; });
        run([](Expr a, Expr b) { return a + b; }, uint8_t(250), [](int a, int b) { return a + b; });
        run([](Expr a, Expr b) { return max(a, b); }, uint16_t(0),
            [](int a, int b) { return std::max(a, b); });
        run([](Expr a, Expr b) { return a + b; }, 0.0f, [](float a, float b) { return a + b; });
        run([](Expr a, Expr b) { return min(a, b); }, 1e9,
            [](double a, double b) { return std::min(a, b); });
    }
    TEST_CASE("2-D: vectorized over a pure and a reduction variable, as in a product of matrices") {
        Var i("i"), j("j"), ii("ii");
        RVar ko("ko"), ki("ki");
        RDom k(0, 12, "k");
        Func a("a"), b("b"), c("c");
        a(i, j) = (i * 7 + j) % 11;
        b(i, j) = (i + j * 5) % 13;
        a.compute_root();
        b.compute_root();
        c(i, j) += a(k, j) * b(i, k);
        c.update().atomic().split(k, ko, ki, 4).split(i, i, ii, 4).reorder(ki, ii, i, ko, j);
        c.update().vectorize(ki).vectorize(ii);
        Lowered l(c);
        auto ref = [](int i, int j) {
            int sum = 0;
            for (int k = 0; k < 12; k++) sum += (k * 7 + j) % 11 * ((i + k * 5) % 13);
            return sum;
        };
        for (int size : {1, 4, 7, 9}) l.check<int>({size, 3}, ref);
    }
    TEST_CASE("a parallel reduction under atomic") {
        Sum s;
        s.sum.update().atomic().split(s.r, s.ro, s.ri, 4).parallel(s.ro);
        Lowered l(s.sum);
        CHECK(l.count("atomic") > 0);
        s.check(l);
    }
    TEST_CASE("vectors without an iteration leave an element to the thread that has one") {
        Var x("x"), z("z"), xo("xo"), xi("xi"), o("o"), i("i"), io("io"), ii("ii");
        Func f("f"), out("out");
        f(x, z) = cast<float>(x + z);
        f(x, z) = min(f(x, z), cast<float>(x - z));
        out(x, z) = f(1, z);
        f.compute_root();
        f.update(0).split(x, xo, xi, 4, TailStrategy::GuardWithIf);
        f.update(0).split(xi, o, i, 4, TailStrategy::PredicateStores);
        f.update(0).split(i, io, ii, 2).reorder(o, ii, io, xo, z);
        f.update(0).atomic().vectorize(o, 4).parallel(io);
        Lowered(out).check<float>({2, 3}, [](int, int j) { return 1 - j; });
    }
    TEST_CASE("a parallel histogram under atomic") {
        Var x("x");
        RDom r(0, 500, "r");
        RVar ro("ro"), ri("ri");
        Func h("h"), out("out");
        h(x) = 0;
        h(clamp(r * 7 % 13, 0, 12)) += 1;
        h.compute_root().update().atomic().split(r, ro, ri, 16).parallel(ro);
        out(x) = h(x % 13);
        Lowered(out).check<int>({20}, [](int x) {
            int n = 0;
            for (int i = 0; i < 500; i++) n += i * 7 % 13 == x % 13;
            return n;
        });
    }
    TEST_CASE("atomic tuples, an argmax") {
        Var x("x");
        RDom r(0, 40, "r");
        RVar ro("ro"), ri("ri");
        Func in("in"), best("best"), out("out");
        in(x) = (x * 29) % 41;
        best() = Tuple(-1, -1);
        Expr better = in(r) > best()[1];
        best() = Tuple(select(better, r, best()[0]), select(better, in(r), best()[1]));
        in.compute_root();
        best.compute_root();
        out(x) = best()[0] * 100 + best()[1];
        Lowered(out).check<int>({2}, [](int) {
            int at = -1, value = -1;
            for (int i = 0; i < 40; i++)
                if (i * 29 % 41 > value) value = i * 29 % 41, at = i;
            return at * 100 + value;
        });
    }
    TEST_CASE("allow_race_conditions lifts the check") {
        Var x("x");
        RDom r(0, 16, "r");
        Func f("f");
        f(x) = x;
        f(r) = r * 2;
        f.update().allow_race_conditions().parallel(r);
        Lowered l(f);
        CHECK(l.count("parallel for") > 0);
        l.check<int>({16}, [](int x) { return 2 * x; });
        Func g("g");
        g(x) = x;
        g(clamp(r * 3, 0, 9)) = 7;
        CHECK_THROWS_AS(g.update().parallel(r), CompileError);
        CHECK_NOTHROW(g.update().allow_race_conditions().parallel(r));
    }
    TEST_CASE("rfactor over the outer half of a split, parallel") {
        for (int extent : {20, 18, 3}) {
            CAPTURE(extent);
            Sum s(extent);
            s.sum.update().split(s.r, s.ro, s.ri, 4);
            Func part = s.sum.update().rfactor(s.ro, s.u);
            part.compute_root().parallel(s.u).update().parallel(s.u);
            Lowered l(s.sum);
            if (extent > 4) CHECK(l.count("parallel for") > 0);
            s.check(l);
        }
    }
    TEST_CASE("rfactor over the inner half, vectorized") {
        Sum s;
        s.sum.update().split(s.r, s.ro, s.ri, 4);
        Func part = s.sum.update().rfactor(s.ri, s.u);
        part.compute_at(s.sum, s.x).vectorize(s.u).update().vectorize(s.u);
        Lowered l(s.sum);
        CHECK(l.stores(4) > 0);
        s.check(l);
    }
    TEST_CASE("rfactor of a split that does not divide tests only what is left over") {
        Sum s(39);
        s.sum.update().split(s.r, s.ro, s.ri, 4);
        Func part = s.sum.update().rfactor(s.ri, s.u);
        part.compute_at(s.sum, s.x).vectorize(s.u).update().reorder(s.u, s.ro).vectorize(s.u);
        Lowered l(s.sum);
        int whole = 0;
        ir::for_each_node(l.body(), [&](const ir::Store &store) {
            whole += store.value.type().lanes() == 4 && !store.predicate.defined();
        });
        CHECK(whole == 2);  // zeros, and the sums of the steady state
        s.check(l);
    }
    TEST_CASE("rfactor of two dimensions") {
        Var x("x"), u("u"), v("v");
        RDom r(0, 6, 0, 5, 0, 4, "r");
        Func f("f");
        f() = 0;
        f() += r.x * 100 + r.y * 10 + r.z;
        Func part = f.update().rfactor({{r.x, u}, {r.z, v}});
        part.compute_root().parallel(v).update().parallel(v);
        Lowered(f).check<int>({}, [] {
            int sum = 0;
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 5; j++)
                    for (int k = 0; k < 4; k++) sum += i * 100 + j * 10 + k;
            return sum;
        });
    }
    TEST_CASE("rfactor of a minimum with where") {
        Var x("x"), u("u");
        RDom r(0, 5, 0, 6, "r");
        r.where(r.x != r.y);
        Func f("f");
        f(x) = 1000;
        f(x) = min(f(x), (r.x * 7 + r.y * 3 + x) % 19);
        Func part = f.update().rfactor(r.y, u);
        part.compute_root().update().parallel(u);
        Lowered(f).check<int>({10}, [](int x) {
            int best = 1000;
            for (int j = 0; j < 6; j++)
                for (int i = 0; i < 5; i++)
                    if (i != j) best = std::min(best, (i * 7 + j * 3 + x) % 19);
            return best;
        });
    }
    TEST_CASE("several updates, each with its own schedule") {
        Var x("x"), y("y"), xi("xi");
        RDom r(0, 5, "r");
        Func f("f"), out("out");
        f(x, y) = x + y;
        f(x, y) += r * x;
        f(x, y) = f(x, y) * 2 + 1;
        f(x, 3) = -x;
        out(x, y) = f(x, y) + f(x, y + 1);
        f.compute_at(out, y).vectorize(x, 4);
        f.update(0).reorder(x, r).vectorize(x, 4);
        f.update(1).split(x, x, xi, 2).unroll(xi);
        f.update(2).vectorize(x, 8);
        auto fr = [](int x, int y) { return y == 3 ? -x : (x + y + 10 * x) * 2 + 1; };
        Lowered l(out);
        for (int size : {1, 7, 9}) {
            l.check<int>({size, 6}, [&](int x, int y) { return fr(x, y) + fr(x, y + 1); });
        }
    }
    TEST_CASE("inline reductions, alone and inside each other") {
        Var x("x"), y("y");
        RDom r(-1, 3, "r"), q(0, 4, "q");
        Func in("in"), f("f");
        in(x, y) = x * 3 + y;
        Func rows("rows");
        rows(x, y) = sum(in(x + r, y), "inner");
        f(x, y) = sum(rows(x, y + q), "outer") + maximum(in(x + r, y), "largest");
        in.compute_root();
        auto row = [](int x, int y) { return 3 * (3 * x + y); };
        for (bool vectorized : {false, true}) {
            if (vectorized) f.vectorize(x, 4, TailStrategy::GuardWithIf);
            Lowered l(f);
            for (int size : {1, 9}) {
                l.check<int>({size, 3}, [&](int x, int y) {
                    int sum = 3 * (x + 1) + y;
                    for (int i = 0; i < 4; i++) sum += row(x, y + i);
                    return sum;
                });
            }
        }
    }
    TEST_CASE("argmin and argmax") {
        Var x("x");
        RDom r(0, 7, 0, 5, "r");
        Func in("in"), f("f"), g("g");
        Var y("y");
        in(x, y) = (x * 5 + y * 11) % 17;
        in.compute_root();
        Tuple most = argmax(r, in(r.x, r.y)), least = argmin(r, in(r.x, r.y));
        f(x) = most[0] + most[1] * 10 + most[2] * 100 + x;
        g(x) = least[0] + least[1] * 10 + least[2] * 100 + x;
        auto find = [](bool largest) {
            int at = -1, value = 0;
            for (int j = 0; j < 5; j++) {
                for (int i = 0; i < 7; i++) {
                    int v = (i * 5 + j * 11) % 17;
                    if (at < 0 || (largest ? v > value : v < value)) at = i + 10 * j, value = v;
                }
            }
            return at + 100 * value;
        };
        Lowered(f).check<int>({3}, [&](int x) { return find(true) + x; });
        Lowered(g).check<int>({3}, [&](int x) { return find(false) + x; });
    }
    TEST_CASE("extremes on one side of zero") {
        Var x("x");
        RDom r(0, 5, "r");
        Func below("below"), above("above"), f("f");
        below(x) = -3 - (x * 2) % 5;  // -3 -5 -7 -4 -6
        above(x) = 3 + (x * 2) % 5;
        Tuple most = argmax(r, below(r)), least = argmin(r, above(r));
        f() = Tuple(maximum(r, below(r)), minimum(r, below(r)), maximum(r, above(r)),
                    minimum(r, above(r)), most[0], most[1], least[0], least[1],
                    maximum(r, cast<float>(below(r))), minimum(r, cast<float>(above(r))));
        Realization all = f.realize();
        const int expected[] = {-3, -7, 7, 3, 0, -3, 0, 3};
        for (size_t i = 0; i < 8; i++) CHECK(Buffer<int>(all[i])() == expected[i]);
        CHECK(Buffer<float>(all[8])() == -3.0f);
        CHECK(Buffer<float>(all[9])() == 3.0f);
    }
    TEST_CASE("a producer at a loop of a reduction, and at one of its splits") {
        Sum s;
        s.sum.update().split(s.r, s.ro, s.ri, 8);
        s.in.compute_at(s.sum, s.ro);
        s.check(Lowered(s.sum));
        Sum t;
        t.sum.update().reorder(t.x, t.r);
        t.in.compute_at(t.sum, t.r);
        t.check(Lowered(t.sum));
    }
    TEST_CASE("a product of matrices, tiled over everything") {
        Var i("i"), j("j"), io("io"), jo("jo"), ii("ii"), ji("ji");
        RVar ko("ko"), ki("ki");
        RDom k(0, 19, "k");
        Func a("a"), b("b"), c("c"), out("out");
        a(i, j) = cast<float>((i * 7 + j) % 11);
        b(i, j) = cast<float>((i + j * 5) % 13);
        a.compute_root();
        b.compute_root();
        c(i, j) += a(k, j) * b(i, k);
        out(i, j) = c(i, j);
        out.tile(i, j, io, jo, ii, ji, 8, 4, TailStrategy::GuardWithIf).vectorize(ii).parallel(jo);
        c.compute_at(out, io).vectorize(i, 8).unroll(j);
        c.update().split(k, ko, ki, 4).reorder(i, j, ki, ko).vectorize(i, 8).unroll(j).unroll(ki);
        c.bound_extent(j, 4);
        Lowered l(out);
        auto ref = [](int i, int j) {
            float sum = 0;
            for (int k = 0; k < 19; k++) sum += (k * 7 + j) % 11 * ((i + k * 5) % 13);
            return sum;
        };
        for (int size : {1, 8, 13}) l.check<float>({size, 9}, ref);
    }
    TEST_CASE("split loops of nearly 2^31 iterations") {
        for (bool is_factor : {false, true}) {
            CAPTURE(is_factor);
            Param<int> extent("extent"), factor("factor");
            extent.set(INT32_MAX);
            factor.set(8);
            RDom r(0, is_factor ? Expr(INT32_MAX) : Expr(extent));
            RVar ro("ro"), ri("ri");
            Func f("f");
            f() = cast<uint64_t>(0);
            f() += cast<uint64_t>(r.x) + cast<uint64_t>(1);
            f.update().split(r.x, ro, ri, is_factor ? Expr(factor) : Expr(8));
            Buffer<uint64_t> sum = f.realize();
            CHECK(sum() == uint64_t(INT32_MAX) * (uint64_t(INT32_MAX) + 1) / 2);
        }
    }
    TEST_CASE("fused loops of more than 2^31 iterations are refused") {
        Param<int> n("n");
        for (const Expr &extent : {Expr(50000), Expr(n)}) {
            n.set(50000);
            RDom r(0, extent, 0, extent, "r");
            RVar both("both");
            Func f("f");
            f() = 0;
            f() += select(r.x + r.y >= 0, 1, 0);
            f.update().fuse(r.x, r.y, both);
            CHECK_THROWS_WITH_AS(
                f.realize(),
                doctest::Contains("loop both of f is computed from 2500000000, and "
                                  "only coordinates within [0, 2147483647]"),
                RuntimeError);
            n.set(3);
            if (is_const(extent)) continue;
            Buffer<int> count = f.realize();
            CHECK(count() == 9);
        }
    }
    TEST_CASE("reductions that are computed inline may be computed within one another") {
        Var x("x");
        Buffer<int> image(40);
        for (int i = 0; i < 40; i++) image(i) = i % 7;
        RDom r(0, 2), r2(0, 2);
        Func f("f"), g("g"), h("h");
        f(x) = sum(r, image(clamp(x + r, 0, 39)));
        g(x) = f(clamp(f(x - 1), 0, 17));
        g.compute_root();
        h(x) = sum(r2, g(clamp(f(x + r2), 0, 4))) + f(x) * g(x);
        Buffer<int> result = h.realize({10});
        auto f_at = [&](int i) {
            return image(std::clamp(i, 0, 39)) + image(std::clamp(i + 1, 0, 39));
        };
        auto g_at = [&](int i) { return f_at(std::clamp(f_at(i - 1), 0, 17)); };
        for (int i = 0; i < 10; i++) {
            int sum = g_at(std::clamp(f_at(i), 0, 4)) + g_at(std::clamp(f_at(i + 1), 0, 4));
            CHECK(result(i) == sum + f_at(i) * g_at(i));
        }
    }
}

TEST_SUITE("rfactor") {
    TEST_CASE("of equal values that are compared, the first one stays the first") {
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
        Var x("x");
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
        Var x("x");
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
    TEST_CASE("a reduction loop that is fused with a pure one is not factored") {
        Var x("x");
        Func f("f");
        RDom r(0, 5, 0, 4, "r");
        Var u("u");
        RVar t("t");
        f(x) = x;
        f(x) += r.x * 10 + r.y + x;
        f.update().fuse(r.x, x, t);
        REFUSED(f.update().rfactor(r.y, u), "t is made from a reduction and a pure loop");
    }
}
