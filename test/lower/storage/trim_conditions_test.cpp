#include "lower/pass_test.h"
#include "lower/storage/trim_conditions.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// A loop over r within one over the blocks of a kernel, whose body runs on a condition.
std::string kernel(const std::string &kind, const std::string &end, const std::string &condition) {
    std::string text = str(kind, "for b in [0, +4):\n    realize m: {int32} over [0, +1]\n",
                           "    for r in [0, +", end, "):\n");
    std::string indent = "        ";
    if (!condition.empty()) {
        text += str(indent, "if ", condition, ":\n");
        indent += "    ";
    }
    return text + indent + "produce m: m(0) = r\n" + indent + "consume m: o(r) = m(0):int32\n";
}

std::string trimmed(const std::string &text) {
    Context context;
    context.target = Target("x86-64-linux-cuda");
    return run(trim_conditions, text, context);
}

}  // namespace

TEST_SUITE("trim conditions") {
    TEST_CASE("a loop of a kernel ends where its condition does") {
        CHECK(trimmed(kernel("gpu_block ", "n", "r*2 + 0 < (b + 1)*4")) ==
              printed(kernel("gpu_block ", "min(n, b*2 + 2)", "")));
    }
    TEST_CASE("another loop stays, and so does a condition that is no interval") {
        for (const std::string &text :
             {kernel("", "n", "r <= b"), kernel("gpu_block ", "n", "r % 2 == 0")}) {
            CHECK(trimmed(text) == printed(text));
        }
    }
}
