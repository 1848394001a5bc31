#include "codegen/harness.h"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE("code generation") {
    TEST_CASE("a loop writes each element") {
        TestBuffer<int32_t> out(10);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1], n: int32):
    for i in [0, +n): out[i] = i * 3
)",
                  out, 10) == 0);
        CHECK(out[0] == 0);
        CHECK(out[9] == 27);
    }
    TEST_CASE("a vector loop") {
        TestBuffer<float> in({1, 2, 3, 4, 5, 6, 7, 8}), out(8);
        CHECK(run(R"(
module "m"
func "f"(a: input float32[1], out: output float32[1]):
    for i in [0, +2): out[ramp(i * 4, 1, 4)] = a[ramp(i * 4, 1, 4)] * x4(2.0) + x4(1.0)
)",
                  in, out) == 0);
        CHECK(out.values() == std::vector<float>{3, 5, 7, 9, 11, 13, 15, 17});
    }
}
