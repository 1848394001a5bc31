#include "lower/pass_test.h"
#include "lower/storage/hoist_storage.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("hoist_storage") {
    TEST_CASE("as much as any iteration needs, allocated once") {
        CHECK(run(hoist_storage, "hoist f:\n    for x in [0, +n):\n        let e = x * 2 + 3\n"
                                 "        allocate f: int32[e, 4] in Heap\n        f[x] = 1") ==
              printed("allocate f: int32[n * 2 + 1, 4] in Heap\n"
                      "for x in [0, +n):\n    let e = x * 2 + 3\n    f[x] = 1"));
    }
    TEST_CASE("other storage stays where it is") {
        const char *text = "for x in [0, +n):\n    allocate g: int32[x] in Heap\n    g[x] = 1";
        CHECK(run(hoist_storage, str("hoist f:\n    ", "no_op")) == printed("no_op"));
        CHECK(run(hoist_storage, text) == printed(text));
    }
    TEST_CASE("two allocations of one function share the larger") {
        CHECK(run(hoist_storage,
                  "hoist f:\n"
                  "    if c:bool:\n        allocate f: int32[n] in Heap\n        f[0] = 1\n"
                  "    else:\n        allocate f: int32[m] in Heap\n        f[0] = 2") ==
              printed("allocate f: int32[max(n, m)] in Heap\n"
                      "if c:bool: f[0] = 1\nelse: f[0] = 2"));
    }
    TEST_CASE("every value of a function, wherever it is stored") {
        CHECK(run(hoist_storage, "hoist f:\n    for x in [0, +n):\n"
                                 "        allocate f0 of f: int32[4] in Heap\n"
                                 "        allocate f1 of f: int8[8] in Heap\n"
                                 "        f0[0] = 1\n        f1[0] = 2") ==
              printed("allocate f0 of f: int32[4] in Heap\nallocate f1 of f: int8[8] in Heap\n"
                      "for x in [0, +n):\n    f0[0] = 1\n    f1[0] = 2"));
    }
    TEST_CASE("a size that an extern stage asks for has no bound") {
        CHECK_THROWS_WITH_AS(run(hoist_storage, "let q = extern handle query()\nhoist f:\n"
                                                "    let e = q.extent[0] * n\n"
                                                "    let r = extern handle query()\n"
                                                "    allocate f: int32[r.extent[0]] in Heap\n"
                                                "    f[0] = 1"),
                             doctest::Contains("what an extern stage asks for"), CompileError);
    }
    TEST_CASE("a size without bound, or a parallel loop in between, is the user's error") {
        auto hoist = [](const char *loop, const char *size) {
            return run(hoist_storage,
                       str("hoist f:\n    ", loop, " x in [0, +n):\n        allocate f: int32[",
                           size, "] in Heap\n        f[x] = 1"));
        };
        CHECK_THROWS_WITH_AS(hoist("for", "g[x]"), doctest::Contains("no bound is known"),
                             CompileError);
        CHECK_THROWS_WITH_AS(hoist("parallel for", "8"),
                             doctest::Contains("out of the parallel loop x"), CompileError);
    }
}
