#include "lower/loops/promote_accumulators.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string promote(std::string_view text,
                    const char *target = "x86-64-linux-avx512-avx512_skylake") {
    Context context;
    context.target = Target(target);
    return run(promote_accumulators, text, context);
}
bool is_left_alone(std::string_view text) { return promote(text) == printed(text); }

// The loops of a reduction around a definition.
std::string reduction(std::string_view definition, std::string_view lanes = "16") {
    return str("for r in [0, +n) of f r update 0 reduction:\n"
               "    unrolled for v in [0, +4) of f y update 0:\n"
               "        vectorized for u in [0, +",
               lanes, ") of f x update 0:\n            ", definition);
}

}  // namespace

TEST_SUITE("promote_accumulators") {
    TEST_CASE("elements that stand side by side are kept while the reduction runs") {
        CHECK(promote(reduction("f(x + u, y + v) = f(x + u, y + v) + g(r)")) ==
              printed("realize `f.sums`: {int32} in Stack over [0, +16], [0, +4]\n"
                      "unrolled for v in [0, +4) of f y update 0:\n"
                      "    vectorized for u in [0, +16) of f x update 0:\n"
                      "        `f.sums`(u, v) = f(x + u, y + v)\n"
                      "for r in [0, +n) of f r update 0 reduction:\n"
                      "    unrolled for v in [0, +4) of f y update 0:\n"
                      "        vectorized for u in [0, +16) of f x update 0:\n"
                      "            `f.sums`(u, v) = `f.sums`(u, v) + g(r)\n"
                      "unrolled for v in [0, +4) of f y update 0:\n"
                      "    vectorized for u in [0, +16) of f x update 0:\n"
                      "        f(x + u, y + v) = `f.sums`(u, v)"));
    }
    TEST_CASE("lets and guards stay around the copies") {
        const char *loops = "for s in [0, +m) of f s update 0 reduction:\n"
                            "    for r in [0, +n) of f r update 0 reduction:\n"
                            "        let t = s * 8 + r\n"
                            "        unrolled for v in [a, +4) of f y update 0:\n"
                            "            let i = y + v\n"
                            "            if i < h: f(i) = min(f(i), g(t, i))";
        CHECK(promote(loops) ==
              printed("realize `f.sums`: {int32} in Stack over [0, +4]\n"
                      "unrolled for v in [a, +4) of f y update 0:\n"
                      "    let i = y + v\n"
                      "    if i < h: `f.sums`(v - a) = f(i)\n"
                      "for s in [0, +m) of f s update 0 reduction:\n"
                      "    for r in [0, +n) of f r update 0 reduction:\n"
                      "        let t = s * 8 + r\n"
                      "        unrolled for v in [a, +4) of f y update 0:\n"
                      "            let i = y + v\n"
                      "            if i < h: `f.sums`(v - a) = min(`f.sums`(v - a), g(t, i))\n"
                      "unrolled for v in [a, +4) of f y update 0:\n"
                      "    let i = y + v\n"
                      "    if i < h: f(i) = `f.sums`(v - a)"));
    }
    TEST_CASE("the iterations of a reduction that are unrolled, or in lanes, add to the same") {
        CHECK(promote("for r in [0, +n) of f r update 0 reduction:\n"
                      "    unrolled for v in [0, +2) of f y update 0:\n"
                      "        unrolled for s in [0, +4) of f s update 0 reduction:\n"
                      "            vectorized for w in [0, +4) of f w update 0 reduction:\n"
                      "                atomic f: f(v) = f(v) + g(r, s, w)") ==
              printed("realize `f.sums`: {int32} in Stack over [0, +2]\n"
                      "unrolled for v in [0, +2) of f y update 0: `f.sums`(v) = f(v)\n"
                      "for r in [0, +n) of f r update 0 reduction:\n"
                      "    unrolled for v in [0, +2) of f y update 0:\n"
                      "        unrolled for s in [0, +4) of f s update 0 reduction:\n"
                      "            vectorized for w in [0, +4) of f w update 0 reduction:\n"
                      "                atomic `f.sums`: `f.sums`(v) = `f.sums`(v) + g(r, s, w)\n"
                      "unrolled for v in [0, +2) of f y update 0: f(v) = `f.sums`(v)"));
    }
    TEST_CASE("a reduction may be unrolled as a whole, within loops over elements") {
        CHECK(promote(
                  "for x in [0, +n) of f x update 0:\n"
                  "    unrolled for r in [0, +7) of f r update 0 reduction:\n"
                  "        unrolled for v in [0, +2) of f y update 0: f(x, v) = f(x, v) + g(r)") ==
              printed("for x in [0, +n) of f x update 0:\n"
                      "    realize `f.sums`: {int32} in Stack over [0, +2]\n"
                      "    unrolled for v in [0, +2) of f y update 0: `f.sums`(v) = f(x, v)\n"
                      "    unrolled for r in [0, +7) of f r update 0 reduction:\n"
                      "        unrolled for v in [0, +2) of f y update 0: `f.sums`(v) = "
                      "`f.sums`(v) + g(r)\n"
                      "    unrolled for v in [0, +2) of f y update 0: f(x, v) = `f.sums`(v)"));
    }
    TEST_CASE("values of a tuple are kept together") {
        const char *loops = "for r in [0, +n) of f r update 0 reduction:\n"
                            "    unrolled for v in [0, +2) of f y update 0:\n"
                            "        f(v) = {f(v).1 + r, f(v).0}";
        CHECK(promote(loops) ==
              printed("realize `f.sums`: {int32, int32} in Stack held by `f.sums.0`, `f.sums.1` "
                      "over [0, +2]\n"
                      "unrolled for v in [0, +2) of f y update 0: `f.sums`(v) = {f(v).0, f(v).1}\n"
                      "for r in [0, +n) of f r update 0 reduction:\n"
                      "    unrolled for v in [0, +2) of f y update 0:\n"
                      "        `f.sums`(v) = {`f.sums`(v).1 + r, `f.sums`(v).0}\n"
                      "unrolled for v in [0, +2) of f y update 0: f(v) = {`f.sums`(v).0, "
                      "`f.sums`(v).1}"));
    }
    TEST_CASE("what depends on the reduction is no sum of its own") {
        CHECK(is_left_alone(reduction("f(x + u, r) = f(x + u, r) + g(v)")));
        CHECK(is_left_alone(reduction("f(x + u, y + v) = f(x + u - r, y + v) + g(r)")));
        CHECK(is_left_alone(reduction("f(x + u, y + v) = g(r)")));
        CHECK(is_left_alone(reduction("if f(0, r) < 3: f(x + u, y + v) = f(x + u, y + v) + g(r)")));
    }
    TEST_CASE("where a guard holds in no iteration, the elements need not be there") {
        CHECK(is_left_alone(reduction("if u + r < k: f(x + u, y + v) = f(x + u, y + v) + g(r)")));
        CHECK(is_left_alone("for s in [0, +m) of f s update 0 reduction:\n"
                            "    for r in [0, +n) of f r update 0 reduction:\n"
                            "        if s + r < k:\n"
                            "            unrolled for v in [0, +4) of f y update 0:\n"
                            "                f(s, v) = f(s, v) + g(r)"));
    }
    TEST_CASE("a loop that is no reduction goes from element to element") {
        CHECK(
            is_left_alone("for x in [0, +n) of f x update 0:\n"
                          "    unrolled for v in [0, +4) of f y update 0: f(x, v) = f(x, v) + 1"));
    }
    TEST_CASE("one vector alone is kept in its register anyway") {
        CHECK(
            is_left_alone("for r in [0, +n) of f r update 0 reduction:\n"
                          "    vectorized for u in [0, +16) of f x update 0: f(u) = f(u) + g(r)"));
    }
    TEST_CASE("no more than there are registers for") {
        const std::string sum = "f(x + u, y + v) = f(x + u, y + v) + g(r)";
        CHECK_FALSE(is_left_alone(reduction(sum, "128")));
        CHECK(is_left_alone(reduction(sum, "144")));
        CHECK(promote(reduction(sum, "32"), "x86-64-linux-avx2") != printed(reduction(sum, "32")));
        CHECK(promote(reduction(sum, "64"), "x86-64-linux-avx2") == printed(reduction(sum, "64")));
    }
    TEST_CASE("a small storage of constant size is in registers already") {
        const auto stored = [](const char *rows) {
            return str("realize f: {int32} over [x, +16], [y, +", rows, "]\n",
                       reduction("f(x + u, y + v) = f(x + u, y + v) + g(r)"));
        };
        CHECK(is_left_alone(stored("4")));
        CHECK_FALSE(is_left_alone(stored("400")));
        CHECK_FALSE(is_left_alone(stored("n")));
    }
    TEST_CASE("kernels are left alone") {
        CHECK(is_left_alone("gpu_block for b in [0, +9):\n"
                            "    for r in [0, +n) of f r update 0 reduction:\n"
                            "        unrolled for v in [0, +4) of f y update 0:\n"
                            "            f(b, v) = f(b, v) + r"));
    }
}
