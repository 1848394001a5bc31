#include "lower/loops/loop_invariants.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
std::string hoisted(std::string_view text) { return run(hoist_loop_invariants, text); }
bool is_unchanged(std::string_view text) {
    ir::Stmt before = ir::parse_stmt(text);
    return hoist_loop_invariants(before, {}).same_as(before);
}
}  // namespace

TEST_SUITE("hoist_loop_invariants") {
    TEST_CASE("each part as far out as its operands are known") {
        CHECK(hoisted("for y in [0, +h): for x in [0, +w): f[x + (y - b) * s] = a * c") ==
              printed("let t = a * c\n"
                      "for y in [0, +h):\n"
                      "    let t.1 = (y - b) * s\n"
                      "    for x in [0, +w): f[t.1 + x] = t"));
    }
    TEST_CASE("sums are regrouped") {
        CHECK(hoisted("for x in [0, +w): f[a * b + x - c] = 1") ==
              printed("let t = a * b - c\nfor x in [0, +w): f[t + x] = 1"));
    }
    TEST_CASE(
        "in kernels a name that is subtracted beside a constant is not computed further out") {
        CHECK(hoisted("gpu_block for x in [0, +w): f[x - a - 1] = f[x - a]") ==
              printed("gpu_block for x in [0, +w): f[x - a + -1] = f[x - a]"));
    }
    TEST_CASE("lets of invariants become other names of what moved out") {
        CHECK(hoisted("for x in [0, +w):\n    let q = a * b\n    f[x + q * 3] = q") ==
              printed("let t = a * b\nlet t.1 = t * 3\nfor x in [0, +w):\n"
                      "    let q = t\n    f[t.1 + x] = t"));
    }
    TEST_CASE("loads, effects and cheap things stay") {
        CHECK(is_unchanged("for x in [0, +w): f[x] = g[a] + 1"));
        CHECK(is_unchanged("for x in [0, +w): f[x] = a + 1"));
        CHECK(is_unchanged("for x in [0, +w): f[x] = extern int32 act(a)"));
        CHECK(is_unchanged("f[a * b] = c * d"));
    }
    TEST_CASE("pure extern functions move in Halide's dialect only: they may be guarded") {
        const char *text = "for x in [0, +w): f[x] = pure extern int32 p(b, a)";
        CHECK(is_unchanged(text));
        Context context;
        context.dialect = Dialect::Halide;
        CHECK(run(hoist_loop_invariants, text, context) ==
              printed("let t = pure extern int32 p(b, a)\nfor x in [0, +w): f[x] = t"));
    }
    TEST_CASE("what moves out of strict_float stays strict") {
        CHECK(hoisted("for x in [0, +w): f[x] = strict_float(a:float32 + b:float32 - a:float32 + "
                      "float32(x))") ==
              printed("let t = strict_float(a:float32 + b:float32 - a:float32)\n"
                      "for x in [0, +w): f[x] = strict_float(t:float32 + float32(x))"));
    }
    TEST_CASE("equal invariants are computed once") {
        CHECK(hoisted("for x in [0, +w):\n    f[x] = a * b\n    g[x] = a * b") ==
              printed("let t = a * b\nfor x in [0, +w):\n    f[x] = t\n    g[x] = t"));
    }
}
