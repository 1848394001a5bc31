#include "ir/never_nan.h"
#include "ir/operators.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;

TEST_SUITE("never_nan") {
    TEST_CASE("what is bound to a name is known within its let alone") {
        const Symbol t = Symbol::interned("t"), a = Symbol::interned("a");
        const Expr unknown = Variable::make(Float(32), a), named = Variable::make(Float(32), t);
        // Copies of an unrolled loop share the body, and bind its name to different values.
        const Expr body = max(unknown, named);
        NeverNan is_number([](const Expr &) { return false; });
        CHECK(is_number(Let::make(t, make_const(Float(32), 1), body)));
        CHECK_FALSE(is_number(Let::make(t, unknown, body)));
        CHECK_FALSE(is_number(body));
        CHECK(is_number(Let::make(t, make_const(Float(32), 2), body)));
    }
}
