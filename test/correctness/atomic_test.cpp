#include "error/refusal.h"
#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

Var x("x");

// In vectors of a reduction's loop, by several ways to make them, of which the last has another
// order.
template<typename Define>
void check_vectors(Define define, const std::vector<int> &sizes = {24}, int ways = 4) {
    for (int way = 0; way < ways; way++) {
        CAPTURE(way);
        Func f("f");
        RDom r(1, 19, "r");
        RVar ro("ro"), ri("ri");
        define(f, r);
        Stage update = f.update().atomic(true);
        if (way == 0) update.vectorize(r, 4);
        if (way == 1) update.vectorize(r);
        if (way == 2) update.split(r, ro, ri, 8).vectorize(ri).unroll(ro, 2);
        if (way == 3) update.split(r, ro, ri, 8).vectorize(ri).vectorize(ro, 2);
        Lowered(f).check_definition(sizes);
    }
}

}  // namespace

// What an update says to be right in any order is done in some order, each iteration at once.
TEST_SUITE("atomic") {
    TEST_CASE("values of a Tuple that read each other, in lanes of their own") {
        check_vectors([](Func &f, RDom &r) {
            f(x) = Tuple(x, 100 + x);
            f(r) = Tuple(f(r)[1] + r, f(r)[0] * 3);
        });
    }
    TEST_CASE("the same in lanes that write one place, or some the same") {
        check_vectors([](Func &f, RDom &r) {
            f(x) = Tuple(x, 100 + x);
            f(r % 4) = Tuple(f(r % 4)[1] + r, f(r % 4)[0] * 3);
        });
        check_vectors([](Func &f, RDom &r) {
            f(x) = Tuple(x, 100 + x);
            f(x) = Tuple(f(x)[0] + f(x)[1], f(x)[1] + r);
        });
        check_vectors([](Func &f, RDom &r) {
            f(x) = Tuple(x, 100 + x);
            f(0) = Tuple(f(0)[0] + r, f(0)[1] + f(0)[0]);
        });
    }
    TEST_CASE("the largest value and its place") {
        check_vectors(
            [](Func &f, RDom &r) {
                Expr value = (r * 37) % 11;
                f() = Tuple(-1, 0);
                f() = Tuple(max(f()[0], value), select(value > f()[0], r, f()[1]));
            },
            {});
    }
    TEST_CASE("what reads an element that another lane writes") {
        auto chain = [](Func &f, RDom &r) {
            f(x) = x;
            f(r) = f(r - 1) * 2 + 1;
        };
        auto chain_of_tuples = [](Func &f, RDom &r) {
            f(x) = Tuple(x, x);
            f(r) = Tuple(f(1)[1] + 1, f(r - 1)[0] + r);
        };
        auto exchanges = [](Func &f, RDom &r) {
            f(x) = x;
            f(scatter(r, 20 - r)) = gather(f(20 - r), f(r) + 1);
        };
        check_vectors(chain, {24}, 3);
        check_vectors(chain_of_tuples, {24}, 3);
        check_vectors(exchanges, {24}, 3);
    }
    TEST_CASE("a condition that reads what the update writes") {
        check_vectors([](Func &f, RDom &r) {
            f(x) = x;
            r.where(f(0) < 50);
            f(0) += r;
        });
        auto within = [](Func &f, RDom &r) {
            f(x) = Tuple(x, 100 + x);
            r.where(f(r % 3)[0] < 50);
            f(r % 5) = Tuple(f(r % 5)[1] + r, f(r % 5)[0] + 1);
        };
        check_vectors(within, {24}, 3);
    }
    TEST_CASE("a condition on what the update writes, by threads") {
        Func f("f");
        RDom r(0, 2000, "r");
        f() = 0;
        r.where(f() < 100);
        f() += min(r + 1, 1);
        f.update().atomic(true).parallel(r);
        Lowered l(f);
        for (int run = 0; run < 5; run++) l.check<int>({}, [] { return 100; });
    }
    TEST_CASE("exchanges by threads, under one mutex") {
        Func f("f");
        RDom r(0, 1000, "r");
        f(x) = x;
        Expr a = (r * 7) % 16, b = (r * 5 + 3) % 16;
        f(scatter(a, b)) = gather(f(b), f(a));
        f.update().atomic(true).parallel(r);
        Lowered l(f);
        CHECK(l.count("mutex_array_create(1:uint64)") == 1);
        Buffer<int> out(16);
        out = f.realize({16});
        int sum = 0;
        for (int i = 0; i < 16; i++) sum += 1 << out(i);
        CHECK(sum == (1 << 16) - 1);  // a permutation
    }
    TEST_CASE("an atomic update exchanges elements") {
        Var y("y");
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
    TEST_CASE("an update may read another element of its Func twice") {
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
    TEST_CASE("an update that the last iteration decides does not run in parallel") {
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
}
