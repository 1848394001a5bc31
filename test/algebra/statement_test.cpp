#include "algebra/cse.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::algebra;

namespace {

std::string simple(const char *text) { return to_string(simplify(parse_stmt(text))); }
std::string canonical(const char *text) { return to_string(parse_stmt(text)); }

}  // namespace

TEST_SUITE("simplify statements") {
    TEST_CASE("what a loop says of its variable decides conditions in it") {
        CHECK(simple("for i in [0, +n):\n    if i < n: f[i] = 1") ==
              canonical("for i in [0, +n):\n    f[i] = 1"));
        CHECK(simple("for i in [0, +10):\n    if i < 10 && i >= 0: f[i] = max(i, 0)") ==
              canonical("for i in [0, +10):\n    f[i] = i"));
    }
    TEST_CASE("a loop that never runs is nothing, one that runs once is its body") {
        CHECK(simple("for i in [0, +0): f[i] = 1") == canonical("no_op"));
        CHECK(simple("parallel for i in [3, +1): f[i] = i") == canonical("f[3] = 3"));
        CHECK(simple("unrolled for i in [n * 2, +1): f[i] = i; f[i + 1] = i") ==
              canonical("let i = n * 2\nf[i] = i\nf[i + 1] = i"));
    }
    TEST_CASE("lets that lie a constant apart, whose variables range over what is not constant") {
        const char *lets = "let m = n * n\nfor x in [0, +(m + 1) / 16):\n"
                           "    let a = m + x * 16\n    let b = m + x * 16 + 15\n    ";
        auto with_lets = [&](const char *s) { return std::string(lets) + s; };
        CHECK(simple(with_lets("if a + 7 < b: f[a] = b").c_str()) ==
              canonical(with_lets("f[a] = b").c_str()));
        CHECK(simple(with_lets("f[a] = b * 3 - (a - 2) * 3").c_str()) ==
              canonical("let m = n * n\nfor x in [0, +(m + 1) / 16):\n"
                        "    let a = m + x * 16\n    f[a] = 51"));
        CHECK(simple(with_lets("f[a] = b * 3 - a * 2").c_str()) ==
              canonical(with_lets("f[a] = b * 3 - a * 2").c_str()));
    }
    TEST_CASE("what an if or an assertion says holds below it") {
        CHECK(simple("if n > 3: f[0] = select(n > 2, 1, 2)") == canonical("if 4 <= n: f[0] = 1"));
        CHECK(simple("if n > 3: f[0] = 1\nelse: f[0] = min(n, 5)") ==
              canonical("if 4 <= n: f[0] = 1\nelse: f[0] = n"));
        CHECK(simple("assert n >= 1, 7; f[0] = max(n, 0)") ==
              canonical("assert 1 <= n, 7\nf[0] = n"));
    }
    TEST_CASE("where two conditions do not both hold, one or the other does not") {
        const std::string both = "if b * a < 9 && c < 129: f[0] = 1\nelse: ";
        CHECK(simple((both + "if 9 <= b * a || 129 <= c: f[0] = 2").c_str()) ==
              canonical((both + "f[0] = 2").c_str()));
        CHECK(simple((both + "if !(b * a < 9 && c < 129): f[0] = 2").c_str()) ==
              canonical((both + "f[0] = 2").c_str()));
    }
    TEST_CASE("what is known of a call or quotient is not taken for known of its operands") {
        for (const char *text : {"if popcount(n) > 1: f[0] = select(popcount(n) < n, 1, 2)",
                                 "if n / m > 1: f[0] = select(n / m < n, 1, 2)"}) {
            CHECK(simple(text) == simple(simple(text).c_str()));
            CHECK(simple(text).find("select") != std::string::npos);
        }
    }
    TEST_CASE("what a load says may be another thing after a store") {
        const char *text = "if g[0] < 3:\n    g[0] = 5\n    if g[0] < 3: f[0] = 1";
        CHECK(simple(text) == canonical(text));
    }
    TEST_CASE("lets that are cheap or unused are gone, others stay") {
        CHECK(simple("let a = n + 1; let b = a * k; let c = b * b; f[a] = b") ==
              canonical("let b = k * (n + 1); f[n + 1] = b"));
    }
    TEST_CASE("what a let is a multiple of is known of its name") {
        CHECK(simple("let a = n / 2 * 2 - 2; for i in [0, +k): f[a + i * 4] = (a + i * 4) % 2") ==
              canonical("let a = n / 2 * 2 - 2; for i in [0, +k): f[a + i * 4] = 0"));
        CHECK(simple("let a = n / 2 * 2 + 1; for i in [0, +k): "
                     "f[ramp(i * 8, 1, 8)] = ramp(a + i * 8, 1, 8) % x8(2)") ==
              canonical("for i in [0, +k): f[ramp(i * 8, 1, 8)] = ramp(1, 1, 8) % x8(2)"));
    }
    TEST_CASE("a ramp that has a name is put in place, where an access is seen to be dense") {
        CHECK(simple("let r = ramp(n, 1, 8); f[r + x8(1)] = g[r]") ==
              canonical("f[ramp(n + 1, 1, 8)] = g[ramp(n, 1, 8)]"));
        Stmt s = simplify(parse_stmt("let r = ramp(n * m, 2, 8); f[r + x8(1)] = g[r]"));
        CHECK(alpha_equal(s, parse_stmt("let b = n * m\nf[ramp(b + 1, 2, 8)] = g[ramp(b, 2, 8)]")));
        Expr e = simplify(parse_expr("let r = ramp(n * m, 1, 8) in g[r + x8(1)]"));
        CHECK(alpha_equal(e, parse_expr("let b = n * m in g[ramp(b + 1, 1, 8)]")));
    }
    TEST_CASE("what encloses nothing is gone, but allocations stay") {
        CHECK(simple("produce f: if n < n: f[0] = 1") == canonical("no_op"));
        CHECK(simple("f[0] = 1; no_op; if n == n: f[1] = 2") == canonical("f[0] = 1; f[1] = 2"));
        CHECK(simple("if n < 3: f[0] = 1\nelse: f[0] = 1") == canonical("f[0] = 1"));
    }
    TEST_CASE("simplifying again changes nothing") {
        Stmt s = parse_stmt("for i in [0, +n):\n    let a = i * m\n    if a + 3 > k: f[a] = a / 8\n"
                            "    else: f[a + 2] = min(a, i + 2)");
        Stmt once = simplify(s);
        CHECK(to_string(simplify(once)) == to_string(once));
    }
}

