#include "ir/parser.h"
#include "ir/printer.h"
#include "lower/gpu/align_vectors.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string aligned(const std::string &body) {
    const ir::Module m = ir::parse_module("module \"m\"\nfunc \"f\"(src: input float32[1], out: "
                                          "output float32[1] of out, w: int32, s: int32):\n" +
                                          body);
    Context context;
    context.target = Target("host-cuda");
    return ir::to_string(align_vectors(m.functions[0], context));
}
size_t count_of(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

const std::string blocks = "    gpu_block for b in [0, +9): gpu_thread for t in [0, +32):\n";

}  // namespace

TEST_SUITE("align vectors") {
    TEST_CASE("what only the run knows decides between two launches") {
        const std::string text = aligned(
            blocks + "        out[ramp(b*128 + t*4 - w, 1, 4)] = src[ramp(b*128 + t*4, 1, 4)]\n");
        CAPTURE(text);
        CHECK(count_of(text, "gpu_block") == 2);
        CHECK(count_of(text, "aligned(4, 0)") == 2);
        CHECK(count_of(text, "w % 4 == 0") + count_of(text, "(0 - w) % 4 == 0") == 1);
        CHECK(count_of(text, "out.device % 16") == 1);
        CHECK(count_of(text, "src.device % 16") == 1);
    }
    TEST_CASE("factors of threads and of strides") {
        // Rows of a stride that the run knows.
        const std::string rows = aligned(blocks + "        out[ramp(t*4 + b*s, 1, 4)] = x4(1.0)\n");
        CAPTURE(rows);
        CHECK(count_of(rows, "s % 4 == 0") == 1);
        // An end that is shifted inwards.
        const std::string shifted =
            aligned(blocks + "        out[ramp(min(b*4, w - 4) + t*8, 1, 4)] = x4(1.0)\n");
        CAPTURE(shifted);
        CHECK(count_of(shifted, "aligned(4, 0)") == 1);
        CHECK(count_of(shifted, "w % 4 == 0") == 1);
    }
    TEST_CASE("what is added to a choice belongs to both of its values") {
        const std::string text =
            aligned(blocks + "        out[ramp(min(b*8 + 7, w - 1) - 7, 1, 8)] = x8(1.0)\n");
        CAPTURE(text);
        CHECK(count_of(text, "w % 4 == 0") == 1);
        CHECK(count_of(text, "aligned(4, 0)") == 1);
    }
    TEST_CASE("what cannot be aligned stays, beside what can") {
        const std::string text =
            aligned(blocks + "        out[ramp(t*4, 1, 4)] = src[ramp(t*4 + 1, 1, 4)] + "
                             "src[ramp(t*3, 1, 4)] + src[ramp(t*4, 2, 4)]\n");
        CAPTURE(text);
        CHECK(count_of(text, "aligned(4, 0)") == 1);
        CHECK(count_of(aligned(blocks + "        out[ramp(t*3, 1, 4)] = x4(1.0)\n"), "gpu_block") ==
              1);
    }
    TEST_CASE("sixteen bytes at most, and a part of what has no such size") {
        CHECK(count_of(aligned(blocks + "        out[ramp(t*8, 1, 8)] = x8(1.0)\n"),
                       "aligned(4, 0)") == 1);
        CHECK(count_of(aligned(blocks + "        out[ramp(t*6, 1, 6)] = x6(1.0)\n"),
                       "aligned(2, 0)") == 1);
        CHECK(count_of(aligned(blocks + "        out[ramp(t*3, 1, 3)] = x3(1.0)\n"), "aligned") ==
              0);
    }
    TEST_CASE("the memory of a block needs no question") {
        const std::string text =
            aligned("    gpu_block for b in [0, +9):\n"
                    "        allocate f: float32[128] in GPUShared\n"
                    "        gpu_thread for t in [0, +32): f[ramp(t*4, 1, 4)] = x4(1.0)\n");
        CHECK(count_of(text, "gpu_block") == 1);
        CHECK(count_of(text, "aligned(4, 0)") == 1);
    }
}
