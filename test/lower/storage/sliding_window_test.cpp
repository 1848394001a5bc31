#include "lower/pass_test.h"
#include "lower/storage/sliding_window.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string slide(std::string_view text) { return run(sliding_window, text); }

// A loop over y in which f is computed from a to b.
struct Window {
    std::string loop = "for y in [0, +m)", a = "y - 1", b = "y + 1", produced = "", range = "";
    std::string storage = "", facts = "";

    std::string text(const std::string &min, const std::string &max, const std::string &of) const {
        return str("realize f: {int32}", storage, " over [-1, +m + 2", facts, "]\n", loop,
                   ":\n    let a = ", min, "\n    let b = ", max, "\n    produce f", produced, of,
                   ":\n        for x in [a, +b - a + 1): f(x) = x\n    consume f: g(y) = f(y)");
    }
    std::string after() const { return slide(text(a, b, str(" of [a, b", range, "]"))); }
    // What it is where the lets are these.
    std::string with(const std::string &min, const std::string &max) const {
        return printed(text(min, max, ""));
    }
    bool is_left_alone() const { return after() == with(a, b); }
};

bool contains(const std::string &text, const std::string &part) {
    CAPTURE(text);
    CAPTURE(part);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("sliding_window") {
    TEST_CASE("forward: from the end of what the iteration before has computed") {
        Window w;
        CHECK(w.after() ==
              w.with("select(y == 0, y - 1, likely_if_innermost(y + 1 + 0))", "y + 1"));
    }
    TEST_CASE("backward: up to the beginning of it") {
        Window w;
        w.a = "-1 - y", w.b = "1 - y";
        CHECK(w.after() ==
              w.with("-1 - y", "select(y == 0, 1 - y, likely_if_innermost(-1 - y + 0))"));
    }
    TEST_CASE("in steps of several rows, which leave none out") {
        Window w;
        w.a = "y * 2", w.b = "y * 2 + 4";
        CHECK(w.after() ==
              w.with("select(y == 0, y * 2, likely_if_innermost(y * 2 + 4 + -1))", "y * 2 + 4"));
    }
    TEST_CASE("windows that have nothing in common are computed whole") {
        Window w;
        w.a = "y * 8", w.b = "y * 8 + 4";
        CHECK(w.after() ==
              w.with("select(y == 0, y * 8, likely_if_innermost(y * 8 + 4 + -4))", "y * 8 + 4"));
    }
    TEST_CASE("one end that moves") {
        Window w;
        w.a = "0";
        CHECK(w.after() ==
              w.with("select(y == 0, 0, likely_if_innermost(max(y + 1, 0)))", "y + 1"));
    }
    TEST_CASE("a window that stands still is computed in the first iteration") {
        Window w;
        w.loop = "for y in [k, +m)", w.a = "0", w.b = "7";
        CHECK(contains(w.after(), "    produce f:\n        if y == k:\n            for x"));
    }
    TEST_CASE("nothing without dimensions is computed twice") {
        CHECK(slide("realize f: {int32}\nfor y in [0, +m):\n    produce f: f() = 3\n"
                    "    consume f: g(y) = f()") ==
              printed("realize f: {int32}\nfor y in [0, +m):\n    produce f: if y == 0: f() = 3\n"
                      "    consume f: g(y) = f()"));
    }
    TEST_CASE("not along loops whose iterations run in any order") {
        Window w;
        for (const char *kind : {"parallel", "vectorized"}) {
            CAPTURE(kind);
            w.loop = str(kind, " for y in [0, +4)");
            CHECK(w.is_left_alone());
        }
        w.loop = "unrolled for y in [0, +4)";
        CHECK_FALSE(w.is_left_alone());
    }
    TEST_CASE("not where it is not known how the ends move, or both ways") {
        Window w;
        w.a = "h(y)";
        CHECK(w.is_left_alone());
        w.a = "-y";
        CHECK(w.is_left_alone());
    }
    TEST_CASE("not where updates mix points, or splits go nobody knows how far") {
        Window w;
        w.range = " mixed";
        CHECK(w.is_left_alone());
        w.range = " rounded";
        CHECK(w.is_left_alone());
    }
    TEST_CASE("what splits round up is rounded at its beginning") {
        Window w;
        w.range = " by 2";
        CHECK(w.after() ==
              w.with("select(y == 0, y - 1, likely_if_innermost(y + 1 + -1))", "y + 1"));
        w.range = " by 8";
        CHECK(w.after() ==
              w.with("select(y == 0, y - 1, likely_if_innermost(y + 1 + -2))", "y + 1"));
    }
    TEST_CASE("a loop of one iteration is looked through") {
        Window w;
        w.loop = "for z in [0, +m): for y in [z, +1)";
        CHECK(contains(w.after(), "let a = select(z == 0, y - 1, likely_if_innermost("));
    }
    TEST_CASE("not where an iteration may leave the production out") {
        const auto text = [](const char *test) {
            return slide(str("realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                             "    if ",
                             test,
                             ":\n        let a = y\n        let b = y + 1\n"
                             "        produce f of [a, b]: f(a) = b\n    no_op"));
        };
        CHECK(contains(text("y % 2 == 0"), "let a = y\n"));
        CHECK(contains(text("k == 0"), "let a = select("));
        CHECK(contains(text("likely(y < n)"), "let a = select("));
        CHECK(contains(text("likely(y > n)"), "let a = y\n"));
        CHECK(contains(text("y < n"), "let a = y\n"));
    }
    TEST_CASE("not where a loop in between may have no iterations") {
        const auto text = [](const char *extent) {
            return slide(str("realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                             "    for z in [0, +",
                             extent,
                             "):\n        let a = y\n        let b = y + 1\n"
                             "        produce f of [a, b]: f(a) = b"));
        };
        CHECK_FALSE(contains(text("m - y * 2"), "select(y == 0"));
        CHECK(contains(text("max(m - y * 2, 1)"), "select(y == 0"));
    }
    TEST_CASE("only in a dimension that alone depends on the loop") {
        const auto text = [](const char *c, const char *facts) {
            return slide(str("realize f: {int32} over [0, +m], [0, +m]\nfor y in [0, +m):\n"
                             "    let a = y\n    let b = y + 1\n    let c = ",
                             c, "\n    let d = c\n    produce f", facts,
                             " of [a, b], [c, d]: ", "f(a, c) = 1\n    no_op"));
        };
        CHECK(contains(text("3", ""), "let a = select("));
        CHECK(contains(text("y", ""), "let a = y\n"));
    }
    TEST_CASE("not where updates that go beyond what is asked begin points anew further in") {
        const auto text = [](const char *stages, const char *range) {
            return slide(str("realize f: {int32} over [0, +m], [0, +m]\nfor y in [0, +m):\n"
                             "    for x in [0, +m):\n        let a = x\n        let b = x + 1\n"
                             "        let c = y\n        let d = y + 1\n        produce f",
                             stages, " of [a, b", range, "], [c, d]: f(a, c) = 1\n    no_op"));
        };
        const char *slides_along_y = "let c = select(y == 0";
        CHECK_FALSE(contains(text(" in stages", " mixed"), slides_along_y));
        CHECK_FALSE(contains(text(" in stages", " by 8"), slides_along_y));
    }
    TEST_CASE("no loop slides around one along which a fold is asked for") {
        Window w;
        w.loop = "for z in [0, +n): for y in [0, +m)", w.facts = " fold z by 4";
        CHECK_FALSE(contains(w.after(), "z == 0"));
        CHECK(contains(w.after(), "let a = select(y == 0"));
        w.facts = "";
        CHECK(contains(w.after(), "if z == 0"));
    }
    TEST_CASE("not along a loop that is around another production of the function") {
        const auto text = [](const char *test) {
            return slide(str("realize f: {int32} over [0, +m]\nfor y in [0, +m):\n    if ", test,
                             ":\n        let a = y\n        let b = y + 1\n"
                             "        produce f of [a, b]: f(a) = b\n    else:\n"
                             "        let c = y\n        let d = y + 1\n"
                             "        produce f of [c, d]: f(c) = d\n"));
        };
        CHECK(contains(text("h(y) < 3"), "let a = y\n"));
        CHECK(contains(text("k < 3"), "let a = select("));
        CHECK(contains(text("k < 3"), "let c = select("));
    }
    TEST_CASE("afterwards no region is left that is not what is computed") {
        CHECK(slide("produce f in stages by \"c\" of [a, b by 8]: f(a) = 1") ==
              printed("produce f in stages by \"c\": f(a) = 1"));
    }
    TEST_CASE("ends that no let binds stay as they are") {
        CHECK(slide("realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                    "    produce f of [y, y + 1]: f(y) = 1\n    consume f: g(y) = f(y)") ==
              printed("realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                      "    produce f: f(y) = 1\n    consume f: g(y) = f(y)"));
    }
    TEST_CASE("storage within the loop is computed anew") {
        const char *text = "for y in [0, +m):\n    realize f: {int32} over [y, +2]\n"
                           "    let a = y\n    let b = y + 1\n    produce f: f(a) = b";
        CHECK(slide("for y in [0, +m):\n    realize f: {int32} over [y, +2]\n    let a = y\n"
                    "    let b = y + 1\n    produce f of [a, b]: f(a) = b") == printed(text));
    }
}
