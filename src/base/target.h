#pragma once
#include "base/error.h"
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

// Names the machine that a loop runs on.
enum class DeviceAPI : uint8_t {
    None,
    Host,
    Default_GPU,
    CUDA,
    OpenCL,
    Metal,
    Hexagon,
    HexagonDma,
    D3D12Compute,
    Vulkan,
    WebGPU,
    SMEStreaming
};

// The one list of features: enumerator, and the word for it in a target's text. Names of other
// makers' machines are here so that programs may ask for them; the answer is no.
// clang-format off
#define TESSERA_TARGET_FEATURES(X)                                                                 \
    /* how a pipeline is compiled */                                                               \
    X(JIT, "jit") X(Debug, "debug") X(NoAsserts, "no_asserts")                                     \
    X(NoBoundsQuery, "no_bounds_query") X(LargeBuffers, "large_buffers")                           \
    X(StrictFloat, "strict_float") X(UserContext, "user_context") X(NoRuntime, "no_runtime")       \
    X(CPlusPlusMangling, "c_plus_plus_name_mangling") X(EmbedBitcode, "embed_bitcode")             \
    X(EnableLLVMLoopOpt, "enable_llvm_loop_opt") X(LLVMLargeCodeModel, "llvm_large_code_model")    \
    X(Interpret, "interpret") X(CheckUnsafePromises, "check_unsafe_promises")                      \
    X(FuzzFloatStores, "fuzz_float_stores") X(Profile, "profile")                                  \
    X(ProfileByTimer, "profile_by_timer") X(TraceLoads, "trace_loads")                             \
    X(TraceStores, "trace_stores") X(TraceRealizations, "trace_realizations")                      \
    X(TracePipeline, "trace_pipeline") X(MSAN, "msan") X(TSAN, "tsan") X(ASAN, "asan")             \
    X(SanitizerCoverage, "sanitizer_coverage") X(SoftFloatABI, "soft_float_abi")                   \
    X(Semihosting, "semihosting") X(EGL, "egl") X(EnableBacktraces, "enable_backtraces")           \
    X(Simulator, "simulator") X(SPIRV, "spirv")                                                    \
    /* x86 */                                                                                      \
    X(SSE41, "sse41") X(AVX, "avx") X(AVX2, "avx2") X(FMA, "fma") X(FMA4, "fma4") X(F16C, "f16c")  \
    X(AVXVNNI, "avxvnni") X(AVX512, "avx512") X(AVX512_KNL, "avx512_knl")                          \
    X(AVX512_Skylake, "avx512_skylake") X(AVX512_Cannonlake, "avx512_cannonlake")                  \
    X(AVX512_VNNI, "avx512_vnni") X(AVX512_Zen4, "avx512_zen4") X(AVX512_Zen5, "avx512_zen5")      \
    X(AVX512_SapphireRapids, "avx512_sapphirerapids") X(AVX10_1, "avx10_1") X(X86APX, "x86apx")    \
    /* Arm */                                                                                      \
    X(NoNEON, "no_neon") X(ARMDotProd, "arm_dot_prod") X(ARMFp16, "arm_fp16") X(ARMv7s, "armv7s")  \
    X(ARMv8a, "armv8a") X(ARMv81a, "armv81a") X(ARMv82a, "armv82a") X(ARMv83a, "armv83a")          \
    X(ARMv84a, "armv84a") X(ARMv85a, "armv85a") X(ARMv86a, "armv86a") X(ARMv87a, "armv87a")        \
    X(ARMv88a, "armv88a") X(ARMv89a, "armv89a") X(SVE, "sve") X(SVE2, "sve2") X(SME2, "sme2")      \
    /* GPUs */                                                                                     \
    X(CUDA, "cuda") X(CUDACapability30, "cuda_capability_30")                                      \
    X(CUDACapability32, "cuda_capability_32") X(CUDACapability35, "cuda_capability_35")            \
    X(CUDACapability50, "cuda_capability_50") X(CUDACapability61, "cuda_capability_61")            \
    X(CUDACapability70, "cuda_capability_70") X(CUDACapability75, "cuda_capability_75")            \
    X(CUDACapability80, "cuda_capability_80") X(CUDACapability86, "cuda_capability_86")            \
    X(CUDACapability89, "cuda_capability_89") X(CUDACapability90, "cuda_capability_90")            \
    X(CUDACapability100, "cuda_capability_100") X(CUDACapability120, "cuda_capability_120")        \
    X(OpenCL, "opencl") X(CLDoubles, "cl_doubles") X(CLHalf, "cl_half")                            \
    X(CLAtomics64, "cl_atomics64") X(Metal, "metal") X(D3D12Compute, "d3d12compute")               \
    X(Vulkan, "vulkan") X(VulkanInt8, "vk_int8") X(VulkanInt16, "vk_int16")                        \
    X(VulkanInt64, "vk_int64") X(VulkanFloat16, "vk_float16") X(VulkanFloat64, "vk_float64")       \
    X(VulkanV10, "vk_v10") X(VulkanV12, "vk_v12") X(VulkanV13, "vk_v13") X(WebGPU, "webgpu")       \
    /* others */                                                                                   \
    X(VSX, "vsx") X(POWER_ARCH_2_07, "power_arch_2_07") X(RVV, "rvv") X(HVX, "hvx")                \
    X(HVX_128, "hvx_128") X(HVX_v62, "hvx_v62") X(HVX_v65, "hvx_v65") X(HVX_v66, "hvx_v66")        \
    X(HVX_v68, "hvx_v68") X(HVX_v73, "hvx_v73") X(HVX_v75, "hvx_v75")                              \
    X(HexagonDma, "hexagon_dma") X(WasmMvpOnly, "wasm_mvponly") X(WasmSimd128, "wasm_simd128")     \
    X(WasmSignExt, "wasm_signext") X(WasmSatFloatToInt, "wasm_sat_float_to_int")                   \
    X(WasmThreads, "wasm_threads") X(WasmBulkMemory, "wasm_bulk_memory")                           \
    /* kernels begin before those before them have ended, and wait for them (docs/gpu.md) */       \
    X(CUDADependentLaunch, "cuda_dependent_launch")
