#include "calls.h"
#include "harness.h"

// Conditions decide how much is computed: which stages, which iterations, which regions.
using namespace tessera;
using namespace tessera::test;

namespace {

const Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

// How often `counted` is called in one run of the compiled code.
template<typename T, typename F>
int calls_of(const Lowered &l, const std::vector<int> &sizes, F reference,
             const std::vector<int> &mins = {}) {
    const int both = calls_during([&] { l.check<T>(sizes, reference, mins); });
    CHECK(both % 2 == 0);
    return both / 2;
}

}  // namespace

TEST_SUITE("stages that conditions skip") {
    TEST_CASE("one that is read twice in one branch") {
        Param<int> mode("mode");
        Func costly("costly"), out("out");
        costly(x) = counted(x);
        costly.compute_root();
        out(x) = select(mode == 3, costly(x) * costly(x) - costly(x + 2), 4 * x);
        Lowered l(out);
        mode.set(1);
        CHECK(calls_of<int>(l, {50}, [](int i) { return 4 * i; }) == 0);
        mode.set(3);
        CHECK(calls_of<int>(l, {50}, [](int i) { return i * i - (i + 2); }) == 52);
    }
    TEST_CASE("in rows of which an input says that they are not wanted") {
        ImageParam busy(UInt(8), 1, "busy");
        Func costly("costly"), out("out");
        costly(x, y) = counted(x + y);
        out(x, y) = select(busy(y) > 0, costly(x, y) * costly(x, y), x);
        costly.compute_at(out, y);
        Lowered l(out);
        Buffer<uint8_t> rows(30);
        rows.fill(0);
        rows(4) = rows(17) = 1;
        busy.set(rows);
        CHECK(calls_of<int>(l, {40, 30}, [](int i, int j) {
                  return j == 4 || j == 17 ? (i + j) * (i + j) : i;
              }) == 80);
    }
    TEST_CASE("in tiles of which an earlier stage says so") {
        Func wanted("wanted"), costly("costly"), out("out");
        wanted(x, y) = counted(x + 3 * y) % 4;
        costly(x, y) = counted(x - y);
        out(x, y) = select(wanted(x / 8, y / 4) == 1, costly(x, y), 7);
        wanted.compute_root();
        out.bound(x, 0, 64).bound(y, 0, 16).tile(x, y, xo, yo, xi, yi, 8, 4);
        costly.compute_at(out, xo);
        Lowered l(out);
        auto is_wanted = [](int i, int j) { return (i / 8 + 3 * (j / 4)) % 4 == 1; };
        int tiles = 0;
        for (int j = 0; j < 16; j += 4) {
            for (int i = 0; i < 64; i += 8) tiles += is_wanted(i, j);
        }
        CHECK(calls_of<int>(l, {64, 16}, [&](int i, int j) {
                  return is_wanted(i, j) ? i - j : 7;
              }) == 8 * 4 + tiles * 32);
    }
    TEST_CASE("tiles outside of what the condition chooses") {
        Func costly("costly"), out("out");
        costly(x) = counted(x * 3);
        out(x) = select(x >= 20 && x < 37, costly(x), -x);
        out.split(x, xo, xi, 8).vectorize(xi);
        costly.compute_at(out, xo).vectorize(x);
        Lowered l(out);
        // From 16 to 40.
        CHECK(calls_of<int>(l, {96}, [](int i) { return i >= 20 && i < 37 ? i * 3 : -i; }) == 24);
    }
    TEST_CASE("one is computed if it decides on another that is") {
        Param<bool> wanted("wanted");
        Func decides("decides"), costly("costly"), out("out");
        decides(y) = counted(y % 2);
        costly(x, y) = counted(x + y);
        out(x, y) = select(wanted, select(decides(y) == 1, costly(x, y), 2), 3);
        decides.compute_root();
        costly.compute_at(out, y);
        Lowered l(out);
        wanted.set(false);
        CHECK(calls_of<int>(l, {10, 6}, [](int, int) { return 3; }) == 0);
        wanted.set(true);
        CHECK(calls_of<int>(l, {10, 6}, [](int i, int j) { return j % 2 ? i + j : 2; }) == 6 + 30);
    }
    TEST_CASE("what is updated while it decides decides nothing") {
        Func costly("costly"), out("out");
        RDom r(0, 20);
        costly(x) = counted(x);
        out(x) = 0;
        out(r) = select(out(r - 1) % 2 == 0, costly(r) + out(r - 1) + 1, out(r - 1) + 4);
        costly.compute_at(out, r);
        Lowered l(out);
        auto reference = [](int i) {
            int value = 0;
            for (int k = 0; k <= i; k++) value = value % 2 == 0 ? k + value + 1 : value + 4;
            return value;
        };
        Buffer<int> result(21);
        result.set_min(-1);
        l.run({result});
        for (int i = 0; i < 20; i++) CHECK(result(i) == reference(i));
    }
    TEST_CASE("an index is computed, whatever reads at it") {
        Param<int> p("p");
        Func index("index"), table("table"), out("out");
        index(x) = counted(x) % 16;
        table(x) = counted(x * 3);
        out(x) = select(p > 3, table(index(x)), 0);
        index.compute_root();
        table.compute_root();
        Lowered l(out);
        p.set(1);
        CHECK(calls_of<int>(l, {40}, [](int) { return 0; }) == 40);
        p.set(4);
        CHECK(calls_of<int>(l, {40}, [](int i) { return i % 16 * 3; }) == 40 + 16);
    }
}

