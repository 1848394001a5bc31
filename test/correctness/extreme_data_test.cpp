#include "harness.h"
#include "random.h"
#include <array>
#include <climits>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <tessera.h>

using namespace tessera;
using namespace tessera::test;

// Data may be any number of its type: what does not overflow as it is written, does not overflow
// (or not so that anybody sees it) in whatever form it is computed; what does, wraps.
TEST_SUITE("data near the ends of its type") {
    const Var x("x");

    Buffer<int> filled(int value) {
        Buffer<int> b(32);
        b.fill(value);
        return b;
    }
    void check(const Expr &e, int expected) {
        for (bool vectorized : {false, true}) {
            Func f("f");
            f(x) = e;
            if (vectorized) f.vectorize(x, 8);
            Lowered(f).check<int>({16}, [&](int) { return expected; });
        }
    }

    TEST_CASE("constants stay in the operands of quotients and remainders") {
        Buffer<int> high = filled(INT_MAX), four = filled(4);
        check((high(x) - 5) / 3, 715827880);
        check((high(x) - 7) / 8, 268435455);
        check((high(x) - 3) >> 1, 1073741822);
        check((high(x) - 5) % 3, 2);
        check(clamp((high(x) - 3) / 2, -5, 100), 100);
        check((8 - high(x) - four(x)) / 2, -1073741822);
        Buffer<int64_t> wide(32);
        wide.fill(INT64_MAX);
        Func f("f");
        f(x) = (wide(x) - 7) / 8;
        Lowered(f).check<int64_t>({16}, [](int) { return (INT64_MAX - 7) / 8; });
    }
    TEST_CASE("common terms stay in the operands of min and max") {
        Buffer<int> high = filled(INT_MAX), low = filled(INT_MIN), zero = filled(0);
        check(min(high(x) - 3, zero(x) - 5), -5);
        check(max(high(x) - 3, zero(x) - 5), INT_MAX - 3);
        Func f("f");
        f(x) = min((x - 8) - low(x), x - 256);
        Lowered(f).check<int>({7}, [](int x) { return x - 256; });
    }
    TEST_CASE("sums that are widened are what they are as written") {
        Buffer<int> high = filled(INT_MAX), low = filled(-2000000000);
        Param<int> a("a"), b("b");
        a.set(2000000000);
        b.set(-2000000000);
        for (bool vectorized : {false, true}) {
            Func f("f"), g("g");
            f(x) = cast<int64_t>(x / 9 - (x - high(x)));
            g(x) = cast<int64_t>(a + low(x) - b);
            if (vectorized) f.vectorize(x, 8);
            if (vectorized) g.vectorize(x, 8);
            Lowered(f).check<int64_t>({32}, [](int x) { return x / 9 - (x - INT_MAX); });
            Lowered(g).check<int64_t>({32}, [](int) { return 2000000000; });
        }
    }

    TEST_CASE("limits that are passed as the largest and the smallest number") {
        Param<int> p("p"), q("q");
        p.set(INT_MAX);
        q.set(INT_MIN);
        const std::vector<std::pair<Expr, int>> cases{
            {likely(x > p), 2},         {likely(x - 1 >= p), 2}, {likely(x / 2 >= p), 2},
            {likely(-x < q), 2},        {likely(-x <= q), 2},    {likely(x <= p), 1},
            {likely(x * 2 + 1 >= q), 1}};
        for (const auto &[condition, expected] : cases) {
            Func f("f");
            f(x) = select(condition, 1, 2);
            const int value = expected;
            Lowered(f).check<int>({20}, [&](int) { return value; });
        }
        for (int i = 0; i < 4; i++) {
            CAPTURE(i);
            RDom r(0, 8, "r");
            r.where(i == 0   ? Expr(-r >= q)
                    : i == 1 ? Expr(q <= -r)
                    : i == 2 ? Expr(-r > q)
                             : Expr(r * 2 >= q));
            Func g("g");
            g(x) = 0;
            g(x) += r + 1;
            Lowered(g).check<int>({3}, [](int) { return 36; });
        }
    }
    TEST_CASE("the smallest number of 64 bits as a divisor and a sentinel") {
        Buffer<int64_t> data(3);
        data(0) = INT64_MIN, data(1) = 5, data(2) = -5;
        const Expr least(int64_t{INT64_MIN});
        auto result = [&](const Expr &e) {
            Func f("f");
            f(x) = e;
            Buffer<int64_t> out(3);
            Lowered(f).run({out});
            return std::vector<int64_t>{out(0), out(1), out(2)};
        };
        using Values = std::vector<int64_t>;
        CHECK(result(data(x) / least) == Values{1, 0, 1});
        CHECK(result(data(x) % least) == Values{0, 5, INT64_MAX - 4});
        CHECK(result(select(data(x) == least, Expr(int64_t{1}), Expr(int64_t{2}))) ==
              Values{1, 2, 2});
        CHECK(result(select(least != data(x), Expr(int64_t{1}), Expr(int64_t{2}))) ==
              Values{2, 1, 1});
        CHECK(result(select(data(x) > least, Expr(int64_t{1}), Expr(int64_t{2}))) ==
              Values{2, 1, 1});
    }
    TEST_CASE("a constant becomes another type as a value does") {
        Func f("f"), g("g");
        f(x) = cast<int>(cast<bool>(Expr(0.5f))) + 2 * cast<int>(cast<bool>(Expr(-0.0f)));
        Lowered(f).check<int>({1}, [](int) { return 1; });
        const int64_t large = (int64_t(1) << 62) + (int64_t(1) << 38) + 1;
        g(x) = cast<float>(Expr(large));
        Lowered(g).check<float>({1}, [&](int) { return float(large); });
    }

    TEST_CASE("the first lane of a ramp overflows, a later one does not") {
        const Var y("y");
        Param<int> p("p");
        p.set(5);
        Func f("f");
        f(x, y) = cast<int64_t>(select(y <= p, INT_MAX, p) + (y - x)) + 1;
        f.vectorize(x, 8);
        Buffer<int64_t> result = f.realize({8, 3});
        for (int i = 0; i < 3; i++) CHECK(result(i, i) == int64_t(INT_MAX) + 1);
        Func g("g");
        p.set(INT_MIN);
        g(x) = cast<int64_t>(p + x) + 1;
        g.vectorize(x, 8);
        Buffer<int64_t> later(8);
        later.set_min(-4);
        g.realize(later);
        for (int i = 0; i < 4; i++) CHECK(later(i) == int64_t(INT_MIN) + i + 1);
    }

    TEST_CASE("a strict min or max of a NaN is its other operand") {
        Buffer<float> data(8);
        data.fill(1.0f);
        data(5) = NAN;
        Param<float> first;
        first.set(3.0f);
        const Expr number = data(x), three = 3.0f;
        for (bool vectorized : {false, true}) {
            auto at_nan = [&](const Expr &e) {
                Func f("f");
                f(x) = strict_float(e);
                if (vectorized) f.vectorize(x, 8);
                Buffer<float> result = f.realize({8});
                return result(5);
            };
            CHECK(at_nan(min(number, three)) == 3.0f);
            CHECK(at_nan(max(number, three)) == 3.0f);
            CHECK(at_nan(min(first, number)) == 3.0f);
            CHECK(at_nan(max(number, first)) == 3.0f);
            CHECK(at_nan(min(three, number)) == 3.0f);
            CHECK(at_nan(max(three, number)) == 3.0f);
        }
    }
    TEST_CASE("numbers that no coordinate has are not moved out of min") {
        const Var y("y");
        Param<int> p("p");
        p.set(INT_MAX);
        Func f("f"), g("g");
        f(x, y) = min(select(y <= x, 0, -INT_MAX) + (7 - y), (1 << 30) - x);
        g(x, y) = min((y - 1) + (p - y), y / 7 + y * INT_MAX);
        Buffer<int> of_select = f.realize({2, 3}), of_product = g.realize({1, 2});
        CHECK(of_select(0, 2) == 5 - INT_MAX);
        CHECK(of_select(1, 1) == 6);
        CHECK(of_product(0, 0) == 0);
        CHECK(of_product(0, 1) == INT_MAX - 1);
    }

    // An expression of int32 or bool, and what it is in plain C++.
    struct Term {
        Expr e;
        std::string text;
        std::function<int64_t(int, int)> at;
    };
    int64_t wrapped(int64_t v) { return int32_t(uint32_t(v)); }
    int64_t euclidean_remainder(int64_t a, int64_t b) {
        int64_t r = b == 0 ? 0 : a % b;
        return r < 0 ? r + std::abs(b) : r;
    }

    // Of a line that no user has written: constants that overflow are not refused.
    WrittenExpr of_nobody(const Expr &e) { return WrittenExpr(e, Location()); }

    class TermMaker {
    public:
        TermMaker(Random &random, const Buffer<int> &first, const Buffer<int> &second,
                  const std::array<Param<int>, 2> &params)
            : random(random) {
            for (const Buffer<int> &b : {first, second}) {
                leaves.push_back({b(x), "in(x)", [b](int i, int) { return b(i); }});
            }
            leaves.push_back({x, "x", [](int i, int) { return i; }});
            leaves.push_back({y, "y", [](int, int j) { return j; }});
            for (const Param<int> &p : params) {
                int value = p.get();
                leaves.push_back({p, "p", [value](int, int) { return value; }});
            }
        }
        Term number(int depth) {
            if (depth == 0) return random.chance(75) ? random.pick(leaves) : constant();
            switch (random.between(0, 11)) {
            case 0:
            case 1:
            case 2:
                return combine(
                    depth, " + ", [](Expr a, Expr b) { return of_nobody(a) + b; },
                    [](int64_t a, int64_t b) { return wrapped(a + b); });
            case 3:
            case 4:
            case 5:
                return combine(
                    depth, " - ", [](Expr a, Expr b) { return of_nobody(a) - b; },
                    [](int64_t a, int64_t b) { return wrapped(a - b); });
            case 6:
                return combine(
                    depth, " * ", [](Expr a, Expr b) { return of_nobody(a) * b; },
                    [](int64_t a, int64_t b) { return wrapped(a * b); });
            case 7:
                return combine(
                    number(depth - 1), divisor(depth), " / ",
                    [](Expr a, Expr b) { return of_nobody(a) / b; },
                    [](int64_t a, int64_t b) {
                        int64_t r = euclidean_remainder(a, b);
                        return b == 0 ? 0 : wrapped((a - r) / b);
                    });
            case 8:
                return combine(
                    number(depth - 1), divisor(depth), " % ",
                    [](Expr a, Expr b) { return of_nobody(a) % b; }, euclidean_remainder);
            case 9:
                return combine(
                    depth, " min ", [](Expr a, Expr b) { return min(a, b); },
                    [](int64_t a, int64_t b) { return std::min(a, b); });
            case 10:
                return combine(
                    depth, " max ", [](Expr a, Expr b) { return max(a, b); },
                    [](int64_t a, int64_t b) { return std::max(a, b); });
            default: {
                Term c = condition(depth - 1), a = number(depth - 1), b = number(depth - 1);
                return {select(c.e, a.e, b.e), "(" + c.text + " ? " + a.text + " : " + b.text + ")",
                        [=](int i, int j) { return c.at(i, j) ? a.at(i, j) : b.at(i, j); }};
            }
            }
        }

    private:
        Term constant() {
            int64_t v =
                random.pick(std::vector<int64_t>{0, 1, -1, 2, 3, -3, 7, 8, 16, 100, 255, -256,
                                                 65535, 1000000, INT_MAX, INT_MIN + 1, 1 << 30});
            return {Expr(int(v)), std::to_string(v), [v](int, int) { return v; }};
        }
        Term divisor(int depth) {
            if (random.chance(30)) return number(depth - 1);
            int64_t v = random.chance(75) ? random.between(1, 9) : -random.between(1, 5);
            return {Expr(int(v)), std::to_string(v), [v](int, int) { return v; }};
        }
        template<typename Make, typename Compute>
        Term combine(const Term &a, const Term &b, const char *op, Make make, Compute compute) {
            return {make(a.e, b.e), "(" + a.text + op + b.text + ")",
                    [=](int i, int j) -> int64_t { return compute(a.at(i, j), b.at(i, j)); }};
        }
        template<typename Make, typename Compute>
        Term combine(int depth, const char *op, Make make, Compute compute) {
            Term a = number(depth - 1);
            return combine(a, number(depth - 1), op, make, compute);
        }
        Term condition(int depth) {
            if (depth > 0 && random.chance(25)) {
                Term a = condition(depth - 1), b = condition(depth - 1);
                return combine(
                    a, b, " && ", [](Expr a, Expr b) { return a && b; },
                    [](int64_t a, int64_t b) { return a && b; });
            }
            Term a = number(std::max(depth, 0)), b = number(std::max(depth, 0));
            switch (random.between(0, 3)) {
            case 0:
                return combine(
                    a, b, " < ", [](Expr a, Expr b) { return a < b; },
                    [](int64_t a, int64_t b) { return a < b; });
            case 1:
                return combine(
                    a, b, " <= ", [](Expr a, Expr b) { return a <= b; },
                    [](int64_t a, int64_t b) { return a <= b; });
            case 2:
                return combine(
                    a, b, " == ", [](Expr a, Expr b) { return a == b; },
                    [](int64_t a, int64_t b) { return a == b; });
            default:
                return combine(
                    a, b, " != ", [](Expr a, Expr b) { return a != b; },
                    [](int64_t a, int64_t b) { return a != b; });
            }
        }

        const Var x{"x"}, y{"y"};
        Random &random;
        std::vector<Term> leaves;
    };

    TEST_CASE("an index whose sum of data may wrap has no bound on the other side") {
        ImageParam at(Int(32), 1, "at");
        Func table("table");
        table(x) = x * 2;
        const auto reads = [&](const Expr &index) {
            Func f("f"), g("g");
            g(x) = table(x);
            g.compute_root();
            f(x) = g(index);
            Buffer<int> data(4);
            data.fill([](int i) { return i == 1 ? INT_MAX : i == 2 ? INT_MIN : i; });
            at.set(data);
            return Buffer<int>(f.realize({4}));
        };
        const Expr data = at(x);
        for (const Expr &index : {min(max(data, 0) + 100, 1000), max(min(data, 0) * 2, -50),
                                  min(max(data, 0) - max(at(x + 0) / 2, -5) * 3, 10)}) {
            CHECK_THROWS_WITH_AS(reads(index), doctest::Contains("has no bound"), CompileError);
        }
        const Buffer<int> right = reads(clamp(max(data, 0) + 100, 0, 1000));
        CHECK(right(0) == 200);
        CHECK(right(1) == 0);  // the sum wraps
        CHECK(right(3) == 206);
        CHECK(reads(clamp(data, 0, 50) + 100)(1) == 300);
    }
    TEST_CASE("random expressions of random numbers, against C++") {
        const std::vector<int> extremes{
            INT_MAX, INT_MIN,    INT_MAX - 1, INT_MIN + 1, 0,  1,           -1,   2,
            1 << 30, -(1 << 30), 2000000000,  100,         -2, -2000000000, -100, 12345};
        const Var y("y");
        const int width = 32, height = 3;
        Seeds seeds(4.0);
        int64_t compared = 0;
        while (auto seed = seeds.next()) {
            Random random(*seed);
            auto any = [&] {
                return random.chance(75) ? random.pick(extremes)
                                         : int(random.between(INT_MIN, INT_MAX));
            };
            Buffer<int> first(width), second(width);
            first.for_each_element([&](int i) { first(i) = any(), second(i) = any(); });
            std::array<Param<int>, 2> params{Param<int>("p"), Param<int>("q")};
            bool small = random.chance(50);
            for (Param<int> &p : params) p.set(small ? int(random.between(-1000, 1000)) : any());
            Term term = TermMaker(random, first, second, params).number(int(random.between(2, 4)));
            Func f("f");
            int more = int(random.between(0, 1));
            f(x, y) = cast<int64_t>(term.e) + more;
            if (random.chance(30)) f.vectorize(x, 8);
            Buffer<int64_t> result = f.realize({width, height});
            result.for_each_element([&](int i, int j) {
                int64_t expected = term.at(i, j) + more;
                compared++;
                REQUIRE_MESSAGE(result(i, j) == expected, "TESSERA_SEED=", *seed, ": ", term.text,
                                " at (", i, ", ", j, ")");
            });
        }
        CHECK(compared > 0);
        MESSAGE(seeds.count() << " expressions, " << compared << " values");
    }
    TEST_CASE("values near the ends of their type are compared, divided and reduced as written") {
        const int largest = std::numeric_limits<int>::max();
        Buffer<int> a(2), b(2);
        a(0) = 5, a(1) = 7 - largest;
        b(0) = largest, b(1) = largest - 7;
        Func f("f");
        f(x) = Tuple(select(a(x) - 3 < b(x), 1, 0), select(b(x) == a(x) - 3, 1, 0),
                     (b(x) / 2 + 1) / 3, (b(x) % 1000 + b(0) % 1000 + a(x) % 1000) % 1000);
        Realization r = f.realize({2});
        Buffer<int> less = r[0], equal = r[1], quotient = r[2], rest = r[3];
        for (int i : {0, 1}) {
            CHECK(less(i) == 1);
            CHECK(equal(i) == 0);
            CHECK(quotient(i) == (b(i) / 2 + 1) / 3);
        }
        CHECK(rest(0) == (647 + 647 + 5) % 1000);
        CHECK(rest(1) == (640 + 647 + 360) % 1000);  // Euclidean, of a negative number
    }
    TEST_CASE("products that wrap before they are widened are summed as they have wrapped") {
        Buffer<uint8_t> a(64), b(64);
        a.fill(255);
        b.fill(255);
        Func f("f");
        RDom r(0, 32, "r");
        f(x) = 0;
        f(x) += cast<int>(cast<int16_t>(a(x + r)) * cast<int16_t>(b(x + r)));
        f.update().atomic().vectorize(r).vectorize(x, 8);
        const int product = int16_t(255 * 255);
        Lowered(f).check<int>({16}, [](int) { return 32 * product; });
    }
}
