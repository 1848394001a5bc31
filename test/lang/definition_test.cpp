#include "ir/equal.h"
#include "ir/substitute.h"
#include <doctest/doctest.h>
#include <tessera.h>

using namespace tessera;

TEST_SUITE("definitions") {
    TEST_CASE("a Func has the arguments, values and types that it is defined with") {
        Var x("x"), y("y");
        Func f("f");
        CHECK_FALSE(f.defined());
        f(x, y) = cast<uint8_t>(x + y);
        CHECK(f.defined());
        CHECK(f.name() == "f");
        CHECK(f.dimensions() == 2);
        CHECK(f.args()[1].same_as(y));
        CHECK(f.type() == UInt(8));
        CHECK(f.value().type() == UInt(8));
        CHECK_FALSE(f.has_update_definition());
    }
    TEST_CASE("what is read of a Buffer or an ImageParam is not assigned to") {
        Buffer<int> b(4);
        ImageParam image(Int(32), 1);
        Func f;
        Var x;
        static_assert(!std::is_assignable_v<decltype(b(x)), Expr>);
        static_assert(!std::is_assignable_v<decltype(b(x)), int>);
        static_assert(!std::is_assignable_v<decltype(image(x)), Expr>);
        static_assert(std::is_assignable_v<Expr &, decltype(b(x))>);
        static_assert(std::is_assignable_v<decltype(f(x)), Expr>);
    }
    TEST_CASE("an update has the variables of its domain") {
        Var x("x");
        Func f("f");
        RDom r(0, 10, 3, 7, "r");
        f(x) = 0;
        f(x) += r.x * r.y;
        REQUIRE(f.num_update_definitions() == 1);
        CHECK(f.rvars().size() == 2);
        CHECK(f.rvars()[0].name() == "r$x");
        CHECK(f.has_update_definition());
        REQUIRE(f.update_args().size() == 1);
        CHECK(ir::to_string(f.update_args()[0]) == "x");
        CHECK(f.update().name() == "f.update(0)");
        CHECK(f.update().dump_argument_list() == "Vars: r$x, r$y, x\n");
        f(r.x) = f(r.x) + 7;
        CHECK(ir::to_string(f.update_args(1)[0]) == "r$x");
        auto is_of = [](const Expr &e, const Expr &of) { return ir::equal(e, of); };
        CHECK(is_of(f.update_value(1), f(r.x) + 7));
        REQUIRE(f.update_values(1).size() == 1);
        CHECK(is_of(f.update_values(1)[0], f.update_value(1)));
        CHECK_FALSE(is_of(f.update_value(1), f.value()));
    }
    TEST_CASE("a Func of given types and dimensions takes no other definition") {
        Var x("x"), y("y");
        Func pair({Int(32), Float(32)}, 2, "pair");
        CHECK_THROWS_WITH_AS((pair(x) = Tuple(x, 1.0f)), doctest::Contains("dimension"),
                             CompileError);
        CHECK_THROWS_WITH_AS((pair(x, y) = Tuple(1.0f, x)), doctest::Contains("int32"),
                             CompileError);
        CHECK_THROWS_AS((pair(x, y) = x), CompileError);
        pair(x, y) = Tuple(x, 1.0f);
        CHECK(pair.types() == std::vector<Type>{Int(32), Float(32)});
    }
    TEST_CASE("an update of a Func without a definition begins with zero or one") {
        Var x("x");
        RDom r(0, 10);
        Func sum_of("sum_of"), product_of("product_of"), less("less"), parts("parts");
        sum_of(x) += x * r;
        product_of(r) *= 2.0f;
        less(x) -= x * r;
        parts(x) /= 2.0f;
        CHECK(ir::is_zero(less.value()));
        CHECK(ir::is_one(parts.value()));
        CHECK(evaluate<int>(ir::substitute(x.symbol(), 3, less.value())) == 0);
        CHECK(ir::is_zero(sum_of.value()));
        CHECK(ir::is_one(product_of.value()));
        CHECK(product_of.type() == Float(32));
    }
    TEST_CASE("the placeholder stands for as many dimensions as there are") {
        Var x("x"), y("y"), c("c");
        Func f, g, h;
        f(x, y, c) = x + y + c;
        g(_) = f(_) + 1;
        CHECK(g.dimensions() == 3);
        h(x, _) = g(x, _) * 2;
        CHECK(h.dimensions() == 3);
        CHECK(h.args()[1].same_as(_0));
    }
    TEST_CASE("values of Funcs are chosen from as expressions") {
        Var x("x");
        Func f("f"), g("g");
        f(x) = 1;
        g(x) = 2;
        Expr first = select(x < 1, f(x), g(x));
        Expr second = select(x < 1, f(x), x < 2, g(x), f(x + 1));
        Expr third = mux(x, {f(x), g(x), f(x + 2)});
        for (const Expr &e : {first, second, third}) CHECK(e.type() == Int(32));
    }
    TEST_CASE("a Func may have several values") {
        Var x("x");
        Func f, g;
        f(x) = Tuple(x, 2.0f * x);
        CHECK(f.outputs() == 2);
        RDom r(0, 5);
        f(r)[1] += 1.0f;
        CHECK(f.update_values().size() == 2);
        g(x) = f(x)[0] + f(x)[1];
        CHECK(g.type() == Float(32));
    }
}
