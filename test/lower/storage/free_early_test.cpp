#include "lower/pass_test.h"
#include "lower/storage/free_early.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string freed(std::string_view text) { return run(free_early, text); }
bool is_unchanged(std::string_view text) { return freed(text) == printed(text); }

}  // namespace

TEST_SUITE("free_early") {
    TEST_CASE("a buffer is freed after its last use, where something follows") {
        CHECK(freed("allocate f: int32[n] in Auto\nf[0] = 1\nout[0] = f[0]\nout[1] = 2") ==
              printed("allocate f: int32[n] in Auto\nf[0] = 1\nout[0] = f[0]\n"
                      "free(address_of(f[0]))\nout[1] = 2"));
    }
    TEST_CASE("where nothing follows, the end of the scope does") {
        CHECK(is_unchanged("allocate f: int32[n] in Auto\nf[0] = 1\nout[0] = f[0]"));
    }
    TEST_CASE("so is what is on the stack, but not what becomes registers") {
        CHECK(is_unchanged("allocate f: int32[8] in Auto\nf[0] = 1\nout[0] = f[0]\nout[1] = 2"));
        CHECK(freed("allocate f: int32[800] in Stack\nf[0] = 1\nout[0] = f[0]\nout[1] = 2") ==
              printed("allocate f: int32[800] in Stack\nf[0] = 1\nout[0] = f[0]\n"
                      "free(address_of(f[0]))\nout[1] = 2"));
        CHECK(is_unchanged("gpu_block for b in [0, +n):\n    allocate f: int32[800] in Stack\n"
                           "    f[0] = 1\n    out[b] = f[0]\n    out[b] = 2"));
    }
    TEST_CASE("a stage of a chain is freed when the next one is there") {
        CHECK(freed("allocate f: int32[n] in Auto\nproduce f: f[0] = 1\nconsume f:\n"
                    "    allocate g: int32[n] in Auto\n    produce g: g[0] = f[0]\n"
                    "    consume g: out[0] = g[0]") ==
              printed("allocate f: int32[n] in Auto\nproduce f: f[0] = 1\nconsume f:\n"
                      "    allocate g: int32[n] in Auto\n    produce g:\n        g[0] = f[0]\n"
                      "        free(address_of(f[0]))\n    consume g: out[0] = g[0]"));
    }
    TEST_CASE("a loop may come to use again what it uses") {
        CHECK(freed("allocate f: int32[n] in Auto\nfor x in [0, +n):\n    f[x] = 1\n"
                    "    out[x] = f[0]\n    out[x] = 3\nout[1] = 2") ==
              printed("allocate f: int32[n] in Auto\nfor x in [0, +n):\n    f[x] = 1\n"
                      "    out[x] = f[0]\n    out[x] = 3\nfree(address_of(f[0]))\nout[1] = 2"));
    }
    TEST_CASE("an operation of the machine uses its operands until it ends") {
        const std::string op =
            "machine_op tensor(\"sdot\", 1, 4, 4, \"rows of the host\", \"rows of the host\", "
            "address_of(d[0]:int32), address_of(f[0]), address_of(f[0]), address_of(f[0]), "
            "address_of(b[0]:int8), address_of(b[0]), address_of(b[0])):\n"
            "    for j in [0, +4): for k in [0, +4):\n"
            "        d[j] = d[j] + int32(f[k]) * int32(b[k + 4*j])\n";
        const std::string before = "allocate f: int8[n] in Auto\nf[0] = int8(1)\n" + op;
        CHECK(freed(before + "d[0] = 2") == printed(before + "free(address_of(f[0]))\nd[0] = 2"));
    }
    TEST_CASE("what a loop allocates it frees, and what either branch uses is freed after both") {
        CHECK(freed("for x in [0, +n):\n    allocate f: int32[n] in Auto\n    f[x] = 1\n"
                    "    if x < 3: out[x] = f[x]\n    out[x] = 3") ==
              printed("for x in [0, +n):\n    allocate f: int32[n] in Auto\n    f[x] = 1\n"
                      "    if x < 3: out[x] = f[x]\n    free(address_of(f[0]))\n    out[x] = 3"));
    }
    TEST_CASE("who holds the address uses the buffer") {
        CHECK(freed("allocate f: int32[n] in Auto\nlet p = address_of(f[0])\n"
                    "let q = make_struct(p)\nout[0] = 1\nextern int32 fill(q)\nout[1] = 2") ==
              printed("allocate f: int32[n] in Auto\nlet p = address_of(f[0])\n"
                      "let q = make_struct(p)\nout[0] = 1\nextern int32 fill(q)\n"
                      "free(address_of(f[0]))\nout[1] = 2"));
    }
    TEST_CASE("a value read for a let, or for the size of another buffer, is read before") {
        CHECK(freed("allocate f: int32[n] in Auto\nf[0] = 1\nlet t = f[0]\nout[0] = t") ==
              printed("allocate f: int32[n] in Auto\nf[0] = 1\nlet t = f[0]\n"
                      "free(address_of(f[0]))\nout[0] = t"));
        CHECK(freed("allocate f: int32[n] in Auto\nf[0] = 1\n"
                    "allocate g: int32[f[0]] in Auto\ng[0] = 1") ==
              printed("allocate f: int32[n] in Auto\nf[0] = 1\n"
                      "allocate g: int32[f[0]] in Auto\nfree(address_of(f[0]))\ng[0] = 1"));
    }
}