TEST_SUITE("loops that conditions shorten") {
    TEST_CASE("a sum over a triangle reads the triangle") {
        Func plane("plane"), sum("sum");
        sum(x, y) = 0;
        sum(x, y) += select(x <= y && x > -7, counted(x * y + 1), 0);
        Lowered l(sum);
        CHECK(calls_of<int>(l, {12, 12}, [](int i, int j) { return i <= j ? i * j + 1 : 0; }) ==
              78);
    }
    TEST_CASE("a reduction runs as far as its condition holds") {
        RDom r(0, 100);
        Func f("f"), g("g"), h("h");
        f(x) = 1;
        f(x) *= select(r < x, counted(Expr(2)), 1);
        CHECK(calls_of<int>(Lowered(f), {12}, [](int i) { return 1 << i; }) == 66);
        g(x) = 1000;
        g(x) = min(g(x), select(2 * r <= x, counted(x - r), Int(32).max()));
        CHECK(calls_of<int>(Lowered(g), {20}, [](int i) { return i - i / 2; }) == 110);
        h(x) = 5;
        h(x) = select(r == x || r == x + 3, counted(h(x) + 1), h(x));
        CHECK(calls_of<int>(Lowered(h), {20}, [](int) { return 7; }) == 80);
    }
    TEST_CASE("by a cast condition, and of floats") {
        RDom r(0, 50);
        Func f("f"), g("g");
        f(x) = 0;
        f(x) += cast<int>(r < x) * counted(r);
        CHECK(calls_of<int>(Lowered(f), {10}, [](int i) { return i * (i - 1) / 2; }) == 45);
        g(x) = 0.5f;
        g(x) -= select(r >= x, 0.0f, cast<float>(counted(r)));
        CHECK(calls_of<float>(Lowered(g), {10},
                              [](int i) { return 0.5f - float(i * (i - 1) / 2); }) == 45);
    }
    TEST_CASE("in vectors, tiles and threads") {
        RDom r(0, 64);
        Func f("f");
        f(x, y) = 0;
        f(x, y) += select(r * 2 <= x + y, r + 1, 0);
        f.vectorize(x, 8).update().tile(x, y, xo, yo, xi, yi, 16, 4).vectorize(xi, 8).parallel(yo);
        Lowered(f).check<int>({37, 21}, [](int i, int j) {
            int sum = 0;
            for (int k = 0; k < 64; k++) sum += 2 * k <= i + j ? k + 1 : 0;
            return sum;
        });
    }
    TEST_CASE("not where a value from before the loop is stored again") {
        RDom r(0, 20);
        Func f("f");
        f(x) = x;
        f(r) = select(r < 5, f(r + 1), f(r));
        f(r) = f(r) + select(r > 15, 1, 0);
        Lowered(f).check<int>({21}, [](int i) {
            const int first = i < 5 ? i + 1 : i;
            return first + (i > 15 && i < 20 ? 1 : 0);
        });
    }
    TEST_CASE("Tuples, each value by its own condition") {
        RDom r(0, 30);
        Func f("f"), out("out");
        f(x) = Tuple(0, 1);
        f(x) = Tuple(f(x)[0] + select(r < x, r, 0), f(x)[1] + select(r >= 2 * x, r, 0));
        f.compute_root();
        out(x) = f(x)[0] * 1000 + f(x)[1];
        Lowered(out).check<int>({20}, [](int i) {
            int a = 0, b = 1;
            for (int k = 0; k < 30; k++) {
                a += k < i ? k : 0;
                b += k >= 2 * i ? k : 0;
            }
            return a * 1000 + b;
        });
    }
}
