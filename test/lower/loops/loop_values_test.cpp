#include "ir/operators.h"
#include "ir/printer.h"
#include "lower/loops/loop_values.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;
using lower::LoopValues;

namespace {

struct Name {
    explicit Name(const char *text)
        : symbol(Symbol::fresh(text)), expr(Variable::make(Int(32), symbol)) {}
    Symbol symbol;
    Expr expr;
};

std::string bounds(const Expr &e, LoopValues &loops) {
    const auto [min, max] = algebra::bounds_of_expr(e, loops.scope_of(e));
    return to_string(min) + " .. " + to_string(max);
}

}  // namespace

TEST_SUITE("loop_values") {
    TEST_CASE("a loop is known through those that its ends name") {
        const Name n("n"), y("y"), x("x"), z("z");
        LoopValues loops;
        loops.push(z.symbol, 0, n.expr);
        loops.push(y.symbol, 0, 10);
        loops.push(x.symbol, y.expr, 5);
        CHECK(bounds(x.expr + n.expr, loops) == "n .. n + 13");
        CHECK_FALSE(loops.scope_of(x.expr).find(z.symbol));
    }
    TEST_CASE("a loop that was left is none, and what follows may have its name") {
        const Name x("x");
        LoopValues loops;
        loops.push(x.symbol, 0, 10);
        CHECK(bounds(x.expr, loops) == "0 .. 9");
        loops.pop();
        CHECK(loops.scope_of(x.expr).empty());
        loops.push(x.symbol, 3, 4);
        CHECK(bounds(x.expr, loops) == "3 .. 6");
    }
    TEST_CASE("loops are known one after the other, as questions name them") {
        const Name y("y"), x("x");
        LoopValues loops;
        loops.push(y.symbol, 1, 2);
        loops.push(x.symbol, y.expr * 8, 8);
        CHECK(bounds(y.expr, loops) == "1 .. 2");
        CHECK(bounds(x.expr, loops) == "8 .. 23");
        loops.pop();
        CHECK(bounds(y.expr, loops) == "1 .. 2");
    }
}