// clang-format on

// The machine that code is compiled for, and how. As text: "x86-64-linux-avx2-fma-f16c-no_asserts":
// architecture, bits, system, then features, in any order; "host" stands for all of this machine's.
struct Target {
    enum OS : uint8_t {
        OSUnknown,
        Linux,
        Windows,
        OSX,
        Android,
        IOS,
        QuRT,
        NoOS,
        Fuchsia,
        WebAssemblyRuntime
    };
    enum Arch : uint8_t { ArchUnknown, X86, ARM, POWERPC, Hexagon, WebAssembly, RISCV };
    // The processor whose instruction latencies code is scheduled for; never which instructions may
    // be used.
    enum Processor : uint8_t {
        ProcessorGeneric,
        K8,
        K8_SSE3,
        AMDFam10,
        BtVer1,
        BdVer1,
        BdVer2,
        BdVer3,
        BdVer4,
        BtVer2,
        ZnVer1,
        ZnVer2,
        ZnVer3,
        ZnVer4,
        ZnVer5
    };
    enum Feature : uint8_t {
#define ENUMERATOR(name, text) name,
        TESSERA_TARGET_FEATURES(ENUMERATOR)
#undef ENUMERATOR
            FeatureEnd
    };

    OS os = OSUnknown;
    Arch arch = ArchUnknown;
    int bits = 0;
    int vector_bits = 0;  // of scalable vectors; 0: not said
    Processor processor_tune = ProcessorGeneric;

    Target() = default;
    Target(OS os, Arch arch, int bits, const std::vector<Feature> &features = {});
    Target(OS os, Arch arch, int bits, Processor tune, const std::vector<Feature> &features = {},
           int vector_bits = 0);
    // Throws CompileError, naming the word and what it may have been meant to be.
    explicit Target(const std::string &text, Location at = std::source_location::current());
    explicit Target(const char *text, Location at = std::source_location::current())
        : Target(std::string(text), at) {}

