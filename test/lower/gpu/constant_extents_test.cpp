#include "lower/gpu/constant_extents.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}
std::string passed(std::string_view text) {
    Context context;
    context.target = Target("host-cuda");
    return run(constant_extents_in_kernels, text, context);
}
std::string in_kernel(const std::string &realize) {
    return passed("gpu_block for x in [0, +m) of g x:\n    " + realize + "\n    g(x) = 1\n");
}

}  // namespace

TEST_SUITE("constant_extents") {
    TEST_CASE("what is smaller at the end has the memory of all others") {
        CHECK(contains(in_kernel("realize f: {int32} over [0, +min(n - x*4, 6)]"), "[0, +6]"));
    }
    TEST_CASE("each dimension has its own bound") {
        const std::string text = in_kernel("realize f: {int32} over [0, +n], [x, +min(n, 3) + 1]");
        CAPTURE(text);
        CHECK(contains(text, "[0, +n]"));
        CHECK(contains(text, "[x, +4]"));
    }
    TEST_CASE("a bound that may be far from what is used does not count") {
        CHECK(contains(in_kernel("realize f: {int32} over [0, +min(n, 4096)]"), "min(n, 4096)"));
    }
    TEST_CASE("storage outside of kernels is as it was") {
        const char *text = "realize f: {int32} over [0, +min(n, 6)]\ng(0) = f(0)\n";
        CHECK(passed(text) == printed(text));
    }
}
