#include "lower/pass_test.h"
#include "lower/storage/bound_small_allocations.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
std::string bounded(std::string_view text) { return run(bound_small_allocations, text); }
}  // namespace

TEST_SUITE("bound_small_allocations") {
    TEST_CASE("a small bound is the size") {
        CHECK(bounded("let n = min(m, 8)\nallocate f: int32[n, 2] in Auto\nf[0] = 1") ==
              printed("let n = min(m, 8)\nallocate f: int32[8, 2] in Auto\nf[0] = 1"));
        CHECK(bounded("for x in [0, +5):\n    allocate f: int32[x + 1] in Stack\n    f[0] = 1") ==
              printed("for x in [0, +5):\n    allocate f: int32[5] in Stack\n    f[0] = 1"));
    }
    TEST_CASE("a size of lets that hold lets, each of which uses the one before it twice") {
        std::string lets = "let n0 = min(m, 3)\n";
        for (int i = 1; i <= 40; i++) {
            const std::string before = "n" + std::to_string(i - 1);
            lets += "let n" + std::to_string(i) + " = let t = max(" + before +
                    ", k) in min(t * t + " + before + ", 5)\n";
        }
        CHECK(bounded(lets + "allocate f: int32[n40] in Auto\nf[0] = 1") ==
              printed(lets + "allocate f: int32[5] in Auto\nf[0] = 1"));
    }
    TEST_CASE("lets of one name within a size") {
        CHECK(bounded("allocate f: int32[(let t = min(m, 3) in t + 1) + (let t = min(k, 5) in t)] "
                      "in Auto\nf[0] = 1") == printed("allocate f: int32[9] in Auto\nf[0] = 1"));
    }
    TEST_CASE("large or unknown sizes, and the heap, stay as they are") {
        for (const char *text :
             {"allocate f: int32[min(m, 100000)] in Auto\nf[0] = 1",
              "allocate f: int32[m] in Auto\nf[0] = 1", "allocate f: int32[m] in Stack\nf[0] = 1",
              "allocate f: int32[min(m, 8)] in Heap\nf[0] = 1"}) {
            CHECK(bounded(text) == printed(text));
        }
    }
    TEST_CASE("registers need a constant size") {
        CHECK_THROWS_WITH_AS(bounded("allocate f: int32[m] in Register\nf[0] = 1"),
                             doctest::Contains("f cannot be stored in registers"), CompileError);
    }
}
