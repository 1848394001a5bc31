#include "aot/pipelines.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::test;

// x86-64, x86-64-v2, -v3 and -v4.
namespace {

struct Level {
    const char *target;
    const char *instructions;  // GNU's names for them
    bool all_numbers;          // the others differ less, and other tests run them in this process
};

// GNU's assembler refuses what a machine of the level does not have.
const Level levels[] = {
    {"x86-64-linux", "generic64", true},
    {"x86-64-linux-sse41", "generic64+sse4.2+popcnt", false},
    {"x86-64-linux-avx2-fma-f16c", "generic64+sse4.2+popcnt+avx2+fma+f16c+bmi+bmi2+lzcnt+movbe",
     true},
    {"x86-64-linux-avx512_skylake",
     "generic64+sse4.2+popcnt+avx2+fma+f16c+bmi+bmi2+lzcnt+movbe+avx512f+avx512cd+"
     "avx512vl+avx512bw+avx512dq",
     false},
};

bool host_has(const Target &target) {
    Target host = get_host_target().with_implied_features(), all = target.with_implied_features();
    for (int f = 0; f < Target::FeatureEnd; f++) {
        auto feature = Target::Feature(f);
        if (all.has_feature(feature) && !host.has_feature(feature)) return false;
    }
    return true;
}

}  // namespace

TEST_SUITE("levels of x86-64") {
    TEST_CASE("each computes the same, with its own instructions only") {
        uint64_t seed = *Seeds(1, 1).next();
        CAPTURE(seed);
        const Level *below = nullptr;
        for (const Level &level : levels) {
            CAPTURE(level.target);
            Pipelines pipelines(this_machine(), Target(level.target), seed);
            pipelines.as(OutputFileType::assembly);
            pipelines.add_few();
            if (level.all_numbers) pipelines.add_numbers();
            if (below) CHECK_FALSE(pipelines.assemble(below->instructions));
            REQUIRE(pipelines.assemble(level.instructions));
            if (host_has(Target(level.target))) pipelines.check();
            below = &level;
        }
    }
}
