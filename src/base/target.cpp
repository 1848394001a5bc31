#include "base/target.h"
#include "base/dialect.h"
#include "base/error.h"
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <ranges>

namespace tessera {
namespace {

template<typename T> struct Word {
    const char *text;
    T value;
};

constexpr Word<Target::OS> os_words[] = {
    {"os_unknown", Target::OSUnknown},
    {"linux", Target::Linux},
    {"windows", Target::Windows},
    {"osx", Target::OSX},
    {"android", Target::Android},
    {"ios", Target::IOS},
    {"qurt", Target::QuRT},
    {"noos", Target::NoOS},
    {"fuchsia", Target::Fuchsia},
    {"wasmrt", Target::WebAssemblyRuntime},
};

constexpr Word<Target::Arch> arch_words[] = {
    {"arch_unknown", Target::ArchUnknown},
    {"x86", Target::X86},
    {"arm", Target::ARM},
    {"powerpc", Target::POWERPC},
    {"hexagon", Target::Hexagon},
    {"wasm", Target::WebAssembly},
    {"riscv", Target::RISCV},
};

constexpr Word<Target::Processor> processor_words[] = {
    {"tune_generic", Target::ProcessorGeneric},
    {"tune_k8", Target::K8},
    {"tune_k8_sse3", Target::K8_SSE3},
    {"tune_amdfam10", Target::AMDFam10},
    {"tune_btver1", Target::BtVer1},
    {"tune_bdver1", Target::BdVer1},
    {"tune_bdver2", Target::BdVer2},
    {"tune_bdver3", Target::BdVer3},
    {"tune_bdver4", Target::BdVer4},
    {"tune_btver2", Target::BtVer2},
    {"tune_znver1", Target::ZnVer1},
    {"tune_znver2", Target::ZnVer2},
    {"tune_znver3", Target::ZnVer3},
    {"tune_znver4", Target::ZnVer4},
    {"tune_znver5", Target::ZnVer5},
};

constexpr Word<Target::Feature> feature_words[] = {
#define ROW(name, text) {text, Target::name},
    TESSERA_TARGET_FEATURES(ROW)
#undef ROW
};

template<typename T, size_t N>
bool find_word(const Word<T> (&words)[N], const std::string &text, T &found) {
    for (const Word<T> &word : words) {
        if (text == word.text) {
            found = word.value;
            return true;
        }
    }
    return false;
}

template<typename T, size_t N> const char *text_of(const Word<T> (&words)[N], T value) {
    for (const Word<T> &word : words) {
        if (word.value == value) return word.text;
    }
    return "?";
}

template<typename T, size_t N>
void append_words(const Word<T> (&words)[N], std::vector<std::string> &all) {
    for (const Word<T> &word : words) all.push_back(word.text);
}

std::vector<std::string> every_word() {
    std::vector<std::string> all = {"host", "32", "64"};
    append_words(os_words, all);
    append_words(arch_words, all);
    append_words(processor_words, all);
    append_words(feature_words, all);
    return all;
}

std::vector<std::string> split_at_dashes(const std::string &text) {
    std::vector<std::string> words(1);
    for (char c : text) {
        if (c == '-') {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

[[noreturn]] void refuse(const Location &at, const std::string &text, const std::string &word) {
    std::string near = closest_match(word, every_word());
    throw CompileError(at, str("cannot understand the target \"", text, "\": \"", word,
                               "\" is no word of a target",
                               near.empty() ? std::string() : str("; did you mean \"", near, "\"?"),
                               "\nA target is architecture-bits-system and then features, as in "
                               "\"x86-64-linux-avx2-fma\", or \"host\""));
}

bool parse_vector_bits(const std::string &word, int &bits) {
    const std::string prefix = "vector_bits_";
    if (word.rfind(prefix, 0) != 0 || word.size() == prefix.size()) return false;
    char *end = nullptr;
    long value = std::strtol(word.c_str() + prefix.size(), &end, 10);
    if (*end || value <= 0 || value > 1 << 16) return false;
    bits = int(value);
    return true;
}

// If the first is there, so are the others.
constexpr Target::Feature implications[][5] = {
    {Target::AVX512_SapphireRapids, Target::AVX512_Zen4, Target::AVXVNNI},
    {Target::AVX512_Zen5, Target::AVX512_Zen4, Target::AVXVNNI},
    {Target::AVX10_1, Target::AVX512_Zen4},
    {Target::AVX512_Zen4, Target::AVX512_Cannonlake, Target::AVX512_VNNI},
    {Target::AVX512_VNNI, Target::AVX512_Skylake},
    {Target::AVX512_Cannonlake, Target::AVX512_Skylake},
    {Target::AVX512_Skylake, Target::AVX512},
    {Target::AVX512_KNL, Target::AVX512},
    {Target::AVX512, Target::AVX2, Target::FMA, Target::F16C},
    {Target::AVXVNNI, Target::AVX2},
    {Target::AVX2, Target::AVX},
    {Target::FMA, Target::AVX},
    {Target::FMA4, Target::AVX},
    {Target::F16C, Target::AVX},
    {Target::AVX, Target::SSE41},
    {Target::ARMv89a, Target::ARMv88a},
    {Target::ARMv88a, Target::ARMv87a},
    {Target::ARMv87a, Target::ARMv86a},
    {Target::ARMv86a, Target::ARMv85a},
    {Target::ARMv85a, Target::ARMv84a},
    {Target::ARMv84a, Target::ARMv83a, Target::ARMDotProd},
    {Target::ARMv83a, Target::ARMv82a},
    {Target::ARMv82a, Target::ARMv81a},
    {Target::ARMv81a, Target::ARMv8a},
    {Target::CUDACapability120, Target::CUDACapability100},
    {Target::CUDACapability100, Target::CUDACapability90},
    {Target::CUDACapability90, Target::CUDACapability89},
    {Target::CUDACapability89, Target::CUDACapability86},
    {Target::CUDACapability86, Target::CUDACapability80},
    {Target::CUDACapability80, Target::CUDACapability75},
    {Target::CUDACapability75, Target::CUDACapability70},
    {Target::CUDACapability70, Target::CUDACapability61},
    {Target::CUDACapability61, Target::CUDACapability50},
    {Target::CUDACapability50, Target::CUDACapability35},
    {Target::CUDACapability35, Target::CUDACapability32},
    {Target::CUDACapability32, Target::CUDACapability30},
    {Target::CUDACapability30, Target::CUDA},
    {Target::CUDADependentLaunch, Target::CUDA},
};

constexpr Word<DeviceAPI> gpu_apis[] = {
    {"cuda", DeviceAPI::CUDA},     {"opencl", DeviceAPI::OpenCL},
    {"metal", DeviceAPI::Metal},   {"d3d12compute", DeviceAPI::D3D12Compute},
    {"vulkan", DeviceAPI::Vulkan}, {"webgpu", DeviceAPI::WebGPU},
};

// Features of the instructions of one architecture, from the first to the last.
struct FeaturesOf {
    Target::Feature first, last;
    Target::Arch arch;
};
constexpr FeaturesOf features_of_architectures[] = {
    {Target::SSE41, Target::X86APX, Target::X86},
    {Target::NoNEON, Target::SME2, Target::ARM},
    {Target::VSX, Target::POWER_ARCH_2_07, Target::POWERPC},
    {Target::RVV, Target::RVV, Target::RISCV},
    {Target::WasmMvpOnly, Target::WasmBulkMemory, Target::WebAssembly},
};

// The first of the variables that is set and not empty.
std::string from_environment(std::initializer_list<const char *> names) {
    for (const char *name : names) {
        const char *value = std::getenv(name);
        if (value && *value) return value;
    }
    return "";
}

}  // namespace

Target::Target(OS os, Arch arch, int bits, const std::vector<Feature> &features)
    : Target(os, arch, bits, ProcessorGeneric, features) {}

Target::Target(OS os, Arch arch, int bits, Processor tune, const std::vector<Feature> &features,
               int vector_bits)
    : os(os), arch(arch), bits(bits), vector_bits(vector_bits), processor_tune(tune) {
    set_features(features);
}

Target::Target(const std::string &text, Location at) { parse(text, at); }

void Target::parse(const std::string &text, const Location &at) {
    std::vector<std::string> words = split_at_dashes(text);
    for (size_t i = 0; i < words.size(); i++) {
        const std::string &word = words[i];
        Feature feature;
        if (i == 0 && word == "host") {
            *this = get_host_target();
        } else if (word == "32" || word == "64") {
            if (i > 0 && words[0] != "host" && bits != 0)
                throw CompileError(at, str("the target \"", text, "\" says its bits twice"));
            bits = word == "32" ? 32 : 64;
        } else if (find_word(feature_words, word, feature)) {
            set_feature(feature);
        } else if (word == "trace_all") {
            set_features({TraceLoads, TraceStores, TraceRealizations});
        } else if (!find_word(arch_words, word, arch) && !find_word(os_words, word, os) &&
                   !find_word(processor_words, word, processor_tune) &&
                   !parse_vector_bits(word, vector_bits)) {
            refuse(at, text, word);
        }
    }
    bool unknown_on_purpose = text.find("unknown") != std::string::npos;
    if (has_unknowns() && !unknown_on_purpose) {
        throw CompileError(at, str("the target \"", text, "\" does not say its ",
                                   arch == ArchUnknown ? "architecture"
                                   : bits == 0         ? "bits"
                                                       : "operating system",
                                   "; write one like \"x86-64-linux-avx2\", or \"host\""));
    }
    require_own_features(text, at);
}

void Target::require_own_features(const std::string &text, const Location &at) const {
    for (const FeaturesOf &own : features_of_architectures) {
        for (int f = own.first; arch != own.arch && arch != ArchUnknown && f <= own.last; f++) {
            if (!has_feature(Feature(f))) continue;
            throw CompileError(at, str("the target \"", text, "\": ", feature_to_name(Feature(f)),
                                       " is a feature of ", text_of(arch_words, own.arch),
                                       ", not of ", text_of(arch_words, arch)));
        }
    }
}

bool Target::validate_target_string(const std::string &text) {
    try {
        Target parsed(text);
        return true;
    } catch (const CompileError &) {
        return false;
    }
}

std::string Target::feature_to_name(Feature feature) { return text_of(feature_words, feature); }

Target::Feature Target::feature_from_name(const std::string &name) {
    Feature found = FeatureEnd;
    find_word(feature_words, name, found);
    return found;
}

bool Target::has_feature(Feature feature) const {
    return feature == FeatureEnd || features.test(feature);
}

bool Target::features_any_of(const std::vector<Feature> &list) const {
    return std::any_of(list.begin(), list.end(), [&](Feature f) { return has_feature(f); });
}

bool Target::features_all_of(const std::vector<Feature> &list) const {
    return std::all_of(list.begin(), list.end(), [&](Feature f) { return has_feature(f); });
}

void Target::set_feature(Feature feature, bool value) {
    if (feature != FeatureEnd) features.set(feature, value);
}

void Target::set_features(const std::vector<Feature> &list, bool value) {
    for (Feature f : list) set_feature(f, value);
}

Target Target::with_feature(Feature feature) const {
    Target copy = *this;
    copy.set_feature(feature);
    return copy;
}

Target Target::without_feature(Feature feature) const {
    Target copy = *this;
    copy.set_feature(feature, false);
    return copy;
}

Target Target::with_implied_features() const {
    Target all = *this;
    for (const auto &row : implications) {
        if (!has_feature(row[0]) && !all.has_feature(row[0])) continue;
        for (Feature f : row) {
            if (f != Feature(0)) all.set_feature(f);
        }
    }
    return all;
}

bool Target::has_gpu_feature() const {
    // Each run of a pipeline asks.
    static const std::vector<Feature> any = {CUDA, OpenCL, Metal, D3D12Compute, Vulkan, WebGPU};
    return features_any_of(any);
}

bool Target::supported() const {
    return (arch == X86 || arch == ARM) && bits == 64 && os == Linux && !has_gpu_feature() &&
           !features_any_of(unsupported_features());
}

const std::vector<Target::Feature> &Target::unsupported_features() {
    static const std::vector<Feature> list = {MSAN,         TSAN,        ASAN, SanitizerCoverage,
                                              SoftFloatABI, Semihosting, EGL,  NoNEON,
                                              ARMv7s,       SVE,         SVE2, SME2};
    return list;
}

bool Target::supports_device_api(DeviceAPI api) const {
    if (api == DeviceAPI::None || api == DeviceAPI::Host) return true;
    if (api == DeviceAPI::Default_GPU) return has_gpu_feature();
    if (api == DeviceAPI::Hexagon) return has_feature(HVX);
    return has_feature(target_feature_for_device_api(api));
}

DeviceAPI Target::get_required_device_api() const {
    for (const Word<DeviceAPI> &row : gpu_apis) {
        if (has_feature(feature_from_name(row.text))) return row.value;
    }
    return DeviceAPI::None;
}

namespace {

struct CUDACapability {
    int number;
    Target::Feature feature;
};
// These go from the lowest to the highest. Each run of a pipeline looks at them.
constexpr CUDACapability cuda_capabilities_known[] = {
    {30, Target::CUDACapability30},   {32, Target::CUDACapability32},
    {35, Target::CUDACapability35},   {50, Target::CUDACapability50},
    {61, Target::CUDACapability61},   {70, Target::CUDACapability70},
    {75, Target::CUDACapability75},   {80, Target::CUDACapability80},
    {86, Target::CUDACapability86},   {89, Target::CUDACapability89},
    {90, Target::CUDACapability90},   {100, Target::CUDACapability100},
    {120, Target::CUDACapability120},
};

}  // namespace

int64_t Target::maximum_buffer_size() const {
    return has_large_buffers() ? std::numeric_limits<int64_t>::max()
                               : std::numeric_limits<int32_t>::max();
}

int Target::get_cuda_capability_lower_bound() const {
    if (!has_feature(CUDA)) return -1;
    for (const CUDACapability &c : cuda_capabilities_known) {
        if (has_feature(c.feature)) return c.number;
    }
    return 20;
}

Target Target::with_cuda_capability(int most) const {
    Target t = *this;
    for (const CUDACapability &c : std::views::reverse(cuda_capabilities_known)) {
        if (c.number > most) continue;
        t.set_feature(c.feature);
        break;
    }
    return t;
}

std::vector<int> Target::cuda_capabilities() const {
    constexpr int oldest = 75;
    std::vector<int> named;
    for (const CUDACapability &c : cuda_capabilities_known) {
        if (c.number >= oldest && has_feature(c.feature)) named.push_back(c.number);
    }
    return named.empty() ? std::vector{oldest} : named;
}

int Target::get_vulkan_capability_lower_bound() const {
    if (!has_feature(Vulkan)) return -1;
    return has_feature(VulkanV13) ? 13 : has_feature(VulkanV12) ? 12 : 10;
}

int Target::get_arm_v8_lower_bound() const {
    const Feature versions[] = {ARMv8a,  ARMv81a, ARMv82a, ARMv83a, ARMv84a,
                                ARMv85a, ARMv86a, ARMv87a, ARMv88a, ARMv89a};
    int found = -1;
    for (size_t minor = 0; minor < std::size(versions); minor++) {
        if (has_feature(versions[minor])) found = 80 + int(minor);
    }
    return found;
}

// Features that change how a runtime is built must be equal in both; those that add a device to it
// are joined; of those that only code depends on, the common ones are kept.
bool Target::get_runtime_compatible_target(const Target &other, Target &result) const {
    if (os != other.os || arch != other.arch || bits != other.bits) return false;
    for (Feature f : {SoftFloatABI, MSAN, TSAN, ASAN, WasmThreads}) {
        if (has_feature(f) != other.has_feature(f)) return false;
    }
    const std::vector<Feature> joined = {CUDA,    OpenCL,     Metal,     D3D12Compute, Vulkan,
                                         WebGPU,  EGL,        CLDoubles, CLHalf,       CLAtomics64,
                                         NoNEON,  HexagonDma, HVX,       HVX_128,      Debug,
                                         HVX_v62, HVX_v65,    HVX_v66,   HVX_v68,      NoAsserts};
    Target found(os, arch, bits,
                 processor_tune == other.processor_tune ? processor_tune : ProcessorGeneric);
    found.features = features & other.features;
    for (Feature f : joined) {
        if (has_feature(f) || other.has_feature(f)) found.set_feature(f);
    }
    int capability = get_cuda_capability_lower_bound();
    int other_capability = other.get_cuda_capability_lower_bound();
    if (capability >= 0 && other_capability >= 0) {
        const Target &least = capability < other_capability ? *this : other;
        for (int f = CUDACapability30; f <= CUDACapability120; f++) {
            found.set_feature(Feature(f), least.has_feature(Feature(f)));
        }
    }
    result = found;
    return true;
}

int Target::natural_vector_size(int element_bytes, bool is_integer) const {
    if (dialect() == Dialect::Halide && has_unknowns()) {
        throw CompileError(str("the target \"", *this,
                               "\" does not say for which machine, so that it has no vectors"));
    }
    if (element_bytes <= 0) throw CompileError("a type without a size has no vectors");
    Target all = with_implied_features();
    int bytes = 16;
    if (arch == X86) {
        if (all.has_feature(is_integer ? AVX512_Skylake : AVX512)) {
            bytes = 64;
        } else if (all.has_feature(is_integer ? AVX2 : AVX)) {
            bytes = 32;
        }
    } else if (arch == Hexagon) {
        bytes = has_feature(HVX) || has_feature(HVX_128) ? 128 : element_bytes;
    } else if (arch == WebAssembly) {
        bytes = has_feature(WasmSimd128) ? 16 : 8;
    } else if (vector_bits > 0 && features_any_of({SVE, SVE2, RVV})) {
        bytes = vector_bits / 8;
    }
    return std::max(1, bytes / element_bytes);
}

// In Halide's dialect by name, and with its name for three of them.
std::vector<std::string> Target::feature_names() const {
    const std::initializer_list<Feature> traced = {TraceLoads, TraceStores, TraceRealizations};
    bool halide = dialect() == Dialect::Halide, all_traced = halide && features_all_of(traced);
    std::vector<std::string> names;
    for (const Word<Feature> &word : feature_words) {
        bool is_traced = std::ranges::find(traced, word.value) != traced.end();
        if (has_feature(word.value) && !(all_traced && is_traced)) names.push_back(word.text);
    }
    if (all_traced) names.push_back("trace_all");
    if (halide) std::ranges::sort(names);
    return names;
}

std::string Target::to_string() const {
    std::string text = str(text_of(arch_words, arch), '-', bits, '-', text_of(os_words, os));
    if (processor_tune != ProcessorGeneric) {
        text += str('-', text_of(processor_words, processor_tune));
    }
    for (const std::string &name : feature_names()) text += "-" + name;
    if (vector_bits) text += str("-vector_bits_", vector_bits);
    return text;
}

Target get_target_from_environment() {
    std::string text = from_environment({"TESSERA_TARGET", "HL_TARGET"});
    return text.empty() ? get_host_target() : Target(text);
}

Target get_jit_target_from_environment() {
    Target host = get_host_target();
    std::string text = from_environment({"TESSERA_JIT_TARGET", "HL_JIT_TARGET"});
    Target target = text.empty() ? host : Target(text);
    target.set_feature(Target::JIT);
    if (target.os != host.os || target.arch != host.arch || target.bits != host.bits) {
        throw CompileError(str("cannot run code for the target \"", text,
                               "\" from TESSERA_JIT_TARGET"
                               " or HL_JIT_TARGET on this machine, which is ",
                               host.to_string()));
    }
    return target;
}

Target::Feature target_feature_for_device_api(DeviceAPI api) {
    if (api == DeviceAPI::Hexagon) return Target::HVX;
    if (api == DeviceAPI::HexagonDma) return Target::HexagonDma;
    for (const Word<DeviceAPI> &row : gpu_apis) {
        if (row.value == api) return Target::feature_from_name(row.text);
    }
    return Target::FeatureEnd;
}

std::ostream &operator<<(std::ostream &out, const Target &target) {
    return out << target.to_string();
}

}  // namespace tessera
