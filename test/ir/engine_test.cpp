#include "base/large_stack.h"
#include "ir/equal.h"
#include "ir/match.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "random_ir.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;

namespace {

class NothingChanges final : public Mutator {};

// Every 3 becomes a 4.
class ThreeToFour final : public Mutator {
public:
    using Mutator::Mutator;
    int visits = 0;

private:
    Expr visit(const IntImm &i) override { return i.value == 3 ? Expr(4) : Expr(&i); }
    Expr visit(const Add &add) override {
        visits++;
        return Mutator::visit(add);
    }
};

class CountAdds final : public Visitor {
public:
    using Visitor::Visitor;
    int adds = 0;

private:
    void visit(const Add &add) override {
        adds++;
        Visitor::visit(add);
    }
};

// x, x + x, (x + x) + (x + x), ...: 2^n leaves.
Expr doubled(Expr e, int n) {
    for (int i = 0; i < n; i++) e = Add::make(e, e);
    return e;
}

}  // namespace

TEST_SUITE("match") {
    TEST_CASE("the first case of the node's kind is taken") {
        auto kind = [](const Expr &e) {
            return match(
                e, [](const IntImm &) { return std::string("int"); },
                [](const Add &) { return std::string("add"); }, otherwise(std::string("other")));
        };
        CHECK(kind(3) == "int");
        CHECK(kind(parse_expr("x + 1")) == "add");
        CHECK(kind(parse_expr("x - 1")) == "other");
        CHECK(kind(Expr()) == "other");
    }
    TEST_CASE("statements are matched too, and the node is handed over") {
        Stmt s = parse_stmt("for i in [2, +3): no_op");
        Expr extent = match(s, [](const For &f) { return f.extent; }, otherwise(Expr()));
        CHECK(is_const(extent, 3));
    }
}

TEST_SUITE("Mutator") {
    TEST_CASE("what does not change is shared, for every kind of node") {
        for (uint32_t seed = 0; seed < 100; seed++) {
            CAPTURE(seed);
            Stmt s = RandomIR(seed).stmt(3);
            CHECK(NothingChanges()(s).same_as(s));
        }
    }
    TEST_CASE("what changes is rebuilt, the rest is shared") {
        Stmt before = parse_stmt("f[0] = 3\nif x < 3:\n    g[1] = y * y\n");
        Stmt after = ThreeToFour()(before);
        CHECK(to_string(after) == "f[0] = 4\nif x < 4:\n    g[1] = y * y\n");
        CHECK(after.as<Block>()->stmts[1].as<IfThenElse>()->then_case.same_as(
            before.as<Block>()->stmts[1].as<IfThenElse>()->then_case));
    }
    TEST_CASE("children in every kind of field are reached") {
        Stmt s = parse_stmt("realize f: {int32} over [3, +3] if x < 3\n"
                            "allocate g: int32[3, 3] in Heap\n"
                            "f(3) = {3, 3} if 3 < y\n"
                            "prefetch h: {int32} over [3, +n] if x < 3: no_op\n");
        CHECK(to_string(ThreeToFour()(s)) == "realize f: {int32} over [4, +4] if x < 4\n"
                                             "allocate g: int32[4, 4] in Heap\n"
                                             "f(4) = {4, 4} if 4 < y\n"
                                             "prefetch h: {int32} over [4, +n] if x < 4:\n"
                                             "    no_op\n");
    }
    TEST_CASE("a shared expression is rebuilt once, unless the context matters") {
        ThreeToFour once, each(Mutator::Visits::PerUse);
        Expr e = doubled(Expr(3), 10);
        Expr after = once(e);
        CHECK(once.visits == 10);
        CHECK(equal(after, doubled(Expr(4), 10)));
        CHECK(equal(each(e), after));
        CHECK(each.visits == 1023);
    }
}

TEST_SUITE("Visitor") {
    TEST_CASE("every node is seen; a shared one once, unless the context matters") {
        CountAdds once, each(Visitor::Visits::PerUse);
        Stmt s = Evaluate::make(doubled(Expr(3), 10));
        once(s);
        each(s);
        CHECK(once.adds == 10);
        CHECK(each.adds == 1023);
    }
    TEST_CASE("expressions that are gone are not mistaken for new ones at their place") {
        CountAdds count;
        for (int i = 0; i < 100; i++) {
            Expr inner = Add::make(Expr(i), Expr(i));
            count(Mul::make(inner, inner));
        }
        CHECK(count.adds == 100);
    }
    TEST_CASE("for_each_node finds the nodes of one kind") {
        Stmt s = parse_stmt("f[0] = 1\nfor i in [0, +n):\n    g[i] = f[i] + f[0]\n");
        int stores = 0, loads = 0;
        for_each_node(s, [&](const Store &) { stores++; });
        for_each_node(s, [&](const Load &) { loads++; });
        CHECK(stores == 2);
        CHECK(loads == 2);
    }
    TEST_CASE("a use of a symbol is found in whatever role") {
        NamedSymbols scope;
        Stmt s = parse_stmt("f[x] = g[y]\nh(z) = image k(w)\natomic a mutexes m: b.min[0]", scope);
        for (const char *name : {"f", "x", "g", "y", "h", "z", "k", "w", "a", "m", "b"}) {
            CAPTURE(name);
            CHECK(uses_symbol(s, scope[name]));
        }
        CHECK_FALSE(uses_symbol(s, scope["other"]));
        CHECK(uses_symbol(parse_expr("x + 1", scope), scope["x"]));
        CHECK_FALSE(uses_symbol(parse_expr("x + 1", scope), scope["y"]));
    }
}

