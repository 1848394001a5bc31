// Updates that are scans, computed in the loop of what reads them: each point once, in as little
// storage as what is still read needs.
#include "error/refusal.h"
#include "stencil.h"

using namespace tessera;
using namespace tessera::test;

namespace {

Var x("x"), k("k"), q("q"), d("d"), qo("qo"), qi("qi");

// Returns the size of the only allocation of this name, as it is written.
std::string allocation_of(const Lowered &l, const std::string &name) {
    const std::string &text = l.text();
    const size_t at = text.find("allocate " + name + ": int32");
    if (at == text.npos) return "none";
    const size_t begin = text.find('[', at);
    return text.substr(begin, text.find(']', begin) + 1 - begin);
}

// o reads the running maximum m of s at r and before.
struct Maximum {
    Func s{"s"}, m{"m"}, o{"o"};
    RDom r;
    explicit Maximum(int first = 0, int count = 20, int scanned = 20) : r(first, count, "r") {
        RDom all(0, scanned, "all");
        s(k) = (k * 7) % 13;
        m(k) = -1;
        m(all) = max(m(all - 1), s(all));
        o(x) = 0;
        o(x) = o(x) * 2 + m(r) - m(r - 1) + x;
        o.update().reorder(x, r);
        m.store_root().compute_at(o, r);
    }
};

// Returns how often `counted` is called in one of the two runs.
int evaluations(const Lowered &l, const std::vector<int> &sizes) {
    Buffer<int> out(sizes);
    return calls_during([&] { l.run({out}); }) / 2;
}

}  // namespace

