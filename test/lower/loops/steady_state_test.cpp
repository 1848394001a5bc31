#include "lower/loops/partition_loops.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

bool is_split(const std::string &text) {
    ir::Stmt before = ir::parse_stmt(text);
    return !partition_loops(before, {}).same_as(before);
}

// An innermost loop over x of `terms` loads, in which something is tested.
std::string loop_of(int terms, const std::string &index, const std::string &predicate = "") {
    std::string text =
        "for x in [0, +n):\n    let b = " + index + "\n    f[b" + predicate + "] = 0";
    for (int i = 0; i < terms; i++) text += " + g[b + " + std::to_string(i) + "]";
    return text;
}

const std::string shifted_inwards = "min(likely_if_innermost(x * 8), m - 8)";

}  // namespace

TEST_SUITE("steady_state") {
    TEST_CASE("a short body is copied for the sake of one min") {
        CHECK(is_split(loop_of(1, shifted_inwards)));
    }
    TEST_CASE("a long body is not copied for the sake of one min") {
        CHECK_FALSE(is_split(loop_of(100, shifted_inwards)));
    }
    TEST_CASE("nor where its inner loops are split for tests of their own") {
        auto loops_over_y = [](int terms) {
            std::string text = "for y in [0, +n):\n"
                               "    let b = min(likely_if_innermost(y * 8), m - 8)\n"
                               "    for x in [0, +w): f[x + b] = g[max(likely(x), v)]";
            for (int i = 0; i < terms; i++) text += " + g[x + " + std::to_string(i) + "]";
            const std::string after = run(partition_loops, text);
            int count = 0;
            for (size_t at = 0; (at = after.find("for y", at)) != after.npos; at++) count++;
            return count;
        };
        CHECK(loops_over_y(1) == 2);
        CHECK(loops_over_y(100) == 1);
    }
    TEST_CASE("a long body is copied where the test guards a store") {
        CHECK(is_split(loop_of(100, "x * 8", " if likely_if_innermost(x * 8 < m)")));
    }
    TEST_CASE("a long body is copied where it is told to be") {
        CHECK(is_split(loop_of(100, "min(likely(x * 8), m - 8)")));
    }
    TEST_CASE("what a bounds query in the loop finds does not split it") {
        CHECK_FALSE(is_split("for y in [0, +50):\n"
                             "    let q = make_buffer(reinterpret handle(0:uint64), 0, 32, 1, y)\n"
                             "    let r = extern int32 query(q)\n"
                             "    f[y] = max(likely(q.min[0]), y)"));
    }
    TEST_CASE("where an outer loop is split for one test, the weak ones count as well") {
        std::string text = "for y in [0, +50): for x in [0, +100): f[x] = "
                           "g[max(likely(y - 1), 0)] + h[min(likely_if_innermost(y), 20)]";
        CHECK(run(partition_loops, text) ==
              printed("for y in [0, +1): for x in [0, +100): "
                      "f[x] = g[max(y - 1, 0)] + h[min(y, 20)]\n"
                      "for y in [1, +20): for x in [0, +100): "
                      "f[x] = g[likely(y - 1)] + h[likely_if_innermost(y)]\n"
                      "for y in [21, +29): for x in [0, +100): "
                      "f[x] = g[max(y - 1, 0)] + h[min(y, 20)]\n"));
    }
}
