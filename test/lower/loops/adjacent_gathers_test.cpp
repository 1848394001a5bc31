#include "lower/loops/adjacent_gathers.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

Context for_target(const char *target) {
    Context context;
    context.target = Target(target);
    return context;
}

std::string merged(const std::string &text) {
    return run(merge_adjacent_gathers, text, for_target("x86-64-linux-avx512_skylake"));
}

bool is_unchanged(const std::string &text, const char *target = "x86-64-linux-avx512_skylake") {
    ir::Stmt before = ir::parse_stmt(text);
    return merge_adjacent_gathers(before, for_target(target)).same_as(before);
}

std::string gather(const std::string &index) { return "f[" + index + "]:float32x4"; }

std::string part(const std::string &index, int count, int which) {
    const std::string all = "f[ramp(" + index + ", x4(1), " + std::to_string(count) +
                            ")]:float32x" + std::to_string(4 * count);
    std::string lanes;
    for (int i = 0; i < 4; i++) lanes += (i ? ", " : "") + std::to_string(4 * which + i);
    return "shuffle(" + all + ", [" + lanes + "])";
}

const std::string at = "i:int32x4";

}  // namespace

TEST_SUITE("adjacent gathers") {
    TEST_CASE("two places next to each other") {
        CHECK(merged("out[ramp(0, 1, 4)] = " + gather(at) + " + " + gather(at + " + x4(1)")) ==
              printed("out[ramp(0, 1, 4)] = " + part(at, 2, 0) + " + " + part(at, 2, 1)));
    }
    TEST_CASE(
        "four, the first of which is not at the base, in parts of indices that are repeated") {
        std::string text;
        for (int k = 3; k < 7; k++) {
            text += "out[ramp(" + std::to_string(4 * k) +
                    ", 1, 4)] = " + gather(at + " + x4(b + " + std::to_string(k) + ")") + "\n";
        }
        const std::string after = merged(text);
        CHECK(after.find("x4(1), 4)]") != std::string::npos);
    }
    TEST_CASE("three are two and one") {
        const std::string text = "out[ramp(0, 1, 4)] = " + gather(at) + " + " +
                                 gather(at + " + x4(1)") + " + " + gather(at + " + x4(2)");
        CHECK(merged(text) == printed("out[ramp(0, 1, 4)] = " + part(at, 2, 0) + " + " +
                                      part(at, 2, 1) + " + " + gather(at + " + x4(2)")));
    }
    TEST_CASE("not at places apart, of other buffers, under conditions, or of other widths") {
        CHECK(is_unchanged("out[ramp(0, 1, 4)] = " + gather(at) + " + " + gather(at + " + x4(2)")));
        CHECK(is_unchanged("out[ramp(0, 1, 4)] = " + gather(at) + " + g[" + at +
                           " + x4(1)]:float32x4"));
        CHECK(is_unchanged("if c < 3:\n    out[ramp(0, 1, 4)] = " + gather(at) +
                           "\nout[ramp(4, 1, 4)] = " + gather(at + " + x4(1)")));
        CHECK(is_unchanged("out[ramp(0, 1, 4)] = f[" + at + "]:uint8x4 + f[" + at +
                           " + x4(1)]:uint8x4"));
        CHECK(is_unchanged("out[ramp(0, 1, 4)] = " + gather(at) + " + " + gather(at + " + x4(1)"),
                           "arm-64-linux"));
    }
}
