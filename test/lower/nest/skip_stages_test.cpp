#include "lower/nest/skip_stages.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// A function g, stored outside of a loop over y, which computes it and reads it under a condition.
std::string computed_within(const std::string &lets, const std::string &condition) {
    return "realize g: {int32} over [0, +9]\nfor y in [0, +n):\n" + lets +
           "    produce g: g(y) = y\n    consume g: if " + condition + ": f(y) = g(y)\n";
}

bool is_skipped_unless(const std::string &needed, const std::string &text) {
    std::string after = run(skip_stages, text);
    return after.find("if " + needed) < after.find("consume g");
}

}  // namespace

TEST_SUITE("skip_stages") {
    TEST_CASE("a stage is skipped where a condition of all iterations does not hold") {
        CHECK(is_skipped_unless("m < 5", computed_within("", "m < 5")));
        CHECK(is_skipped_unless("a < 5", computed_within("    let a = m\n", "a < 5")));
    }
    TEST_CASE("conditions within a value count, each for what stands in its branch") {
        auto read_in = [](const std::string &value) {
            return "realize g: {int32} over [0, +9]\nfor y in [0, +n):\n    produce g: g(y) = y\n"
                   "    consume g: f(y) = " +
                   value + "\n";
        };
        CHECK(is_skipped_unless("m < 5", read_in("select(m < 5, g(y), 0) * 2 + y")));
        CHECK(is_skipped_unless(
            "m < 5", read_in("min(select(m < 5, g(y), 0), 7) - select(m < 5, g(y), 1)")));
        const std::string always = read_in("select(m < 5, g(y), 0) + g(0)");
        CHECK(run(skip_stages, always) == printed(always));
    }
    TEST_CASE("a condition of the loops that read does not hide one that they have in common") {
        auto read_if = [](const std::string &condition) {
            return "realize g: {int32} over [0, +9]\nfor y in [0, +n):\n    produce g: g(y) = y\n"
                   "    consume g: for x in [0, +n): if " +
                   condition + ": f(x, y) = g(y)\n";
        };
        CHECK(is_skipped_unless("m < 5", read_if("x % k == 0 && m < 5")));
        CHECK(is_skipped_unless("m < 5", read_if("m < 5 && (x < k || x == 7)")));
        const std::string either = read_if("x % k == 0 || m < 5");
        CHECK(run(skip_stages, either) == printed(either));
    }
    TEST_CASE("of a condition counts the part that no loop within decides") {
        auto read_in = [](const std::string &condition) {
            return "realize g: {int32} over [0, +9]\nfor y in [0, +n):\n    produce g: g(y) = y\n"
                   "    consume g:\n        for x in [0, +4):\n            if " +
                   condition + ":\n                f(x, y) = g(y)\n";
        };
        CHECK(is_skipped_unless("m < 5", read_in("m < 5 && x < 3")));
        CHECK(is_skipped_unless("m < 5", read_in("x < 3 && (m < 5 && x < 2)")));
        CHECK(is_skipped_unless("m < 5", read_in("!(m >= 5 || x == y)")));
        CHECK(is_skipped_unless("m < 5 || k < 3", read_in("(m < 5 && x < 3) || k < 3")));
        for (const char *any : {"m < 5 || x < 3", "!(m < 5 && x < 3)", "x % m == 0"}) {
            CHECK(run(skip_stages, read_in(any)) == printed(read_in(any)));
        }
    }
    TEST_CASE("a comparison counts where any of a loop's values may satisfy it") {
        auto read_in = [](const std::string &condition) {
            return "for y in [0, +n):\n    realize g: {int32} over [0, +9]:\n        produce g: "
                   "g(y) = y\n        consume g:\n            for x in [y * 4, +4): if " +
                   condition + ": f(x, y) = g(y)\n";
        };
        CHECK(is_skipped_unless("y * 4 < m", read_in("x < m")));
        CHECK(is_skipped_unless("m < y * 4 + 3", read_in("x > m && h(x) > 3")));
    }
    TEST_CASE("the tail of a split leaves nothing out") {
        const std::string tail =
            "for y in [0, +n):\n    realize g: {int32} over [0, +9]:\n        produce g: g(y) = y\n"
            "        consume g:\n            for x in [0, +4): if likely(y * 4 + x < m): "
            "f(x, y) = g(y)\n";
        CHECK(run(skip_stages, tail) == printed(tail));
    }
    TEST_CASE("a value that is read in one branch only, there more than once") {
        auto with_let = [](const std::string &value) {
            return "realize g: {int32} over [0, +9]\nfor y in [0, +n):\n    produce g: g(y) = y\n"
                   "    consume g:\n        let t = g(y)\n        let u = t * t\n        f(y) = " +
                   value + "\n";
        };
        CHECK(is_skipped_unless("m < 5", with_let("select(m < 5, u + t, 0)")));
        CHECK(is_skipped_unless("8 <= k || m < 5",
                                with_let("select(m < 5, u, 0) + select(k > 7, t, 1)")));
        const std::string always = with_let("select(m < 5, u, t)");
        CHECK(run(skip_stages, always) == printed(always));
        const std::string condition = with_let("select(t < 5, u, 0)");
        CHECK(run(skip_stages, condition) == printed(condition));
    }
    TEST_CASE("what has been computed, and images, may decide") {
        auto decided_by = [](const std::string &condition) {
            return "realize h: {int32} over [0, +9]:\n    produce h: h(0) = 1\n    consume h:\n"
                   "        for y in [0, +n):\n            realize g: {int32} over [0, +9]:\n"
                   "                produce g: g(0) = y\n                consume g:\n"
                   "                    for x in [0, +4): f(x, y) = select(" +
                   condition + ", g(0), 3)\n";
        };
        CHECK(is_skipped_unless("6 <= h(y)", decided_by("h(y) > 5")));
        CHECK(is_skipped_unless("6 <= image i(y)", decided_by("image i(y) > 5 && image i(x) > 3")));
        const std::string differs = decided_by("h(x) > 5"), unknown = decided_by("k(y) > 5");
        CHECK(run(skip_stages, differs) == printed(differs));
        CHECK(run(skip_stages, unknown) == printed(unknown));
    }
    TEST_CASE("a value that guards another is asked for before it") {
        const std::string text =
            "realize h: {int32} over [0, +9]:\n    produce h: h(0) = 1\n    consume h:\n"
            "        for y in [0, +n):\n            realize g: {int32} over [0, +9]:\n"
            "                produce g: g(0) = y\n                consume g: if y < m: f(y) = "
            "select(h(y) > 5, g(0), 3)\n";
        CHECK(is_skipped_unless("if_then_else(y < m, 6 <= h(y), false)", text));
        CHECK(run(skip_stages, text).find("if 1 <= m:\n            h(0)") == std::string::npos);
    }
    TEST_CASE("what another iteration may read is computed") {
        auto is_unchanged = [](const std::string &text) {
            return run(skip_stages, text) == printed(text);
        };
        CHECK(is_unchanged(computed_within("", "y < 5")));
        CHECK(is_unchanged(computed_within("    let a = y + m\n", "a < 5")));
        const std::string query =
            "    let q = make_buffer(reinterpret handle(0:uint64), 0, 32, 1)\n"
            "    let r = extern int32 query(q, y)\n";
        CHECK(is_unchanged(computed_within(query, "q.min[0] < 5")));
    }
}
