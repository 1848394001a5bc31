#include "ir/operators.h"
#include "lower/defined_part.h"
#include "lower/finish/lower_undef.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("lower_undef") {
    TEST_CASE("a store of undef is not done") {
        CHECK(run(lower_undef, "f[x] = undef():int32") == printed("no_op"));
        CHECK(run(lower_undef, "f[x] = undef():int32 + 1") == printed("no_op"));
    }
    TEST_CASE("a select keeps the element that is there") {
        CHECK(run(lower_undef, "f[x] = select(x < 3, undef():int32, g[x])") ==
              printed("if !(x < 3): f[x] = g[x]"));
        CHECK(run(lower_undef, "f[x] = select(x < 3, g[x], undef():int32)") ==
              printed("if x < 3: f[x] = g[x]"));
        CHECK(run(lower_undef, "f[x] = select(a:bool, select(b:bool, undef():int32, 1), 2)") ==
              printed("if select(a:bool, !b:bool, true): f[x] = select(a, 1, 2)"));
    }
    TEST_CASE("what is not read where the condition fails is still not read") {
        CHECK(run(lower_undef, "f[x] = if_then_else(a:bool, select(b:bool, undef():int32, g[x]), "
                               "g[y])") ==
              printed("if select(a:bool, !b:bool, true): f[x] = if_then_else(a, g[x], g[y])"));
    }
    TEST_CASE("lets of undef are followed, others kept") {
        CHECK(run(lower_undef, "let t = undef():int32\nf[x] = t\nf[y] = 1") ==
              printed("no_op\nf[y] = 1"));
        CHECK(run(lower_undef, "f[x] = let t = g[x] in select(t < 3, undef():int32, t)") ==
              printed("let t = g[x]\nif !(t < 3): f[x] = t"));
    }
    TEST_CASE("an operation is undefined where an operand is") {
        CHECK(run(lower_undef, "f[x] = 1 - select(x < 3, undef():int32, g[x])") ==
              printed("if !(x < 3): f[x] = 1 - g[x]"));
        CHECK(run(lower_undef, "f[x] = int32(abs(select(x < 3, 1, undef():int32)))") ==
              printed("if x < 3: f[x] = int32(abs(1))"));
        CHECK(run(lower_undef, "f[x] = select(x < 3, undef():int32, 1) * "
                               "select(y < 4, g[y], undef():int32)") ==
              printed("if !(x < 3) && y < 4: f[x] = 1 * g[y]"));
        CHECK(run(lower_undef, "f[x] = g[select(x < 3, undef():int32, x)]") ==
              printed("if !(x < 3): f[x] = g[x]"));
        CHECK(run(lower_undef, "f[x] = select(x < 3, undef():int32, 1) * undef():int32") ==
              printed("no_op"));
    }
    TEST_CASE("a choice is undefined where its condition is") {
        CHECK(run(lower_undef, "f[x] = select(select(x < 3, undef():int32, y) < 4, 1, "
                               "select(z < 5, 2, undef():int32))") ==
              printed("if !(x < 3) && select(y < 4, true, z < 5): f[x] = select(y < 4, 1, 2)"));
    }
    TEST_CASE("a condition that is read or called is evaluated once") {
        CHECK(run(lower_undef, "f[x] = select(extern int32 h(x) < 3, select(y < 4, undef():int32, "
                               "1), 2)") ==
              printed("let chosen = extern int32 h(x) < 3\n"
                      "if select(chosen:bool, !(y < 4), true): f[x] = select(chosen:bool, 1, 2)"));
        CHECK(run(lower_undef, "f[x] = if_then_else(x < 3, select(g[x] < 4, undef():int32, 1), "
                               "2)") ==
              printed("let chosen = if_then_else(x < 3, g[x] < 4, false)\n"
                      "if select(x < 3, !chosen:bool, true): f[x] = if_then_else(x < 3, 1, 2)"));
    }
    TEST_CASE("a let whose value is undefined at times is used only where it is not") {
        CHECK(run(lower_undef, "f[x] = let t = select(x < 3, undef():int32, g[x]) in "
                               "select(y < 4, t + 1, 2)") ==
              printed("let defined = !(x < 3)\n"
                      "let t = if_then_else(defined:bool, g[x], 0)\n"
                      "if select(y < 4, defined:bool, true): f[x] = select(y < 4, t + 1, 2)"));
    }
    TEST_CASE("shared operands are looked at once") {
        // 2^60 paths lead to the undefined one.
        std::string before = "select(x < 3, undef():int32, g[x])";
        ir::Expr e = ir::parse_expr(before);
        for (int i = 0; i < 60; i++) e = ir::select(e < i, e + 1, e - 1);
        Lets lets;
        CHECK(ir::to_string(defined_part(e, lets).when) != "");
        CHECK(lets.size() == 60);
    }
}