TEST_SUITE("scans in the loop of what reads them") {
    TEST_CASE("a running maximum is computed once per point, and two are stored") {
        Func s("s"), m("m"), o("o");
        RDom r(0, 20, "r"), all(0, 20, "all");
        m(k) = -1;
        m(all) = max(m(all - 1), counted((all * 7) % 13));
        o(x) = 0;
        o(x) = o(x) * 2 + m(r) - m(r - 1) + x;
        o.update().reorder(x, r);
        m.store_root().compute_at(o, r);
        Lowered l(o);
        l.check_definition({4});
        CHECK(evaluations(l, {4}) == 20);
        CHECK(allocation_of(l, "m") == "[2]");
    }
    TEST_CASE("also in the consumer's own domain") {
        Maximum p;
        Func o("o2");
        o(x) = 0;
        o(x) = o(x) * 2 + p.m(p.r) - p.m(p.r - 1) + x;
        o.update().reorder(x, p.r);
        p.m.store_root().compute_at(o, p.r);
        Lowered l(o);
        l.check_definition({4});
        CHECK(allocation_of(l, "m") == "[2]");
    }
    TEST_CASE("a scan that another one reads: a sum scaled by what the maximum grows") {
        Func m("m"), l("l"), o("o");
        RDom r(0, 30, "r"), a(0, 30, "a"), b(0, 30, "b");
        m(q, k) = -5;
        m(q, a) = max(m(q, a - 1), counted((a * 7 + q) % 13));
        l(q, k) = 1;
        l(q, b) = l(q, b - 1) * (1 + m(q, b) - m(q, b - 1)) + counted(m(q, b) * b);
        o(d, q) = 0;
        o(d, q) = o(d, q) * (1 + m(q, r) - m(q, r - 1)) + l(q, r) * d + l(q, r - 1);
        o.update().reorder(d, q, r);
        for (Func f : {m, l}) f.store_root().compute_at(o, r);
        Lowered lowered(o);
        lowered.check_definition({3, 5});
        CHECK(evaluations(lowered, {3, 5}) == 2 * 30 * 5);
        CHECK(lowered.text().find("% 2") != std::string::npos);
    }
    TEST_CASE("vectors, blocks of rows, and a maximum per block of keys") {
        Func s("s"), top("top"), m("m"), part("part"), o("o");
        RDom ri(0, 8, "ri"), rj(0, 8, "rj"), rb(0, 6, "rb"), r(0, 6, "r");
        RVar b("b");
        s(k, q) = counted((k * 7 + q * 3) % 31);
        top(q, k) = -100;
        top(q, k) = max(top(q, k), s(k * 8 + ri, q));
        m(q, k) = -200;
        m(q, rb) = max(m(q, rb - 1), top(q, rb));
        part(d, q, k) += (m(q, k) - s(k * 8 + rj, q)) * (d + k);
        o(d, q) = 0;
        o(d, q) = o(d, q) * (m(q, r) - m(q, r - 1)) + part(d, q, r);
        o.bound(q, 0, 16).bound(d, 0, 8);
        o.update().split(q, qo, qi, 4).reorder(d, qi, r, qo).vectorize(d, 4).parallel(qo);
        s.compute_at(o, r).vectorize(q, 4);
        top.compute_at(o, r).vectorize(q, 4).update().reorder(q, ri).vectorize(q, 4);
        m.store_at(o, qo).compute_at(o, r).vectorize(q, 4).update().vectorize(q, 4);
        part.compute_at(o, r).vectorize(d, 4).update().reorder(d, q, rj).vectorize(d, 4);
        Lowered l(o);
        l.check_definition({8, 16});
        CHECK(evaluations(l, {8, 16}) == 16 * 48);
        CHECK(allocation_of(l, "m") == "[4, 2]");
    }
    TEST_CASE("what begins after the scan computes all before in its first iteration") {
        Maximum p(5, 12);
        Lowered l(p.o);
        l.check_definition({4});
        CHECK(allocation_of(l, "m") == "[8]");
        Maximum beyond(-3, 30);
        Lowered(beyond.o).check_definition({4});
    }
    TEST_CASE("several points at a time, and a domain that is known when it runs") {
        Param<int> n("n");
        Func m("m"), o("o");
        RDom r(0, n, "r"), a(1, 3 * n, "a");
        m(k) = k;
        m(a) = m(a) * 3 + m(a - 1) + m(a - 2);
        o(x) = 0;
        o(x) += m(3 * r) * x + m(3 * r + 2);
        o.update().reorder(x, r);
        m.store_root().compute_at(o, r);
        Lowered l(o);
        for (int count : {1, 2, 7}) {
            n.set(count);
            l.check_definition({5});
        }
    }
    TEST_CASE("what the update begins with is the function's own value") {
        Func m("m"), o("o");
        RDom r(0, 9, "r"), a(1, 8, "a");
        m(k) = counted(k * k);
        m(a) += m(a - 1);
        o(x) = 0;
        o(x) += m(r) * x;
        o.update().reorder(x, r);
        m.store_root().compute_at(o, r);
        Lowered l(o);
        l.check_definition({5});
        CHECK(evaluations(l, {5}) == 9);
    }
    TEST_CASE("an update before the scan, a predicate, and a further variable of the reduction") {
        Func m("m"), o("o");
        RDom r(0, 9, "r"), a(0, 9, "a"), b(0, 4, 0, 9, "b");
        b.where((b.x + b.y) % 3 != 1);
        m(q, k) = q;
        m(q, a) += 2 * a;
        m(q, b.y) = m(q, b.y) * 3 + m(q, b.y - 1) + b.x;
        o(q) = 0;
        o(q) += m(q, r) - 2 * m(q, r - 1);
        o.update().reorder(q, r);
        m.store_root().compute_at(o, r);
        Lowered l(o);
        l.check_definition({5});
        CHECK(l.regions().find("select(") != std::string::npos);
    }
    TEST_CASE("Tuples") {
        Func m("m"), o("o");
        RDom r(0, 12, "r"), a(0, 12, "a");
        m(k) = Tuple(-1, 0);
        const Expr top = max(m(a - 1)[0], (a * 5) % 11);
        m(a) = Tuple(top, m(a - 1)[1] * (1 + top - m(a - 1)[0]) + a);
        o(x) = 0;
        o(x) = o(x) * (m(r)[0] - m(r - 1)[0]) + m(r)[1] + x;
        o.update().reorder(x, r);
        m.store_root().compute_at(o, r).fold_storage(k, 2);
        Lowered l(o);
        l.check_definition({4});
        CHECK(l.count("of m: int32[2] in Auto") == 2);
    }
    TEST_CASE("two consumers in one loop, and one that needs the scan for each of its rows") {
        Maximum p;
        p.m.store_at(p.o, x);
        Func o("rows");
        RDom r(0, 20, "r");
        o(x) = 0;
        o(x) = o(x) * 2 + p.m(r) - p.m(r - 3) + x;
        p.m.store_at(o, x).compute_at(o, r);
        Lowered l(o);
        l.check_definition({4});
        CHECK(allocation_of(l, "m") == "[4]");
    }
}

