#include "base/symbol.h"
#include <doctest/doctest.h>
#include <thread>
#include <vector>

using tessera::Symbol;
using tessera::SymbolArena;
using tessera::SymbolScope;

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
    TEST_CASE("those of a scope are its arena's, of which each thread has its own") {
        const auto arena = std::make_shared<SymbolArena>(), inner = std::make_shared<SymbolArena>();
        Symbol a, b, elsewhere;
        {
            const SymbolScope scope(arena);
            a = Symbol::fresh("x");
            Symbol::interned("one of a scope that is nobody's");
            {
                const SymbolScope inner_scope(inner);
                b = Symbol::fresh("x");
            }
            std::jthread([&] { elsewhere = Symbol::fresh("x"); }).join();
            CHECK(Symbol::fresh("x") != a);
        }
        Symbol::fresh("x");
        CHECK(arena->size() == 2);
        CHECK(inner->size() == 1);
        CHECK(a != b);
        CHECK(a.id() != b.id());
        CHECK(elsewhere.id() != a.id());
    }
    TEST_CASE("a fresh one lives as long as it is used, wherever that is") {
        const size_t before = Symbol::number_of_counted();
        std::vector<Symbol> several;
        {
            Symbol a = Symbol::fresh("x"), b = a, c = std::move(b);
            several = {a, c, Symbol::fresh("y")};
            b = Symbol::fresh("z");
            b = a;
            CHECK(Symbol::number_of_counted() == before + 2);
        }
        CHECK(several[1].text() == "x");
        CHECK(several[2].text() == "y");
        std::jthread([several] { CHECK(several[0] == several[1]); }).join();
        several[2] = several[0];
        CHECK(Symbol::number_of_counted() == before + 1);
        several.clear();
        CHECK(Symbol::number_of_counted() == before);
    }
    TEST_CASE("those of an arena, and those that stand for their text, are not counted") {
        const size_t before = Symbol::number_of_counted();
        const Symbol interned = Symbol::interned("x");
        const auto arena = std::make_shared<SymbolArena>();
        const Symbol made = arena->make("x");
        CHECK(Symbol::number_of_counted() == before);
        CHECK(interned.is_interned());
        CHECK_FALSE(made.is_interned());
        CHECK_FALSE(Symbol::fresh("x").is_interned());
        CHECK_FALSE(Symbol().is_interned());
    }
}
