#include "lower/loops/split_sums.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// An update of f under loops that instructions mma do, for a warp.
std::string nest(const std::string &update, const char *instruction = "mma") {
    const std::string of = str(" instruction ", instruction, ":\n");
    return "gpu_block for b in [0, +n):\n"
           "    realize f: {float32} in Tile over [0, +8], [0, +16]\n"
           "    gpu_warp for w in [0, +1) of f w update 0:\n"
           "        tensorized for y in [0, +16) of f y update 0" +
           of + "            tensorized for x in [0, +8) of f x update 0" + of +
           "                tensorized for k in [0, +16) of f k update 0 reduction" + of +
           "                    f(x, y) = " + update + "\n";
}
const std::string f = "f(x, y):float32", ab = "float32(a(k, y):float16) * float32(c(x, k):float16)",
                  de = "float32(d(k, y):float16) * float32(e(x, k):float16)";

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}
size_t count_of(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

}  // namespace

TEST_SUITE("split_sums") {
    TEST_CASE("each product has a nest of its own, the first one first") {
        const std::string text = run(split_sums, nest(f + " + " + ab + " + " + de));
        CAPTURE(text);
        CHECK(count_of(text, "gpu_warp") == 2);
        const size_t first = text.find("f(x, y) = f(x, y) + float32(a(k, y)"),
                     second = text.find("f(x.1, y.1) = f(x.1, y.1) + float32(d(k.1, y.1)");
        CHECK(first < second);
        CHECK(second != std::string::npos);
    }
    TEST_CASE("what an instruction computes as it is stays") {
        for (const std::string &update : {f + " + " + ab, f + " - " + ab, ab + " + " + f})
            CHECK(run(split_sums, nest(update)) == printed(nest(update)));
    }
    TEST_CASE("as does a sum with a term that none computes") {
        for (const std::string &update :
             {f + " + " + ab + " + 1.0", "max(" + f + ", " + ab + ")", f + " + 2.0 * (" + ab + ")"})
            CHECK(run(split_sums, nest(update)) == printed(nest(update)));
    }
    TEST_CASE("a condition of a product is one of its update") {
        const std::string text =
            run(split_sums, nest(f + " + select(k < n, " + ab + ", " + de + ")"));
        CAPTURE(text);
        CHECK(contains(text, "if k < n:"));
        CHECK(contains(text, "if !(k.1 < n):"));
        CHECK(count_of(text, "gpu_warp") == 2);
        const std::string whole =
            run(split_sums, nest("select(k < n, " + f + " + " + ab + ", " + f + ")"));
        CAPTURE(whole);
        CHECK(contains(whole, "if k < n:"));
        CHECK(count_of(whole, "gpu_warp") == 1);
    }
    TEST_CASE("a difference negates a factor where no instruction subtracts") {
        const std::string text =
            run(split_sums, nest(f + " - (" + ab + ")", "`mma.m16n8k16.f32.f16`"));
        CAPTURE(text);
        CHECK(contains(text, "a(k, y):float16 * -1.0:float16"));
    }
}
