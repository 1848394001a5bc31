#include "autoscheduler/machine/gpu.h"
#include <algorithm>

namespace tessera::autoscheduler {

namespace {

constexpr int KB = 1024;

// clang-format off
constexpr GpuLimits all_limits[] = {
    //    threads blocks      l1  shared    granule reserved cluster carve-outs
    { 75,  1024,  16,  96 * KB,  64 * KB,   256,       0,       1, {32, 64}},
    { 80,  2048,  32, 192 * KB, 164 * KB,   128,      KB,       1, {0, 8, 16, 32, 64, 100, 132, 164}},
    { 86,  1536,  16, 128 * KB, 100 * KB,   128,      KB,       1, {0, 8, 16, 32, 64, 100}},
    { 89,  1536,  24, 128 * KB, 100 * KB,   128,      KB,       1, {0, 8, 16, 32, 64, 100}},
    { 90,  2048,  32, 256 * KB, 228 * KB,   128,      KB,       8, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}},
    {100,  2048,  32, 256 * KB, 228 * KB,   128,      KB,       8, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}},
    {120,  1536,  24, 128 * KB, 100 * KB,   128,      KB,       1, {0, 8, 16, 32, 64, 100}},
};
constexpr GpuRates all_rates[] = {
    //    f32  i32  mad  f16 f64 special conv  t.f16 t.8  t.e4m3 t.tf32  l1
    { 75,  64,  64,  64, 128,  2,     16,  64,   512, 1024,    0,     0,  64},
    { 80,  64,  64,  64, 256, 32,     16,  64,  1024, 2048,    0,   512, 128},
    { 86, 128,  64,  64, 128,  2,     16,  64,   512, 1024,    0,   256,  64},
    { 89, 128,  64,  64, 128,  2,     16,  64,   512, 1024, 1024,   256,  64},
    { 90, 128,  64,  64, 256, 64,     16,  64,  2048, 4096, 4096,  1024, 128},
    {100, 128,  64,  64, 256, 64,     16,  64,  4096, 8192, 8192,  2048, 128},
    {120, 128, 128,  64, 128,  2,     16,  64,   512, 1024, 1024,   256, 128},
};
constexpr GpuCard all_cards[] = {
    // The first of a capability is the one that schedules are made for where none is named.
    //            SMs  GHz  DRAM   L2   MB  cycles launch
    {"T4",     75,  40, 1.35, 0.27,  1.2,   4, 550, 2.5},
    {"A100",   80, 108, 1.41, 1.75,  5.4,  40, 552, 2.5},
    {"A40",    86,  84, 1.74, 0.68,  2.5,   6, 556, 2.5},
    {"L40",    89, 142, 2.49, 0.80,  5.2,  96, 625, 1.6},
    {"H100",   90, 132, 1.98, 2.75, 10.3,  50, 740, 4.3},
    {"H200",   90, 132, 1.98, 3.90, 10.3,  50, 686, 2.95},
    {"B200",  100, 148, 1.85, 7.00, 12.0, 126, 750, 2.5},
    {"5090",  120, 170, 2.40, 1.60,  6.0,  96, 625, 1.6},
};
// clang-format on

constexpr int64_t rounded_up(int64_t value, int64_t step) {
    return (value + step - 1) / step * step;
}

// The row of the highest capability that is not above this one; the first if all are.
template<typename Row> const Row &row_for(std::span<const Row> rows, int capability) {
    const Row *best = &rows[0];
    for (const Row &row : rows) {
        if (row.capability <= capability && row.capability > best->capability) best = &row;
    }
    return *best;
}

}  // namespace

int GpuLimits::most_of(GpuLevel level) const {
    switch (level) {
    case GpuLevel::Device: return 1;
    case GpuLevel::Cluster: return int(grid_x);
    case GpuLevel::Block: return cluster;
    case GpuLevel::Warp: return threads_of_block / lanes;
    case GpuLevel::Lane: return lanes;
    case GpuLevel::Register: return registers_of_thread;
    }
    __builtin_unreachable();
}

std::span<const GpuLimits> gpu_limits() { return all_limits; }
std::span<const GpuRates> gpu_rates() { return all_rates; }
std::span<const GpuCard> gpu_cards() { return all_cards; }

int resident_blocks(const GpuLimits &limits, const KernelNeeds &kernel) {
    if (kernel.threads <= 0 || kernel.threads > GpuLimits::threads_of_block) return 0;
    if (kernel.registers <= 0 || kernel.registers > GpuLimits::registers_of_thread) return 0;
    if (kernel.shared > limits.shared_of_block()) return 0;
    const int64_t warps = (kernel.threads + GpuLimits::lanes - 1) / GpuLimits::lanes;
    const int64_t of_warp =
        rounded_up(int64_t(GpuLimits::lanes) * kernel.registers, GpuLimits::register_granule);
    // Each scheduler has a part of the registers, and of nine warps one has three.
    if (of_warp * rounded_up(warps, GpuLimits::schedulers) > GpuLimits::registers) return 0;
    constexpr int64_t of_scheduler = GpuLimits::registers / GpuLimits::schedulers;
    int64_t blocks = std::min<int64_t>(limits.blocks, limits.warps() / warps);
    blocks = std::min(blocks, GpuLimits::schedulers * (of_scheduler / of_warp) / warps);
    const int64_t used = rounded_up(kernel.shared + limits.reserved_shared, limits.shared_granule);
    const int64_t given = kernel.carve_out > 0 ? kernel.carve_out * KB : limits.shared_bytes;
    if (used > 0) blocks = std::min(blocks, given / used);
    return int(blocks);
}

double occupancy(const GpuLimits &limits, const KernelNeeds &kernel) {
    const int warps = (kernel.threads + GpuLimits::lanes - 1) / GpuLimits::lanes;
    return double(resident_blocks(limits, kernel) * warps) / limits.warps();
}

double GpuMachine::lanes_in_microsecond() const {
    return double(card.multiprocessors) * GpuRates::lanes_issued * card.gigahertz * 1e3;
}

int GpuMachine::capability_of(const Target &target) {
    constexpr int least = 75;
    const int named = target.get_cuda_capability_lower_bound();
    if (named >= 30) return std::max(least, named);
    const int here = target.has_feature(Target::JIT) ? host_cuda_capability() : 0;
    return std::max(least, here);
}

GpuMachine GpuMachine::usual(const Target &target) { return of_capability(capability_of(target)); }

GpuMachine GpuMachine::of_capability(int capability) {
    return {row_for(gpu_limits(), capability), row_for(gpu_rates(), capability),
            row_for(gpu_cards(), capability)};
}

}  // namespace tessera::autoscheduler
