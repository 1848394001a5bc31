#include "lower/gpu/constants_of_lets.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("constants_of_lets") {
    TEST_CASE("constants go to where a name is used, and equal rests have one name") {
        const std::string text = run(take_constants_out_of_lets, "gpu_block for b in [0, +n):\n"
                                                                 "    let r = b*8 + 1\n"
                                                                 "    let s = b*8 + 2\n"
                                                                 "    f[r*32] = s\n");
        CAPTURE(text);
        CHECK(text.find("= b * 8") != std::string::npos);
        CHECK(text.find("b * 8 +") == std::string::npos);
        CHECK(text.find("+ 1) * 32] = ") != std::string::npos);
        // One name for both.
        CHECK(text.find("b * 8") == text.rfind("b * 8"));
    }
    TEST_CASE(
        "a name with another constant is that one, and names of the same loop have their own") {
        const std::string text =
            run(take_constants_out_of_lets, "gpu_block for b in [0, +n):\n"
                                            "    let r = b + 1:\n"
                                            "        f[r] = 0\n"
                                            "    let r = 2 - b:\n"
                                            "        let s = m - r - 1: f[s] = g[r]\n");
        CAPTURE(text);
        CHECK(text.find("f[b + 1] = 0") != std::string::npos);
        CHECK(text.find("let r") == text.rfind("let r"));  // 0 - b
        CHECK(text.find("+ -3] = g[") != std::string::npos);
    }
    TEST_CASE("names outside of kernels, and of what is no sum, stay") {
        for (const char *text : {"let r = m*8 + 1\nf[r] = 0\n",
                                 "gpu_block for b in [0, +n):\n    let r = b*8\n    f[r] = r\n",
                                 "gpu_block for b in [0, +n):\n    let r = float32(b) + 1.0\n"
                                 "    g[b] = r * r\n"}) {
            CHECK(run(take_constants_out_of_lets, text) == printed(text));
        }
    }
}
