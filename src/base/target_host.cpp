#include "base/target.h"
#include "runtime/tessera_runtime_cuda.h"
#include <algorithm>
#include <atomic>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace tessera {
namespace {

#if defined(__x86_64__) || defined(__i386__)

struct Registers {
    uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
    Registers r;
    __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
    return r;
}

bool bit(uint32_t word, int i) { return (word >> i) & 1; }

// Returns the register states that the operating system saves (XCR0).
uint64_t saved_states(const Registers &leaf1) {
    if (!bit(leaf1.ecx, 27)) return 0;
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low | uint64_t(high) << 32;
}

bool all_bits(uint32_t word, std::initializer_list<int> bits) {
    for (int i : bits) {
        if (!bit(word, i)) return false;
    }
    return true;
}

void detect_avx512(Target &t, const Registers &leaf7, const Registers &leaf7_1, bool amx_state) {
    if (!all_bits(leaf7.ebx, {16, 28})) return;  // F, CD
    t.set_feature(Target::AVX512);
    if (all_bits(leaf7.ebx, {26, 27})) t.set_feature(Target::AVX512_KNL);  // PF, ER
    if (!all_bits(leaf7.ebx, {17, 30, 31})) return;                        // DQ, BW, VL
    t.set_feature(Target::AVX512_Skylake);
    if (bit(leaf7.ecx, 11)) t.set_feature(Target::AVX512_VNNI);
    if (!bit(leaf7.ebx, 21) || !bit(leaf7.ecx, 1)) return;  // IFMA, VBMI
    t.set_feature(Target::AVX512_Cannonlake);
    // VBMI2, VNNI, BITALG, VPOPCNTDQ; BF16
    if (!all_bits(leaf7.ecx, {6, 11, 12, 14}) || !bit(leaf7_1.eax, 5)) return;
    t.set_feature(Target::AVX512_Zen4);
    bool avx_vnni = bit(leaf7_1.eax, 4);
    if (avx_vnni && bit(leaf7.edx, 8)) t.set_feature(Target::AVX512_Zen5);  // VP2INTERSECT
    bool amx = all_bits(leaf7.edx, {22, 24, 25}) && amx_state;              // BF16, TILE, INT8
    if (avx_vnni && amx && bit(leaf7.edx, 23)) t.set_feature(Target::AVX512_SapphireRapids);
    if (bit(leaf7_1.edx, 19) && (cpuid(0x24).ebx & 0xff) >= 1) t.set_feature(Target::AVX10_1);
}

void detect_features(Target &t) {
    Registers leaf1 = cpuid(1), leaf7 = cpuid(7), leaf7_1 = cpuid(7, 1);
    uint64_t saved = saved_states(leaf1);
    if (bit(leaf1.ecx, 19)) t.set_feature(Target::SSE41);
    bool avx_state = (saved & 0x6) == 0x6, avx512_state = (saved & 0xe6) == 0xe6;
    if (!avx_state || !bit(leaf1.ecx, 28)) return;
    t.set_feature(Target::AVX);
    if (bit(leaf1.ecx, 12)) t.set_feature(Target::FMA);
    if (bit(leaf1.ecx, 29)) t.set_feature(Target::F16C);
    if (bit(cpuid(0x80000001).ecx, 16)) t.set_feature(Target::FMA4);
    if (!bit(leaf7.ebx, 5)) return;
    t.set_feature(Target::AVX2);
    if (bit(leaf7_1.eax, 4)) t.set_feature(Target::AVXVNNI);
    bool fma_and_f16c = t.features_all_of({Target::FMA, Target::F16C});
    bool amx_state = (saved & 0x60000) == 0x60000;
    if (avx512_state && fma_and_f16c) detect_avx512(t, leaf7, leaf7_1, amx_state);
}

// Only for scheduling: the instructions that may be used follow from the feature bits.
Target::Processor processor_to_tune_for(const Target &t) {
    Registers leaf0 = cpuid(0);
    if (leaf0.ebx != signature_AMD_ebx) return Target::ProcessorGeneric;
    uint32_t eax = cpuid(1).eax;
    uint32_t family = ((eax >> 8) & 0xf) + ((eax >> 20) & 0xff);
    uint32_t model = ((eax >> 4) & 0xf) | ((eax >> 12) & 0xf0);
    if (family == 0x17) return model >= 0x30 ? Target::ZnVer2 : Target::ZnVer1;
    if (family == 0x19) return t.has_feature(Target::AVX512) ? Target::ZnVer4 : Target::ZnVer3;
    return family == 0x1a ? Target::ZnVer5 : Target::ProcessorGeneric;
}

Target detect() {
    Target t(Target::Linux, Target::X86, int(8 * sizeof(void *)));
    detect_features(t);
    t.processor_tune = processor_to_tune_for(t);
    return t;
}

#elif defined(__aarch64__)
Target detect() { return Target(Target::Linux, Target::ARM, 64); }
#else
Target detect() { return Target(); }
#endif

}  // namespace

Target get_host_target() {
    static const Target host = detect();
    return host;
}

int host_cuda_capability() {
    // Holds the capability of the device that was asked last, since each run of a pipeline asks.
    static std::atomic<int64_t> known{-1};
    const int device = tessera_get_gpu_device(nullptr);
    const int64_t last = known.load();
    if (last >= 0 && last >> 32 == device) return int(last & INT32_MAX);
    int major = 0, minor = 0;
    const tessera_device_interface_t *cuda = tessera_cuda_device_interface();
    const bool works = cuda->compute_capability(nullptr, &major, &minor) == 0;
    const int capability = works ? 10 * major + minor : 0;
    if (capability > 0) known = int64_t(device) << 32 | capability;
    return capability;
}

bool host_supports_target_device(const Target &target) {
    if (!target.has_gpu_feature()) return true;
    Target others = target;
    others.set_feature(Target::CUDA, false);
    return !others.has_gpu_feature() && host_cuda_capability() > 0;
}

Target with_host_cuda_capability(const Target &target) {
    if (!target.has_feature(Target::CUDA) || target.get_cuda_capability_lower_bound() > 20)
        return target;
    return target.with_cuda_capability(host_cuda_capability());
}

}  // namespace tessera
