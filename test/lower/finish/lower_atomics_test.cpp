#include "lower/finish/lower_atomics.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
const char *swap = "atomic f:\n"
                   "        let v = h[0]\n        let w = f[0]\n        f[0] = v\n        h[0] = w";
}

TEST_SUITE("assign_mutexes") {
    TEST_CASE("values that read each other are updated under a mutex") {
        CHECK(run(assign_mutexes, str("parallel for r in [0, +n):\n    ", swap)) ==
              printed("let f_mutexes = mutex_array_create("
                      "1024:uint64)\n"
                      "assert reinterpret uint64(f_mutexes:handle) != 0:uint64, -11\n"
                      "parallel for r in [0, +n):\n    atomic f mutexes f_mutexes:\n"
                      "        let v = h[0]\n        let w = f[0]\n        f[0] = v\n"
                      "        h[0] = w\n"));
    }
    TEST_CASE("one mutex, where an update reads what others write") {
        for (const char *update : {"f[r] = f[r - 1] + 1", "h[r] = f[0]\n        f[r] = h[r]",
                                   "if f[0] < 9: f[r] = f[0] + h[f[r]]"}) {
            std::string after = run(
                assign_mutexes, str("parallel for r in [0, +n): atomic f:\n", "        ", update));
            CHECK(after.find("mutex_array_create(1:uint64)") != std::string::npos);
        }
    }
    TEST_CASE("values that do not are left to the machine") {
        CHECK(run(assign_mutexes, "parallel for r in [0, +n): atomic f:\n"
                                  "    let v = f[0] + 1\n    let w = h[0] + 2\n"
                                  "    f[0] = v\n    h[0] = w") ==
              printed("parallel for r in [0, +n): atomic f:\n"
                      "    f[0] = f[0] + 1\n    h[0] = h[0] + 2"));
    }
    TEST_CASE("nothing is needed where nothing runs at the same time") {
        std::string text = str("for r in [0, +n):\n    ", swap);
        CHECK(run(assign_mutexes, text) == printed(text));
        text = str("parallel for r in [0, +n):\n    allocate f: int32[1] in Heap\n    "
                   "allocate h: int32[1] in Heap\n    ",
                   swap);
        CHECK(run(assign_mutexes, text) == printed(text));
    }
}

TEST_SUITE("remove_needless_atomics") {
    TEST_CASE("without a parallel loop around") {
        CHECK(run(remove_needless_atomics, "for r in [0, +n): atomic f: f[0] = f[0] + 1") ==
              printed("for r in [0, +n): f[0] = f[0] + 1"));
    }
    TEST_CASE("not below one") {
        const char *text = "parallel for r in [0, +n): atomic f: f[0] = f[0] + 1";
        CHECK(run(remove_needless_atomics, text) == printed(text));
    }
    TEST_CASE("a loop over a pure variable is none") {
        CHECK(run(remove_needless_atomics,
                  "parallel for x in [0, +n) of f x: atomic f: f[x] = f[x] + 1") ==
              printed("parallel for x in [0, +n) of f x: f[x] = f[x] + 1"));
        for (const char *origin : {"of f r reduction", "of g x", ""}) {
            CAPTURE(origin);
            const std::string text =
                str("parallel for x in [0, +n) ", origin, ": atomic f: f[x] = f[x] + 1");
            CHECK(run(remove_needless_atomics, text) == printed(text));
        }
    }
}
