#include "codegen/x86/features.h"
#include "base/error.h"
#include "runtime/tessera_runtime.h"
#include <sstream>

namespace tessera::codegen {
namespace {

struct Row {
    Target::Feature feature;
    const char *llvm_features;
    std::initializer_list<tessera_cpu_feature_t> runtime_features;  // none: not found out
};

// In the order of growing machines. AVX512_KNL's own instructions (ER, PF) are no longer in LLVM.
constexpr Row rows[] = {
    {Target::SSE41, "+ssse3,+sse4.1", {tessera_cpu_sse41}},
    {Target::AVX, "+sse4.2,+popcnt,+avx", {tessera_cpu_avx}},
    {Target::F16C, "+f16c", {tessera_cpu_f16c}},
    {Target::FMA, "+fma", {tessera_cpu_fma}},
    {Target::FMA4, "+fma4", {tessera_cpu_fma4}},
    {Target::AVX2, "+avx2,+bmi,+bmi2,+lzcnt,+movbe", {tessera_cpu_avx2}},
    {Target::AVXVNNI, "+avxvnni", {tessera_cpu_avxvnni}},
    {Target::AVX512, "+avx512f,+avx512cd", {tessera_cpu_avx512f, tessera_cpu_avx512cd}},
    {Target::AVX512_Skylake,
     "+avx512vl,+avx512bw,+avx512dq",
     {tessera_cpu_avx512vl, tessera_cpu_avx512bw, tessera_cpu_avx512dq}},
    {Target::AVX512_Cannonlake,
     "+avx512ifma,+avx512vbmi",
     {tessera_cpu_avx512ifma, tessera_cpu_avx512vbmi}},
    {Target::AVX512_VNNI, "+avx512vnni", {tessera_cpu_avx512vnni}},
    {Target::AVX512_Zen4,
     "+avx512bf16,+avx512vbmi2,+avx512bitalg,+avx512vpopcntdq",
     {tessera_cpu_avx512bf16, tessera_cpu_avx512vbmi2, tessera_cpu_avx512bitalg,
      tessera_cpu_avx512vpopcntdq}},
    {Target::AVX512_Zen5, "+avx512vp2intersect", {tessera_cpu_avx512vp2intersect}},
    {Target::AVX512_SapphireRapids,
     "+avx512fp16,+amx-int8,+amx-bf16,+amx-tile",
     {tessera_cpu_avx512fp16, tessera_cpu_amx_int8, tessera_cpu_amx_bf16}},
    {Target::AVX10_1, "+avx10.1", {}},
    {Target::X86APX, "+egpr,+push2pop2,+ppx,+ndd,+ccmp,+nf,+cf,+zu", {}},
};

}  // namespace

std::string x86_feature_string(const Target &target) {
    std::string all = "+sse2";
    for (const Row &row : rows) {
        if (target.has_feature(row.feature)) all += std::string(",") + row.llvm_features;
    }
    return all;
}

uint64_t x86_runtime_features(const Target &target) {
    uint64_t bits = 0;
    for (const Row &row : rows) {
        if (!target.has_feature(row.feature)) continue;
        if (row.runtime_features.size() == 0) {
            throw CompileError(str("whether a machine has ", Target::feature_to_name(row.feature),
                                   " is not found out at run time; leave it out of ", target));
        }
        for (tessera_cpu_feature_t f : row.runtime_features) bits |= uint64_t(1) << f;
    }
    return bits;
}

std::vector<std::string> x86_features_beyond(const Target &target, const Target &host) {
    std::vector<std::string> beyond;
    for (const Row &row : rows) {
        if (!target.has_feature(row.feature) || host.has_feature(row.feature)) continue;
        std::istringstream names(row.llvm_features);
        for (std::string name; std::getline(names, name, ',');) beyond.push_back(name.substr(1));
    }
    return beyond;
}

std::string x86_tuning(const Target &target) {
    switch (target.processor_tune) {
    case Target::K8: return "k8";
    case Target::K8_SSE3: return "k8-sse3";
    case Target::AMDFam10: return "amdfam10";
    case Target::BtVer1: return "btver1";
    case Target::BtVer2: return "btver2";
    case Target::BdVer1: return "bdver1";
    case Target::BdVer2: return "bdver2";
    case Target::BdVer3: return "bdver3";
    case Target::BdVer4: return "bdver4";
    case Target::ZnVer1: return "znver1";
    case Target::ZnVer2: return "znver2";
    case Target::ZnVer3: return "znver3";
    case Target::ZnVer4: return "znver4";
    case Target::ZnVer5: return "znver5";
    case Target::ProcessorGeneric: break;
    }
    if (target.has_feature(Target::AVX512_SapphireRapids)) return "sapphirerapids";
    return target.has_feature(Target::AVX512_Skylake) ? "icelake-server" : "x86-64";
}

}  // namespace tessera::codegen
