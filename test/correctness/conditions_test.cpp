#include "calls.h"
#include "harness.h"
#include "lang/boundary_conditions.h"
#include <cmath>
#include <cstdlib>

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

// What one run asks of the heap; it fails where n is not 0.
struct Memory {
    std::atomic<int> requests{0}, live{0};
    std::atomic<size_t> largest{0};
    JITUserContext context;

    Memory() {
        static Memory *current;
        current = this;
        context.handlers.custom_malloc = [](JITUserContext *, size_t n) {
            current->requests++;
            current->live++;
            current->largest = std::max(current->largest.load(), n);
            return std::aligned_alloc(128, (n + 255) / 128 * 128);
        };
        context.handlers.custom_free = [](JITUserContext *, void *p) {
            current->live--;
            std::free(p);
        };
    }
};

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
    TEST_CASE("one that is read where a condition does not hold which is a value, too") {
        Func f("f"), g("g");
        f(x) = counted(x) * 3;
        const Expr even = x % 2 == 0;
        g(x) = cast<int>(select(even, even, f(x) > 10));
        f.compute_at(g, x);
        CHECK(calls_of<int>(Lowered(g), {10},
                            [](int i) { return int(i % 2 == 0 || i * 3 > 10); }) == 5);
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
    TEST_CASE("not of a product of floats: 0 times infinity is no number") {
        for (const Type t : {Float(32), BFloat(16), Float(16)}) {
            CAPTURE(t);
            RDom r(0, 8);
            Func f("f"), g("g");
            g(x) = select(x < 4, cast(t, 1.0f), cast(t, 1.0f) / cast(t, 0.0f));
            g.compute_root();
            f(x) = cast(t, 0.0f);
            f(x) += select(r < 4, cast(t, 1.0f), cast(t, 0.0f)) * g(r);
            Func all("all");
            all(x) = cast<float>(f(x));
            f.compute_root();
            Buffer<float> sum = all.realize({1});
            CHECK(std::isnan(sum(0)));
        }
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

TEST_SUITE("regions that selects narrow") {
    TEST_CASE("each part of a row is computed where it is chosen") {
        Func head("head"), tail("tail"), row("row");
        head(x) = counted(x);
        tail(x) = counted(-x);
        row(x) = select(x < 25, head(x), tail(x));
        head.compute_root();
        tail.compute_root();
        Lowered l(row);
        auto reference = [](int i) { return i < 25 ? i : -i; };
        CHECK(calls_of<int>(l, {120}, reference) == 120);
        CHECK(calls_of<int>(l, {10}, reference) == 10);
        CHECK(calls_of<int>(l, {10}, reference, {30}) == 10);
    }
    TEST_CASE("nested and combined conditions, in two dimensions") {
        Func a("a"), b("b"), c("c"), out("out");
        a(x, y) = counted(x + y);
        b(x, y) = counted(x * y);
        c(x, y) = counted(x - y);
        out(x, y) = select(x < 10, a(x, y), select(y >= 3 && x < 20, b(x, y - 1), c(x + 2, y)));
        for (Func f : {a, b, c}) f.compute_root();
        // What c is not chosen for is no rectangle.
        CHECK(calls_of<int>(Lowered(out), {30, 8}, [](int i, int j) {
                  return i < 10 ? i + j : j >= 3 && i < 20 ? i * (j - 1) : i + 2 - j;
              }) == 10 * 8 + 10 * 5 + 20 * 8);
    }
    TEST_CASE("in tiles") {
        Func head("head"), tail("tail"), row("row");
        head(x) = counted(x);
        tail(x) = counted(-x);
        row(x) = select(x < 25, head(x), tail(x));
        row.split(x, xo, xi, 16);
        head.compute_at(row, xo);
        tail.compute_at(row, xo);
        auto reference = [](int i) { return i < 25 ? i : -i; };
        CHECK(calls_of<int>(Lowered(row), {128}, reference) == 128);
        // Loops that have to be of constant extents stay so; tiles in which nothing is chosen are
        // skipped.
        head.vectorize(x, 8);
        tail.unroll(x);
        CHECK(calls_of<int>(Lowered(row), {128}, reference) == 32 + 112);
    }
    TEST_CASE("through stages, reductions, vectors and rounded splits") {
        Func base("base"), head("head"), out("out");
        base(x) = counted(x * 3);
        head(x) = base(x - 1) + base(x + 1);
        out(x) = select(x >= 8 && x < 25, head(x), x);
        base.compute_root();
        head.compute_root();
        auto reference = [](int i) { return i >= 8 && i < 25 ? 6 * i : i; };
        CHECK(calls_of<int>(Lowered(out), {100}, reference) == 19);
        // A smaller region that is rounded up might end beyond what is stored for the whole.
        head.vectorize(x, 8, TailStrategy::RoundUp);
        out.vectorize(x, 4);
        CHECK(calls_of<int>(Lowered(out), {100}, reference) == 106);
        head.compute_at(out, x);
        Lowered(out).check<int>({103}, reference);

        RDom r(0, 50);
        Func sum("sum"), g("g");
        g(x) = counted(x);
        sum(y) = 0;
        sum(y) += select(r < 7, g(r + y), 0);
        g.compute_root();
        CHECK(calls_of<int>(Lowered(sum), {10}, [](int j) { return 21 + 7 * j; }) == 16);
    }
    TEST_CASE("by the condition of a domain on the other variables") {
        RDom r(0, 4);
        r.where(x < 25 && r <= y);
        Func g("g"), f("f");
        g(x, y) = counted(x * y);
        f(x, y) = 1;
        f(x, y) += g(x, r);
        g.compute_root();
        CHECK(calls_of<int>(Lowered(f), {100, 10}, [](int i, int j) {
                  int sum = 1;
                  for (int k = 0; k < 4; k++) sum += i < 25 && k <= j ? i * k : 0;
                  return sum;
              }) == 100);
    }
    TEST_CASE("a boundary condition and a select at once") {
        Func f("f"), bounded("bounded"), out("out");
        f(x) = counted(x);
        f.compute_root();
        bounded = BoundaryConditions::constant_exterior(f, 7, {{0, 40}});
        out(x) = select(x > 30, bounded(x + 3), bounded(2 * x));
        CHECK(calls_of<int>(Lowered(out), {60}, [](int i) {
                  const int at = i > 30 ? i + 3 : 2 * i;
                  return at < 40 ? at : 7;
              }) == 40);
    }
    TEST_CASE("what is read, but not chosen, lies in storage") {
        Func small("small"), out("out");
        small(x) = counted(x) + 1;
        out(x) = select(x % 7 < 3 && x < 20, small(abs(x - 10)), small(50 + x));
        small.compute_root();
        auto reference = [](int i) { return i % 7 < 3 && i < 20 ? std::abs(i - 10) + 1 : 51 + i; };
        Lowered(out).check<int>({90}, reference);
        out.vectorize(x, 8).parallel(x);
        Lowered(out).check<int>({90}, reference);
    }
    TEST_CASE("an input is read wherever a select reads it") {
        ImageParam in(Int(32), 1, "in");
        Func out("out");
        out(x) = select(x < 25, in(x), 0);
        Buffer<int> whole(100), part(30);
        whole.for_each_element([&](int i) { whole(i) = i; });
        in.set(whole);
        Lowered(out).check<int>({100}, [](int i) { return i < 25 ? i : 0; });
        in.set(part);
        CHECK_THROWS_WITH_AS(out.realize({100}), doctest::Contains("in"), RuntimeError);
    }
    TEST_CASE("an index is computed wherever it is read") {
        Func index("index"), table("table"), out("out");
        index(x) = counted(x * 3) % 50;
        table(x) = x * x;
        out(x) = select(x < 25, table(index(x)), -1);
        index.compute_root();
        table.compute_root();
        CHECK(calls_of<int>(Lowered(out), {100}, [](int i) {
                  return i < 25 ? (i * 3 % 50) * (i * 3 % 50) : -1;
              }) == 100);
    }
    TEST_CASE("storage that is kept over iterations holds all that they read") {
        Func f("f"), out("out");
        f(x, y) = counted(x + y);
        out(x, y) = select(y < 9, f(x, y) + f(x, y + 1), 0);
        f.store_root().compute_at(out, y);
        Lowered(out).check<int>({10, 20}, [](int i, int j) { return j < 9 ? 2 * (i + j) + 1 : 0; });
    }
    TEST_CASE("updates of the stage that is narrowed, and specialized versions of it") {
        Param<bool> wide("wide");
        RDom r(0, 3);
        Func f("f"), out("out");
        f(x) = counted(x);
        f(x) += counted(x) * r;
        out(x) = select(x < 25, f(x), f(x + 30) + 1);
        f.compute_root().specialize(wide).vectorize(x, 8);
        f.update().unscheduled();
        Lowered l(out);
        auto reference = [](int i) { return i < 25 ? 4 * i : 4 * (i + 30) + 1; };
        for (bool w : {false, true}) {
            wide.set(w);
            l.check<int>({70}, reference);
        }
    }
}

TEST_SUITE("what the condition of a specialization says") {
    TEST_CASE("an extent, by which loops are unrolled and vectorized") {
        for (bool unroll : {true, false}) {
            Func planes("planes"), mixed("mixed");
            planes(x, y) = 3 * x + y;
            mixed(x, y) = planes(x, y) - 1;
            Expr extent = mixed.output_buffer().dim(1).extent();
            Stage known = planes.compute_root().specialize(extent == 4);
            unroll ? known.unroll(y) : known.vectorize(y);
            Lowered l(mixed);
            CHECK(l.stores(4) == (unroll ? 0 : 1));
            for (int n : {4, 5}) {
                l.check<int>({9, n}, [](int i, int j) { return 3 * i + j - 1; });
            }
        }
    }
    TEST_CASE("a parameter, and the least of several bounds") {
        Param<int> n("n"), m("m");
        Func f("f"), out("out");
        f(x, y) = x * y;
        out(x, y) = f(x, y) + f(x + n - 1, y);
        f.compute_at(out, x);
        Stage by_n = out.specialize(n == 6 && m > 2);
        f.specialize(n == 6).unroll(x);
        Lowered l(out);
        for (int k : {6, 9}) {
            n.set(k);
            m.set(3);
            l.check<int>({7, 5}, [&](int i, int j) { return (2 * i + k - 1) * j; });
        }
    }
    TEST_CASE("an upper bound: the iterations beyond the end are left out") {
        ImageParam in(Int(32), 2, "in");
        Func f("f"), out("out");
        f(x, y) = in(x, y) + 1;
        out(x, y) = f(x, y) * 2;
        Expr channels = out.output_buffer().dim(1).extent();
        f.compute_root().specialize(channels <= 4 && channels > 0).unroll(y);
        Lowered l(out);
        Buffer<int> input(8, 9);
        input.for_each_element([&](int i, int j) { input(i, j) = i - 4 * j; });
        in.set(input);
        for (int n : {1, 3, 4, 5, 9}) {
            l.check<int>({8, n}, [](int i, int j) { return 2 * (i - 4 * j + 1); });
        }
    }
    TEST_CASE("the size of storage within") {
        Param<int> radius("radius");
        Func f("f"), out("out");
        f(x) = x * x;
        out(x) = f(x) + f(x + radius);
        f.compute_at(out, x).store_in(MemoryType::Stack);
        out.specialize(radius <= 8 && radius >= 0);
        Lowered l(out);
        CHECK(l.text().find("int32[9] in Stack") != std::string::npos);
        for (int k : {0, 8, 20}) {
            radius.set(k);
            l.check<int>({30}, [&](int i) { return i * i + (i + k) * (i + k); });
        }
    }
    TEST_CASE("in the general version nothing is known of it") {
        Func f("f"), out("out");
        f(x, y) = x + y;
        out(x, y) = f(x, y);
        f.compute_root().unroll(y).specialize(out.output_buffer().dim(1).extent() == 4);
        CHECK_THROWS_WITH_AS(Lowered{out}, doctest::Contains("not a constant"), CompileError);
    }
}

TEST_SUITE("storage of rounded tiles") {
    TEST_CASE("is as long as the output, rounded up") {
        auto bytes_of_first = [](TailStrategy outer, TailStrategy inner, int length) {
            Var so("so"), si("si");
            Func first("first"), second("second"), out("out");
            first(x) = cast<uint8_t>(x);
            second(x) = first(x);
            out(x) = second(x);
            first.compute_root().store_in(MemoryType::Heap);
            out.split(x, xo, xi, 48, outer);
            second.compute_at(out, xo).split(x, so, si, 16, inner);
            Memory memory;
            Buffer<uint8_t> result = out.realize(&memory.context, {length});
            Lowered::compare(result, [](int i) { return uint8_t(i); });
            Lowered(out).check<uint8_t>({length}, [](int i) { return uint8_t(i); });
            return memory.largest.load();
        };
        using enum TailStrategy;
        for (TailStrategy inner : {RoundUp, ShiftInwards, GuardWithIf}) {
            CHECK(bytes_of_first(GuardWithIf, inner, 960) <= 980);
            CHECK(bytes_of_first(GuardWithIf, inner, 1000) <= 1020);
        }
        CHECK(bytes_of_first(ShiftInwards, RoundUp, 960) <= 980);
    }
    TEST_CASE("also of fused loops, and where a tile begins anywhere") {
        Var so("so"), si("si"), fused("fused");
        Func first("first"), second("second"), out("out");
        first(x, y) = x + 2 * y;
        second(x, y) = first(x, y) + 1;
        out(x, y) = second(x, y) * 2;
        first.compute_root();
        out.tile(x, y, xo, yo, xi, yi, 20, 3, TailStrategy::GuardWithIf);
        second.compute_at(out, xo).fuse(x, y, fused).split(fused, so, si, 8, TailStrategy::RoundUp);
        for (int width : {20, 33, 60}) {
            Lowered(out).check<int>({width, 7}, [](int i, int j) { return (i + 2 * j + 1) * 2; },
                                    {-5, 3});
        }
    }
}

TEST_SUITE("places on the stack that grow") {
    // Three stages in pieces of as many points as n says.
    struct Pieces {
        Param<int> n{"n"};
        Func a{"a"}, b{"b"}, c{"c"}, out{"out"};
        Pieces() {
            a(x) = x;
            b(x) = a(x) + a(x + 1);
            c(x) = b(x) + b(x + 1);
            out(x) = c(x) + c(x + 1);
            out.split(x, xo, xi, n);
            for (Func f : {a, b, c}) f.compute_at(out, xo).store_in(MemoryType::Stack);
        }
        int requests(int piece, int length) {
            Memory memory;
            n.set(piece);
            Buffer<int> result = out.realize(&memory.context, {length});
            Lowered::compare(result, [](int i) { return 8 * i + 12; });
            CHECK(memory.live == 0);
            return memory.requests;
        }
    };
    TEST_CASE("are kept over iterations, and shared by what does not live together") {
        CHECK(Pieces().requests(5000, 60000) == 2);
        CHECK(Pieces().requests(100, 1000) == 2);
    }
    TEST_CASE("are those of a task in a parallel loop") {
        Pieces p;
        p.out.parallel(xo);
        CHECK(p.requests(5000, 30000) == 6 * 2);
        Pieces outer;
        Var xoo("xoo");
        outer.out.split(xo, xoo, xo, 3).parallel(xoo);
        CHECK(outer.requests(5000, 30000) == 2 * 2);
    }
    TEST_CASE("grow where a later iteration needs more") {
        Func f("f"), out("out");
        f(x, y) = x + y;
        RDom r(0, 100);
        r.where(r <= y);
        out(y) = 0;
        out(y) += f(r, y);
        f.compute_at(out, y).store_in(MemoryType::Stack);
        Memory memory;
        Buffer<int> result = out.realize(&memory.context, {50});
        CHECK(memory.live == 0);
        CHECK(memory.requests <= 50);
        auto reference = [](int j) { return j * (j + 1) / 2 + j * (j + 1); };
        Lowered::compare(result, reference);
        Lowered(out).check<int>({50}, reference);
    }
    TEST_CASE("are freed when the pipeline fails") {
        Param<int> limit("limit");
        Pieces p;
        Func checked("checked");
        checked(x) = require(p.out(x) < limit, p.out(x), "too much at", x);
        for (Func f : {p.a, p.b, p.c}) f.compute_at(checked, xo);
        p.out.compute_at(checked, xo).store_in(MemoryType::Stack);
        checked.split(x, xo, xi, p.n);
        Memory memory;
        limit.set(1000);
        p.n.set(500);
        CHECK_THROWS_AS(checked.realize(&memory.context, {5000}), RuntimeError);
        CHECK(memory.live == 0);
    }
    TEST_CASE("fail where there is no more memory, and free what they had") {
        Pieces p;
        Memory memory;
        p.n.set(5000);
        static int left;
        left = 1;
        static Memory *counted_in;
        counted_in = &memory;
        memory.context.handlers.custom_malloc = [](JITUserContext *, size_t n) -> void * {
            if (left-- <= 0) return nullptr;
            counted_in->live++;
            return std::aligned_alloc(128, (n + 255) / 128 * 128);
        };
        CHECK_THROWS_WITH_AS(p.out.realize(&memory.context, {20000}), doctest::Contains("memory"),
                             RuntimeError);
        CHECK(memory.live == 0);
    }
    TEST_CASE("agree with the interpreter, in vectors and branches, too") {
        Param<int> n("n");
        Func a("a"), b("b"), out("out");
        a(x, y) = x + y;
        b(x, y) = a(x, y) * a(x + 1, y);
        out(x, y) = select(y % 2 == 0, a(x, y), b(x, y));
        out.split(x, xo, xi, n);
        a.compute_at(out, xo).store_in(MemoryType::Stack).vectorize(x, 8);
        b.compute_at(out, xo).store_in(MemoryType::Stack);
        Lowered l(out);
        n.set(40);
        l.check<int>({100, 6}, [](int i, int j) { return j % 2 ? (i + j) * (i + j + 1) : i + j; });
    }
}
