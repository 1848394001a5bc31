#include "lower/gpu/add_in_place.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// Sums of products that are added to f, by `add`; `also` reads the sums, too.
std::string sums(const std::string &add, const std::string &also = "") {
    return "gpu_block for b in [0, +n):\n"
           "    realize f: {float32} in Tile over [0, +8], [0, +16]\n"
           "    for r in [0, +m):\n"
           "        realize s: {float32} in Tile over [0, +8], [0, +16]\n"
           "        produce s:\n"
           "            gpu_warp for w in [0, +1) of s w:\n"
           "                for y in [0, +16): for x in [0, +8): s(x, y) = 0.0\n"
           "            gpu_warp for w in [0, +1) of s w:\n"
           "                tensorized for y in [0, +16) of s y update 0 instruction mma:\n"
           "                    tensorized for x in [0, +8) of s x update 0 instruction mma:\n"
           "                        tensorized for k in [0, +16) of s k update 0 reduction "
           "instruction mma:\n"
           "                            s(x, y) = s(x, y):float32 + float32(a(k, y):float16)"
           "*float32(c(x, k):float16)\n"
           "        consume s:\n"
           "            gpu_warp for v in [0, +1) of f v:\n"
           "                for q in [0, +16): for p in [0, +8): f(p, q) = " +
           add + "\n" + also;
}
bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("add_in_place") {
    TEST_CASE("instructions add to what has been scaled, and there are no sums of their own") {
        const std::string text =
            run(add_in_place, sums("f(p, q):float32 * e(q):float32 + s(p, q):float32"));
        CAPTURE(text);
        CHECK(!contains(text, "realize s"));
        const size_t scaled = text.find("f(p, q) = f(p, q) * e(q)"),
                     added = text.find("f(x, y) = f(x, y) + float32(a(k, y):float16) * float32(c");
        CAPTURE(scaled);
        CHECK(scaled < added);
        CHECK(added != std::string::npos);
    }
    TEST_CASE("to what is left as it is, at once") {
        const std::string text = run(add_in_place, sums("s(p, q):float32 + f(p, q):float32"));
        CAPTURE(text);
        CHECK(!contains(text, "gpu_warp for v"));
        CHECK(contains(text, "f(x, y) = f(x, y) + float32(a(k, y):float16)"));
    }
    TEST_CASE("not if the sums are scaled, or read by others, too") {
        const std::string scaled = sums("f(p, q):float32 + s(p, q):float32 * e(q):float32"),
                          twice = sums("f(p, q):float32 + s(p, q):float32",
                                       "            gpu_warp for u in [0, +1) of h u:\n"
                                       "                for q in [0, +16): for p in [0, +8): "
                                       "h(p, q) = s(p, q):float32\n"),
                          other = sums("f(p, q):float32 + s(p, q):float32 + s(p, q):float32");
        for (const std::string &text : {scaled, twice, other})
            CHECK(run(add_in_place, text) == printed(text));
    }
}
