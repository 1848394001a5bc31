#include "lower/loops/overlapping_loads.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

Context with_avx512() {
    Context context;
    context.target = Target("x86-64-linux-avx512_skylake");
    return context;
}

std::string split(const std::string &text) {
    return run(split_overlapping_loads, text, with_avx512());
}

bool is_unchanged(const std::string &text, const Context &context = with_avx512()) {
    ir::Stmt before = ir::parse_stmt(text);
    return split_overlapping_loads(before, context).same_as(before);
}

std::string vector(const std::string &first) { return "f[ramp(" + first + ", 1, 16)]:float32x16"; }

// The 16 lanes from lane `first` on of the vectors at b and b + 16.
std::string shifted(int first) {
    std::string lanes;
    for (int i = 0; i < 16; i++) lanes += (i ? ", " : "") + std::to_string(first + i);
    return "shuffle(" + vector("b") + ", " + vector("b + 16") + ", [" + lanes + "])";
}

std::string allocated(const std::string &body, int padding) {
    return "allocate f: float32[n] in Heap" +
           (padding ? " padding " + std::to_string(padding) : std::string()) + "\n" + body;
}

const std::string three_places =
    "out[ramp(0, 1, 16)] = " + vector("b") + " + " + vector("b + 1") + " + " + vector("b + 2");

}  // namespace

TEST_SUITE("overlapping loads") {
    TEST_CASE("vectors at three places are two side by side") {
        CHECK(split(allocated(three_places, 0)) ==
              printed(allocated("out[ramp(0, 1, 16)] = " + vector("b") + " + " + shifted(1) +
                                    " + " + shifted(2),
                                16)));
    }
    TEST_CASE("in several statements, too") {
        const std::string text =
            "let t = " + vector("b + 1") + "\nout[ramp(0, 1, 16)] = t:float32x16\n" +
            "out[ramp(16, 1, 16)] = " + vector("b") + "\nout[ramp(32, 1, 16)] = " + vector("b + 2");
        CHECK(split(allocated(text, 0)).find("shuffle") != std::string::npos);
    }
    TEST_CASE("not at two places, which would take as many") {
        CHECK(is_unchanged(
            allocated("out[ramp(0, 1, 16)] = " + vector("b") + " + " + vector("b + 1"), 0)));
    }
    TEST_CASE("not at places far apart") {
        CHECK(is_unchanged(allocated("out[ramp(0, 1, 16)] = " + vector("b") + " + " +
                                         vector("b + 7") + " + " + vector("b + 40"),
                                     0)));
    }
    TEST_CASE("nothing is read beyond what comes from outside") {
        CHECK(is_unchanged(three_places));
        // The vector at b + 16 is read anyway.
        CHECK(split(three_places + " + " + vector("b + 16")) ==
              printed("out[ramp(0, 1, 16)] = " + vector("b") + " + " + shifted(1) + " + " +
                      shifted(2) + " + " + vector("b + 16")));
    }
    TEST_CASE("nor of what other iterations write meanwhile") {
        const std::string loop =
            "parallel for i in [0, +n):\n    f[i] = 1.0\n    for j in [0, +n):\n"
            "        " +
            three_places;
        CHECK(is_unchanged(allocated(loop, 0)));
    }
    TEST_CASE("not what is read under different conditions") {
        CHECK(is_unchanged(allocated("if c < 3:\n    out[ramp(0, 1, 16)] = " + vector("b") +
                                         "\nout[ramp(16, 1, 16)] = " + vector("b + 1") +
                                         "\nout[ramp(32, 1, 16)] = " + vector("b + 2"),
                                     0)));
    }
    TEST_CASE("not of other widths, strides and masks, nor for other machines") {
        CHECK(
            is_unchanged(allocated("out[ramp(0, 1, 8)] = f[ramp(b, 1, 8)] + f[ramp(b + 1, 1, 8)] + "
                                   "f[ramp(b + 2, 1, 8)]",
                                   0)));
        CHECK(is_unchanged(
            allocated("out[ramp(0, 1, 16)] = f[ramp(b, 2, 16)] + f[ramp(b + 1, 2, 16)] + "
                      "f[ramp(b + 2, 2, 16)]",
                      0)));
        Context plain;
        plain.target = Target("x86-64-linux-avx2");
        CHECK(is_unchanged(allocated(three_places, 0), plain));
    }
}
