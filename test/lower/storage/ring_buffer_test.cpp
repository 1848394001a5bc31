#include "lower/pass_test.h"
#include "lower/storage/ring_buffer.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string ring(std::string_view text) { return run(add_ring_buffers, text); }

}  // namespace

TEST_SUITE("add_ring_buffers") {
    TEST_CASE("one copy more for each iteration, in turn") {
        CHECK(ring("hoist f copies 3\n"
                   "for y in [0, +m):\n"
                   "    realize f: {int32} over [y, +4]\n"
                   "    produce f: for x in [y, +4): f(x) = x\n"
                   "    consume f: g(y) = f(y) + f(y + 3)") ==
              printed("realize f: {int32} copies 3 over [0, +4], [0, +3]\n"
                      "for y in [0, +m):\n"
                      "    produce f: for x in [y, +4): f(x - y, y % 3) = x\n"
                      "    consume f: g(y) = f(0, y % 3) + f(3, y % 3)"));
    }
    TEST_CASE("iterations are counted from the first, and over all loops") {
        CHECK(ring("hoist f copies n\n"
                   "for z in [2, +k):\n"
                   "    for y in [a, +10):\n"
                   "        realize f: {int32} over [0, +4]\n"
                   "        produce f: f(1) = z") ==
              printed("realize f: {int32} copies n over [0, +4], [0, +n]\n"
                      "for z in [2, +k):\n"
                      "    for y in [a, +10):\n"
                      "        produce f: f(1, (z * 10 + y - a - 20) % n) = z"));
    }
    TEST_CASE("without a loop there is one copy that is used") {
        CHECK(ring("hoist f copies 2\nrealize f: {int32} over [0, +4]\nproduce f: f(1) = 3") ==
              printed("realize f: {int32} copies 2 over [0, +4], [0, +2]\n"
                      "produce f: f(1, 0) = 3"));
    }
    TEST_CASE("as large as any iteration wants it") {
        CHECK(ring("hoist f copies 2\n"
                   "for y in [0, +10):\n"
                   "    realize f: {int32} over [y, +y + 1]\n"
                   "    produce f: f(y) = 3") ==
              printed("realize f: {int32} copies 2 over [0, +10], [0, +2]\n"
                      "for y in [0, +10): produce f: f(0, y % 2) = 3"));
    }
    TEST_CASE("as large as either of two versions wants it") {
        CHECK(ring("hoist f copies 2\n"
                   "for y in [0, +m):\n"
                   "    if c:bool:\n"
                   "        realize f: {int32} in Stack over [0, +4]\n"
                   "        produce f: f(1) = 1\n"
                   "    else:\n"
                   "        realize f: {int32} in Stack over [0, +7]\n"
                   "        produce f: f(2) = 2") ==
              printed("realize f: {int32} in Stack copies 2 over [0, +7], [0, +2]\n"
                      "for y in [0, +m):\n"
                      "    if c:bool: produce f: f(1, y % 2) = 1\n"
                      "    else: produce f: f(2, y % 2) = 2"));
    }
    TEST_CASE("sizes in terms of lets within the loops") {
        CHECK(ring("hoist f copies 2\n"
                   "for y in [0, +10):\n"
                   "    let e = min(y, 5) + 1\n"
                   "    realize f: {int32} over [0, +e]\n"
                   "    produce f: f(0) = e") ==
              printed("realize f: {int32} copies 2 over [0, +6], [0, +2]\n"
                      "for y in [0, +10):\n"
                      "    let e = min(y, 5) + 1\n"
                      "    produce f: f(0, y % 2) = e"));
    }
    TEST_CASE("several productions in the storage share a copy, which it says") {
        CHECK(ring("hoist f copies 3\n"
                   "for y in [0, +m):\n"
                   "    realize f: {int32} async over [0, +4 folded], [0, +8]\n"
                   "    for x in [0, +8):\n"
                   "        produce f: f(x % 4, x) = x\n"
                   "        consume f: g(x) = f(x % 4, x)") ==
              printed("realize f: {int32} async copies 3 shared over [0, +4 folded], [0, +8], "
                      "[0, +3]\n"
                      "for y in [0, +m):\n"
                      "    for x in [0, +8):\n"
                      "        produce f: f(x % 4, x, y % 3) = x\n"
                      "        consume f: g(x) = f(x % 4, x, y % 3)"));
    }
    TEST_CASE("traced accesses keep their coordinates") {
        CHECK(ring("hoist f copies 2\n"
                   "for y in [0, +m):\n"
                   "    realize f: {int32} traced loads over [y, +1]\n"
                   "    produce f: f(y) = 3") ==
              printed("realize f: {int32} traced loads copies 2 over [0, +1], [0, +2]\n"
                      "for y in [0, +m): produce f: f(return_second(y, 0), y % 2) = 3"));
    }
    TEST_CASE("prefetches within go to the copy, those around are left out") {
        CHECK(ring("hoist f copies 2\n"
                   "for y in [0, +m):\n"
                   "    prefetch f: {int32} over [y + 1, +1] if true:\n"
                   "        realize f: {int32} over [y, +4]\n"
                   "        prefetch f: {int32} over [y + 2, +1] if true:\n"
                   "            produce f: f(y) = 3") ==
              printed("realize f: {int32} copies 2 over [0, +4], [0, +2]\n"
                      "for y in [0, +m):\n"
                      "    prefetch f: {int32} over [2, +1], [y % 2, +1] if true:\n"
                      "        produce f: f(0, y % 2) = 3"));
    }
    TEST_CASE("other functions, and storage that is hoisted without copies, stay as they are") {
        const char *text = "hoist f\n"
                           "for y in [0, +m):\n"
                           "    realize f: {int32} over [y, +4]\n"
                           "    produce f: f(y) = 3";
        CHECK(ring(text) == printed(text));
        CHECK(ring(str("hoist h copies 2\n", text)) == printed(text));
    }
    TEST_CASE("one within another") {
        CHECK(ring("hoist f copies 2\n"
                   "hoist h copies 3\n"
                   "for y in [0, +m):\n"
                   "    realize f: {int32} over [0, +4]\n"
                   "    realize h: {int32} over [0, +5]\n"
                   "    h(0) = f(1)") ==
              printed("realize f: {int32} copies 2 over [0, +4], [0, +2]\n"
                      "realize h: {int32} copies 3 over [0, +5], [0, +3]\n"
                      "for y in [0, +m): h(0, y % 3) = f(1, y % 2)"));
    }
    TEST_CASE("a size without a bound is the user's error") {
        CHECK_THROWS_WITH_AS(ring("hoist f copies 2\n"
                                  "for y in [0, +m):\n"
                                  "    realize f: {int32} over [0, +4], [0, +h(y)]\n"
                                  "    produce f: f(0, 0) = 3"),
                             doctest::Contains("ring_buffer of f: the extent of dimension 1 has no "
                                               "bound outside of the loops"),
                             CompileError);
    }
    TEST_CASE("nor is one known that an extern stage asks for within the loops") {
        CHECK_THROWS_WITH_AS(
            ring("hoist f copies 2\n"
                 "for y in [0, +m):\n"
                 "    let q = make_buffer(reinterpret handle(0:uint64), 0, 32, 0)\n"
                 "    realize f: {int32} over [0, +q.extent[0]]\n"
                 "    produce f: f(0) = 3"),
            doctest::Contains("the extent of dimension 0 has no bound"), CompileError);
    }
    TEST_CASE("loops whose iterations are not in order would share a copy") {
        for (const char *kind : {"parallel", "vectorized"}) {
            CAPTURE(kind);
            const std::string text = str("hoist f copies 2\n", kind,
                                         " for y in [0, +4) of g y:\n"
                                         "    realize f: {int32} over [0, +4]\n"
                                         "    produce f: f(0) = 3");
            CHECK_THROWS_WITH_AS(
                ring(text),
                doctest::Contains(
                    str("the storage of f cannot be hoisted out of the ", kind, " loop y of g")
                        .c_str()),
                CompileError);
        }
    }
    TEST_CASE("unrolled loops are in order") {
        CHECK(ring("hoist f copies 2\n"
                   "unrolled for y in [0, +4):\n"
                   "    realize f: {int32} over [0, +4]\n"
                   "    produce f: f(0) = 3") ==
              printed("realize f: {int32} copies 2 over [0, +4], [0, +2]\n"
                      "unrolled for y in [0, +4): produce f: f(0, y % 2) = 3"));
    }
}
