#include "lower/loops/trim_no_ops.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
std::string trimmed(std::string_view text) { return run(trim_no_ops, text); }
bool is_unchanged(std::string_view text) {
    ir::Stmt before = ir::parse_stmt(text);
    return trim_no_ops(before, {}).same_as(before);
}
}  // namespace

TEST_SUITE("trim_no_ops") {
    TEST_CASE("a loop runs over what its condition allows") {
        CHECK(trimmed("for x in [0, +100): if x < 30: f[x] = 1") ==
              printed("for x in [0, +30): if x < 30: f[x] = 1"));
        CHECK(trimmed("for x in [0, +100): if (x >= 20) && (x < 30): f[x] = 1") ==
              printed("for x in [20, +10): if (x >= 20) && (x < 30): f[x] = 1"));
    }
    TEST_CASE("a condition that ends with the type does not end the loop before it") {
        CHECK(run(trim_no_ops, "for x in [0, +100): if x <= 2147483647: f[x] = 1") ==
              printed("for x in [0, +100): if x <= 2147483647: f[x] = 1"));
    }
    TEST_CASE("conditions inside inner loops count") {
        CHECK(trimmed("for y in [0, +100): for x in [0, +10): if x + y < 30: f[x] = 1") ==
              printed("for y in [0, +30): for x in [0, +max(min(30 - y, 10), 0)): "
                      "if x + y < 30: f[x] = 1"));
    }
    TEST_CASE("loops over nothing are gone") {
        CHECK(trimmed("for x in [0, +n): if x < m: no_op\nf[0] = 1") == printed("f[0] = 1"));
        CHECK(trimmed("produce f: for x in [0, +n): no_op") == printed("no_op"));
        CHECK(trimmed("for x in [0, +n): if x < 0 && x > 5: f[x] = 1") == printed("no_op"));
    }
    TEST_CASE("storage that nobody uses is gone") {
        CHECK(trimmed(
                  "allocate f: int32[n] in Auto:\n    produce f: no_op\n    consume f: g[0] = 1") ==
              printed("consume f: g[0] = 1"));
        CHECK(is_unchanged("allocate f: int32[n] in Auto: f[0] = 1"));
        CHECK(is_unchanged("allocate f: int32[n] in Auto: g[0] = f[0]"));
        CHECK(is_unchanged("allocate f: int32[n] in Auto: extern int32 act(f)"));
        const std::string used = "allocate f: int32[n] in Auto: produce f: f[0] = 1\n";
        CHECK(trimmed("if m < 5: " + used + "else: allocate f: int32[n] in Auto: g[0] = 1") ==
              printed("if m < 5: " + used + "else: g[0] = 1"));
    }
    TEST_CASE("effects are kept") {
        CHECK(is_unchanged("for x in [0, +n): extern int32 act(x)"));
        CHECK(is_unchanged("for x in [0, +n): if extern int32 act(x) == 0: f[0] = 1"));
    }
    TEST_CASE("a loop that always works is left alone") {
        CHECK(is_unchanged("for x in [0, +n):\n    if x < 30: f[x] = 1\n    f[x] = 2"));
        CHECK(is_unchanged("for x in [0, +n): if g[x] < 3: f[x] = 1"));
    }
    TEST_CASE("a loop whose store keeps what is there runs where it does not") {
        auto sum_of = [](const std::string &value, const std::string &rest = "") {
            return "for x in [0, +100):\n    " + rest + "f[y] = " + value + "\n";
        };
        auto short_loop = [](const std::string &value, const std::string &end = "30") {
            return printed("for x in [0, +" + end + "):\n    f[y] = " + value + "\n");
        };
        CHECK(trimmed(sum_of("f[y] + select(x < 30, g[x], 0)")) == short_loop("f[y] + g[x]"));
        CHECK(trimmed(sum_of("select(x < 30, g[x], 0) + f[y]")) == short_loop("g[x] + f[y]"));
        CHECK(trimmed(sum_of("f[y] - select(x < 30, g[x], 0)")) == short_loop("f[y] - g[x]"));
        CHECK(trimmed(sum_of("f[y] * select(x < 30, g[x], 1)")) == short_loop("f[y] * g[x]"));
        CHECK(trimmed(sum_of("min(f[y], select(x < 30, g[x], 2147483647))")) ==
              short_loop("min(f[y], g[x])"));
        CHECK(trimmed(sum_of("max(f[y], select(x < 30, g[x], -2147483648))")) ==
              short_loop("max(f[y], g[x])"));
        CHECK(trimmed(sum_of("bitwise_or(f[y], select(x < 30, g[x], 0))")) ==
              short_loop("bitwise_or(f[y], g[x])"));
        CHECK(trimmed(sum_of("select(x < 30, g[x], f[y])")) == short_loop("g[x]"));
        CHECK(trimmed(sum_of("select(x >= 30, f[y], g[x])")) ==
              short_loop("select(x >= 30, f[y], g[x])"));
        CHECK(trimmed(sum_of("f[y] + int32(x < 30)")) == short_loop("f[y] + int32(x < 30)"));
        CHECK(trimmed(sum_of("f[y] + select(x < n, select(x < 30, g[x], 0), 0)")) ==
              short_loop("f[y] + g[x]", "max(min(n - 1, 29) + 1, 0)"));
        CHECK(trimmed(sum_of("t + select(x < 30, g[x], 0)", "let t = f[y]\n    ")) ==
              printed("for x in [0, +30):\n    let t = f[y]\n    f[y] = t + g[x]"));
    }
    TEST_CASE("in vectors: where any lane changes") {
        CHECK(trimmed("for r in [0, +100):\n    f[ramp(0, 1, 4)] = f[ramp(0, 1, 4)] + "
                      "select(x4(r) <= ramp(n, 1, 4), g[ramp(r, 1, 4)], x4(0))") ==
              printed("for r in [0, +max(min(n + 4, 100), 0)):\n    f[ramp(0, 1, 4)] = "
                      "f[ramp(0, 1, 4)] + "
                      "select(x4(r) <= ramp(n, 1, 4), g[ramp(r, 1, 4)], x4(0))"));
    }
    TEST_CASE("a predicate of lanes and a condition for all of them count both") {
        CHECK(trimmed("for r in [0, +100):\n    f[ramp(0, 1, 4) if ramp(0, 1, 4) < x4(n)] = "
                      "select(r < 30, x4(1), f[ramp(0, 1, 4)])") ==
              printed("for r in [0, +30):\n    f[ramp(0, 1, 4) if ramp(0, 1, 4) < x4(n)] = x4(1)"));
    }
    TEST_CASE("a triangle: the inner loop ends where the condition does") {
        CHECK(trimmed("for y in [0, +100):\n    for x in [0, +100):\n        "
                      "f[x + y * 100] = f[x + y * 100] + select(x <= y, g[x], 0)") ==
              printed("for y in [0, +100):\n    for x in [0, +max(min(y + 1, 100), 0)):\n        "
                      "f[x + y * 100] = f[x + y * 100] + g[x]"));
    }
    TEST_CASE("what may change something counts") {
        for (const char *value :
             {"f[y] + select(x < 30, g[x], 1)", "f[x] + select(x < 30, g[x], 0)",
              "g[y] + select(x < 30, g[x], 0)", "f[y] * select(x < 30, g[x], 0)",
              "min(f[y], select(x < 30, g[x], 7))", "select(x < 30, g[x], 0)",
              "f[y] + select(g[x] < 3, g[x], 0)", "0 - f[y] + select(x < 30, g[x], 0)"}) {
            CAPTURE(value);
            CHECK(is_unchanged("for x in [0, +100): f[y] = " + std::string(value)));
        }
        CHECK(is_unchanged("for x in [0, +100):\n    let t = f[y]\n    f[y] = 3\n"
                           "    f[y] = t + select(x < 30, g[x], 0)"));
        CHECK(is_unchanged("let t = f[y]\nfor x in [0, +100): f[y] = t + "
                           "select(x < 30, g[x], 0)"));
    }
    TEST_CASE("a short loop of constant extent stays one, to be unrolled") {
        CHECK(is_unchanged("for x in [0, +3): f[y] = f[y] + select(x < n, g[x], 0)"));
    }
}
