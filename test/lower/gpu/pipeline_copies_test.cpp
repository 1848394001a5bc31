#include "algebra/simplify.h"
#include "lower/gpu/pipeline_copies.h"
#include "lower/gpu/unit_dimensions.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;
using namespace tessera::ir;

namespace {

// A loop that computes boxes of 8 rows into a ring buffer of three, and uses them.
std::string loop(const std::string &value, const std::string &columns = "32") {
    return str(
        "gpu_block for b in [0, +n):\n"
        "    realize s: {float16} in GPUShared async copies 3 over [0, +32], [0, +8], [0, +3]\n"
        "    for k in [0, +m) of f k:\n"
        "        produce s:\n"
        "            for y in [0, +8): for x in [k*32, +",
        columns,
        "):\n"
        "                s(x - k*32, y, k % 3) = ",
        value,
        "\n"
        "        consume s:\n"
        "            gpu_thread for t in [0, +32): g(t) = s(t, 3, k % 3):float16\n");
}

std::string pipelined(const std::string &text) {
    return to_string(algebra::simplify(pipeline_copies(parse_stmt(text), Context())));
}

// Checks that the parts follow one another, each after the one before it.
void check_order(const std::string &text, const std::vector<std::string> &parts) {
    CAPTURE(text);
    size_t at = 0;
    for (const std::string &part : parts) {
        CAPTURE(part);
        at = text.find(part, at);
        REQUIRE(at != std::string::npos);
        at += part.size();
    }
}

}  // namespace

TEST_SUITE("pipelines of copies") {
    TEST_CASE("copies are begun two iterations ahead, by all threads, and waited for") {
        check_order(
            pipelined(loop("image a(x, y):float16")),
            {"for ahead in [0, +2)", "if ahead < m:", "machine_op copy_async():", "async_commit()",
             "for k in [0, +m)", "async_wait(1)\n", "gpu_barrier()",
             "if k + 2 < m:", "machine_op copy_async():", "(k + 2) % 3) = image a(k * 32 + ",
             "async_commit()", "consume s:", "g(t) = s(t, 3, k % 3)"});
    }
    TEST_CASE("copies in no loop are made once, before a loop whose iterations copy the same") {
        const auto text = [](const std::string &row) {
            return pipelined(
                "gpu_block for b in [0, +n):\n"
                "    for turn in [0, +m):\n"
                "        realize s: {float16} in GPUShared async copies 2 over [0, +32], [0, +8], "
                "[0, +2]\n"
                "        produce s:\n"
                "            for y in [0, +8): for x in [0, +32): s(x, y, 0) = image a(x, " +
                row +
                "):float16\n"
                "        consume s:\n"
                "            gpu_thread for t in [0, +32): g(t + turn) = s(t, 3, 0):float16\n");
        };
        check_order(text("y"), {"over [0, +32], [0, +8], [0, +1]", "copy_async", "async_wait(0)",
                                "gpu_barrier()", "for turn in [0, +m)", "g(turn + t) = "});
        check_order(text("y + turn"), {"for turn in [0, +m)", "over [0, +32], [0, +8], [0, +1]",
                                       "copy_async", "async_wait(0)", "gpu_barrier()", "= s("});
    }
    TEST_CASE("what threads compute is stored as far ahead") {
        const std::string text = pipelined(loop("float16(image a(x, y):uint8) * c(y):float16"));
        check_order(text, {"for ahead in [0, +2)", "async_commit()", "async_wait(1)\n",
                           "gpu_barrier()", "if k + 2 < m:", "gpu_thread for copying in [0, +32)",
                           "vectorized for x in [0, +8)", "float16(image a(", "consume s:"});
        CHECK(text.find("copy_async") == std::string::npos);
    }
    TEST_CASE("what is on a condition, and what is beyond the last element, is zero") {
        const std::string text =
            pipelined(loop("select(y < b, image a(x, y):float16, 0.0:float16)", "min(m, 32)"));
        check_order(text, {"if k + 2 < m:", "if copying % 4 * 8 + 7 < m:",
                           "machine_op copy_async()", "< b:", "= image a(",
                           "else:", "= 0.0:float16", "else:", "for x in [0, +8)", "= 0.0:float16"});
    }
    TEST_CASE("a ring buffer whose size changes has room for the largest box") {
        Context context;
        context.target = Target("host-cuda");
        std::string text = loop("image a(x, y):float16");
        const std::string extents = "over [0, +32], [0, +8], [0, +3]";
        text.replace(text.find(extents), extents.size(), "over [0, +min(n, 32)], [0, +8], [0, +3]");
        CHECK(run(drop_unit_dimensions, text, context).find(extents) != std::string::npos);
        // Instructions read all of the 64 elements, though a condition keeps the loop from some.
        const std::string read =
            "gpu_block for b in [0, +n):\n"
            "    realize s: {float16} in GPUShared async copies 2 over [0, +n], [0, +8], [0, +2]\n"
            "    for k in [0, +m):\n"
            "        tensorized for ki in [0, +64) of f ki instruction mma:\n"
            "            if k*64 + ki < n: f(ki) = s(k*64 + ki - k*64, 0, k % 2):float16\n";
        CHECK(run(drop_unit_dimensions, read, context).find("over [0, +64], [0, +8], [0, +2]") !=
              std::string::npos);
    }
}
