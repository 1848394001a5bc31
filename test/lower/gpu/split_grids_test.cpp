#include "ir/parser.h"
#include "ir/printer.h"
#include "lower/gpu/split_grids.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string split(const std::string &text) {
    Context context;
    context.target = Target("host-cuda");
    return ir::to_string(split_grids(ir::parse_stmt(text), context));
}

}  // namespace

TEST_SUITE("split_grids") {
    TEST_CASE("rows of blocks of an unknown number are launched in parts") {
        const std::string s = split("gpu_block for y in [a, +n): gpu_block for x in [0, +m):\n"
                                    "    gpu_thread for t in [0, +32): out[y*m + x] = t");
        CHECK(s.find("for part in [0, +(n + 65534) / 65535)") != std::string::npos);
        CHECK(s.find("let first = part * 65535") != std::string::npos);
        CHECK(s.find("gpu_block for y in [a + first, +min(n - first, 65535))") !=
              std::string::npos);
        CHECK(s.find("gpu_block for x in [0, +m)") != std::string::npos);
    }
    TEST_CASE("so is each of three dimensions but that of x, by what the host knows") {
        const std::string s = split("gpu_block for z in [0, +k):\n    let n = k*2\n"
                                    "    gpu_block for y in [0, +n): gpu_block for x in [0, +m):\n"
                                    "        out[y*m + x] = z");
        CHECK(s.find("[0, +(k + 65534) / 65535)") != std::string::npos);
        CHECK(s.find("[0, +(k * 2 + 65534) / 65535)") != std::string::npos);
    }
    TEST_CASE("a number that is known and not larger stays") {
        for (const char *extent : {"65535", "min(n, 7)"}) {
            const ir::Stmt s = ir::parse_stmt("gpu_block for y in [0, +" + std::string(extent) +
                                              "): gpu_block for x in [0, +m): out[x] = y");
            Context context;
            context.target = Target("host-cuda");
            CHECK(split_grids(s, context).same_as(s));
        }
        CHECK(split("gpu_block for y in [0, +65536): gpu_block for x in [0, +m): out[x] = y")
                  .find("for part") != std::string::npos);
    }
}
