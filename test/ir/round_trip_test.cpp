#include "ir/equal.h"
#include "ir/module.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "random_ir.h"
#include <doctest/doctest.h>
#include <set>

using namespace tessera;
using namespace tessera::ir;

namespace {

class KindsSeen final : public Visitor {
public:
    std::set<NodeKind> kinds;

private:
#define VISIT(T)                                                                                   \
    void visit(const T &node) override {                                                           \
        kinds.insert(node.kind);                                                                   \
        Visitor::visit(node);                                                                      \
    }
    TESSERA_EXPR_NODES(VISIT)
    TESSERA_STMT_NODES(VISIT)
#undef VISIT
};

}  // namespace

TEST_SUITE("IR text, random trees") {
    TEST_CASE("an expression read back is the same but for its symbols") {
        for (uint32_t seed = 0; seed < 600; seed++) {
            CAPTURE(seed);
            RandomIR random(seed);
            Expr e = random.expr(random.type(), 1 + int(seed % 5));
            std::string text = to_string(e);
            CAPTURE(text);
            Expr again;
            REQUIRE_NOTHROW(again = parse_expr(text));
            CHECK(alpha_equal(e, again));
            CHECK(to_string(again) == text);
        }
    }
    TEST_CASE("a statement read back is the same but for its symbols, and all kinds occur") {
        KindsSeen seen;
        for (uint32_t seed = 0; seed < 300; seed++) {
            CAPTURE(seed);
            Stmt s = RandomIR(seed).stmt(1 + int(seed % 4));
            seen(s);
            std::string text = to_string(s);
            CAPTURE(text);
            Stmt again;
            REQUIRE_NOTHROW(again = parse_stmt(text));
            CHECK(alpha_equal(s, again));
            CHECK(to_string(again) == text);
        }
        CHECK(seen.kinds.size() == size_t(NodeKind::Invoke) + 1);
    }
    TEST_CASE("functions that are invoked are read back, with their kinds and arguments") {
        const char *text = "module \"m\"\n"
                           "func \"f\"(b: output uint8[1]):\n"
                           "    parallel for y in [0, +3):\n"
                           "        invoke \"f.par_for0\"(y, b, address_of(b[0]))\n"
                           "    invoke \"f.loop1\"()\n"
                           "body \"f.par_for0\"(y: int32, b: handle, b: storage uint8):\n"
                           "    b[y + b.min[0]] = uint8(y)\n"
                           "part \"f.loop1\"():\n"
                           "    no_op\n"
                           "task \"t\"(v: float32x4):\n"
                           "    no_op\n";
        Module m = parse_module(text);
        CHECK(to_string(m) == text);
        REQUIRE(m.functions.size() == 4);
        CHECK(m.functions[1].kind == FunctionKind::LoopBody);
        CHECK(m.functions[1].args[2].kind == ArgumentKind::Storage);
        CHECK(m.functions[2].kind == FunctionKind::Part);
        CHECK(m.functions[3].kind == FunctionKind::Task);
    }
    TEST_CASE("a module read back is the same") {
        const char *good = "module \"m\"\n"
                           "func \"blur\"(n: int32, k: float32, a: input uint8[2], "
                           "o: output uint16[3]):\n"
                           "    for i in [0, +n):\n"
                           "        o[i] = uint16(a[i]) + uint16(k)\n"
                           "    extern int32 use(a, o)\n"
                           "func \"none\"():\n"
                           "    no_op\n";
        Module m = parse_module(good);
        CHECK(to_string(m) == good);
        REQUIRE(m.functions.size() == 2);
        CHECK(m.functions[0].args[3].kind == ArgumentKind::OutputBuffer);
        CHECK(m.functions[0].args[3].dimensions == 3);
        CHECK(m.functions[1].args.empty());
        CHECK(is_module_text(good));
        CHECK(is_module_text("# first\n  module \"m\""));
        CHECK_FALSE(is_module_text("f[0] = 1"));
        CHECK_FALSE(is_module_text(""));
    }
}