TEST_SUITE("what scans read") {
    TEST_CASE("dimensions in which nothing slides are read as far as they are needed") {
        ImageParam in(Int(32), 2, "in");
        Func s("s"), m("m"), o("o"), out("out");
        Var xi("xi"), block("block");
        RDom r(0, 10, "r"), a(0, 10, "a");
        s(x, k) = in(x, k) * 3;
        m(x, k) = 0;
        m(x, a) = max(m(x, a - 1), s(x, a));
        o(x) = 0;
        o(x) = o(x) * 2 + m(x, r) - m(x, r - 1);
        out(x) = o(x);
        out.split(x, block, x, 12, TailStrategy::ShiftInwards);
        o.compute_at(out, block).update().reorder(x, r);
        m.store_at(out, block).compute_at(o, r);
        s.compute_at(o, r).split(x, x, xi, 4, TailStrategy::ShiftInwards).vectorize(xi);
        Buffer<int> image(30, 10);  // has nothing beyond what is read
        image.for_each_element([&](int i, int j) { image(i, j) = i * j % 7; });
        in.set(image);
        Lowered l(out);
        l.check<int>({30}, [&](int i) {
            int sum = 0, top = 0;
            for (int j = 0; j < 10; j++) {
                const int before = top;
                top = std::max(top, 3 * image(i, j));
                sum = sum * 2 + top - before;
            }
            return sum;
        });
    }
}

TEST_SUITE("updates that are no scans") {
    // Returns the values' check of a program whose updates do not slide.
    void stays_whole(Func m, const RDom &r) {
        Func o("o");
        o(x) = 0;
        o(x) = o(x) * 2 + m(r) + x;
        o.update().reorder(x, r);
        m.store_root().compute_at(o, r);
        Lowered l(o);
        l.check_definition({3});
        CHECK(l.regions().find(" == 0, ") == std::string::npos);
    }
    TEST_CASE("they read points behind their own, or anywhere") {
        RDom r(0, 9, "r"), a(0, 9, "a");
        Func behind("behind"), anywhere("anywhere");
        behind(k) = k;
        behind(a) += behind(a + 1);
        stays_whole(behind, r);
        anywhere(k) = k;
        anywhere(a) += anywhere((a * 5) % 9);
        stays_whole(anywhere, r);
    }
    TEST_CASE("a later update changes what has been read") {
        RDom r(0, 9, "r"), a(0, 9, "a");
        Func m("m");
        m(k) = k;
        m(a) += m(a - 1);
        m(a) *= 2;
        stays_whole(m, r);
        Func pure("pure");
        pure(k) = k;
        pure(a) += pure(a - 1);
        pure(k) += 3;
        stays_whole(pure, r);
    }
    TEST_CASE("they pass over the points several times, or in a loop that is split") {
        RDom r(0, 9, "r"), a(0, 9, 0, 3, "a"), b(0, 8, "b");
        Func again("again"), divided("divided");
        again(k) = k;
        again(a.x) += again(a.x - 1) + a.y;
        stays_whole(again, r);
        RVar bo("bo"), bi("bi");
        divided(k) = k;
        divided(b) += divided(b - 1);
        divided.update().split(b, bo, bi, 4);
        stays_whole(divided, r);
    }
}

TEST_SUITE("folds of scans that are asked for") {
    TEST_CASE("they are done, larger than needed as well") {
        for (int factor : {2, 3, 16}) {
            Maximum p;
            p.m.fold_storage(k, factor);
            Lowered l(p.o);
            l.check_definition({4});
            CHECK(allocation_of(l, "m") == "[" + std::to_string(factor) + "]");
        }
    }
    TEST_CASE("they are refused where they are too small, or elements are read later") {
        Maximum p;
        p.m.fold_storage(k, 1);
        const auto line = std::source_location::current().line() - 1;
        REFUSED_AT(line, Lowered(p.o), "an iteration of the loop o.r$x needs 2 points");
        Maximum late;
        Func o("late");
        o(x) = 0;
        o(x) += late.m(0) + late.m(late.r);
        o.update().reorder(x, late.r);
        late.m.store_root().compute_at(o, late.r);
        late.m.fold_storage(k, 8);
        const auto other = std::source_location::current().line() - 1;
        REFUSED_AT(other, Lowered(o), "leave fold_storage out");
    }
}
