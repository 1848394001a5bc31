#include "lower/finish/unpack_buffers.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("unpack_buffers") {
    TEST_CASE("each field is read once, at the top") {
        CHECK(run(unpack_buffers, "for x in [a.min[0], +a.extent[0]): a[x * a.stride[1]] = "
                                  "a.min[0]") ==
              printed("let a_min_0 = a.min[0]\nlet a_extent_0 = a.extent[0]\n"
                      "let a_stride_1 = a.stride[1]\n"
                      "for x in [a_min_0, +a_extent_0): a[x * a_stride_1] = a_min_0"));
    }
    TEST_CASE("what comes before the first use stays before the lets") {
        CHECK(run(unpack_buffers, "let t = 3\nassert t < n, 7\na[0] = a.min[0] + t") ==
              printed("let t = 3\nassert t < n, 7\nlet a_min_0 = a.min[0]\na[0] = a_min_0 + t"));
    }
    TEST_CASE("buffers made inside are left alone") {
        const char *text = "let b = alloca(64)\nextern int32 f(b.min[0])";
        CHECK(run(unpack_buffers, text) == printed(text));
    }
}