TEST_SUITE("equal") {
    TEST_CASE("trees of the same nodes and symbols are equal") {
        NamedSymbols scope;
        Expr a = parse_expr("min(x, y) + f(x)", scope), b = parse_expr("min(x, y) + f(x)", scope);
        CHECK_FALSE(a.same_as(b));
        CHECK(equal(a, b));
        CHECK_FALSE(equal(a, parse_expr("min(x, x) + f(x)", scope)));
        CHECK_FALSE(equal(a, parse_expr("min(x, y) + f(x)")));
        CHECK(equal(Expr(), Expr()));
        CHECK_FALSE(equal(a, Expr()));
    }
    TEST_CASE("alpha_equal wants a renaming one to one") {
        CHECK(alpha_equal(parse_expr("x + y * x"), parse_expr("a + b * a")));
        CHECK_FALSE(alpha_equal(parse_expr("x + y * x"), parse_expr("a + b * b")));
        CHECK_FALSE(alpha_equal(parse_expr("x + y"), parse_expr("a + a")));
        CHECK_FALSE(alpha_equal(parse_expr("x + x"), parse_expr("a + b")));
        CHECK(alpha_equal(parse_stmt("let x = 1\nf[x] = x"), parse_stmt("let y = 1\ng[y] = y")));
        CHECK_FALSE(
            alpha_equal(parse_stmt("let x = 1\nf[x] = x"), parse_stmt("let x = 1\nf[x] = y")));
        Expr shared = parse_expr("x + y");
        CHECK_FALSE(alpha_equal(Mul::make(shared, shared), parse_expr("(a + b) * (b + a)")));
    }
    TEST_CASE("a small change anywhere makes two trees unequal") {
        for (uint32_t seed = 0; seed < 200; seed++) {
            CAPTURE(seed);
            Stmt s = RandomIR(seed).stmt(3), t = RandomIR(seed).stmt(3);
            CHECK(alpha_equal(s, t));
            CHECK(equal(s, s));
            Stmt changed = ThreeToFour()(s);
            CHECK(equal(changed, s) == changed.same_as(s));
        }
    }
    TEST_CASE("expressions are keys of unordered containers") {
        NamedSymbols scope;
        std::unordered_map<Expr, int, ExprHash, ExprEqual> map;
        map[parse_expr("x + 1", scope)] = 1;
        map[parse_expr("x + 1", scope)] = 2;
        CHECK(map.size() == 1);
        CHECK(map.at(parse_expr("x + 1", scope)) == 2);
        CHECK_FALSE(map.contains(parse_expr("x + 2", scope)));
    }
}

TEST_SUITE("substitute") {
    TEST_CASE("variables are replaced, all at once") {
        NamedSymbols scope;
        Expr e = parse_expr("x + y * x", scope);
        Substitution swap = {{scope["x"], parse_expr("y", scope)},
                             {scope["y"], parse_expr("x", scope)}};
        CHECK(equal(substitute(swap, e), parse_expr("y + x * y", scope)));
        CHECK(equal(substitute(scope["x"], 3, e), parse_expr("3 + y * 3", scope)));
        CHECK(substitute(scope["z"], 3, e).same_as(e));
        CHECK(substitute({}, e).same_as(e));
    }
    TEST_CASE("names that are no variables stay") {
        NamedSymbols scope;
        Stmt s = parse_stmt("x[x] = x(x)\n", scope);
        CHECK(to_string(substitute(scope["x"], 3, s)) == "x[3] = x(3)\n");
    }
}

TEST_SUITE("ten thousand shared nodes") {
    TEST_CASE("are compared, mutated, visited and substituted quickly") {
        run_on_large_stack([] {
            Symbol x = Symbol::fresh("x"), y = Symbol::fresh("y");
            Expr of_x = doubled(Variable::make(Int(32), x), 10'000);
            Expr again = doubled(Variable::make(Int(32), x), 10'000);
            Expr of_y = doubled(Variable::make(Int(32), y), 10'000);
            CHECK(equal(of_x, again));
            CHECK_FALSE(equal(of_x, of_y));
            CHECK(alpha_equal(of_x, of_y));
            CHECK(NothingChanges()(of_x).same_as(of_x));
            CHECK(equal(substitute(x, Variable::make(Int(32), y), of_x), of_y));
            CountAdds count;
            count(of_x);
            CHECK(count.adds == 10'000);
            CHECK_FALSE(uses_symbol(of_x, y));
        });
    }
    TEST_CASE("are printed with dots for what is too long or too deep") {
        Expr x = Variable::make(Int(32), Symbol::fresh("x"));
        std::string wide = to_string(doubled(x, 10'000), {.max_nodes = 1'000});
        CHECK(wide.substr(0, 5) == "x + x");
        CHECK(wide.find("...") != std::string::npos);
        CHECK(wide.size() < 100'000);
        Expr deep = x;
        for (int i = 0; i < 10'000; i++) deep = Min::make(deep, x);
        std::string nested = to_string(deep, {.max_depth = 20});
        CHECK(nested.size() < 1'000);
        CHECK(nested.find("min(..., ...), x), x)") != std::string::npos);
    }
    TEST_CASE("of a sum are printed and read back") {
        NamedSymbols scope;
        Expr sum = parse_expr("x", scope);
        for (int i = 0; i < 10'000; i++) sum = Add::make(sum, parse_expr("y", scope));
        std::string text = to_string(sum);
        CHECK(text.find("...") == std::string::npos);
        CHECK(to_string(parse_expr(text, scope)) == text);
        run_on_large_stack([&] { CHECK(equal(parse_expr(text, scope), sum)); });
    }
}
