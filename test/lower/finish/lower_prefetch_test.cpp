#include "lower/finish/lower_prefetch.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("lower_prefetch") {
    TEST_CASE("the address of the first element, extents and strides in bytes") {
        CHECK(run(lower_prefetch, "realize f: {uint16} over [0, +9]\n"
                                  "prefetch f: {uint16} over [a, +n] if a < 3: f(0) = 1") ==
              printed("realize f: {uint16} over [0, +9]\n"
                      "if a < 3: prefetch(address_of(f(a)), n, f.stride[0] * 2)\nf(0) = 1"));
    }
    TEST_CASE("of an image") {
        CHECK(run(lower_prefetch, "prefetch image i: {float32} over [a, +n] if true: f(0) = 1") ==
              printed("prefetch(address_of(image i(a):float32), n, i.stride[0] * 4)\nf(0) = 1"));
    }
    TEST_CASE("a function without storage here is not prefetched") {
        CHECK(run(lower_prefetch, "prefetch f: {uint16} over [a, +n] if true: g(0) = 1") ==
              printed("g(0) = 1"));
    }
    TEST_CASE("each value of an output has strides of its own") {
        CHECK(run_on_function(lower_prefetch,
                              "g.0: output uint16[1] of g, g.1: output uint32[1] of g value 1",
                              "    prefetch g: {uint16, uint32} over [3, +4] if true: no_op") ==
              printed("prefetch(address_of(g(3):uint16), 4, `g.0`.stride[0] * 2)\n"
                      "prefetch(address_of(g(3).1:uint32), 4, `g.1`.stride[0] * 4)\n"
                      "no_op"));
    }
    TEST_CASE("a value of a function that is stored is in the buffer that the storage says") {
        CHECK(run(lower_prefetch, "realize f: {uint16, uint8} held by a, b over [0, +9]\n"
                                  "prefetch f: {uint16, uint8} over [2, +n] if true: no_op") ==
              printed("realize f: {uint16, uint8} held by a, b over [0, +9]\n"
                      "prefetch(address_of(f(2)), n, a.stride[0] * 2)\n"
                      "prefetch(address_of(f(2).1), n, b.stride[0] * 1)\n"
                      "no_op"));
    }
}
