#include "base/error.h"
#include "base/target.h"
#include <cstdlib>
#include <doctest/doctest.h>

using namespace tessera;

namespace {

// Sets an environment variable, and restores it at the end of the scope.
class EnvironmentVariable {
public:
    EnvironmentVariable(const char *name, const char *value) : name(name) {
        if (const char *old = std::getenv(name)) former = old, was_set = true;
        setenv(name, value, 1);
    }
    ~EnvironmentVariable() {
        if (was_set) {
            setenv(name, former.c_str(), 1);
        } else {
            unsetenv(name);
        }
    }

private:
    const char *name;
    std::string former;
    bool was_set = false;
};

// A type as natural_vector_size wants it.
struct Element {
    int size;
    bool integer;
    int bytes() const { return size; }
    int bits() const { return 8 * size; }
    bool is_int_or_uint() const { return integer; }
    bool defined() const { return size > 0; }
};

}  // namespace

TEST_SUITE("Target") {
    TEST_CASE("a text is read word by word") {
        Target t("x86-64-linux-avx2-fma-no_asserts-tune_znver3");
        CHECK(t.arch == Target::X86);
        CHECK(t.bits == 64);
        CHECK(t.os == Target::Linux);
        CHECK(t.processor_tune == Target::ZnVer3);
        CHECK(t.features_all_of({Target::AVX2, Target::FMA, Target::NoAsserts}));
        CHECK_FALSE(t.features_any_of({Target::AVX, Target::CUDA}));
        CHECK(Target("arm-64-linux-sve2-vector_bits_256").vector_bits == 256);
    }
    TEST_CASE("every feature's name is read as that feature") {
        for (int i = 0; i < Target::FeatureEnd; i++) {
            auto f = Target::Feature(i);
            CAPTURE(Target::feature_to_name(f));
            CHECK(Target::feature_from_name(Target::feature_to_name(f)) == f);
            int targets = 0;
            for (const char *machine : {"x86-64-linux-", "arm-64-linux-", "powerpc-64-linux-",
                                        "riscv-64-linux-", "wasm-32-wasmrt-"}) {
                std::string text = machine + Target::feature_to_name(f);
                if (!Target::validate_target_string(text)) continue;
                CHECK(Target(text).has_feature(f));
                targets++;
            }
            CHECK((targets == 1 || targets == 5));  // of one architecture, or of all
        }
        CHECK_THROWS_WITH_AS(Target("arm-64-linux-avx2"),
                             doctest::Contains("avx2 is a feature of x86, not of arm"),
                             CompileError);
        CHECK_THROWS_WITH_AS(Target("x86-64-linux-32"), doctest::Contains("says its bits twice"),
                             CompileError);
        CHECK(Target::feature_from_name("warp_drive") == Target::FeatureEnd);
    }
    TEST_CASE("its own text gives the same target back") {
        for (const char *text : {"x86-64-linux", "x86-32-windows-sse41", "host",
                                 "x86-64-linux-tune_znver4-strict_float-avx512_zen4",
                                 "arm-64-linux-sve2-vector_bits_256"}) {
            Target t{text};
            CHECK(Target(t.to_string()) == t);
        }
    }
    TEST_CASE("host stands for this machine, and more may be added") {
        CHECK(Target("host") == get_host_target());
        CHECK(Target("host-no_asserts") == get_host_target().with_feature(Target::NoAsserts));
        CHECK(get_host_target().supported());
        CHECK_FALSE(get_host_target().has_unknowns());
    }
    TEST_CASE("the host's features are those that the C++ compiler's probe finds") {
        Target host = get_host_target();
#if defined(__x86_64__)
        CHECK(host.has_feature(Target::SSE41) == bool(__builtin_cpu_supports("sse4.1")));
        CHECK(host.has_feature(Target::AVX) == bool(__builtin_cpu_supports("avx")));
        CHECK(host.has_feature(Target::AVX2) == bool(__builtin_cpu_supports("avx2")));
        CHECK(host.has_feature(Target::FMA) == bool(__builtin_cpu_supports("fma")));
        CHECK(host.has_feature(Target::F16C) == bool(__builtin_cpu_supports("f16c")));
        CHECK(host.has_feature(Target::FMA4) == bool(__builtin_cpu_supports("fma4")));
        bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd");
        CHECK(host.has_feature(Target::AVX512) == avx512);
        bool skylake = avx512 && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
        CHECK(host.has_feature(Target::AVX512_Skylake) == skylake);
        bool cannonlake =
            skylake && __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi");
        CHECK(host.has_feature(Target::AVX512_Cannonlake) == cannonlake);
        bool vnni = skylake && __builtin_cpu_supports("avx512vnni");
        CHECK(host.has_feature(Target::AVX512_VNNI) == vnni);
        bool zen4 = cannonlake && vnni && __builtin_cpu_supports("avx512bf16") &&
                    __builtin_cpu_supports("avx512vbmi2") &&
                    __builtin_cpu_supports("avx512bitalg") &&
                    __builtin_cpu_supports("avx512vpopcntdq");
        CHECK(host.has_feature(Target::AVX512_Zen4) == zen4);
#endif
    }
    TEST_CASE("an unknown word is refused with the one that was perhaps meant") {
        const std::string place = str("target_test.cpp:", __LINE__ + 1);
        CHECK_THROWS_WITH_AS(Target("x86-64-linux-axv"), doctest::Contains(place.c_str()),
                             CompileError);
        CHECK_THROWS_WITH_AS(Target("x86-64-linux-avx3"), doctest::Contains("did you mean \"avx"),
                             CompileError);
        CHECK_THROWS_WITH_AS(Target("x86-64-linus"), doctest::Contains("\"linux\""), CompileError);
        CHECK_THROWS_WITH_AS(Target(""), doctest::Contains("\"host\""), CompileError);
        CHECK_FALSE(Target::validate_target_string("x86-64-linux-vector_bits_none"));
        CHECK(Target::validate_target_string("x86-64-linux"));
    }
    TEST_CASE("what is not said is asked for") {
        CHECK_THROWS_WITH_AS(Target("64-linux"), doctest::Contains("architecture"), CompileError);
        CHECK_THROWS_WITH_AS(Target("x86-linux"), doctest::Contains("bits"), CompileError);
        CHECK_THROWS_WITH_AS(Target("x86-64"), doctest::Contains("operating system"), CompileError);
        CHECK(Target("x86-64-os_unknown").has_unknowns());
    }
    TEST_CASE("features come and go") {
        Target t("x86-64-linux");
        CHECK(t.with_feature(Target::AVX).has_feature(Target::AVX));
        CHECK_FALSE(t.has_feature(Target::AVX));
        t.set_features({Target::AVX, Target::FMA});
        CHECK(t.features_all_of({Target::AVX, Target::FMA}));
        CHECK_FALSE(t.without_feature(Target::FMA).has_feature(Target::FMA));
        CHECK(t.has_feature(Target::FeatureEnd));
    }
    TEST_CASE("a feature brings those that it is built on") {
        Target t = Target("x86-64-linux-avx512_sapphirerapids").with_implied_features();
        CHECK(
            t.features_all_of({Target::SSE41, Target::AVX, Target::AVX2, Target::FMA, Target::F16C,
                               Target::AVX512, Target::AVX512_Skylake, Target::AVX512_Cannonlake,
                               Target::AVX512_VNNI, Target::AVX512_Zen4, Target::AVXVNNI}));
        CHECK_FALSE(t.features_any_of({Target::AVX512_KNL, Target::AVX512_Zen5, Target::JIT}));
        Target avx10 = Target("x86-64-linux-avx10_1").with_implied_features();
        CHECK(avx10.features_all_of({Target::AVX512_Zen4, Target::AVX512_Skylake, Target::FMA}));
        Target fma4 = Target("x86-64-linux-fma4").with_implied_features();
        CHECK(fma4.has_feature(Target::AVX));
        CHECK_FALSE(fma4.has_feature(Target::FMA));
        Target avx2 = Target("x86-64-linux-avx2").with_implied_features();
        CHECK(avx2.has_feature(Target::AVX));
        CHECK_FALSE(avx2.has_feature(Target::FMA));
        Target arm = Target("arm-64-linux-armv84a").with_implied_features();
        CHECK(arm.features_all_of({Target::ARMv81a, Target::ARMDotProd}));
        CHECK_FALSE(arm.features_any_of({Target::ARMv85a, Target::ARMFp16}));
    }
    TEST_CASE("natural vectors fill a register") {
        CHECK(Target("x86-64-linux").natural_vector_size<uint8_t>() == 16);
        CHECK(Target("x86-64-linux-avx").natural_vector_size<float>() == 8);
        CHECK(Target("x86-64-linux-avx").natural_vector_size<int>() == 4);
        CHECK(Target("x86-64-linux-avx2").natural_vector_size<int16_t>() == 16);
        CHECK(Target("x86-64-linux-avx512").natural_vector_size<double>() == 8);
        CHECK(Target("x86-64-linux-avx512").natural_vector_size<int>() == 8);
        CHECK(Target("x86-64-linux-avx512_skylake").natural_vector_size<int>() == 16);
        CHECK(Target("arm-64-linux").natural_vector_size<float>() == 4);
        CHECK(Target("hexagon-32-qurt-hvx").natural_vector_size<uint8_t>() == 128);
        CHECK(Target("wasm-32-wasmrt-wasm_simd128").natural_vector_size<float>() == 4);
        CHECK(Target("arm-64-linux-sve2-vector_bits_512").natural_vector_size<float>() == 16);
        CHECK(Target("x86-64-linux-avx2").natural_vector_size(Element{2, false}) == 16);
        CHECK(Target("x86-64-linux").supports_type(Element{8, true}));
        CHECK_THROWS_AS(Target("x86-64-linux").natural_vector_size(0, true), CompileError);
    }
    TEST_CASE("what this compiler cannot do it does not claim") {
        CHECK_FALSE(Target("hexagon-32-qurt").supported());
        CHECK(Target("arm-64-linux-arm_dot_prod").supported());
        CHECK_FALSE(Target("arm-32-linux").supported());
        CHECK_FALSE(Target("arm-64-linux-no_neon").supported());
        CHECK_FALSE(Target("x86-64-linux-opencl").supported());
        CHECK(Target("x86-64-linux-opencl").has_gpu_feature());
        CHECK_FALSE(Target("x86-64-linux").has_gpu_feature());
        CHECK_FALSE(host_supports_target_device(Target("x86-64-linux-cuda")));
        CHECK(Target("x86-64-linux").supports_device_api(DeviceAPI::Host));
        CHECK_FALSE(Target("x86-64-linux").supports_device_api(DeviceAPI::CUDA));
        CHECK_FALSE(Target("x86-64-linux").supports_device_api(DeviceAPI::Hexagon));
        CHECK_FALSE(Target("x86-64-linux").supports_type(Element{4, true}, DeviceAPI::Default_GPU));
    }
    TEST_CASE("GPU questions are answered") {
        Target t("x86-64-linux-cuda-cuda_capability_86");
        CHECK(t.get_required_device_api() == DeviceAPI::CUDA);
        CHECK(t.get_cuda_capability_lower_bound() == 86);
        CHECK(t.with_implied_features().has_feature(Target::CUDACapability30));
        CHECK(Target("host").get_cuda_capability_lower_bound() == -1);
        CHECK(Target("host").get_required_device_api() == DeviceAPI::None);
        CHECK(target_feature_for_device_api(DeviceAPI::Vulkan) == Target::Vulkan);
        CHECK(target_feature_for_device_api(DeviceAPI::Hexagon) == Target::HVX);
        CHECK(target_feature_for_device_api(DeviceAPI::Host) == Target::FeatureEnd);
    }
    TEST_CASE("large buffers lift the size limit") {
        CHECK(Target("x86-64-linux").maximum_buffer_size() == 0x7fffffff);
        CHECK(Target("x86-64-linux-large_buffers").maximum_buffer_size() > int64_t(1) << 40);
    }
    TEST_CASE("the environment names a target") {
        EnvironmentVariable ours("TESSERA_TARGET", ""), theirs("HL_TARGET", "x86-64-linux-avx");
        CHECK(get_target_from_environment() == Target("x86-64-linux-avx"));
        EnvironmentVariable first("TESSERA_TARGET", "x86-64-linux-sse41");
        CHECK(get_target_from_environment() == Target("x86-64-linux-sse41"));
    }
    TEST_CASE("a JIT target runs here, or is refused") {
        EnvironmentVariable none("TESSERA_JIT_TARGET", ""), here("HL_JIT_TARGET", "");
        CHECK(get_jit_target_from_environment() == get_host_target().with_feature(Target::JIT));
#if defined(__x86_64__)
        EnvironmentVariable theirs("HL_JIT_TARGET", "x86-64-linux-sse41");
        CHECK(get_jit_target_from_environment() == Target("x86-64-linux-sse41-jit"));
        EnvironmentVariable ours("TESSERA_JIT_TARGET", "x86-64-linux");
        CHECK(get_jit_target_from_environment() == Target("x86-64-linux-jit"));
#endif
        EnvironmentVariable elsewhere("TESSERA_JIT_TARGET", "hexagon-32-qurt");
        CHECK_THROWS_WITH_AS(get_jit_target_from_environment(),
                             doctest::Contains("hexagon-32-qurt"), CompileError);
    }
}
