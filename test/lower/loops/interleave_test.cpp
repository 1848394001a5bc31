#include "lower/loops/interleave.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
std::string interleaved(std::string_view text) { return run(interleave, text); }
bool is_unchanged(std::string_view text) {
    ir::Stmt before = ir::parse_stmt(text);
    return interleave(before, {}).same_as(before);
}
}  // namespace

TEST_SUITE("interleave") {
    TEST_CASE("stores of stride 3 to neighbouring elements are one dense store") {
        CHECK(interleaved("f[ramp(b * 3, 3, 4)] = x4(x)\n"
                          "f[ramp(b * 3 + 2, 3, 4)] = x4(z)\n"
                          "f[ramp(b * 3 + 1, 3, 4)] = x4(y)\n"
                          "h[0] = 1") ==
              printed("f[ramp(b * 3, 1, 12)] = interleave(x4(x), x4(y), x4(z))\nh[0] = 1"));
    }
    TEST_CASE("with the lets that belong to them") {
        CHECK(interleaved("let t = g[ramp(c, 1, 4)]\nf[ramp(b * 2, 2, 4)] = t:int32x4") ==
              printed("let t = g[ramp(c, 1, 4)]\nf[ramp(b * 2, 2, 4)] = t:int32x4"));
    }
    TEST_CASE("lanes that a division and its remainder take apart are together in a store") {
        CHECK(interleaved(
                  "f[ramp(b * 4, 1, 4) % x4(2) + ramp(b * 4, 1, 4) / x4(2) * x4(2)] = x4(x)") ==
              printed("f[ramp(0 + b * 4 / 2 * 2, 1, 4)] = x4(x)"));
    }
    TEST_CASE("not if one reads what a store before it writes") {
        CHECK(is_unchanged("f[ramp(b, 2, 4)] = x4(x)\nf[ramp(b + 1, 2, 4)] = f[ramp(b, 2, 4)]"));
        CHECK(is_unchanged("f[ramp(b, 2, 4) if f[ramp(c, 1, 4)] < x4(n)] = x4(x)\n"
                           "f[ramp(b + 1, 2, 4) if f[ramp(c, 1, 4)] < x4(n)] = x4(y)"));
        CHECK(is_unchanged("f[ramp(f[c], 2, 4)] = x4(x)\nf[ramp(f[c] + 1, 2, 4)] = x4(y)"));
        CHECK_FALSE(is_unchanged("f[ramp(b, 2, 4) if g[ramp(c, 1, 4)] < x4(n)] = x4(x)\n"
                                 "f[ramp(b + 1, 2, 4) if g[ramp(c, 1, 4)] < x4(n)] = x4(y)"));
    }
    TEST_CASE("not if there are gaps or repetitions") {
        CHECK(is_unchanged("f[ramp(b, 3, 4)] = x4(x)\nf[ramp(b + 1, 3, 4)] = x4(y)"));
        CHECK(is_unchanged("f[ramp(b, 2, 4)] = x4(x)\nf[ramp(b, 2, 4)] = x4(y)"));
        CHECK(is_unchanged("f[ramp(b, 2, 4)] = x4(x)\nf[ramp(b + 3, 2, 4)] = x4(y)"));
    }
    TEST_CASE("loads that repeat elements are dense loads and shuffles") {
        CHECK(interleaved("f[ramp(0, 1, 4)] = g[ramp(b * 2, 1, 4) / x4(2)]") ==
              printed("f[ramp(0, 1, 4)] = shuffle(g[ramp(b * 2 / 2, 1, 2)], [0, 0, 1, 1])"));
    }
    TEST_CASE("the alignment may come from a let") {
        CHECK(
            interleaved("let t = c * 4\nf[ramp(0, 1, 4)] = g[ramp(t + 1, 1, 4) / x4(2) + x4(n)]") ==
            printed("let t = c * 4\nf[ramp(0, 1, 4)] = "
                    "shuffle(g[ramp((t + 1) / 2 + n, 1, 3)], [0, 1, 1, 2])"));
    }
    TEST_CASE("where the alignment is unknown, the lanes of each remainder are a dense load") {
        CHECK(interleaved("f[ramp(0, 1, 4)] = g[ramp(b, 1, 4) / x4(2)]") ==
              printed("f[ramp(0, 1, 4)] = interleave(g[ramp(b / 2, 1, 2)], "
                      "g[ramp((b + 1) / 2, 1, 2)])"));
        CHECK(interleaved("f[ramp(0, 1, 6)] = g[ramp(b, 1, 6) % x6(3) * x6(n) + x6(c)]") ==
              printed("f[ramp(0, 1, 6)] = interleave(x2(g[c + n * (b % 3)]), "
                      "x2(g[c + n * ((b + 1) % 3)]), x2(g[c + n * ((b + 2) % 3)]))"));
        CHECK(interleaved("f[ramp(0, 1, 8)] = g[ramp(ramp(b, 1, 4) / x4(2), x4(2), 2)]") ==
              printed("f[ramp(0, 1, 8)] = interleave(g[ramp(b / 2, 1, 4)], "
                      "g[ramp((b + 1) / 2, 1, 4)])"));
    }
    TEST_CASE("lanes under a predicate, each element under that of the lanes that want it") {
        CHECK(interleaved("h[ramp(c, 1, 4)] = "
                          "f[ramp(b, 1, 4) / x4(2) if ramp(b, 1, 4) <= x4(n)]") ==
              printed("h[ramp(c, 1, 4)] = interleave("
                      "f[ramp(b / 2, 1, 2) if slice(ramp(b, 1, 4) <= x4(n), 0, 2, 2)], "
                      "f[ramp((b + 1) / 2, 1, 2) if slice(ramp(b, 1, 4) <= x4(n), 1, 2, 2)])"));
        CHECK(interleaved("h[ramp(c, 1, 4)] = "
                          "f[ramp(b * 2, 1, 4) / x4(2) if ramp(b * 2, 1, 4) <= x4(n)]") ==
              printed("h[ramp(c, 1, 4)] = shuffle("
                      "f[ramp(b * 2 / 2, 1, 2) if slice(ramp(b * 2, 1, 4) <= x4(n), 0, 2, 2) || "
                      "slice(ramp(b * 2, 1, 4) <= x4(n), 1, 2, 2)], [0, 0, 1, 1])"));
    }
    TEST_CASE(
        "elements that many lanes want under a predicate are gathered, or loaded by remainder") {
        auto under = [](const char *index) {
            return str("h[ramp(c, 1, 16)] = f[", index, " if ramp(b, 1, 16) <= x16(n)]");
        };
        CHECK_FALSE(is_unchanged(under("ramp(b * 4, 1, 16) / x16(4)")));
        CHECK(is_unchanged(under("ramp(b * 8, 1, 16) / x16(8)")));
        CHECK_FALSE(is_unchanged("h[ramp(c, 1, 16)] = f[ramp(b * 8, 1, 16) / x16(8)]"));
        // A condition for all lanes is one for all elements.
        CHECK(interleaved("h[ramp(c, 1, 16)] = f[ramp(b * 8, 1, 16) / x16(8) if x16(b < n)]") ==
              printed("h[ramp(c, 1, 16)] = shuffle(f[ramp(b * 8 / 8, 1, 2) if x2(b < n)], "
                      "[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])"));
        CHECK(interleaved(under("ramp(b * 2, 1, 16) % x16(2)")) ==
              printed("h[ramp(c, 1, 16)] = interleave("
                      "f[x8(0) if slice(ramp(b, 1, 16) <= x16(n), 0, 2, 8)], "
                      "f[x8(1) if slice(ramp(b, 1, 16) <= x16(n), 1, 2, 8)])"));
    }
    TEST_CASE("loads whose lanes are in another order are dense, shuffled") {
        CHECK(interleaved("h[ramp(c, 1, 4)] = f[shuffle(ramp(b, 1, 4), [2, 0, 3, 1])]") ==
              printed("h[ramp(c, 1, 4)] = shuffle(f[ramp(b, 1, 4)], [2, 0, 3, 1])"));
        CHECK(interleaved("h[ramp(c, 1, 4)] = f[ramp(b * 4 + 2, 1, 4) % x4(4) + x4(n)]") ==
              printed("h[ramp(c, 1, 4)] = shuffle(f[ramp(0 + n, 1, 4)], [2, 3, 0, 1])"));
        // Each element is under the condition of its own lane.
        CHECK(interleaved("h[ramp(c, 1, 4)] = "
                          "f[shuffle(ramp(b, 1, 4), [2, 0, 3, 1]) if ramp(k, 1, 4) <= x4(n)]") ==
              printed("h[ramp(c, 1, 4)] = shuffle(f[ramp(b, 1, 4) if "
                      "shuffle(ramp(k, 1, 4) <= x4(n), [1, 3, 0, 2])], [2, 0, 3, 1])"));
    }
    TEST_CASE("what lies in between is read where no predicate says what may be") {
        CHECK(interleaved("h[ramp(c, 1, 4)] = f[ramp(ramp(b, 1, 2), x2(3), 2)]") ==
              printed("h[ramp(c, 1, 4)] = shuffle(f[ramp(b, 1, 5)], [0, 1, 3, 4])"));
        CHECK(is_unchanged("h[ramp(c, 1, 4)] = "
                           "f[ramp(ramp(b, 1, 2), x2(3), 2) if ramp(b, 1, 4) <= x4(n)]"));
    }
    TEST_CASE("vectors may be let") {
        CHECK(interleaved("let t = ramp(b, 1, 4) / x4(2)\nf[ramp(0, 1, 4)] = g[t + x4(n)]") ==
              printed("let t = ramp(b, 1, 4) / x4(2)\nf[ramp(0, 1, 4)] = "
                      "interleave(g[ramp(n + b / 2, 1, 2)], g[ramp(n + (b + 1) / 2, 1, 2)])"));
    }
    TEST_CASE("what is spread unevenly stays a gather") {
        CHECK(is_unchanged("f[ramp(0, 1, 4)] = g[h[ramp(b, 1, 4)] / x4(2)]"));
        CHECK(is_unchanged("f[ramp(0, 1, 4)] = g[ramp(b, n, 4) / x4(2)]"));
        CHECK(is_unchanged("f[ramp(0, 1, 4)] = g[ramp(b, 1, 4) / x4(8)]"));
    }
    TEST_CASE("ramps of ramps that are ramps") {
        CHECK(interleaved("f[ramp(ramp(b, 1, 4), x4(4), 2)] = g[ramp(ramp(c, 2, 2), x2(4), 4)]") ==
              printed("f[ramp(b, 1, 8)] = g[ramp(c, 2, 8)]"));
    }
    TEST_CASE("a store whose lanes are in another order is dense, of shuffled lanes") {
        CHECK(interleaved("f[ramp(ramp(b, 2, 3), x3(1), 2)] = v:int32x6") ==
              printed("f[ramp(b, 1, 6)] = shuffle(v:int32x6, [0, 3, 1, 4, 2, 5])"));
    }
    TEST_CASE("not what lies in between, if other iterations may be writing it") {
        const char *body = "f[ramp(ramp(i, 16, 3), x3(1), 4)] = f[ramp(ramp(i, 16, 3), x3(1), 4)]";
        CHECK(is_unchanged(str("parallel for i in [0, +4):\n    ", body)));
        CHECK(!is_unchanged(str("for i in [0, +4):\n    ", body)));
    }
}
