#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "lower/loops/let_scope.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("scopes of lets") {
    TEST_CASE("a let within an expression does not change what lets around it mean") {
        const Symbol a = Symbol::interned("a"), b = Symbol::interned("b");
        const ir::Expr n = ir::Variable::make(Int(32), Symbol::interned("n"));
        LetScope scope;
        scope.push_let(b, n);
        scope.push_let(a, ir::Variable::make(Int(32), b) + 1);
        const ir::Expr of_a = ir::Variable::make(Int(32), a);
        const auto expanded = [&](const ir::Expr &e) {
            return ir::to_string(algebra::simplify(scope.expand(e)));
        };
        CHECK(expanded(ir::Let::make(b, 7, of_a)) == "n + 1");
        CHECK(expanded(ir::Let::make(b, 7, ir::Variable::make(Int(32), b) + of_a)) == "n + 8");
        CHECK(expanded(of_a) == "n + 1");
    }
}
