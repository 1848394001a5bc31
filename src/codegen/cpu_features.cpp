#include "codegen/cpu_features.h"
#include "codegen/llvm/architecture.h"
#include "runtime/tessera_runtime_cuda.h"
#include <algorithm>
#include <utility>

namespace tessera::codegen {

namespace {

constexpr std::pair<int, tessera_gpu_feature_t> gpus[] = {
    {75, tessera_gpu_cuda_75},   {80, tessera_gpu_cuda_80}, {86, tessera_gpu_cuda_86},
    {89, tessera_gpu_cuda_89},   {90, tessera_gpu_cuda_90}, {100, tessera_gpu_cuda_100},
    {120, tessera_gpu_cuda_120},
};

uint64_t gpu_features(const Target &target) {
    uint64_t bits = 0;
    if (!target.has_feature(Target::CUDA)) return bits;
    const int lowest = std::ranges::min(target.cuda_capabilities());
    for (const auto &[capability, bit] : gpus) {
        if (capability <= lowest) bits |= uint64_t(1) << bit;
    }
    return bits;
}

}  // namespace

uint64_t runtime_features(const Target &target) {
    return architecture_of(target).runtime_features(target.with_implied_features()) |
           gpu_features(target);
}

}  // namespace tessera::codegen
