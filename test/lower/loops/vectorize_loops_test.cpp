#include "lower/loops/vectorize_loops.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
std::string vectorized(std::string_view text) { return run(vectorize_loops, text); }
}  // namespace

TEST_SUITE("vectorize_loops") {
    TEST_CASE("iterations become lanes") {
        CHECK(vectorized("vectorized for i in [a, +4): f[i - a] = g[i * 2 + 1] + i") ==
              printed("f[ramp(a - a, 1, 4)] = g[ramp(a * 2 + 1, 2, 4)] + ramp(a, 1, 4)"));
    }
    TEST_CASE("what is the same for all iterations stays scalar") {
        CHECK(vectorized("vectorized for i in [0, +4): f[i] = g[x] + h[i]") ==
              printed("f[ramp(0, 1, 4)] = x4(g[x]) + h[ramp(0, 1, 4)]"));
    }
    TEST_CASE("nested loops: the inner one's lanes are fastest") {
        CHECK(vectorized("vectorized for j in [0, +2): vectorized for i in [0, +4): "
                         "f[i + j * n] = i") ==
              printed("f[ramp(ramp(0, 1, 4), x4(n), 2)] = x2(ramp(0, 1, 4))"));
    }
    TEST_CASE("lets between nested loops are repeated for each inner lane") {
        CHECK(vectorized("vectorized for j in [0, +2):\n"
                         "    let t = g[j]\n"
                         "    vectorized for i in [0, +2): f[i + j * 2] = t + i") ==
              printed("let t = g[ramp(0, 1, 2)]\n"
                      "f[ramp(ramp(0, 1, 2), x2(2), 2)] ="
                      " shuffle(t:int32x2, [0, 0, 1, 1]) + x2(ramp(0, 1, 2))"));
    }
    TEST_CASE("coordinates are cast to 64 bits before they become lanes, data afterwards") {
        CHECK(
            vectorized("vectorized for i in [a, +4): f[int64(i + 1) - int64(b)] = int64(c - i)") ==
            printed("f[ramp(int64(a + 1) - int64(b), 1:int64, 4)] ="
                    " int64x4(ramp(c - a, -1, 4))"));
        CHECK(vectorized("vectorized for j in [0, +2): vectorized for i in [0, +4): "
                         "f[int64(i) + int64(j) * n:int64] = 1") ==
              printed("f[ramp(ramp(0:int64, 1:int64, 4), x4(n:int64), 2)] = x2(x4(1))"));
    }
    TEST_CASE("an extent of one or none") {
        CHECK(vectorized("vectorized for i in [a, +1): f[i] = i") ==
              printed("let i = a\nf[i] = i"));
        CHECK(vectorized("vectorized for i in [a, +0): f[i] = i") == printed("no_op"));
    }
    TEST_CASE("odd numbers of lanes") {
        CHECK(vectorized("vectorized for i in [0, +3): f[i] = uint8(i)") ==
              printed("f[ramp(0, 1, 3)] = uint8x3(ramp(0, 1, 3))"));
    }
    TEST_CASE("a let that is a ramp is one where it is used") {
        CHECK(vectorized(
                  "vectorized for i in [0, +4):\n    let t = i + a * b\n    f[t] = g[t * 3]") ==
              printed("let t = a * b\nf[ramp(t, 1, 4)] = g[ramp(t * 3, 3, 4)]"));
    }
    TEST_CASE("a condition becomes a predicate") {
        CHECK(vectorized("vectorized for i in [0, +4): if likely(i + a < n): f[i] = g[i]") ==
              printed("f[ramp(0, 1, 4) if likely(ramp(a, 1, 4) < x4(n))] = "
                      "g[ramp(0, 1, 4) if likely(ramp(a, 1, 4) < x4(n))]"));
    }
    TEST_CASE("both branches of an if, the condition evaluated once") {
        CHECK(vectorized(
                  "vectorized for i in [0, +4): \n    if g[i] < 3: f[i] = 1\n    else: f[i] = 2") ==
              printed("let mask = g[ramp(0, 1, 4)] < x4(3)\n"
                      "f[ramp(0, 1, 4) if mask:boolx4] = x4(1)\n"
                      "f[ramp(0, 1, 4) if !mask:boolx4] = x4(2)"));
    }
    TEST_CASE("a scalar condition stays an if") {
        CHECK(vectorized("vectorized for i in [0, +4): if a < n: f[i] = 1") ==
              printed("if a < n: f[ramp(0, 1, 4)] = x4(1)"));
    }
    TEST_CASE("if_then_else reads only what its condition selects") {
        CHECK(vectorized("vectorized for i in [0, +2): "
                         "f[i] = if_then_else(i < n, g[i], h[a])") ==
              printed("f[ramp(0, 1, 2)] = select(ramp(0, 1, 2) < x2(n), "
                      "g[ramp(0, 1, 2) if ramp(0, 1, 2) < x2(n)], "
                      "h[x2(a) if !(ramp(0, 1, 2) < x2(n))])"));
    }
    TEST_CASE("a loop inside whose start differs is shifted to zero") {
        CHECK(vectorized("vectorized for i in [0, +4): for k in [i * 2, +3): f[k] = k") ==
              printed("for k in [0, +3): f[ramp(k, 2, 4)] = ramp(k, 2, 4)"));
    }
    TEST_CASE("a loop inside whose extent differs runs under a predicate") {
        CHECK(vectorized("vectorized for i in [0, +4): for k in [0, +i): f[k * 4 + i] = 1") ==
              printed("for k in [0, +3): "
                      "f[ramp(k * 4, 1, 4) if x4(k) < ramp(0, 1, 4)] = x4(1)"));
    }
    TEST_CASE("storage inside gets a dimension for the iteration") {
        CHECK(vectorized("vectorized for i in [0, +4):\n"
                         "    allocate t: int32[n] in Stack\n"
                         "    for k in [0, +n): t[k] = k + i\n"
                         "    f[i] = t[g[i]]") ==
              printed("allocate t: int32[4, n] in Stack\n"
                      "for k in [0, +n): t[ramp(k * 4, 1, 4)] = ramp(k, 1, 4)\n"
                      "f[ramp(0, 1, 4)] = t[g[ramp(0, 1, 4)] * x4(4) + ramp(0, 1, 4)]"));
    }
    TEST_CASE("what has effects runs one iteration after the other") {
        CHECK(vectorized("vectorized for i in [a, +4): extern int32 act(i)") ==
              printed("for i in [0, +4): extern int32 act(a + 1 * i)"));
    }
    TEST_CASE("and takes the lanes of what was computed for all") {
        CHECK(vectorized("vectorized for i in [a, +2):\n    let t = g[i]\n    "
                         "if t < 3: extern int32 act(t)") ==
              printed(
                  "let t = g[ramp(a, 1, 2)]\n"
                  "if slice(t:int32x2, 0, 1, 1) < 3: extern int32 act(slice(t:int32x2, 0, 1, 1))\n"
                  "if slice(t:int32x2, 1, 1, 1) < 3: extern int32 act(slice(t:int32x2, 1, 1, 1))"));
    }
    TEST_CASE("pure extern functions take vectors") {
        CHECK(vectorized("vectorized for i in [0, +2): f[i] = pure extern int32 p(i, a)") ==
              printed("f[ramp(0, 1, 2)] = pure extern int32x2 p(ramp(0, 1, 2), x2(a))"));
    }
    TEST_CASE("a sum under atomic is one vector reduction") {
        CHECK(vectorized("atomic f: vectorized for r in [0, +8): f[x] = f[x] + g[r]") ==
              printed("atomic f: f[x] = f[x] + vector_reduce(add, g[ramp(0, 1, 8)], 1)"));
        CHECK(vectorized("vectorized for r in [0, +8): atomic f: f[x] = max(g[r], f[x])") ==
              printed("atomic f: f[x] = max(f[x], vector_reduce(max, g[ramp(0, 1, 8)], 1))"));
    }
    TEST_CASE("several sums at once") {
        CHECK(vectorized("vectorized for r in [0, +4): atomic f:\n"
                         "    let a = f[0] + g[r]\n    let b = h[0] + g[r] * 2\n"
                         "    f[0] = a\n    h[0] = b") ==
              printed("atomic f:\n"
                      "    f[0] = f[0] + vector_reduce(add, g[ramp(0, 1, 4)], 1)\n"
                      "    h[0] = h[0] + vector_reduce(add, g[ramp(0, 1, 4)] * x4(2), 1)"));
    }
    TEST_CASE("a reduction in the outer of two vectorized loops") {
        CHECK(vectorized("vectorized for r in [0, +2): vectorized for x in [0, +3): "
                         "atomic f: f[x] = f[x] + r * n") ==
              printed("atomic f: f[ramp(0, 1, 3)] = f[ramp(0, 1, 3)] + "
                      "vector_reduce(add, x3(ramp(0, n, 2)), 3)"));
    }
    TEST_CASE("a predicate leaves out what it excludes from the sum") {
        CHECK(vectorized("vectorized for r in [0, +4): if likely(r < n): "
                         "atomic f: f[x] = f[x] + g[r]") ==
              printed("atomic f: if vector_reduce(or, likely(ramp(0, 1, 4) < x4(n)), 1): "
                      "f[x] = f[x] + vector_reduce(add, select(likely(ramp(0, 1, 4) < x4(n)), "
                      "g[ramp(0, 1, 4) if likely(ramp(0, 1, 4) < x4(n))], x4(0)), 1)"));
    }
    TEST_CASE("updates that are not associative run one by one") {
        CHECK(vectorized("vectorized for r in [0, +4): atomic f: f[x] = g[r] - f[x]") ==
              printed("atomic f: for r in [0, +4): f[x] = g[0 + 1 * r] - f[x]"));
    }
    TEST_CASE("scattered updates may meet, so they run one by one") {
        CHECK(vectorized("vectorized for r in [0, +4): atomic f: f[g[r]] = f[g[r]] + 1") ==
              printed("atomic f: for r in [0, +4): f[g[0 + 1 * r]] = f[g[0 + 1 * r]] + 1"));
    }
    TEST_CASE("updates that read what others write run one by one") {
        CHECK(vectorized("vectorized for r in [0, +4): atomic f: f[r] = f[0] + 1") ==
              printed("for r in [0, +4): atomic f: f[0 + 1 * r] = f[0] + 1"));
        CHECK(vectorized("vectorized for r in [0, +4): atomic f: if f[0] < 9: f[0] = f[0] + 1") ==
              printed("atomic f: for r in [0, +4): if f[0] < 9: f[0] = f[0] + 1"));
    }
    TEST_CASE("updates of different elements do not meet") {
        CHECK(vectorized("vectorized for x in [0, +4): atomic f: f[x * 2] = f[x * 2] + 1") ==
              printed("atomic f: f[ramp(0, 2, 4)] = f[ramp(0, 2, 4)] + x4(1)"));
    }
    TEST_CASE("a strict target keeps the order of float sums") {
        Context context;
        context.target.set_feature(Target::StrictFloat);
        CHECK(run(vectorize_loops,
                  "vectorized for r in [0, +4): atomic f: f[0] = f[0]:float32 + g[r]:float32",
                  context) ==
              printed("atomic f: for r in [0, +4): f[0] = f[0]:float32 + g[0 + 1 * r]:float32"));
    }
    TEST_CASE("of an extent with a bound, the lanes behind the end are masked") {
        CHECK(vectorized("vectorized for i in [a, +min(n, 4)): f[i] = 1") ==
              printed("f[ramp(a, 1, 4) if likely_if_innermost(ramp(a - a, 1, 4) < "
                      "x4(min(n, 4)))] = x4(1)"));
        CHECK(vectorized("vectorized for i in [a, +min(n, 1)): f[i] = 1") ==
              printed("let i = a\nif likely_if_innermost(i - a < min(n, 1)): f[i] = 1"));
    }
    TEST_CASE("a loop of unknown extent is the user's error") {
        ir::Stmt before = ir::parse_stmt("vectorized for i in [0, +n): f[i] = i");
        CHECK_THROWS_WITH_AS(apply(vectorize_loops, before),
                             doctest::Contains("cannot vectorize loop i: its extent n is not"),
                             CompileError);
        before = ir::parse_stmt("vectorized for i in [0, +100000): f[i] = i");
        CHECK_THROWS_WITH_AS(apply(vectorize_loops, before), doctest::Contains("too many"),
                             CompileError);
    }
    TEST_CASE("leaves other loops alone, and shares them") {
        ir::Stmt before = ir::parse_stmt("for i in [0, +2): f[i] = i");
        CHECK(apply(vectorize_loops, before).same_as(before));
    }
}
