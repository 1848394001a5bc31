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
}
