#include "runtime/tessera_runtime_cuda.h"
#include <atomic>
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace {

#if defined(__x86_64__) || defined(__i386__)
uint64_t detect() {
    uint64_t found = 0;
    auto add = [&](tessera_cpu_feature_t feature, bool has) {
        if (has) found |= uint64_t(1) << feature;
    };
    __builtin_cpu_init();
    add(tessera_cpu_sse41, __builtin_cpu_supports("sse4.1"));
    add(tessera_cpu_avx, __builtin_cpu_supports("avx"));
    add(tessera_cpu_f16c, __builtin_cpu_supports("f16c"));
    add(tessera_cpu_fma, __builtin_cpu_supports("fma"));
    add(tessera_cpu_fma4, __builtin_cpu_supports("fma4"));
    add(tessera_cpu_avx2, __builtin_cpu_supports("avx2"));
    add(tessera_cpu_avx512f, __builtin_cpu_supports("avx512f"));
    add(tessera_cpu_avx512cd, __builtin_cpu_supports("avx512cd"));
    add(tessera_cpu_avx512vl, __builtin_cpu_supports("avx512vl"));
    add(tessera_cpu_avx512bw, __builtin_cpu_supports("avx512bw"));
    add(tessera_cpu_avx512dq, __builtin_cpu_supports("avx512dq"));
    add(tessera_cpu_avx512ifma, __builtin_cpu_supports("avx512ifma"));
    add(tessera_cpu_avx512vbmi, __builtin_cpu_supports("avx512vbmi"));
    add(tessera_cpu_avx512vbmi2, __builtin_cpu_supports("avx512vbmi2"));
    add(tessera_cpu_avx512vnni, __builtin_cpu_supports("avx512vnni"));
    add(tessera_cpu_avx512bitalg, __builtin_cpu_supports("avx512bitalg"));
    add(tessera_cpu_avx512vpopcntdq, __builtin_cpu_supports("avx512vpopcntdq"));
    add(tessera_cpu_avx512bf16, __builtin_cpu_supports("avx512bf16"));
    add(tessera_cpu_avx512fp16, __builtin_cpu_supports("avx512fp16"));
    add(tessera_cpu_avxvnni, __builtin_cpu_supports("avxvnni"));
    add(tessera_cpu_amx_int8, __builtin_cpu_supports("amx-int8"));
    add(tessera_cpu_amx_bf16, __builtin_cpu_supports("amx-bf16"));
    add(tessera_cpu_avx512vp2intersect, __builtin_cpu_supports("avx512vp2intersect"));
    return found;
}
#elif defined(__aarch64__) && defined(__linux__)
uint64_t detect() {
    uint64_t found = 0;
    auto add = [&](tessera_cpu_feature_t feature, unsigned long words, int bit) {
        if (words >> bit & 1) found |= uint64_t(1) << feature;
    };
    unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
    add(tessera_cpu_arm_dotprod, first, 20);
    add(tessera_cpu_arm_fp16, first, 10);
    add(tessera_cpu_sve, first, 22);
    add(tessera_cpu_sve2, second, 1);
    add(tessera_cpu_arm_i8mm, second, 13);
    add(tessera_cpu_arm_bf16, second, 14);
    return found;
}
#else
uint64_t detect() { return 0; }
#endif

constexpr uint64_t gpu_features(int capability) {
    constexpr int capabilities[] = {75, 80, 86, 89, 90, 100, 120};
    uint64_t bits = 0;
    for (int i = 0; i < int(sizeof(capabilities) / sizeof(int)); i++) {
        if (capabilities[i] <= capability) bits |= uint64_t(1) << (tessera_gpu_cuda_75 + i);
    }
    return bits;
}

constexpr uint64_t all_gpu_features = gpu_features(1000);

// Only once somebody asks, for this may load a driver.
uint64_t detect_gpu() {
    static std::atomic<bool> there_is_none{false};
    if (there_is_none.load(std::memory_order_relaxed)) return 0;
    int major = 0, minor = 0;
    const auto *cuda = tessera_cuda_device_interface();
    if (cuda->compute_capability(nullptr, &major, &minor)) return 0;
    if (!major) there_is_none.store(true, std::memory_order_relaxed);
    return gpu_features(10 * major + minor);
}

int default_can_use(int count, const uint64_t *features) {
    static const uint64_t found_in_cpu = detect();
    for (int i = 0; i < count; i++) {
        uint64_t found = i == 0 ? found_in_cpu : 0;
        if (i == 0 && (features[0] & all_gpu_features)) found |= detect_gpu();
        if (features[i] & ~found) return 0;
    }
    return 1;
}

std::atomic<tessera_can_use_target_features_t> custom_can_use{default_can_use};

}  // namespace

extern "C" {

[[gnu::weak]] int tessera_can_use_target_features(int count, const uint64_t *features) {
    return custom_can_use.load(std::memory_order_relaxed)(count, features);
}

tessera_can_use_target_features_t
tessera_set_custom_can_use_target_features(tessera_can_use_target_features_t f) {
    return custom_can_use.exchange(f ? f : default_can_use);
}
}
