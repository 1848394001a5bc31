// The schedules that bench_gpu_schedules compares compute what the app's own does on a CPU: in the
// interpreter, on small pictures.
#include "cpu/problems.h"
#include "gpu/contender.h"
#include "gpu/schedules.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::bench;

namespace {

// Returns a problem for the interpreter: no smaller than the tiles, and no multiple where tails are
// guarded.
Problem small_enough(const Problem &p) {
    static const std::map<std::string, std::pair<int, int>> sizes = {
        {"conv_layer", {9, 7}},      {"depthwise_separable_conv", {19, 13}},
        {"stencil_chain", {69, 41}}, {"camera_pipe", {138, 76}},
        {"interpolate", {160, 96}},  {"resize", {40, 30}}};
    const auto found = sizes.find(p.generator);
    const auto [width, height] = found == sizes.end() ? std::pair(137, 75) : found->second;
    Problem small = made_small(p, width, height);
    if (p.generator == "stencil_chain") small.params = "count=6";  // of 32 stages
    return small;
}

bool takes_minutes(const Problem &p) {
    return p.generator == "nl_means" || p.generator == "local_laplacian";
}

}  // namespace

TEST_SUITE("gpu_schedules") {
    TEST_CASE("the schedules of an app are known by its name") {
        std::vector<Problem> all(2);
        all[0].generator = "blur";
        all[1].generator = "blur_f32";
        const std::vector<std::string> of_blur = schedules_of(all[0], all);
        CHECK(of_blur[0] == "blur");
        CHECK(std::find(of_blur.begin(), of_blur.end(), "blur_theirs") != of_blur.end());
        CHECK(std::find(of_blur.begin(), of_blur.end(), "blur_f32") == of_blur.end());
        CHECK(schedules_of(all[1], all) == std::vector<std::string>{"blur_f32"});
    }
    TEST_CASE("each schedule computes the same") {
        const char *only = std::getenv("TESSERA_SCHEDULES");  // of one app, or one of them
        const std::vector<Problem> all = problems();
        for (const Problem &whole : all) {
            const std::vector<std::string> names = schedules_of(whole, all);
            const Problem small = small_enough(whole);
            for (const std::string &name : names) {
                if (names.size() == 1 || takes_minutes(whole)) continue;
                if (only && name.rfind(only, 0) != 0) continue;
                CAPTURE(name);
                if (only) MESSAGE(name);
                auto data = std::make_shared<Data>(small);
                const Problem scheduled = with_schedule(small, name);
                const Contender ours =
                    tessera_for("host-jit-cuda-interpret", std::make_shared<Data>(scheduled));
                ours.run();
                CHECK(difference(ours.result(), expected_result(data)) <= small.tolerance);
            }
        }
    }
}
