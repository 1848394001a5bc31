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
