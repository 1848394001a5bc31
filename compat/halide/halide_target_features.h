#pragma once

/* The bits of halide_can_use_target_features: X(name, Target::Feature of it). */
#define HALIDE_TARGET_FEATURES(X) \
    X(jit, JIT) X(debug, Debug) X(enable_backtraces, EnableBacktraces) X(no_asserts, NoAsserts) \
    X(no_bounds_query, NoBoundsQuery) X(sse41, SSE41) X(avx, AVX) X(avx2, AVX2) \
    X(avxvnni, AVXVNNI) X(fma, FMA) X(fma4, FMA4) X(f16c, F16C) X(armv7s, ARMv7s) \
    X(no_neon, NoNEON) X(vsx, VSX) X(power_arch_2_07, POWER_ARCH_2_07) X(cuda, CUDA) \
    X(cuda_capability30, CUDACapability30) X(cuda_capability32, CUDACapability32) \
    X(cuda_capability35, CUDACapability35) X(cuda_capability50, CUDACapability50) \
    X(cuda_capability61, CUDACapability61) X(cuda_capability70, CUDACapability70) \
    X(cuda_capability75, CUDACapability75) X(cuda_capability80, CUDACapability80) \
    X(cuda_capability86, CUDACapability86) X(cuda_capability89, CUDACapability89) \
    X(cuda_capability90, CUDACapability90) X(cuda_capability100, CUDACapability100) \
    X(cuda_capability120, CUDACapability120) X(opencl, OpenCL) X(cl_doubles, CLDoubles) \
    X(cl_atomic64, CLAtomics64) X(cl_half, CLHalf) X(user_context, UserContext) \
    X(profile, Profile) X(profile_by_timer, ProfileByTimer) X(no_runtime, NoRuntime) \
    X(metal, Metal) X(c_plus_plus_mangling, CPlusPlusMangling) X(large_buffers, LargeBuffers) \
    X(hvx_128, HVX_128) X(hvx_v62, HVX_v62) X(hvx_v65, HVX_v65) X(hvx_v66, HVX_v66) \
    X(hvx_v68, HVX_v68) X(fuzz_float_stores, FuzzFloatStores) X(soft_float_abi, SoftFloatABI) \
    X(msan, MSAN) X(tsan, TSAN) X(asan, ASAN) X(avx512, AVX512) X(avx512_knl, AVX512_KNL) \
    X(avx512_skylake, AVX512_Skylake) X(avx512_cannonlake, AVX512_Cannonlake) \
    X(avx512_zen4, AVX512_Zen4) X(avx512_zen5, AVX512_Zen5) \
    X(avx512_sapphirerapids, AVX512_SapphireRapids) X(avx10_1, AVX10_1) X(x86_apx, X86APX) \
    X(trace_loads, TraceLoads) X(trace_stores, TraceStores) \
    X(trace_realizations, TraceRealizations) X(trace_pipeline, TracePipeline) \
    X(strict_float, StrictFloat) X(d3d12compute, D3D12Compute) \
    X(check_unsafe_promises, CheckUnsafePromises) X(hexagon_dma, HexagonDma) \
    X(embed_bitcode, EmbedBitcode) X(enable_llvm_loop_opt, EnableLLVMLoopOpt) \
    X(wasm_mvponly, WasmMvpOnly) X(wasm_simd128, WasmSimd128) X(wasm_threads, WasmThreads) \
    X(wasm_bulk_memory, WasmBulkMemory) X(webgpu, WebGPU) X(sve, SVE) X(sve2, SVE2) X(egl, EGL) \
    X(arm_dot_prod, ARMDotProd) X(arm_fp16, ARMFp16) X(rvv, RVV) X(armv8a, ARMv8a) \
    X(armv81a, ARMv81a) X(armv82a, ARMv82a) X(armv83a, ARMv83a) X(armv84a, ARMv84a) \
    X(armv85a, ARMv85a) X(armv86a, ARMv86a) X(armv87a, ARMv87a) X(armv88a, ARMv88a) \
    X(armv89a, ARMv89a) X(sanitizer_coverage, SanitizerCoverage) X(spirv, SPIRV) \
    X(vulkan, Vulkan) X(vulkan_int8, VulkanInt8) X(vulkan_int16, VulkanInt16) \
    X(vulkan_int64, VulkanInt64) X(vulkan_float16, VulkanFloat16) \
    X(vulkan_float64, VulkanFloat64) X(vulkan_version10, VulkanV10) \
    X(vulkan_version12, VulkanV12) X(vulkan_version13, VulkanV13) X(semihosting, Semihosting) \
    X(simulator, Simulator) \
    X(llvm_large_code_model, LLVMLargeCodeModel) X(sme2, SME2) X(wasm_signext, WasmSignExt) \
    X(wasm_sat_float_to_int, WasmSatFloatToInt)

typedef enum halide_target_feature_t {
#define FEATURE(name, ours) halide_target_feature_##name,
    HALIDE_TARGET_FEATURES(FEATURE)
#undef FEATURE
        halide_target_feature_end
} halide_target_feature_t;
