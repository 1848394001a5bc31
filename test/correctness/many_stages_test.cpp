#include "bench/stages.h"
#include <doctest/doctest.h>

using namespace tessera;

namespace {

constexpr int stages = 45, width = 50, height = 40;

}  // namespace

TEST_SUITE("many stages") {
    TEST_CASE("a chain of many stages at the root") {
        Buffer<int> result = bench::chain(stages).realize({width});
        for (int i = 0; i < width; i++) CHECK(result(i) == i + stages * (stages - 1) / 2);
    }
    TEST_CASE("many stencils under sliding windows compute what they do at the root") {
        std::vector<Func> at_root = bench::stencils(stages);
        for (Func &f : at_root) f.compute_root();
        Buffer<uint32_t> whole = at_root.back().realize({width, height});
        Buffer<uint32_t> sliding =
            bench::sliding(bench::stencils(stages), 16).realize({width, height});
        for (int j = 0; j < height; j++) {
            for (int i = 0; i < width; i++) REQUIRE(sliding(i, j) == whole(i, j));
        }
    }
}
