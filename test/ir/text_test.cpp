#include "base/error.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;

namespace {

// The text printed again after parsing.
std::string expr_again(std::string_view text) { return to_string(parse_expr(text)); }
std::string stmt_again(std::string_view text) { return to_string(parse_stmt(text)); }

template<typename F> std::string message_of(F &&f) {
    try {
        f();
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}
std::string expr_error(std::string_view text) {
    return message_of([&] { parse_expr(text); });
}
std::string stmt_error(std::string_view text) {
    return message_of([&] { parse_stmt(text); });
}

}  // namespace

TEST_SUITE("IR text") {
    TEST_CASE("an expression is printed as it is read") {
        for (const char *text : {
                 "x",
                 "x + 1",
                 "x:float32 + 1.5",
                 "x:uint8 + 3:uint8",
                 "x * (y + z) - (x - y)",
                 "x - y - z",
                 "x - (y - z)",
                 "(x + y) % 3 / -4",
                 "a < b && !(c == d || e >= f)",
                 "!!b:bool",
                 "min(x, max(y, 3))",
                 "select(x < 3, 1.5:float64, -2.25:float64)",
                 "uint8(x)",
                 "float32x4(ramp(x, 1, 4))",
                 "reinterpret int32(f:float32)",
                 "x8(ramp(x, 2, 4))",
                 "f[x]",
                 "f[x]:uint8 + f[x + 1]",
                 "f[ramp(x, 1, 4) if x4(x < 3) aligned(8, 2) streaming]:float32x4",
                 "f(x, y)",
                 "f(x).1:uint8 + f(y).1",
                 "image f(x, y):uint8",
                 "`min`(x) + min(x, y)",
                 "`let` + `a b` + `\\``",
                 "b.min[0] + b.extent[1] * b.stride[2]",
                 "b.host",
                 "b.dimensions",
                 "let y = x + 1 in let z = float32(y) in z * z",
                 "(let y = x in y) + 1",
                 "abs(x)",
                 "widening_add(x:uint8, y:uint8) + 1:uint16",
                 "saturating_cast(x):uint8",
                 "shift_left(x, 3)",
                 "extern float32 sinf(1.0)",
                 "pure extern handle \"a b\"(\"text\\n\\\"\\x01\")",
                 "shuffle(ramp(x, 1, 4), y, [0, 4, 1])",
                 "concat(x, y)",
                 "interleave(ramp(x, 1, 4), ramp(y, 1, 4))",
                 "slice(ramp(x, 1, 4), 2, -1, 3)",
                 "vector_reduce(saturating_add, ramp(x, 1, 4), 2)",
                 "nan + inf - -inf",
                 "-0.0",
                 "1e-45 + 3.4028235e+38",
                 "1.5:float16",
                 "-9223372036854775808:int64",
                 "18446744073709551615:uint64",
                 "true && false",
             }) {
            CAPTURE(text);
            CHECK(expr_again(text) == text);
        }
    }
    TEST_CASE("a statement is printed as it is read") {
        for (const char *text : {
                 "f[x] = 3\n",
                 "f[ramp(x, 1, 4) if x4(b:bool) aligned(4, 0) streaming] = x4(1.5)\n",
                 "f(x, y) = x + y\n",
                 "f(x, y) = {x, 1.5} if x < 3\n",
                 "f() = 3\n",
                 "for i in [0, +n):\n    f[i] = i\n",
                 "parallel for i in [0, +n) partition Never:\n    no_op\n",
                 "let x = 3\nf[x] = x\n",
                 "let x = 3:\n    f[x] = x\ng[0] = 1\n",
                 "f[0] = 1\nlet x = 3\nf[1] = x\nf[2] = x\n",
                 "allocate f: float32[n, m] in Heap padding 3 if n < 3\nf[0] = 1.5\n",
                 "realize f: {int32, uint8} in Stack over [a, +b], [c, +d] if n < 3\nf(x, y) = {3, "
                 "4:uint8}\n",
                 "hoist f\nrealize f: {uint8}\nproduce f:\n    f() = 4:uint8\nconsume f:\n    g(x) "
                 "= "
                 "f()\n",
                 "for i in [0, +n) of f x:\n    no_op\n",
                 "for i in [0, +n) partition Never of f r update 1 reduction streaming all:\n"
                 "    no_op\n",
                 "for i in [0, +n) streaming loads g, h stores f:\n    no_op\n",
                 "produce f in stages by \"std::f\" of [a, b by 8], [c, d rounded mixed]:\n"
                 "    f(0, 0) = 1\n",
                 "realize f: {int32} in Heap async passed traced loads copies n shared over "
                 "[0, +4 folded], [a, +b fold y by 3], [0, +m folded z by m]\nf(0, 0, 0) = 1\n",
                 "realize f: {int32} traced stores realizations \"a tag\" order 1 align 16 bound y "
                 "by n, 0 copies 3 over [0, "
                 "+n], "
                 "[a, +b]\nf(0, 0) = 1\n",
                 "hoist f copies n + 1\nno_op\n",
                 "realize f: {int32, uint8} held by a, b async over [0, +n]\nf(0) = {1, 2:uint8}\n",
                 "allocate b of f: uint8[4] in Stack\nb[0] = 1:uint8\n",
                 "produce f unprofiled in stages:\n    f(0) = 1\n",
                 "prefetch image i: {uint8} over [0, +3] if true:\n    no_op\n",
                 "acquire s:handle, 1:\n    no_op\n",
                 "assert x < 3, extern int32 error(x)\n",
                 "if x < 3:\n    no_op\nelse if x < 4:\n    f[1] = 2\nelse:\n    f[1] = 3\n",
                 "fork:\n    f[0] = 1\nwith:\n    f[1] = 1\nwith:\n    let x = 1\n    f[2] = x\n",
                 "atomic f mutexes m:\n    f[0] = f[0] + 1\n",
                 "prefetch f: {uint8} over [0, +3] if x < 3:\n    f(x) = 2:uint8\n",
                 "prefetch(address_of(f[0]), 1, 64)\n",
                 "(let x = 3 in x)\n",
             }) {
            CAPTURE(text);
            CHECK(stmt_again(text) == text);
        }
    }
    TEST_CASE("arguments of a module say what they hold, and what of it is traced") {
        const std::string text = "module \"m\"\n"
                                 "func \"f\"(i: input int32[2] traced loads \"a\", n: int32, "
                                 "a: output int32[1] of g traced stores, "
                                 "b: output int8[1] of g value 1, c: output int32[1]):\n"
                                 "    g(n) = {image i(n, 0), 4:int8}\n";
        const Module m = parse_module(text);
        CHECK(to_string(m) == text);
        const std::vector<Argument> &args = m.functions[0].args;
        CHECK(args[3].func == args[2].func);
        CHECK(args[4].func == args[4].name);
        CHECK_FALSE(args[0].func.defined());
    }
    TEST_CASE("C's precedence holds") {
        NamedSymbols scope;
        auto same = [&](const char *a, const char *b) {
            return equal(parse_expr(a, scope), parse_expr(b, scope));
        };
        CHECK(same("a + b * c", "a + (b * c)"));
        CHECK(same("a - b - c", "(a - b) - c"));
        CHECK(same("a / b * c % d", "((a / b) * c) % d"));
        CHECK(same("a < b == (c < d)", "(a < b) == (c < d)"));
        CHECK(same("a < b && c < d || e < f", "((a < b) && (c < d)) || (e < f)"));
        CHECK(same("!(a < b) && c < d", "(!(a < b)) && (c < d)"));
        CHECK(same("-a * b", "(0 - a) * b"));
        CHECK(same("a - -1", "a - (-1)"));
    }
    TEST_CASE("symbols spelled alike are printed with numbers") {
        Expr a = Variable::make(Int(32), Symbol::fresh("x"));
        Expr b = Variable::make(Int(32), Symbol::fresh("x"));
        Expr named_so = Variable::make(Int(32), Symbol::fresh("x.1"));
        CHECK(to_string(a + b + a) == "x + x.1 + x");
        CHECK(to_string(b + a) == "x + x.1");
        CHECK(to_string(a + named_so + b) == "x + x.1 + x.2");
        CHECK(to_string(a + b + named_so) == "x + x.1 + x.1.1");
    }
    TEST_CASE("a spelling is one symbol, in all texts of a scope") {
        NamedSymbols scope;
        Expr e = parse_expr("x + x", scope);
        CHECK(e.as<Add>()->a.as<Variable>()->name == scope["x"]);
        CHECK(e.as<Add>()->b.as<Variable>()->name == scope["x"]);
        CHECK(equal(parse_expr("x", scope), parse_expr("x", scope)));
        CHECK_FALSE(equal(parse_expr("x"), parse_expr("x")));
        Symbol mine = Symbol::fresh("mine");
        scope.bind("m", mine);
        CHECK(parse_expr("m", scope).as<Variable>()->name == mine);
    }
    TEST_CASE("a type said once is known from there on") {
        CHECK(parse_expr("x:uint8 + x").type() == UInt(8));
        CHECK(parse_expr("let x = 1.5 in x").type() == Float(32));
        CHECK(expr_again("(let x = 1.5 in x * x) + float32(x)") ==
              "(let x = 1.5 in x * x) + float32(x)");
        Stmt s = parse_stmt("allocate f: uint8[4] in Stack\nf[0] = f[1] + 1\n");
        CHECK(to_string(s) == "allocate f: uint8[4] in Stack\nf[0] = f[1] + 1:uint8\n");
        CHECK(parse_expr("f[ramp(0, 1, 4)]:uint8x4 + f[ramp(0, 2, 4)]").type() == UInt(8, 4));
        CHECK(stmt_again("f(x) = 1.5\ng(x) = f(x)\n") == "f(x) = 1.5\ng(x) = f(x)\n");
    }
    TEST_CASE("a bare number takes the type beside it") {
        CHECK(expr_again("x:uint8 + 1") == "x:uint8 + 1:uint8");
        CHECK(expr_again("1 < x:float32") == "1.0 < x:float32");
        CHECK(expr_again("min(x:uint8, 200)") == "min(x:uint8, 200:uint8)");
        CHECK(expr_again("select(b:bool, 0, x:int64)") == "select(b:bool, 0:int64, x:int64)");
        CHECK(expr_again("ramp(x, 1, 4) * 2") == "ramp(x, 1, 4) * x4(2)");
        CHECK(stmt_again("for i in [0:int64, +4): no_op") ==
              "for i in [0:int64, +4:int64):\n    no_op\n");
        CHECK(expr_error("x:uint8 + 300").find("300 is not a value of the type uint8") !=
              std::string::npos);
    }
    TEST_CASE("bodies may follow on the line, and comments and indentation are free") {
        const char *wanted = "for i in [0, +n):\n    f[i] = i\n    g[i] = 2\n";
        CHECK(stmt_again("for i in [0, +n): f[i] = i; g[i] = 2") == wanted);
        CHECK(stmt_again("\n   # all\n   for i in [0, +n):  # of it\n\n     f[i] = i\n"
                         "     g[i] =\t2") == wanted);
        CHECK(stmt_again("let x = 1 in f[x] = x") == "let x = 1\nf[x] = x\n");
        CHECK(stmt_again("for i in [0,\n  +n): f[\ni] = i; g[i] = 2") == wanted);
        CHECK(stmt_again("if a < b: no_op\nelse: f[0] = 1") ==
              "if a < b:\n    no_op\nelse:\n    f[0] = 1\n");
    }
    TEST_CASE("else belongs to the innermost if, and scoped statements end with their list") {
        Stmt s = parse_stmt("if a < b:\n    let x = 1\n    f[x] = x\nelse if a < c:\n    no_op\n"
                            "g[0] = 1\n");
        REQUIRE(s.as<Block>());
        CHECK(s.as<Block>()->stmts[0].as<IfThenElse>()->then_case.as<LetStmt>());
        CHECK(s.as<Block>()->stmts[0].as<IfThenElse>()->else_case.as<IfThenElse>());
    }
    TEST_CASE("an error says where it is and what was expected") {
        CHECK(expr_error("x +") ==
              "IR text, line 1, column 4: expected an expression, found the end of the text");
        CHECK(expr_error("min(x y)") == "IR text, line 1, column 7: expected ',', found 'y'");
        CHECK(stmt_error("f[0] = 1\nfor i [0, +3): no_op") ==
              "IR text, line 2, column 7: expected 'in', found '['");
        CHECK(stmt_error("for i in [0, +3):\nno_op") ==
              "IR text, line 2, column 1: expected a line that is further indented, "
              "found 'no_op'");
        CHECK(stmt_error("f[0] = 1 2") ==
              "IR text, line 1, column 10: expected the end of the statement, found '2'");
        CHECK(expr_error("x + y:float32").find("types int32 and float32") != std::string::npos);
    }
    TEST_CASE("no text crashes the parser") {
        for (std::string text : {"",
                                 "(",
                                 ")",
                                 "let",
                                 "let x",
                                 "let x = 1 in",
                                 "x:foo",
                                 "x:",
                                 "f(",
                                 "f[",
                                 "b.foo",
                                 "b.min",
                                 "b.min[",
                                 "3:float32",
                                 "3.5:int32",
                                 "99999999999",
                                 "-1:uint8",
                                 "300:uint8",
                                 "99999999999999999999:int64",
                                 "\"abc",
                                 "`abc",
                                 "\"\\q\"",
                                 "\"\\x1\"",
                                 "x8(",
                                 "x1(3)",
                                 "ramp(1, 2)",
                                 "ramp(1, 2, 0)",
                                 "ramp(1, 2, 99999999999)",
                                 "abs()",
                                 "abs(1, 2)",
                                 "select(1, 2, 3)",
                                 "shuffle(1, 2)",
                                 "shuffle(1, [5])",
                                 "slice(1, 0, 1, -1)",
                                 "slice(1, 0, 1, 0)",
                                 "vector_reduce(foo, 1, 1)",
                                 "vector_reduce(add, x, 0)",
                                 "extern foo(1)",
                                 "extern int32 (1)",
                                 "pure f(1)",
                                 "image 3",
                                 "f(x).-1",
                                 "f(x).9999999",
                                 "reinterpret int64(x)",
                                 "uint8x4(x)",
                                 "!x",
                                 "x && y",
                                 "@",
                                 "x ? y : z",
                                 "...",
                                 "x + ...",
                                 "<undefined>",
                                 "x:void",
                                 "f[x]:void",
                                 "abs(x):void",
                                 "3:int0",
                                 "3:int99",
                                 "x:float7",
                                 "1.5:float99",
                                 "concat()",
                                 "interleave()"}) {
            CAPTURE(text);
            CHECK(expr_error(text) != "");
        }
        for (std::string text : {"",
                                 "for",
                                 "for i in [0, +3)",
                                 "for i in [0, +3):",
                                 "let x = 1",
                                 "let x = 1:",
                                 "allocate f: int32[] in Foo; no_op",
                                 "allocate f: int32x4[] in Heap; no_op",
                                 "realize f: {}; no_op",
                                 "if x: no_op",
                                 "else: no_op",
                                 "f(x) = {}",
                                 "f[0] = x4(1)",
                                 "atomic: no_op",
                                 "fork: no_op\nwith",
                                 "acquire 1.5, 1.5: no_op",
                                 "prefetch f: {int32}: no_op",
                                 "realize f: {int32} traced over [0, +1]; no_op",
                                 "realize f: {int32} held f; no_op",
                                 "assert true",
                                 "assert 1, 1",
                                 "vectorized no_op",
                                 "for i in [0, +3) partition Auto: no_op",
                                 "  x\n y\n",
                                 "x\n  y\n",
                                 "in",
                                 "for let in [0, +3): no_op",
                                 "for i in [0, +3) of f: no_op",
                                 "for i in [0, +3) streaming: no_op",
                                 "for i in [0, +3) streaming loads: no_op",
                                 "produce f of [0, 1.5]: no_op",
                                 "produce f of [0, 1 by -1]: no_op",
                                 "consume f of [0, 1]: no_op",
                                 "realize f: {int32} copies 1.5; no_op",
                                 "realize f: {int32} over [0, +3 fold]; no_op",
                                 "realize f: {int32} over [0, +3 fold x by 1.5]; no_op",
                                 "realize f: {int32} order 0; no_op",
                                 "realize f: {int32} order over [0, +3]; no_op",
                                 "realize f: {int32} order 1 over [0, +3], [0, +4]; no_op",
                                 "realize f: {int32} order 0, 0 over [0, +3], [0, +4]; no_op",
                                 "realize f: {int32} order 0 align 1.5 over [0, +3]; no_op",
                                 "realize f: {int32} order 0 bound 3 over [0, +3]; no_op",
                                 "hoist f copies 1.5; no_op"}) {
            CAPTURE(text);
            CHECK(stmt_error(text) != "");
        }
        CHECK(message_of([] { parse_module("x"); }) != "");
        CHECK(message_of([] { parse_module("module \"m\"\nfunc \"f\"(x:): no_op"); }) != "");
        CHECK(expr_error(std::string(100'000, '(')) != "");
        CHECK(expr_error(std::string(100'000, '!') + "x") != "");
        std::string deep;
        for (int i = 0; i < 10'000; i++) deep += "if a: ";
        CHECK(stmt_error(deep + "no_op") != "");
    }
    TEST_CASE("a node in brief is one line") {
        CHECK(brief(parse_expr("x + 1")) == "x + 1");
        CHECK(brief(parse_stmt("for i in [0, +3): no_op")) == "for i in [0, +3): ...");
        CHECK(brief(parse_stmt("f[0] = 1")) == "f[0] = 1");
        CHECK(brief(parse_expr("x + y + z"), 5) == "x + y ...");
    }
    TEST_CASE("an undefined handle is printed as such") {
        CHECK(to_string(Expr()) == "<undefined>");
        CHECK(to_string(Stmt()) == "<undefined>\n");
    }
}
