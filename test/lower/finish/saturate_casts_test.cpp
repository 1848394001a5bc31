#include "lower/finish/saturate_casts.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("saturate_casts") {
    TEST_CASE("what may be too large is cut off, and so is what is not a number") {
        CHECK(run(saturate_casts, "f[0] = int32(a:float32)") ==
              printed("f[0] = int32(min(a:float32, 2147483520.0))"));
        CHECK(run(saturate_casts, "f[0] = uint32(a:float32)") ==
              printed("f[0] = uint32(max(min(a:float32, 4294967040.0), 0.0))"));
        CHECK(run(saturate_casts, "f[0] = int32(a:float64)") ==
              printed("f[0] = int32(min(a:float64, 2147483647.0:float64))"));
        CHECK(run(saturate_casts, "f[0] = int32(a:float16)") ==
              printed("f[0] = int32(min(float32(a:float16), 2147483520.0))"));
    }
    TEST_CASE("what fits stays as it is") {
        for (const char *text : {"f[0] = int32(float32(a:uint8) * 0.5 + 3.0)",
                                 "f[0] = int32(max(min(a:float32, 255.0), 0.0))",
                                 "f[0] = int32(floor(sqrt(float32(a:uint16))))",
                                 "f[0] = int32(float32(a:int32) * 0.25)", "f[0] = uint8(a:float32)",
                                 "for x in [0, +100): f[x] = int32((float32(x) + 0.5) / 3.0)"}) {
            CHECK(run(saturate_casts, text) == printed(text));
        }
    }
    TEST_CASE("what is left of two values that may both not be numbers is no number") {
        CHECK(run(saturate_casts, "f[0] = int32(max(0.0, min(255.0, a:float32)))") ==
              printed("f[0] = int32(max(0.0, min(255.0, a:float32)))"));
        CHECK(run(saturate_casts, "f[0] = int32(min(sqrt(a:float32), sqrt(b:float32)))") ==
              printed("f[0] = int32(min(min(sqrt(a:float32), sqrt(b:float32)), 2147483520.0))"));
    }
    TEST_CASE("a copy of a loop that runs further") {
        const std::string cast = "f[x] = int32(float32(x) * 300000000.0)";
        CHECK(run(saturate_casts, str("for x in [0, +4): ", cast, "\nfor x in [0, +n): ", cast)) ==
              printed(str("for x in [0, +4): ", cast,
                          "\nfor x in [0, +n): f[x] = int32(min(float32(x) * 300000000.0, "
                          "2147483520.0))")));
    }
    TEST_CASE("what large numbers that cancel leave, rounded") {
        const char *text = "let p = float32(a:uint8) * 17000000.0\n"
                           "f[0] = int32(p + 1e17 - 1e17 - p)";
        CHECK(run(saturate_casts, text).find("2147483520.0") != std::string::npos);
    }
}
