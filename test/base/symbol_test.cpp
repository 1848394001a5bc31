#include "base/symbol.h"
#include <doctest/doctest.h>

using tessera::Symbol;

TEST_SUITE("Symbol") {
    TEST_CASE("two fresh symbols spelled alike stay different") {
        Symbol a = Symbol::fresh("x"), b = Symbol::fresh("x");
        CHECK(a != b);
        CHECK(a.text() == b.text());
        CHECK(a < b);
    }
    TEST_CASE("an interned symbol is the same everywhere, and no fresh one") {
        CHECK(Symbol::interned("x") == Symbol::interned("x"));
        CHECK(Symbol::interned("x") != Symbol::fresh("x"));
        CHECK(Symbol::interned("x") != Symbol::interned("y"));
    }
    TEST_CASE("no symbol is not any symbol") {
        CHECK_FALSE(Symbol().defined());
        CHECK(Symbol() != Symbol::fresh(""));
    }
}
