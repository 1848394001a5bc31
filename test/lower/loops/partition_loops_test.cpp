#include "algebra/simplify.h"
#include "lower/loops/likely.h"
#include "lower/loops/partition_loops.h"
#include "lower/loops/trim_no_ops.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
ir::Stmt partition(const ir::Stmt &s, const Context &c) {
    return trim_no_ops(algebra::simplify(remove_likely(partition_loops(s, c))), c);
}
std::string partitioned(std::string_view text) { return run(partition, text); }
bool is_unchanged(std::string_view text) {
    ir::Stmt before = ir::parse_stmt(text);
    return partition_loops(before, {}).same_as(before);
}
}  // namespace

TEST_SUITE("partition_loops") {
    TEST_CASE("a clamped index gets a prologue and an epilogue") {
        CHECK(partitioned("for x in [0, +100): f[x] = g[max(min(likely(x - 1), 97), 0)]") ==
              printed("f[0] = g[0]\n"
                      "for x in [1, +98): f[x] = g[x - 1]\n"
                      "f[99] = g[97]\n"));
    }
    TEST_CASE("a test that has effects stays") {
        CHECK(
            is_unchanged("for x in [0, +100): f[x] = select(likely(x < extern int32 n()), 1, 2)"));
        CHECK(is_unchanged("for x in [0, +100): f[x] = min(likely(x), extern int32 n())"));
        CHECK(
            is_unchanged("for x in [0, +100): f[x] = select(x < extern int32 n(), likely(x), 2)"));
    }
    TEST_CASE("what a select does not choose need not be evaluated") {
        CHECK(partitioned("for x in [0, +9): f[x] = select(likely(x < 8), x, extern int32 n())") ==
              printed("for x in [0, +8): f[x] = x\n"
                      "f[8] = extern int32 n()"));
    }
    TEST_CASE("a tail is cut off") {
        CHECK(partitioned("for x in [0, +n): for k in [0, +8): if likely(x * 8 + k < m): "
                          "f[x * 8 + k] = 1") ==
              printed(
                  "let x_epilogue = max(min(n, m / 8), 0)\n"
                  "for x in [0, +x_epilogue): for k in [0, +8): f[x * 8 + k] = 1\n"
                  "for x in [x_epilogue, +max(min(n, (m + 7) / 8) - x_epilogue, 0)): "
                  "for k in [0, +max(min(m - x * 8, 8), 0)): if x * 8 + k < m: f[x * 8 + k] = 1"));
    }
    TEST_CASE("where a tile is known to be whole, so are the ends of what is computed for it") {
        CHECK(partitioned("for x in [0, +(m + 8) / 8):\n    let last = min(x * 8 + 9, m + 2)\n"
                          "    g[x] = last\n"
                          "    for k in [0, +8): if likely(x * 8 + k <= m): f[x * 8 + k] = 1") ==
              printed("let x_epilogue = max((m + 1) / 8, 0)\n"
                      "for x in [0, +x_epilogue):\n    let last = x * 8 + 9\n    g[x] = last\n"
                      "    for k in [0, +8): f[x * 8 + k] = 1\n"
                      "for x in [x_epilogue, +m / 8 - x_epilogue + 1):\n    g[x] = m + 2\n"
                      "    for k in [0, +max(min(m - x * 8 + 1, 8), 0)): "
                      "if x * 8 + k <= m: f[x * 8 + k] = 1"));
    }
    TEST_CASE("an end that the steady state does not decide, or that is two things, stays") {
        const char *wider = "for x in [0, +n):\n    let last = min(x * 8 + 10, m + 2)\n"
                            "    g[x] = last\n    if likely(x * 8 + 7 <= m): f[x] = 1";
        CHECK(partitioned(wider).find("let last = min(m, x * 8 + 8) + 2") != std::string::npos);
        const char *two = "for x in [0, +n):\n"
                          "    if x < 5:\n        let k = x * 8 + 7\n"
                          "        let last = min(k, m)\n        g[x] = last\n"
                          "    else:\n        let k = x * 9\n"
                          "        let last = min(k, m)\n        h[x] = last\n"
                          "    if likely(x * 8 + 7 <= m): f[x] = 1";
        std::string whole = partitioned(two);
        CHECK(whole.find("let x_epilogue") != std::string::npos);
        CHECK(whole.substr(0, whole.find("f[x] = 1")).find("min(") != std::string::npos);
    }
    TEST_CASE("a long body is not copied for the sake of a test that guards a loop") {
        std::string sum = "x";
        for (int i = 0; i < 250; i++) sum += str(" + g[x + ", i * 7, "]");
        auto rows = [&](const char *mark, const char *test) {
            return str("for y in [0, +n)", mark, ": if likely(", test,
                       "): for x in [0, +9): ", "f[y * 9 + x] = ", sum);
        };
        CHECK(is_unchanged(rows("", "y < m")));
        // Nor if it saves a min of the tile's place besides.
        CHECK(is_unchanged(str("for y in [0, +n):\n    let b = min(likely_if_innermost(y), m - 1)\n"
                               "    if likely(y < m): for x in [0, +9): f[b * 9 + x] = ",
                               sum)));
        CHECK_FALSE(is_unchanged(rows(" partition Always", "y < m")));
        // What is made for each element pays, and so does what is always true.
        CHECK_FALSE(is_unchanged(
            str("for y in [0, +n): for x in [0, +9): if likely(y < m): ", "f[y * 9 + x] = ", sum)));
        CHECK_FALSE(is_unchanged(rows("", "y - y < 1")));
        // So do the ends of tiles that it decides.
        CHECK_FALSE(is_unchanged(str("for y in [0, +n):\n    let last = min(y + 1, m)\n"
                                     "    g[y] = last\n    if likely(y < m): ",
                                     "for x in [0, +9): f[y * 9 + x] = ", sum)));
    }
    TEST_CASE("a test of names that are bound twice is not decided for both by one of them") {
        std::string s = partitioned("for x in [0, +n):\n"
                                    "    if x < q:\n        let k = x * 8 + 7\n"
                                    "        let last = min(k, m)\n        g[x] = last\n"
                                    "    else:\n        let k = x * 9\n"
                                    "        h[x] = min(k, m)\n"
                                    "    if likely(x * 8 + 7 <= m): f[x] = 1");
        std::string steady = s.substr(0, s.find("f[x] = 1"));
        CHECK(steady.find("h[x] = min(") != std::string::npos);
    }
    TEST_CASE("ends are decided in all iterations of a loop inside, or not at all") {
        auto steady = [](const char *tiles, const char *more) {
            std::string s = partitioned(str("for b in [0, +n):\n    for y in [0, +", tiles,
                                            "):\n        let k = b * 8 + y\n"
                                            "        let last = min(k * 4 + 3, m)\n"
                                            "        g[k] = last\n",
                                            more, "    if likely(b * 32 + 31 <= m): f[b] = 1"));
            REQUIRE(s.find("let b_epilogue") != std::string::npos);
            return s.substr(0, s.find("f[b] = 1"));
        };
        CHECK(steady("8", "").find("let last = k * 4 + 3") != std::string::npos);
        CHECK(steady("7", "").find("let last = k * 4 + 3") != std::string::npos);
        CHECK(steady("9", "").find("min(m") != std::string::npos);
        const char *longer = "    for y in [0, +9):\n        let k = b * 8 + y\n"
                             "        h[k] = min(k * 4 + 3, m)\n";
        CHECK(steady("8", longer).find("let last = min(m") != std::string::npos);
    }
    TEST_CASE("predicates of vectors") {
        CHECK(partitioned("for x in [0, +10): "
                          "f[ramp(x * 8, 1, 8) if likely(ramp(x * 8, 1, 8) < x8(75))] = x8(1)") ==
              printed("for x in [0, +9): f[ramp(x * 8, 1, 8)] = x8(1)\n"
                      "f[ramp(72, 1, 8) if ramp(72, 1, 8) < x8(75)] = x8(1)"));
    }
    TEST_CASE("a parallel loop stays one") {
        CHECK(partitioned("parallel for x in [0, +100): f[x] = g[max(likely(x - 1), 0)]") ==
              printed("parallel for x in [0, +100):\n    if 1 <= x:\n        f[x] = g[x - 1]\n"
                      "    else:\n        f[0] = g[0]"));
    }
    TEST_CASE("blocks of threads of the steady state of all loops over blocks go without tests") {
        const std::string text = partitioned(
            "gpu_block for y in [0, +n):\n"
            "    gpu_block for x in [0, +m):\n"
            "        allocate s: int32[32] in GPUShared\n"
            "        gpu_thread for t in [0, +32) partition Never:\n"
            "            let row = y * 2\n"
            "            s[t] = t\n"
            "            gpu_barrier()\n"
            "            if likely(x * 32 + t < w):\n"
            "                if likely(row + 1 < h): f[x * 32 + t + row] = s[31 - t]\n");
        CAPTURE(text);
        const size_t threads = text.find("gpu_thread for t");
        const size_t test = text.find("if ", threads), barrier = text.find("gpu_barrier()", test);
        REQUIRE(barrier != std::string::npos);
        // The test of the block is within the loops over threads, which are there once.
        CHECK(text.find("gpu_thread for t", threads + 1) == std::string::npos);
        const size_t rest = text.find("else:", barrier);
        REQUIRE(rest != std::string::npos);
        CHECK(text.substr(test + 3, rest - test - 3).find("if ") == std::string::npos);
        CHECK(text.find("if x * 32 + t < w", rest) != std::string::npos);
    }
    TEST_CASE("kernels are split where a loop around them is in its steady state, and not beyond") {
        const std::string text =
            partitioned("for z in [0, +n):\n"
                        "    gpu_block for x in [0, +m):\n"
                        "        gpu_thread for t in [0, +32) partition Never:\n"
                        "            if likely(x * 32 + t < w):\n"
                        "                f[x * 32 + t] = max(likely(z - 1), 0)\n");
        CAPTURE(text);
        auto count = [&](std::string_view part) {
            int found = 0;
            for (size_t at = text.find(part); at < text.size(); at = text.find(part, at + 1))
                found++;
            return found;
        };
        CHECK(count("gpu_block for x") == 2);  // the first z, and all others
        CHECK(count("else") == 1);
        CHECK(count("if x * 32 + t < w") == 2);
        CHECK(text.find("else") > text.rfind("gpu_block for x"));
    }
    TEST_CASE("tests between loops over blocks stay where they are") {
        const std::string text =
            partitioned("gpu_block for y in [0, +n):\n"
                        "    if likely(y < m):\n"
                        "        gpu_block for x in [0, +9):\n"
                        "            if likely(x + y < 7): f[x + y * 9] = 1\n");
        CAPTURE(text);
        const size_t inner = text.find("gpu_block for x");
        CHECK(text.find("gpu_block for x", inner + 1) == std::string::npos);
    }
    TEST_CASE("a loop over blocks that is not to be partitioned is not") {
        const char *text = "gpu_block for x in [0, +m) partition Never:\n"
                           "    gpu_thread for t in [0, +32) partition Never:\n"
                           "        if likely(x * 32 + t < w): f[x * 32 + t] = 1\n";
        CHECK(partitioned(text).find("else") == std::string::npos);
    }
    TEST_CASE("lets in the body are seen through") {
        CHECK(partitioned("for x in [0, +100):\n    let t = x * 2\n"
                          "    if likely(t < 150): f[t] = 1") ==
              printed("for x in [0, +75):\n    let t = x * 2\n    f[t] = 1"));
    }
    TEST_CASE("nested loops have each their own steady state, in the outer one's steady state") {
        CHECK(
            partitioned("for y in [0, +50): for x in [0, +100): "
                        "f[x + y * 100] = g[max(likely(x - 1), 0) + max(likely(y - 2), 0) * 9]") ==
            printed("for y in [0, +2): for x in [0, +100): f[y * 100 + x] = g[max(x - 1, 0)]\n"
                    "for y in [2, +48):\n    f[y * 100] = g[y * 9 - 18]\n"
                    "    for x in [1, +99): f[y * 100 + x] = g[y * 9 + x - 19]"));
    }
    TEST_CASE("a loop of few iterations leaves tests to a longer one within it") {
        const std::string sums = partitioned("for dx in [-1, +3):\n"
                                             "    for x in [0, +n): f[x] = f[x] + "
                                             "g[max(min(likely(x + dx), n - 1), 0)]");
        CAPTURE(sums);
        CHECK(sums.starts_with("for dx in [-1, +3):"));
        CHECK(sums.find("g[dx + x]") != std::string::npos);
    }
    TEST_CASE("likely_if_innermost counts in innermost loops only") {
        CHECK(is_unchanged("for y in [0, +50): for x in [0, +100): "
                           "f[x] = g[max(likely_if_innermost(y - 1), 0)]"));
        CHECK_FALSE(is_unchanged("for y in [0, +50): "
                                 "f[y] = g[max(likely_if_innermost(y - 1), 0)]"));
    }
    TEST_CASE("Partition::Never and Always") {
        CHECK(is_unchanged("for x in [0, +100) partition Never: f[x] = g[max(likely(x - 1), 0)]"));
        CHECK(is_unchanged("for x in [0, +100): if x < 50: f[x] = 1"));
        CHECK(partitioned("for x in [0, +100) partition Always:\n"
                          "    if x < 50: f[x] = 1\n    else: f[x] = 2") ==
              printed("for x in [0, +50) partition Always: f[x] = 1\n"
                      "for x in [50, +50) partition Always: f[x] = 2"));
    }
    TEST_CASE("one iteration alone is no steady state") {
        const std::string last = "for x in [0, +(n - 1) / 16 + 1)",
                          body = ": f[x] = max(likely(x * 16), n - 1)";
        CHECK(is_unchanged(last + body));
        CHECK_FALSE(is_unchanged(last + " partition Always" + body));
        CHECK_FALSE(is_unchanged("for x in [0, +n)" + body));
        CHECK(is_unchanged("for x in [0, +n): if likely(x < 1): f[x] = 1"));
    }
    TEST_CASE("where a loop around has no steady state, vectors that are whole have no masks") {
        const std::string text =
            partitioned("for y in [0, +n): for x in [0, +m):\n"
                        "    f[ramp(x * 8, 1, 8) if likely(ramp(x * 8, 1, 8) <= x8(k))] = "
                        "x8(max(likely(y) - 1, 0))");
        const std::string whole = "f[ramp(x * 8, 1, 8)] = x8(0)";
        CHECK(text.find(whole) != std::string::npos);
    }
    TEST_CASE("what depends on memory is left") {
        CHECK(is_unchanged("for x in [0, +100): if likely(h[x] < 3): f[x] = 1"));
    }
    TEST_CASE("ShiftInwards: the last step overlaps, the test of its start is gone") {
        CHECK(partitioned("for x in [0, +n):\n    let b = min(likely(x * 8), m - 8)\n"
                          "    f[ramp(b, 1, 8)] = g[ramp(max(likely(b), 0), 1, 8)]") ==
              printed("let x_steady = min(n, 0)\n"
                      "let x_epilogue = max(x_steady, min(n, m / 8))\n"
                      "for x in [x_steady, +x_epilogue - x_steady):\n"
                      "    let b = x * 8\n    f[ramp(b, 1, 8)] = g[ramp(b, 1, 8)]\n"
                      "for x in [x_epilogue, +n - x_epilogue):\n"
                      "    let b = min(m, x * 8 + 8) - 8\n"
                      "    f[ramp(b, 1, 8)] = g[ramp(max(b, 0), 1, 8)]"));
    }
}
