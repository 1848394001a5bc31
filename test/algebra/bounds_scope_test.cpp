#include "algebra/bounds_scope.h"
#include "algebra/prove.h"
#include "ir/operators.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::algebra;

TEST_SUITE("bounds scope") {
    TEST_CASE("constant bounds within it are those outside, with facts and without") {
        const ir::Expr n = ir::Variable::make(Int(32), Symbol::interned("n"));
        const ir::Expr e = min(n, ir::IntImm::make(Int(32), 7)) * 2;
        const Facts facts = Facts().between(Symbol::interned("n"), 0, 3);
        CHECK(constant_upper_bound(e, facts) == 6);
        const BoundsScope outer;
        for (int i = 0; i < 2; i++) {
            CHECK(constant_upper_bound(e) == 14);
            CHECK_FALSE(constant_lower_bound(e));
            CHECK(constant_upper_bound(e, facts) == 6);  // what was remembered knows nothing of it
            CHECK(constant_lower_bound(e, facts) == 0);
            const BoundsScope inner;
            CHECK(constant_upper_bound(e + 1) == 15);
        }
        CHECK(constant_upper_bound(e + 2) == 16);
    }
}