    static bool validate_target_string(const std::string &text);
    static std::string feature_to_name(Feature feature);
    // FeatureEnd if there is none of that name.
    static Feature feature_from_name(const std::string &name);

    bool has_feature(Feature feature) const;
    bool features_any_of(const std::vector<Feature> &list) const;
    bool features_all_of(const std::vector<Feature> &list) const;
    const std::bitset<FeatureEnd> &get_features_bitset() const { return features; }
    void set_feature(Feature feature, bool value = true);
    void set_features(const std::vector<Feature> &list, bool value = true);
    Target with_feature(Feature feature) const;
    Target without_feature(Feature feature) const;

    // The features that are set or follow from those that are: AVX2 means AVX, and so on.
    Target with_implied_features() const;

    bool has_gpu_feature() const;
    bool has_large_buffers() const { return bits == 64 && has_feature(LargeBuffers); }
    bool has_unknowns() const { return os == OSUnknown || arch == ArchUnknown || bits == 0; }
    // Returns true if this compiler can make code for it.
    bool supported() const;
    // Returns the features with which it makes none for any CPU.
    static const std::vector<Feature> &unsupported_features();
    bool supports_device_api(DeviceAPI api) const;
    DeviceAPI get_required_device_api() const;
    int64_t maximum_buffer_size() const;  // in bytes
    // The lowest capability that is set, as in 86 for 8.6; 20 if none is, -1 without CUDA.
    int get_cuda_capability_lower_bound() const;
    // Returns the target with the feature of the highest capability that is not above this one.
    Target with_cuda_capability(int most) const;
    // The capabilities to make machine code for: those that are set, from 7.5 on; 75 if none is.
    std::vector<int> cuda_capabilities() const;
    // The greatest version that is set, as in 13 for 1.3, 10 if none is; -1 without Vulkan.
    int get_vulkan_capability_lower_bound() const;
    // The greatest minor version of Armv8 that is set, as in 82 for 8.2; -1 without one.
    int get_arm_v8_lower_bound() const;
    // The target of a runtime that serves code for both; false if there is none.
    bool get_runtime_compatible_target(const Target &other, Target &result) const;

    // Lanes of a vector register for elements of this size.
    int natural_vector_size(int element_bytes, bool is_integer) const;
    template<typename T> int natural_vector_size() const {
        return natural_vector_size(int(sizeof(T)), std::is_integral_v<T>);
    }
    // `type` is a tessera::Type.
    template<typename ElementType> int natural_vector_size(const ElementType &type) const {
        return natural_vector_size(type.bytes(), type.is_int_or_uint());
    }
    template<typename ElementType> bool supports_type(const ElementType &type) const {
        return type.defined() && type.bits() <= 64;
    }
    template<typename ElementType>
    bool supports_type(const ElementType &type, DeviceAPI api) const {
        return supports_type(type) && supports_device_api(api);
    }

    std::string to_string() const;
    friend bool operator==(const Target &, const Target &) = default;

private:
    void parse(const std::string &text, const Location &at);
    void require_own_features(const std::string &text, const Location &at) const;
    std::vector<std::string> feature_names() const;
    std::bitset<FeatureEnd> features;
};

// The machine that this process runs on, with all features that its CPU and operating system offer.
Target get_host_target();
// TESSERA_TARGET, else HL_TARGET, else the host.
Target get_target_from_environment();
// TESSERA_JIT_TARGET, else HL_JIT_TARGET, else the host; with Target::JIT. Throws CompileError if
// the machine named is not of the host's architecture.
Target get_jit_target_from_environment();
// FeatureEnd for a device that needs none.
Target::Feature target_feature_for_device_api(DeviceAPI api);
// Returns true if the devices that the target's features name are on this machine: of GPUs those of
// CUDA alone.
bool host_supports_target_device(const Target &target);
// The compute capability of this machine's GPU, as in 90 for 9.0; 0 if there is none.
int host_cuda_capability();
// The target with the feature of the highest capability that the machine's GPU has, if it asks for
// CUDA and names none.
Target with_host_cuda_capability(const Target &target);

std::ostream &operator<<(std::ostream &out, const Target &target);

}  // namespace tessera
