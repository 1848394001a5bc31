// The schedules that bench_gpu_schedules compares compute what the app's own does on a CPU: in the
// interpreter, on small pictures.
#include "cpu/problems.h"
#include "gpu/contender.h"
#include "gpu/schedules.h"
#include <tessera_generator.h>

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <set>

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

// Products and rows are taken as they are, of which there are small ones.
bool is_large(const Problem &p) {
    if (p.generator == "widening_gemm" || p.generator == "attention") return true;
    return p.generator == "gemm" && Data(p).bytes() > 4e5;
}

// Runs it in the interpreter, and compares with the code for CPUs of a problem on the same data.
void check_computes_the_same(const Problem &scheduled, const Problem &plain,
                             const AutoschedulerParams &scheduler = {}) {
    const Contender ours = tessera_for("host-jit-cuda-interpret-cuda_capability_90",
                                       std::make_shared<Data>(scheduled), scheduler);
    ours.run();
    auto data = std::make_shared<Data>(plain);
    CHECK(difference(ours.result(), expected_result(data)) <= plain.tolerance);
}

}  // namespace

TEST_SUITE("gpu_schedules") {
    TEST_CASE("attention on tensor cores computes what attention does, by mma and by wgmma") {
        constexpr int size = 64, count = 128, heads = 2;
        const auto run = [&](const std::string &generator, const std::string &target,
                             const std::map<std::string, std::string> &params, auto element) {
            using Element = decltype(element);
            std::vector<Buffer<Element>> all;
            for (int i = 0; i < 4; i++) {
                all.emplace_back(size, count, heads);
                all.back().fill([&](int d, int q, int h) {
                    return Element(float((d * 7 + q * 5 + h * 3 + i * 11) % 32 - 16) / 16);
                });
            }
            const auto callable =
                create_callable_from_generator(GeneratorContext(Target(target)), generator, params);
            CHECK(callable(all[0], all[1], all[2], all[3]) == 0);
            return all[3];
        };
        const auto wanted =
            run("attention", "host-jit", {{"online", "true"}, {"causal", "true"}}, 0.0f);
        for (const char *capability : {"80", "90"}) {
            CAPTURE(capability);
            const auto computed =
                run("tensor_attention", str("host-jit-cuda-interpret-cuda_capability_", capability),
                    {{"causal", "true"}}, float16_t(0.0f));
            double worst = 0;
            wanted.for_each_element([&](int d, int q, int h) {
                worst = std::max(
                    worst, std::abs(double(wanted(d, q, h)) - double(float(computed(d, q, h)))));
            });
            CHECK(worst < 2e-3);
        }
    }
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
                check_computes_the_same(with_schedule(small, name), small);
            }
        }
    }
    TEST_CASE("the schedule of each app by rules computes the same") {
        const char *only = std::getenv("TESSERA_SCHEDULES");
        std::set<std::string> seen;  // of several sizes, one is enough
        for (const Problem &whole : problems()) {
            if (only && whole.generator.rfind(only, 0) != 0) continue;
            if (is_large(whole) || takes_minutes(whole)) continue;
            if (!seen.insert(whole.generator).second) continue;
            CAPTURE(whole.generator);
            if (only) MESSAGE(whole.generator);
            const bool is_picture = whole.output.extents.size() > 2 || whole.inputs.size() < 2;
            const Problem small = is_picture ? small_enough(whole) : whole;
            check_computes_the_same(small, small, {"simple"});
        }
    }
}
