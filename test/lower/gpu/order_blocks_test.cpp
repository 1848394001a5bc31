#include "lower/gpu/order_blocks.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}
std::string refusal(std::string_view text) {
    try {
        run(order_blocks, text);
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_SUITE("order_blocks") {
    TEST_CASE("groups of rows: the rows of a group run fastest") {
        const std::string text =
            run(order_blocks, "gpu_block for y in [1, +m) of f y grouped 4:\n"
                              "    gpu_block for x in [2, +n) of f x grouped 4:\n"
                              "        f(x, y) = 1\n");
        CAPTURE(text);
        CHECK(contains(text, "let blocks_in_all = max(m, 0) * max(n, 0)"));
        CHECK(contains(text, "gpu_block for block in [0, +blocks_in_all)"));
        CHECK(contains(text, "let first_row = of_plane / (n * 4) * 4"));
        CHECK(contains(text, "let rows_of_group = min(m - first_row, 4)"));
        CHECK(contains(text, "let y = first_row + block_of_group % rows_of_group + 1"));
        CHECK(contains(text, "let x = block_of_group / rows_of_group + 2"));
    }
    TEST_CASE("persistent blocks take turns") {
        const std::string text =
            run(order_blocks, "gpu_block for x in [0, +n) of f x persistent 2:\n"
                              "    f(x) = 1\n");
        CAPTURE(text);
        CHECK(contains(text, "let processors = gpu_processors()"));
        CHECK(contains(text, "min(processors * 2, blocks_in_all)"));
        CHECK(contains(text, "for turn in [0, +(blocks_in_all - block"));
    }
    TEST_CASE("kernels without such directives are as they are") {
        const char *text = "gpu_block for x in [0, +n) of f x: f(x) = 1\n";
        CHECK(run(order_blocks, text) == printed(text));
    }
    TEST_CASE("one loop has no rows, and extents are the same for all blocks") {
        CHECK(contains(refusal("gpu_block for x in [0, +n) of f x grouped 4: f(x) = 1\n"),
                       "two loops over blocks"));
        CHECK(contains(refusal("gpu_block for y in [0, +n) of f y persistent 1:\n"
                               "    gpu_block for x in [0, +y) of f x persistent 1: f(x, y) = 1\n"),
                       "depends on"));
    }
}