TEST_SUITE("common subexpression elimination") {
    TEST_CASE("computes equal expressions once") {
        Expr e = parse_expr("(x * y + z) * (x * y + z) + x * y");
        Expr shared = common_subexpression_elimination(e);
        CHECK(alpha_equal(shared, parse_expr("let t = x * y in let u = t + z in u * u + t")));
    }
    TEST_CASE("leaves cheap expressions and conditional operands alone") {
        for (const char *text : {"(x + 1) * (x + 1)", "if_then_else(c:bool, x * y, z * w)"}) {
            Expr e = parse_expr(text);
            CHECK(equal(common_subexpression_elimination(e), e));
        }
        Expr e = parse_expr("if_then_else(c:bool, (x * y) * (x * y), z)");
        Expr shared = common_subexpression_elimination(e);
        CHECK(alpha_equal(shared, parse_expr("if_then_else(c:bool, let t = x * y in t * t, z)")));
    }
    TEST_CASE("what a select never chooses is not evaluated, effects or not") {
        CHECK(to_string(simplify(parse_expr("select(true, x, extern int32 next())"))) == "x");
        CHECK(to_string(simplify(parse_expr(
                  "select(1 < 0, extern int32 a(), extern int32 b())"))) == "extern int32 b()");
        const char *open = "select(x < extern int32 a(), 1, 2)";
        CHECK(to_string(simplify(parse_expr(open))) == open);
    }
    TEST_CASE("stores that follow one another share what they have in common") {
        auto shared = [](const char *text) {
            return common_subexpression_elimination(parse_stmt(text));
        };
        // Each name stands before the first store that uses it.
        CHECK(alpha_equal(shared("f[0] = g[x * y] + 1\nf[1] = g[x * y] + z * z * z\n"
                                 "f[2] = z * z * z"),
                          parse_stmt("let t = g[x * y]\nf[0] = t + 1\n"
                                     "let u = z * z * z\nf[1] = t + u\nf[2] = u")));
        // Lets around each store are looked into, whose names may stand for other values.
        CHECK(alpha_equal(shared("let a = g[x]:\n    f[0] = a * a\nlet a = g[x]\nf[1] = a * a"),
                          shared("f[0] = g[x] * g[x]\nf[1] = g[x] * g[x]")));
        // So are predicates.
        CHECK(alpha_equal(shared("f[0 if x * y < z] = x * y\nf[1 if x * y < z] = n"),
                          parse_stmt("let t = x * y\nlet u = t < z\n"
                                     "f[0 if u:bool] = t\nf[1 if u:bool] = n")));
        // What one of them may write is read anew, and so is all else there.
        const char *read = "f[0] = g[x * y] * 2\ng[n] = g[x * y] * 3";
        CHECK(alpha_equal(shared(read), parse_stmt(read)));
        const char *tested = "f[0 if g[x * y] < 2] = 1\ng[n if g[x * y] < 2] = 3";
        CHECK(alpha_equal(shared(tested), parse_stmt(tested)));
    }
    TEST_CASE("no more than 64 stores share, as names are looked for from each") {
        auto names_of = [](int stores) {
            std::string text;
            for (int i = 0; i < stores; i++) text += str("f[", i, "] = x * y + ", i, "\n");
            int names = 0;
            for_each_node(common_subexpression_elimination(parse_stmt(text)),
                          [&](const LetStmt &) { names++; });
            return names;
        };
        CHECK(names_of(64) == 1);
        CHECK(names_of(66) == 2);
        CHECK(names_of(65) == 1);  // the last one stands alone
    }
    TEST_CASE("never merges calls that have effects") {
        Expr e = parse_expr("extern int32 next() + extern int32 next()");
        CHECK(equal(common_subexpression_elimination(e), e));
        CHECK(equal(simplify(e), e));
    }
    TEST_CASE("leaves the ramps of dense accesses in place, and shares where they begin") {
        Stmt s = parse_stmt("f[ramp(x * y, 1, 8)] = f[ramp(x * y, 1, 8)] + x8(1)");
        Stmt expected =
            parse_stmt("let t = x * y:\n    f[ramp(t, 1, 8)] = f[ramp(t, 1, 8)] + x8(1)");
        CHECK(alpha_equal(common_subexpression_elimination(s), expected));
    }
    TEST_CASE("a condition for all lanes is seen to be one where it is used") {
        Stmt s = parse_stmt("f[ramp(x, 1, 8) if x8(n < m)] = g[ramp(x, 1, 8) if x8(n < m)]\n"
                            "f[ramp(z, 1, 8) if x8(n < m)] = x8(k)");
        Stmt expected = parse_stmt("let t = n < m\n"
                                   "f[ramp(x, 1, 8) if x8(t:bool)] = g[ramp(x, 1, 8) if x8(t:bool)]"
                                   "\nf[ramp(z, 1, 8) if x8(t:bool)] = x8(k)");
        CHECK(alpha_equal(common_subexpression_elimination(s), expected));
    }
    TEST_CASE("shares within a strict_float, and nothing of it with what is outside") {
        Expr e = parse_expr("strict_float((a:float32 * b:float32 + c:float32) * "
                            "(a:float32 * b:float32 + d:float32)) + a:float32 * b:float32");
        CHECK(alpha_equal(common_subexpression_elimination(e),
                          parse_expr("let t = strict_float(a:float32 * b:float32) in "
                                     "strict_float((t + c:float32) * (t + d:float32)) + "
                                     "a:float32 * b:float32")));
    }
    TEST_CASE("what several strict_floats share is computed once") {
        Expr e = parse_expr("strict_float(a:float32 * b:float32 + c:float32) + "
                            "strict_float(a:float32 * b:float32 - c:float32)");
        CHECK(alpha_equal(common_subexpression_elimination(e),
                          parse_expr("let t = strict_float(a:float32 * b:float32) in "
                                     "strict_float(t + c:float32) + strict_float(t - c:float32)")));
    }
    TEST_CASE("what computes no floats is the same below a strict_float") {
        Expr e = parse_expr("strict_float(float32(i * k) + 1.0) + float32(i * k)");
        CHECK(alpha_equal(common_subexpression_elimination(e),
                          parse_expr("let t = i * k in strict_float(float32(t) + 1.0) + "
                                     "float32(t)")));
    }
    TEST_CASE("is linear in a graph of shared nodes") {
        Expr e = parse_expr("x * y");
        for (int i = 0; i < 5000; i++) e = Mul::make(e, Add::make(e, Mul::make(e, e)));
        Expr shared = common_subexpression_elimination(e);
        CHECK(shared.as<Let>());
    }
    TEST_CASE("a store's value and index share") {
        Stmt s = common_subexpression_elimination(parse_stmt("f[x * y] = x * y + 2"));
        CHECK(alpha_equal(s, parse_stmt("let t = x * y in\nf[t] = t + 2")));
    }
    TEST_CASE("CSE keeps lets of one symbol apart, as copies of an unrolled body have") {
        Symbol q = Symbol::fresh("q");
        Expr less = Variable::make(Int(32), q) < 30;  // one node below both lets
        auto copy = [&](const Expr &value) {
            return Let::make(q, value, select(less, Variable::make(Int(32), q), 7));
        };
        Expr e = algebra::common_subexpression_elimination(copy(5) * 100 + copy(60));
        CHECK(is_const(algebra::simplify(e), 507));
    }
}
