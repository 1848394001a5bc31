#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/order_blocks.h"
#include "lower/pass_test.h"
#include <set>

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

// The rows and columns of the blocks, in the order of their numbers.
std::vector<std::pair<int64_t, int64_t>> order_of(int rows, int columns) {
    const ir::Stmt s =
        order_blocks(ir::parse_stmt(str("gpu_block for y in [0, +", rows, ") of f y hilbert:\n",
                                        "    gpu_block for x in [0, +", columns,
                                        ") of f x hilbert:\n", "        f(x, y) = 1\n")),
                     Context());
    std::vector<std::pair<int64_t, int64_t>> all;
    ir::for_each_node(s, [&](const ir::For &loop) {
        for (int i = 0; i < rows * columns; i++) {
            const ir::Stmt one =
                algebra::simplify(ir::substitute(loop.name, ir::Expr(i), loop.body));
            ir::for_each_node(one, [&](const ir::Provide &p) {
                all.emplace_back(ir::as_const_int(p.args[1]).value_or(-1),
                                 ir::as_const_int(p.args[0]).value_or(-1));
            });
        }
    });
    return all;
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
    TEST_CASE("a curve: squares of as many rows as fit, the rest column by column") {
        const std::string text =
            run(order_blocks, "gpu_block for y in [0, +m) of f y hilbert:\n"
                              "    gpu_block for x in [0, +n) of f x hilbert:\n"
                              "        f(x, y) = 1\n");
        CAPTURE(text);
        CHECK(contains(text, "gpu_block for block in [0, +blocks_in_all)"));
        CHECK(contains(text, "let most_rows = select("));
        CHECK(contains(text, "let rows_of_group = min(m - first_row, most_rows)"));
        CHECK(contains(text, "let square = block_of_group / (most_rows * most_rows)"));
        CHECK(contains(text, "block_of_group / rows_of_group"));
    }
    TEST_CASE("each block comes once, and next to the one before it in a square") {
        for (const auto &[rows, columns] :
             std::vector<std::pair<int, int>>{{8, 8}, {4, 12}, {5, 7}, {1, 6}, {9, 3}}) {
            CAPTURE(rows);
            CAPTURE(columns);
            const auto places = order_of(rows, columns);
            CHECK(std::set(places.begin(), places.end()).size() == size_t(rows * columns));
            if (rows != columns) continue;
            for (size_t i = 1; i < places.size(); i++) {
                const auto [y, x] = places[i];
                const auto [before_y, before_x] = places[i - 1];
                CHECK(std::abs(y - before_y) + std::abs(x - before_x) == 1);
            }
        }
    }
    TEST_CASE("clusters in groups, and clusters whose blocks take turns") {
        const std::string groups =
            run(order_blocks,
                "gpu_cluster for y in [0, +m) of f y grouped 4:\n"
                "    gpu_cluster for x in [0, +n) of f x grouped 4:\n"
                "        gpu_block for b in [0, +2) of f b grouped 4: f(x*2 + b, y) = 1\n");
        CAPTURE(groups);
        CHECK(contains(groups, "gpu_cluster for block in [0, +blocks_in_all)"));
        CHECK(contains(groups, "gpu_block for b in [0, +2)"));
        const std::string turns = run(
            order_blocks, "gpu_cluster for x in [0, +n) of f x persistent 1:\n"
                          "    gpu_block for b in [0, +2) of f b persistent 1: f(x*2 + b) = 1\n");
        CAPTURE(turns);
        CHECK(contains(turns, "min(max(processors / 2, 1), blocks_in_all)"));
        const size_t blocks = turns.find("gpu_block for b in [0, +2)");
        CHECK(blocks != std::string::npos);
        CHECK(turns.find("for turn in [0, +") > blocks);
        CHECK(contains(
            refusal("gpu_cluster for x in [0, +n) of f x persistent 1:\n"
                    "    realize g: {int32} in Auto over [0, +2]:\n"
                    "        gpu_block for b in [0, +2) of g b: g(b) = 1\n"
                    "        gpu_block for b in [0, +2) of f b persistent 1: f(x*2 + b) = g(b)\n"),
            "what is computed at the loop over clusters"));
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
