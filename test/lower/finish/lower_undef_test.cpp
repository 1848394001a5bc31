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
              printed("if let t = g[x] in !(t < 3): f[x] = let t = g[x] in t"));
    }
}
