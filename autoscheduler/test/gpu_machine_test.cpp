// GPUs as data: limits, and how many blocks have room.
#include "autoscheduler/machine/gpu.h"
#include "autoscheduler/test/support.h"

using namespace tessera;
using namespace tessera::autoscheduler;

namespace {

const GpuLimits &limits_of(int capability) {
    const auto all = gpu_limits();
    const auto found = std::ranges::find(all, capability, &GpuLimits::capability);
    REQUIRE(found != all.end());
    return *found;
}

}  // namespace

TEST_SUITE("autoscheduler, GPUs as data") {
    TEST_CASE("blocks have room as NVIDIA's occupancy calculator says") {
        // NVIDIA's header (cuda_occupancy.h of CUDA 13.0) says this of these kernels.
        const KernelNeeds kernels[] = {{32, 32, 0},      {1024, 32, 0}, {288, 168, 0},
                                       {128, 255, 4096}, {384, 100, 0}, {256, 40, 20000},
                                       {512, 64, 60000}, {96, 33, 1}};
        const std::vector<int> of_8_9 = {24, 1, 1, 2, 1, 4, 1, 16};
        const std::vector<int> of_9_0 = {32, 2, 1, 2, 1, 6, 2, 16};
        const std::map<int, std::vector<int>> expected = {{75, {16, 1, 1, 2, 1, 3, 1, 10}},
                                                          {80, of_9_0},
                                                          {86, {16, 1, 1, 2, 1, 4, 1, 16}},
                                                          {89, of_8_9},
                                                          {90, of_9_0},
                                                          {100, of_9_0},
                                                          {120, of_8_9}};
        for (const auto &[capability, blocks] : expected) {
            CAPTURE(capability);
            std::vector<int> found;
            for (const KernelNeeds &k : kernels)
                found.push_back(resident_blocks(limits_of(capability), k));
            CHECK(found == blocks);
        }
    }
    TEST_CASE("what has no room cannot be launched") {
        const GpuLimits &hopper = limits_of(90);
        CHECK(resident_blocks(hopper, {288, 176, 0}) == 0);  // nine warps count as twelve
        CHECK(resident_blocks(hopper, {384, 168, 0}) == 1);
        CHECK(resident_blocks(hopper, {1025, 32, 0}) == 0);
        CHECK(resident_blocks(hopper, {128, 256, 0}) == 0);
        CHECK(hopper.shared_of_block() == 232448);
        CHECK(resident_blocks(hopper, {128, 32, 232448}) == 1);
        CHECK(resident_blocks(hopper, {128, 32, 232449}) == 0);
        CHECK(occupancy(limits_of(86), {1024, 32, 0}) == doctest::Approx(2.0 / 3));
        CHECK(occupancy(hopper, {256, 32, 0}) == 1);
    }
    TEST_CASE("a smaller part for the memory of blocks has room for fewer") {
        const KernelNeeds kernel = {256, 32, 20000, 64};
        CHECK(resident_blocks(limits_of(90), kernel) == 3);
        CHECK(resident_blocks(limits_of(90), {256, 32, 20000}) == 8);
    }
    TEST_CASE("each capability has limits, rates and a card") {
        for (const GpuLimits &l : gpu_limits()) {
            CAPTURE(l.capability);
            const GpuMachine m = GpuMachine::of_capability(l.capability);
            CHECK(m.limits.capability == l.capability);
            CHECK(m.rates.capability == l.capability);
            CHECK(m.card.capability == l.capability);
            CHECK(m.lanes_in_microsecond() > 0);
            CHECK(l.shared_bytes <= l.l1_bytes);
            CHECK(std::ranges::max(l.carve_outs) * 1024 == l.shared_bytes);
        }
        CHECK(GpuMachine::of_capability(87).limits.capability == 86);  // the next lower one
        CHECK(GpuMachine::of_capability(70).limits.capability == 75);
    }
    TEST_CASE("the lowest capability of a target decides") {
        const Target two("x86-64-linux-cuda-cuda_capability_80-cuda_capability_90");
        CHECK(GpuMachine::usual(two).limits.capability == 80);
        CHECK(GpuMachine::usual(Target("x86-64-linux-cuda")).limits.capability == 75);
        CHECK(GpuMachine::usual(Target("x86-64-linux-cuda-cuda_capability_90")).card.name ==
              "H100");
    }
}
