#include "ir/operators.h"
#include "lower/pass_test.h"
#include "lower/with_lets.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("with_lets") {
    TEST_CASE("the first let is outermost") {
        Symbol a = Symbol::interned("a"), b = Symbol::interned("b");
        ir::Expr first = ir::Variable::make(Int(32), a);
        ir::Stmt body = ir::Evaluate::make(ir::Variable::make(Int(32), b));
        CHECK(ir::to_string(with_lets({{a, 1}, {b, first + 1}}, body)) ==
              printed("let a = 1\nlet b = a + 1\nb"));
    }
    TEST_CASE("no lets are the body itself") {
        ir::Stmt body = ir::parse_stmt("f[0] = 1");
        CHECK(with_lets({}, body).same_as(body));
    }
}
