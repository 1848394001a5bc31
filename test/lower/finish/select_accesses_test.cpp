#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "ir/visitor.h"
#include "lower/finish/select_accesses.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::lower;

namespace {

Module module_of(const std::string &body) {
    return parse_module(
        str("module \"m\"\nfunc \"f\"(b: int32, c: bool, f: input float32[1], g: input uint8[1], "
            "o: output float32[1], p: output uint8[1]):\n",
            body));
}

std::string selected(const std::string &body, const char *target = "x86-64-linux-avx2") {
    const Module m = select_accesses(module_of(body), Target(target));
    verify(m, "select accesses");
    return to_string(m);
}
std::string printed(const std::string &body) { return to_string(module_of(body)); }

int loads_in(const std::string &body) {
    int count = 0;
    for_each_node(select_accesses(module_of(body), Target("x86-64-linux-avx2")).functions[0].body,
                  [&](const Load &) { count++; });
    return count;
}

}  // namespace

TEST_SUITE("select_accesses") {
    TEST_CASE("what all lanes read is loaded once") {
        CHECK(selected("  o[ramp(b, 1, 4)] = f[x4(b)]\n") ==
              printed("  o[ramp(b, 1, 4)] = x4(f[b])\n"));
    }
    TEST_CASE("of a ramp of vectors, each is loaded by itself") {
        CHECK(selected("  o[ramp(b, 1, 8)] = f[ramp(ramp(b, 1, 4), x4(9), 2)]\n") ==
              printed("  o[ramp(b, 1, 8)] = concat(f[ramp(b, 1, 4)], f[ramp(b + 9, 1, 4)])\n"));
    }
    TEST_CASE("of a ramp of ramps of vectors, too, and alignments move along") {
        CHECK(selected("  o[ramp(b, 1, 8)] = "
                       "f[ramp(ramp(ramp(b * 16, 1, 2), x2(32), 2), x4(8), 2) aligned(16, 0)]\n") ==
              printed("  o[ramp(b, 1, 8)] = concat(concat(f[ramp(b * 16, 1, 2) aligned(16, 0)], "
                      "f[ramp(b * 16 + 32, 1, 2) aligned(16, 0)]), "
                      "concat(f[ramp(b * 16 + 8, 1, 2) aligned(16, 8)], "
                      "f[ramp(b * 16 + 8 + 32, 1, 2) aligned(16, 8)]))\n"));
    }
    TEST_CASE("what is the transpose of rows is loaded by rows, and interleaved") {
        CHECK(
            selected("  o[ramp(b, 1, 8)] = f[ramp(ramp(b, 99, 2), x2(1), 4)]\n") ==
            printed("  o[ramp(b, 1, 8)] = interleave(f[ramp(b, 1, 4)], f[ramp(b + 99, 1, 4)])\n"));
        // In parts of no more than the machine's width.
        CHECK(
            selected("  o[ramp(b, 1, 16)] = f[ramp(ramp(b, 99, 2), x2(1), 8)]\n") ==
            printed("  o[ramp(b, 1, 16)] = concat("
                    "shuffle(f[ramp(b, 1, 8)], f[ramp(b + 99, 1, 8)], [0, 8, 1, 9, 2, 10, 3, 11]),"
                    "shuffle(f[ramp(b, 1, 8)], f[ramp(b + 99, 1, 8)], "
                    "[4, 12, 5, 13, 6, 14, 7, 15]))\n"));
        // Four rows of eight.
        CHECK(loads_in("  o[ramp(b, 1, 32)] = f[ramp(ramp(b, 99, 4), x4(1), 8)]\n") == 4);
    }
    TEST_CASE("a predicate goes along with what it is of") {
        CHECK(
            selected("  let m = ramp(b, 1, 8) < x8(5)\n"
                     "  o[ramp(b, 1, 8)] = f[ramp(ramp(b, 99, 2), x2(1), 4) if m:boolx8]\n") ==
            printed("  let m = ramp(b, 1, 8) < x8(5)\n"
                    "  o[ramp(b, 1, 8)] = interleave(f[ramp(b, 1, 4) if slice(m:boolx8, 0, 2, 4)], "
                    "f[ramp(b + 99, 1, 4) if slice(m:boolx8, 1, 2, 4)])\n"));
        CHECK(selected("  o[ramp(b, 1, 8)] = f[ramp(ramp(b, 1, 4), x4(9), 2) if x8(c:bool)]\n") ==
              printed("  o[ramp(b, 1, 8)] = if_then_else(c:bool, concat(f[ramp(b, 1, 4)], "
                      "f[ramp(b + 9, 1, 4)]), x8(0.0))\n"));
    }
    TEST_CASE("a small stride is a few dense loads that reach no further than its ends") {
        CHECK(selected("  o[ramp(b, 1, 4)] = f[ramp(b, 2, 4)]\n") ==
              printed("  o[ramp(b, 1, 4)] = shuffle(shuffle(f[ramp(b, 1, 4)], [0, 2]), "
                      "f[ramp(b + 3, 1, 4)], [0, 1, 3, 5])\n"));
        CHECK(selected("  o[ramp(b, 1, 4)] = f[ramp(b, -1, 4)]\n") ==
              printed("  o[ramp(b, 1, 4)] = shuffle(shuffle(f[ramp(b + -3, 1, 4)], [0, 1, 2, 3]), "
                      "[3, 2, 1, 0])\n"));
        const std::string far = "  o[ramp(b, 1, 4)] = f[ramp(b, 5, 4)]\n";
        CHECK(selected(far) == printed(far));
    }
    TEST_CASE("two elements of each of many lanes are loaded together") {
        CHECK(loads_in("  o[ramp(b, 1, 16)] = "
                       "f[ramp(int32x8(g[ramp(b, 1, 8)]) * x8(2), x8(1), 2)]\n") == 9);
        CHECK(loads_in("  o[ramp(b, 1, 16)] = "
                       "f[ramp(int32x4(g[ramp(b, 1, 4)]) * x4(4), x4(1), 4)]\n") == 5);
    }
    TEST_CASE("of a store to a ramp of vectors, each is stored by itself") {
        CHECK(selected("  o[ramp(ramp(b, 1, 4), x4(9), 2)] = f[ramp(b, 1, 8)]\n") ==
              printed("  let stored = f[ramp(b, 1, 8)]\n"
                      "  o[ramp(b, 1, 4)] = slice(stored:float32x8, 0, 1, 4)\n"
                      "  o[ramp(b + 9, 1, 4)] = slice(stored:float32x8, 4, 1, 4)\n"));
        CHECK(selected("  o[ramp(ramp(b, 1, 2), x2(9), 2) if x4(c:bool)] = f[ramp(b, 1, 4)]\n") ==
              printed("  if c:bool:\n"
                      "    let stored = f[ramp(b, 1, 4)]\n"
                      "    o[ramp(b, 1, 2)] = slice(stored:float32x4, 0, 1, 2)\n"
                      "    o[ramp(b + 9, 1, 2)] = slice(stored:float32x4, 2, 1, 2)\n"));
    }
    TEST_CASE("scalars, dense vectors, gathers and what is below an atomic stay as they are") {
        for (const char *body : {"  o[b] = f[b]\n", "  o[ramp(b, 1, 4)] = f[ramp(b, 1, 4)]\n",
                                 "  o[ramp(b, 1, 4)] = f[int32x4(g[ramp(b, 1, 4)])]\n",
                                 "  atomic o: o[ramp(ramp(b, 1, 4), x4(9), 2)] = f[ramp(ramp(b, 1, "
                                 "4), x4(9), 2)]\n"}) {
            CHECK(selected(body) == printed(body));
        }
    }
}
