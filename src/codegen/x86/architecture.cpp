#include "codegen/x86/architecture.h"
#include "codegen/x86/masked_accesses.h"
#include "codegen/x86/patterns.h"
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>

namespace tessera::codegen {
namespace {

// AVX512_KNL's own instructions (ER, PF) are no longer in LLVM.
constexpr MachineFeature rows[] = {
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
    // Another name for instructions that machines had before: "Intel AVX10 Architecture
    // Specification", section 2.
    {Target::AVX10_1,
     "+avx10.1",
     {tessera_cpu_avx512f, tessera_cpu_avx512cd, tessera_cpu_avx512vl, tessera_cpu_avx512bw,
      tessera_cpu_avx512dq, tessera_cpu_avx512ifma, tessera_cpu_avx512vbmi, tessera_cpu_avx512vnni,
      tessera_cpu_avx512bf16, tessera_cpu_avx512vbmi2, tessera_cpu_avx512bitalg,
      tessera_cpu_avx512vpopcntdq, tessera_cpu_avx512fp16}},
    {Target::X86APX, "+egpr,+push2pop2,+ppx,+ndd,+ccmp,+nf,+cf,+zu", {}},
};

class X86 final : public Architecture {
public:
    llvm::Triple triple() const override { return {"x86_64", "unknown", "linux", "gnu"}; }
    void initialize_llvm() const override {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
    }
    const char *cpu() const override { return "x86-64"; }
    std::string tuning(const Target &target) const override;
    bool computes_half(const Target &target) const override {
        return target.has_feature(Target::AVX512_SapphireRapids);
    }
    // AMD's gathers are slower than loads one by one.
    bool prefers_gather(const Target &target, Type t) const override {
        bool intel = target.processor_tune == Target::ProcessorGeneric;
        return intel && target.has_feature(Target::AVX512_Skylake) && t.bits() >= 32 &&
               t.lanes() >= 8;
    }
    void fence_streamed_stores(llvm::IRBuilder<> &b) const override {
        b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
    }
    void work_around_llvm(llvm::Module &module, const llvm::TargetMachine &machine) const override {
        mend_masked_accesses(module, machine);
    }
    std::unique_ptr<Patterns> patterns(Emitter &emitter) const override {
        return x86_patterns(emitter);
    }

private:
    const char *plain_features() const override { return "+sse2"; }
    std::span<const MachineFeature> machine_features() const override { return rows; }
};

std::string X86::tuning(const Target &target) const {
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

}  // namespace

const Architecture &x86_architecture() {
    static const X86 x86;
    return x86;
}

}  // namespace tessera::codegen
