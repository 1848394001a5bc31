#include "ir/operators.h"
#include "program/distinct_places.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::program;

namespace {

const Symbol x = Symbol::interned("x"), y = Symbol::interned("y"), p = Symbol::interned("p"),
             r = Symbol::interned("r"), s = Symbol::interned("s"), t = Symbol::interned("t");

Expr at(Symbol v) { return ir::Variable::make(Int(32), v); }

// p and r from 0, s from -3; t has an extent that is not known.
const std::vector<ReductionVariable> domain{{p, 0, 5}, {r, 0, 3}, {s, -3, 8}, {t, 0, at(x)}};

bool apart(const std::vector<Expr> &args, const std::vector<Symbol> &variables) {
    return are_apart(args, variables, domain);
}

}  // namespace

TEST_SUITE("distinct places") {
    TEST_CASE("variables by themselves, of any range") {
        CHECK(apart({at(x), at(y) + 1}, {x, y}));
        CHECK(apart({at(y) - 2 * at(x), at(y)}, {x, y}));
        CHECK_FALSE(apart({at(x)}, {x, y}));
        CHECK_FALSE(apart({at(x) + at(y)}, {x, y}));
        CHECK(apart({at(x) + at(y)}, {x}));
        CHECK(apart({Expr(3)}, {}));
    }
    TEST_CASE("digits of one argument") {
        CHECK(apart({3 * at(p) + at(r)}, {p, r}));
        CHECK(apart({at(r) - 3 * at(p)}, {p, r}));
        CHECK(apart({at(r) + 3 * at(t)}, {t, r}));
        CHECK_FALSE(apart({2 * at(p) + at(r)}, {p, r}));
        CHECK_FALSE(apart({at(t) + 3 * at(r)}, {t, r}));
        CHECK(apart({24 * at(p) + 8 * at(r) + at(s)}, {p, r, s}));
        CHECK_FALSE(apart({24 * at(p) + 7 * at(r) + at(s)}, {p, r, s}));
    }
    TEST_CASE("quotients, remainders and sums that tell together, of small constant ranges") {
        CHECK(apart({at(s) / 4, at(s) % 4}, {s}));
        CHECK_FALSE(apart({at(s) / 4, at(s) % 3}, {s}));
        CHECK(apart({at(p) / 2, at(p) % 2 + 2 * at(r)}, {p, r}));
        CHECK(apart({at(p) + at(r), at(p) - at(r)}, {p, r}));
        CHECK(apart({at(p) + at(r) + at(x), at(p) - at(r) + at(x)}, {p, r}));
        CHECK_FALSE(apart({at(t) / 4, at(t) % 4}, {t}));
        CHECK_FALSE(apart({(at(p) + at(x)) / 2, at(p) % 2}, {p}));
    }
}
