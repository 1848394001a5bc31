#include "base/error.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/verifier.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;

namespace {

// What the verifier says of the text, "" if nothing.
std::string complaint(std::string_view text, const VerifyOptions &options = {}) {
    Stmt s = parse_stmt(text);
    try {
        verify(s, "some pass", options);
    } catch (const InternalError &e) {
        return e.what();
    }
    return "";
}

bool complains(std::string_view text, std::string_view of, const VerifyOptions &options = {}) {
    std::string said = complaint(text, options);
    CAPTURE(said);
    bool names_pass = said.find("after the pass 'some pass'") != std::string::npos;
    return names_pass && said.find(of) != std::string::npos;
}

const std::unordered_set<Symbol> nothing;

}  // namespace

TEST_SUITE("verify") {
    TEST_CASE("good IR of both levels passes") {
        CHECK(complaint("realize f: {uint8, float32} over [0, +n], [0, +m]\n"
                        "produce f:\n"
                        "    parallel for y in [0, +m):\n"
                        "        for x in [0, +n):\n"
                        "            f(x, y) = {uint8(x), float32(y)} if x < y\n"
                        "consume f:\n"
                        "    for x in [0, +n):\n"
                        "        g(x) = f(x, 0) + uint8(f(x, 1).1)\n") == "");
        CHECK(complaint("let n = 3\n"
                        "allocate f: uint8[n] in Heap if n < 4\n"
                        "f[ramp(0, 1, 4) if x4(n < 2)] = x4(3:uint8)\n"
                        "assert f[n] < 3:uint8, extern int32 failed(n)\n",
                        {.level = IRLevel::Flat, .free_symbols = &nothing}) == "");
    }
    TEST_CASE("the message names the pass and shows the node") {
        std::string said =
            complaint("for i in [0, +3):\n    f[j] = i\n", {.free_symbols = &nothing});
        CHECK(said.find("after the pass 'some pass'") != std::string::npos);
        CHECK(said.find("symbol f is used where it is not bound") != std::string::npos);
        CHECK(said.find("f[j] = i") != std::string::npos);
    }
    TEST_CASE("a symbol is used only where it is bound") {
        VerifyOptions closed{.free_symbols = &nothing};
        CHECK(complains("let x = y\nno_op", "symbol y is used where", closed));
        CHECK(complains("let x = 1:\n    x\nx", "symbol x is used where", closed));
        CHECK(complains("for i in [i, +1): no_op", "symbol i is used where", closed));
        CHECK(complains("(let x = x in x)", "symbol x is used where", closed));
        CHECK(complains("allocate f: int32[1] in Heap:\n    f[0]\nf[0]", "symbol f", closed));
        CHECK(complains("f(0)", "symbol f is used where", closed));
        CHECK(complains("f() = 1", "symbol f is used where", closed));
        CHECK(complains("b.min[0]", "symbol b is used where", closed));
        CHECK(complaint("let x = 1\nx + (let y = x in y * x)", closed) == "");
    }
    TEST_CASE("free symbols may be listed") {
        NamedSymbols scope;
        Stmt s = parse_stmt("f[n] = image g(n)", scope);
        std::unordered_set<Symbol> all = {scope["f"], scope["n"], scope["g"]};
        CHECK_NOTHROW(verify(s, "p", {.free_symbols = &all}));
        all.erase(scope["g"]);
        CHECK_THROWS_AS(verify(s, "p", {.free_symbols = &all}), InternalError);
    }
    TEST_CASE("a symbol is not bound again in its own scope, but may be beside it") {
        CHECK(complains("let x = 1\nlet x = 2\nno_op", "bound again"));
        CHECK(complains("for x in [0, +2): let x = 3; no_op", "bound again"));
        CHECK(complains("let x = 1\n(let x = 2 in x)", "bound again"));
        CHECK(complains("allocate f: int32[1] in Heap\nallocate f: int32[1] in Heap\nno_op",
                        "bound again"));
        CHECK(complaint("let x = 1:\n    x\nlet x = 2:\n    x\n(let x = 3 in x)") == "");
    }
    TEST_CASE("a variable has one type") {
        CHECK(complains("let x = 1\nx:uint8", "has the type int32, but is used as uint8"));
        CHECK(complains("x\nx:uint8", "used as int32 and as uint8"));
    }
    TEST_CASE("a shared expression is right only in the scopes it is meant for") {
        NamedSymbols scope;
        Expr shared = parse_expr("(x + 1) * x", scope);
        Stmt good = LetStmt::make(scope["x"], 3, Evaluate::make(shared));
        CHECK_NOTHROW(verify(good, "p", {.free_symbols = &nothing}));
        Stmt bad = Block::make(good, Evaluate::make(shared));
        CHECK_THROWS_AS(verify(bad, "p", {.free_symbols = &nothing}), InternalError);
        Stmt other_type =
            Block::make(good, LetStmt::make(scope["x"], Expr(uint8_t(3)), Evaluate::make(shared)));
        CHECK_THROWS_AS(verify(other_type, "p"), InternalError);
    }
    TEST_CASE("loads and stores have the type of their buffer") {
        CHECK(complains("allocate f: uint8[3] in Stack\nf[0] = 1.5", "holds uint8"));
        CHECK(complains("allocate f: uint8[3] in Stack\nf[0]:int8", "holds uint8"));
        CHECK(complains("f[uint8(x)] = 1", "an index of type uint8"));
        CHECK(complains("f[uint8(x)]", "an index of type uint8"));
    }
    TEST_CASE("calls and provides fit the realization") {
        const std::string realize = "realize f: {uint8} over [0, +n]\n";
        CHECK(complains(realize + "f(0) = 1.5", "holds uint8, but is given float32"));
        CHECK(complains(realize + "f(0, 0) = 1", "2 arguments instead of 1"));
        CHECK(complains(realize + "f(0) = {1, 2}", "2 values instead of 1"));
        CHECK(complains(realize + "f(0):int32", "holds uint8, but is used as int32"));
        CHECK(complains(realize + "f(0, 0)", "2 arguments instead of 1"));
        CHECK(complains(realize + "f(0).1", "has no value 1"));
        CHECK(complains(realize + "f(1.5) = 1", "an argument of type float32"));
        CHECK(complains(realize + "f(1.5)", "an argument of type float32"));
        CHECK(complains("f(0) = 1 if x", "a condition that is not bool"));
        CHECK(complains("realize f: {uint8} if x\nno_op", "a condition that is not bool"));
        CHECK(
            complains("allocate f: uint8[3] in Heap if x\nno_op", "a condition that is not bool"));
    }
    TEST_CASE("what is known of storage and productions fits them") {
        CHECK(complaint("realize f: {uint8} copies 3 shared over [0, +4 folded], [0, +3]\n"
                        "produce f of [a, b], [c, d by 8]: no_op") == "");
        CHECK(complaint("realize f: {uint8} order 0 over [0, +4]\nno_op") == "");
        CHECK(complains("realize f: {uint8} over [a, +4 folded]\nno_op", "does not begin at 0"));
        CHECK(complains("realize f: {uint8} over [a, +4 fold x by n:int64]\nno_op",
                        "a fold by a value of type int64"));
        CHECK(complains("realize f: {uint8} order 0 align n:int64 over [a, +4]\nno_op",
                        "an order of storage with a value of type int64"));
        CHECK(complains("realize f: {uint8} order 0 align n over [0, +4]\nno_op",
                        "symbol n is used", {.free_symbols = &nothing}));
        CHECK(complains("realize f: {uint8} shared over [0, +4]\nno_op", "one copy"));
        CHECK(complains("realize f: {uint8} copies 3\nno_op", "copies without a dimension"));
        CHECK(complains("produce f of [a:int64, b:int64]: no_op", "from a int64 to a int64"));
        CHECK(complains("realize f: {uint8} over [0, +4]\nproduce f of [a, b], [c, d]: no_op",
                        "a region of 2 dimensions instead of 1"));
        CHECK(complains("realize f: {uint8} copies n over [0, +4]\nno_op", "symbol n is used",
                        {.free_symbols = &nothing}));
        CHECK(complains("produce f of [a, 3]: no_op", "symbol a is used",
                        {.free_symbols = &nothing}));
        const ir::Stmt consume = ProducerConsumer::make(
            Symbol::fresh("f"), false, no_op(), {false, "", true, {{Expr(0), Expr(1), 1, false}}});
        CHECK_THROWS_WITH_AS(verify(consume, "p"), doctest::Contains("consumed, with a region"),
                             InternalError);
    }
    TEST_CASE("statements have operands of the right types") {
        CHECK(complains("assert x < 3, 1.5", "an error code of type float32"));
        CHECK(complains("acquire x, 1: no_op", "the semaphore is no handle"));
        CHECK(complains("for i in [0, +n:int64): no_op", "differ in type"));
        CHECK(complains("realize f: {uint8} over [0, +n:int64]\nno_op", "a region"));
        CHECK(complains("prefetch f: {uint8} over [0, +n:int64] if true: no_op", "a region"));
        CHECK(complains("if x4(x < 3): no_op", "a condition that is a vector"));
        CHECK(complains("assert x4(x < 3), 1", "a condition that is a vector"));
        CHECK(complains("p:handle + q:handle", "arithmetic on values of type handle"));
    }
    TEST_CASE("the types of an intrinsic go together") {
        CHECK(complains("bitwise_and(x, y:uint8)", "an operand of type uint8, not int32"));
        CHECK(complains("sqrt(x:float32):float64", "an operand of type float32, not float64"));
        CHECK(complains("abs(x):int32", "a result of type int32, not uint32"));
        CHECK(complains("is_nan(x:float32):float32", "a result of type"));
        CHECK(complains("if_then_else(x, y, z)", "there is no condition"));
        CHECK(complains("require(x < 3, y, z)", "there is no place"));
        CHECK(complaint("abs(x) + uint32(count_leading_zeros(y))") == "");
    }
    TEST_CASE("what begins something is the value of a let statement, behind lets of its own") {
        CHECK(complaint("let m = (let n = x*4 in mutex_array_create(n))\nno_op") == "");
        const char *what =
            "what it begins has no end, since it is not the value of a let statement";
        CHECK(complains("mutex_array_create(9)", what));
        CHECK(complains("let m = (let n = mutex_array_create(9) in n:handle)\nno_op", what));
        CHECK(complains("let m = 1\nextern int32 use(mutex_array_create(9))", what));
    }
    TEST_CASE("the level is checked on request") {
        VerifyOptions funcs{.level = IRLevel::Funcs}, flat{.level = IRLevel::Flat};
        for (const char *text : {"f[0] = 1", "f[0]", "allocate f: uint8[1] in Heap\nno_op"}) {
            CAPTURE(text);
            CHECK(complaint(text, flat) == "");
            CHECK(complaint(text) == "");
            CHECK(complaint(text, funcs) != "");
        }
        for (const char *text : {"f(0) = 1", "f(0)", "realize f: {uint8}\nno_op", "hoist f\nno_op",
                                 "prefetch f: {uint8} if true: no_op"}) {
            CAPTURE(text);
            CHECK(complaint(text, funcs) == "");
            CHECK(complaint(text, flat) != "");
        }
        CHECK(complains("f[0]", "a load before storage is flattened", funcs));
        CHECK(complains("f[0] = 1", "a statement on flat storage comes too early", funcs));
        CHECK(complains("f(0)", "a call of a Func after storage is flattened", flat));
        CHECK(complains("f(0) = 1", "a statement on a Func comes too late", flat));
    }
    TEST_CASE("loops that should be gone are refused") {
        CHECK(complains("vectorized for i in [0, +4): no_op", "a vectorized loop is left",
                        {.vectorized_loops = false}));
        CHECK(complains("unrolled for i in [0, +4): no_op", "an unrolled loop is left",
                        {.unrolled_loops = false}));
        CHECK(complaint("vectorized for i in [0, +4): no_op") == "");
    }
    TEST_CASE("in a function, only its arguments are free") {
        Module good = parse_module("module \"m\"\nfunc \"f\"(n: int32, b: output uint8[1]):\n"
                                   "    b[n + b.min[0]] = 3\n    extern int32 g(b)\n");
        CHECK_NOTHROW(verify(good.functions[0], "p"));
        Module bad = parse_module("module \"m\"\nfunc \"f\"(b: output uint8[1]):\n    b[n] = 3\n");
        CHECK_THROWS_AS(verify(bad.functions[0], "p"), InternalError);
        Module type =
            parse_module("module \"m\"\nfunc \"f\"(b: output uint8[1]):\n    b[0] = 1.5\n");
        CHECK_THROWS_AS(verify(type.functions[0], "p"), InternalError);
    }
    TEST_CASE(
        "what is invoked is a function of the kind that the place wants, with its arguments") {
        auto complaint_of = [](const std::string &body, const std::string &functions) {
            try {
                verify(parse_module("module \"m\"\nfunc \"f\"(n: int32, b: output uint8[1]):\n" +
                                    body + functions),
                       "p");
            } catch (const BrokenRule &e) {
                return e.rule;
            }
            return std::string();
        };
        const std::string loop = "  parallel for y in [0, +n): invoke \"g\"(y, n)\n",
                          part = "  invoke \"g\"(n, n)\n",
                          tasks = "  fork: invoke \"g\"(n, n)\n  with: no_op\n",
                          arguments = " \"g\"(y: int32, m: int32): no_op\n";
        CHECK(complaint_of(loop, "body" + arguments) == "");
        CHECK(complaint_of(part, "part" + arguments) == "");
        CHECK(complaint_of(tasks, "task" + arguments) == "");
        auto complains_of = [&](const std::string &body, const std::string &functions,
                                const std::string &what) {
            INFO(complaint_of(body, functions));
            CHECK(complaint_of(body, functions).find(what) != std::string::npos);
        };
        complains_of(loop, "part" + arguments, "a function of the kind part, not body");
        complains_of(part, "body" + arguments, "a function of the kind body, not part");
        complains_of(tasks, "part" + arguments, "a function of the kind part, not task");
        complains_of("  for x in [0, +n):\n  " + loop, "part" + arguments, "not body");
        complains_of(part, "func \"h\"(): no_op\n", "a function that the module does not have");
        complains_of(part, "part \"g\"(y: int32): no_op\n", "1 arguments are wanted");
        complains_of(part, "part \"g\"(y: int32, m: float32): no_op\n",
                     "a value of type float32 is wanted for m");
        complains_of(part, "part \"g\"(y: int32, m: storage uint8): no_op\n",
                     "storage of uint8 is wanted for m");
        complains_of("  invoke \"g\"(address_of(b[0]:uint8))\n",
                     "part \"g\"(c: storage int32): no_op\n", "storage of int32 is wanted for c");
        complains_of("  invoke \"g\"(b)\n", "part \"g\"(c: input uint8[1]): no_op\n",
                     "takes a buffer");
        complains_of(part, "kernel \"g\"(y: int32, c: storage uint8): no_op\n",
                     "an address is wanted for c");
        complains_of(part, "part" + arguments + "part" + arguments, "two functions of the name g");
        complains_of(part, "part \"g\"(y: int32, m: int32): b[n] = 1:uint8\n",
                     "is used where it is not bound");
    }
    TEST_CASE("ten thousand doubled nodes, lets, and statements are verified quickly") {
        Symbol x = Symbol::fresh("x"), y = Symbol::fresh("y");
        Expr doubled = Variable::make(Int(32), x);
        for (int i = 0; i < 10'000; i++) doubled = Max::make(doubled, doubled);
        CHECK_NOTHROW(verify(doubled, "p"));

        std::vector<Stmt> loops;  // the same graph in many scopes
        for (int i = 0; i < 1'000; i++) {
            loops.push_back(For::make(y, 0, doubled, LoopKind::Serial, Partition::Auto,
                                      Evaluate::make(doubled)));
        }
        std::unordered_set<Symbol> free = {x};
        CHECK_NOTHROW(verify(Block::make(loops), "p", {.free_symbols = &free}));

        Stmt lets = Evaluate::make(0);
        for (int i = 0; i < 10'000; i++) lets = LetStmt::make(Symbol::fresh("t"), doubled, lets);
        CHECK_NOTHROW(verify(lets, "p"));

        Expr nested = 0;
        for (int i = 0; i < 10'000; i++) nested = Let::make(Symbol::fresh("t"), 1, nested + 1);
        CHECK_NOTHROW(verify(nested, "p"));
    }
}
