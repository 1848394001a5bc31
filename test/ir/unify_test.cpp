#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/unify.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;

namespace {

Expr variable(const char *name, Type t = Int(32)) {
    return Variable::make(t, Symbol::interned(name));
}
const Expr x = variable("x"), a = variable("a"), b = variable("b"), c = variable("c");
const Expr g = variable("g"), h = variable("h"), k = variable("k");  // holes
const std::vector<Symbol> holes = {Symbol::interned("g"), Symbol::interned("h"),
                                   Symbol::interned("k")};

// "g = ..., h = ..." of those that are found; "none".
std::string found(const Expr &pattern, const Expr &e) {
    const auto all = unify(pattern, e, holes);
    if (!all) return "none";
    std::string text;
    for (Symbol hole : holes) {
        if (!all->contains(hole)) continue;
        text += str(text.empty() ? "" : ", ", hole, " = ", all->at(hole));
    }
    return text;
}

}  // namespace

TEST_SUITE("unify") {
    TEST_CASE("what has no holes is equal, but for the order of operands") {
        CHECK(found(x + 1, x + 1) == "");
        CHECK(found(x + 1, x + 2) == "none");
        CHECK(found(a * b + c, c + b * a) == "");
        CHECK(found(a - b, a - b) == "");
        CHECK(found(a - b, b - a) == "none");
        CHECK(found(min(a, max(b, c)), min(max(c, b), a)) == "");
        CHECK(found(a / b, b / a) == "none");
    }
    TEST_CASE("a hole among operands takes what is left of them") {
        CHECK(found(x + h, a + x) == "h = a");
        CHECK(found(x + h, a + (x - b) + c) == "h = a - b + c");
        CHECK(found(x + h, a - x) == "none");
        CHECK(found(x - h, x - a - b) == "h = a + b");
        CHECK(found(x - h, a + x) == "h = 0 - a");
        CHECK(found(x + h, x) == "none");
        CHECK(found(x * h, a * (x * b)) == "h = a * b");
        CHECK(found(min(x, h), min(min(a, x), b)) == "h = min(a, b)");
        CHECK(found(x + g + h, a + b + x + c) == "g = a, h = b + c");
    }
    TEST_CASE("products within sums, whichever they are") {
        CHECK(found(g * h + k, c + a * b) == "g = a, h = b, k = c");
        CHECK(found(g * h + k, x * (a + b) + c + 1) == "g = x, h = a + b, k = c + 1");
        CHECK(found(g * h, a + b) == "none");
    }
    TEST_CASE("a hole in two places is the same in both, and found by trying all") {
        CHECK(found(h * h, (a + b) * (a + b)) == "h = a + b");
        CHECK(found(h * h, a * b) == "none");
        CHECK(found(g * x + h * x, b * x + x * a) == "g = b, h = a");
        CHECK(found(g * 2 + g * h, a * b + a * 2) == "g = a, h = b");
        CHECK(found(min(g, 4) + g, x + min(4, x)) == "g = x");
    }
    TEST_CASE("through other nodes, and of their types only") {
        CHECK(found(cast(Int(32), cast(UInt(8), h)) + x, x + cast(Int(32), cast(UInt(8), a + 1))) ==
              "h = a + 1");
        CHECK(found(select(x < g, h, k), select(x < a, b, c)) == "g = a, h = b, k = c");
        CHECK(found(select(x < g, h, k), select(x <= a, b, c)) == "none");
        CHECK(found(h, variable("f", Float(32))) == "none");
        CHECK(found(h / 2, a / 3) == "none");
    }
    TEST_CASE("intrinsics that commute, and those that do not") {
        auto op = [](Intrinsic i, const Expr &p, const Expr &q) {
            return call(Int(32), i, {p, q});
        };
        CHECK(found(op(Intrinsic::bitwise_xor, x, h),
                    op(Intrinsic::bitwise_xor, a, op(Intrinsic::bitwise_xor, b, x))) ==
              "h = bitwise_xor(a, b)");
        CHECK(found(op(Intrinsic::shift_left, x, h), op(Intrinsic::shift_left, a, x)) == "none");
        CHECK(found(op(Intrinsic::saturating_add, x, h), op(Intrinsic::saturating_add, a, x)) ==
              "none");
    }
    TEST_CASE("put in, they give the expression") {
        const Expr pattern = g * h + k, e = (a + 1) * b - c + min(a, b);
        const auto all = unify(pattern, e, holes);
        REQUIRE(all);
        CHECK(equal(all->at(holes[0]), a + 1));
        CHECK(equal(all->at(holes[2]), 0 - c + min(a, b)));
    }
}
