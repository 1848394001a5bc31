#include "ir/operators.h"
#include "ir/printer.h"
#include "program/associativity.h"
#include "program/define.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::program;
using ir::Expr;

namespace {

const Symbol x = Symbol::interned("x");

// An update of f(x), of one or two values of type `t`, from its old values and those of g.
struct Case {
    FunctionRef f, g;
    std::vector<Expr> old, fresh;
    Expr at_x = ir::Variable::make(Int(32), x);

    explicit Case(std::vector<Type> types) {
        f = make_function(Symbol::fresh("f"));
        g = make_function(Symbol::fresh("g"));
        std::vector<Expr> zeros;
        for (Type t : types) zeros.push_back(ir::make_zero(t));
        define_pure(f, {x}, zeros, {});
        define_pure(g, {x}, zeros, {});
        for (size_t i = 0; i < types.size(); i++) {
            old.push_back(call(f, {at_x}, int(i)));
            fresh.push_back(call(g, {at_x}, int(i)));
        }
    }
    std::optional<AssociativeUpdate> prove(const std::vector<Expr> &values) {
        define_update(f, {at_x}, values, {});
        return prove_associativity(*f, *f->stages.back());
    }
};

std::string identity(const std::optional<AssociativeUpdate> &u, size_t i = 0) {
    return u ? ir::to_string(u->identities[i]) : "not proven";
}

Expr bits(Expr a, Expr b, ir::Intrinsic op) { return ir::call(a.type(), op, {a, b}); }

}  // namespace

TEST_SUITE("associativity") {
    TEST_CASE("sums, products, minima and maxima, with their identities") {
        Case c({Int(32)});
        Expr f = c.old[0], g = c.fresh[0];
        CHECK(identity(c.prove({f + g})) == "0");
        CHECK(identity(c.prove({g * 2 + f + 1})) == "0");
        CHECK(identity(c.prove({f - g})) == "0");
        CHECK(identity(c.prove({f * g})) == "1");
        CHECK(identity(c.prove({ir::min(f, g)})) == "2147483647");
        CHECK(identity(c.prove({ir::max(g, f)})) == "-2147483648");
        CHECK(identity(c.prove({ir::select(g < f, g, f)})) == "2147483647");
        CHECK(identity(c.prove({ir::select(f > g, f, g)})) == "-2147483648");
    }
    TEST_CASE("infinity is an identity beside numbers alone, a NaN always is") {
        Case c({Float(32)});
        Expr f = c.old[0], g = c.fresh[0];
        CHECK(identity(c.prove({ir::max(f, g)})) == "-inf");
        CHECK(identity(c.prove({ir::min(g, f)})) == "inf");  // after a maximum of numbers
        CHECK(c.prove({ir::select(g < f, g, f)}));
        c.prove({g});  // which may be a NaN
        CHECK(identity(c.prove({ir::max(f, g)})) == "nan");
        CHECK(identity(c.prove({ir::min(f, g)})) == "nan");
        const auto select = c.prove({ir::select(g < f, g, f)});
        REQUIRE(select);
        CHECK(identity(select) == "inf");
        CHECK(select->operators[0].as<ir::Select>());  // min would leave out the old NaN
    }
    TEST_CASE("operations on bits and bools") {
        Case c({UInt(8)});
        Expr f = c.old[0], g = c.fresh[0];
        CHECK(identity(c.prove({bits(f, g, ir::Intrinsic::bitwise_or)})) == "0:uint8");
        CHECK(identity(c.prove({bits(g, f, ir::Intrinsic::bitwise_and)})) == "255:uint8");
        CHECK(identity(c.prove({bits(g, f, ir::Intrinsic::bitwise_xor)})) == "0:uint8");
        CHECK(identity(c.prove({bits(f, g, ir::Intrinsic::saturating_add)})) == "0:uint8");
        Case b({Bool()});
        CHECK(identity(b.prove({b.old[0] && b.fresh[0]})) == "true");
        CHECK(identity(b.prove({b.old[0] || b.fresh[0]})) == "false");
    }
    TEST_CASE("several values, each by itself") {
        Case c({Int(32), Float(32)});
        auto u = c.prove({c.old[0] + c.fresh[0], ir::max(c.old[1], c.fresh[1])});
        CHECK(identity(u, 0) == "0");
        REQUIRE(u);
        CHECK(u->commutative);
    }
    TEST_CASE("the place of an extremum goes with it") {
        Case c({Int(32), Float(32)});
        Expr better = c.fresh[1] < c.old[1];
        auto u = c.prove(
            {ir::select(better, c.fresh[0], c.old[0]), ir::select(better, c.fresh[1], c.old[1])});
        REQUIRE(u);
        CHECK(u->has_identities());
        CHECK(identity(u, 1) == "inf");
        // A minimum goes on from a NaN, with the value that came with it.
        Case d({Int(32), Float(32)});
        const std::vector<Expr> least = {ir::select(d.fresh[1] < d.old[1], d.fresh[0], d.old[0]),
                                         ir::min(d.old[1], d.fresh[1])};
        CHECK(d.prove(least));
        d.prove(d.fresh);  // which may be a NaN
        CHECK_FALSE(d.prove(least));
    }
    TEST_CASE("products of complex numbers") {
        Case c({Float(32), Float(32)});
        Expr r = c.old[0], i = c.old[1], a = c.fresh[0], b = c.fresh[1];
        auto u = c.prove({r * a - i * b, r * b + i * a});
        REQUIRE(u);
        CHECK(identity(u, 0) == "1.0");
        CHECK(identity(u, 1) == "0.0");
        CHECK_FALSE(c.prove({r * a - i * b, r * b - i * a}));
    }
    TEST_CASE("what overwrites is associative, but has no identity") {
        Case c({Int(32)});
        auto u = c.prove({c.fresh[0]});
        REQUIRE(u);
        CHECK_FALSE(u->commutative);
        CHECK_FALSE(u->has_identities());
    }
    TEST_CASE("what is not associative is not proven") {
        Case c({Int(32)});
        Expr f = c.old[0], g = c.fresh[0];
        CHECK_FALSE(c.prove({g - f}));
        CHECK_FALSE(c.prove({f * 2 + g}));
        CHECK_FALSE(c.prove({f / g}));
        CHECK_FALSE(c.prove({f + f}));
        CHECK_FALSE(c.prove({f * f * g}));
        CHECK_FALSE(c.prove({ir::select(g < f, g + 1, f)}));
        Case s({Int(8)});
        CHECK_FALSE(s.prove({bits(s.old[0], s.fresh[0], ir::Intrinsic::saturating_add)}));
    }
}
