#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {
Var x("x"), k("k"), q("q"), d("d");
}

TEST_SUITE("scans computed in the loop of their consumer") {
    TEST_CASE("a running maximum") {
        Func s("s"), m("m"), o("o");
        RDom r(0, 20, "r");
        s(k) = (k * 7) % 13;
        m(k) = -1;
        m(r) = max(m(r - 1), s(r));
        o(x) = 0;
        o(x) = o(x) * 2 + m(r) - m(r - 1) + x;
        o.update().reorder(x, r);
        m.store_root().compute_at(o, r);
        Lowered l(o);
        INFO(l.text());
        l.check<int>({4}, [](int i) {
            int m = -1, sum = 0;
            for (int r = 0; r < 20; r++) {
                int old = m;
                m = std::max(m, r * 7 % 13);
                sum = sum * 2 + m - old + i;
            }
            return sum;
        });
        CHECK(l.flat() == "");
    }
}
