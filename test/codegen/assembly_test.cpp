#include "codegen/cpu_features.h"
#include "codegen/harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

// The assembly of `out[i...] = value`, over buffers a, b and c of the type.
std::string assembly_of(const std::string &value, const std::string &type, int lanes,
                        const std::string &features, const std::string &result = "",
                        int result_lanes = 0) {
    std::string out = result.empty() ? type : result;
    if (result_lanes == 0) result_lanes = lanes;
    return assembly(str("module \"m\"\nfunc \"f\"(a: input ", type, "[1], b: input ", type,
                        "[1], c: input ", type, "[1], out: output ", out,
                        "[1], n: int32):\n    for i in [0, +n): out[ramp(i * ", result_lanes,
                        ", 1, ", result_lanes, ")] = ", value, "\n"),
                    "x86-64-linux" + features);
}

// The text with `a`, `b` and `c` standing for vectors of the buffers.
std::string with_loads(std::string text, int lanes) {
    std::string result;
    for (size_t i = 0; i < text.size(); i++) {
        auto letter = [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; };
        bool alone =
            (i == 0 || !letter(text[i - 1])) && (i + 1 == text.size() || !letter(text[i + 1]));
        if (alone && text[i] >= 'a' && text[i] <= 'c') {
            result += str(text[i], "[ramp(i * ", lanes, ", 1, ", lanes, ")]");
        } else {
            result += text[i];
        }
    }
    return result;
}

bool has(const std::string &text, const std::string &word) {
    return text.find(word) != std::string::npos;
}

// The instruction appears where it should.
void check_instruction(const char *value, const char *type, int lanes, const char *features,
                       const char *instruction, const char *result = "", int result_lanes = 0) {
    std::string text =
        assembly_of(with_loads(value, lanes), type, lanes, features, result, result_lanes);
    INFO(value, " of ", type, "x", lanes, features, ": no ", instruction, " in\n", text);
    CHECK(has(text, instruction));
}

}  // namespace

TEST_SUITE("instructions") {
    TEST_CASE("averages") {
        check_instruction("rounding_halving_add(a, b)", "uint8", 16, "", "pavgb");
        check_instruction("rounding_halving_add(a, b)", "uint8", 32, "-avx2", "vpavgb");
        check_instruction("rounding_halving_add(a, b)", "uint16", 16, "-avx2", "vpavgw");
        check_instruction("rounding_halving_add(a, b)", "uint8", 64, "-avx512_skylake", "zmm");
        check_instruction("uint8x32((uint16x32(a) + uint16x32(b) + x32(1:uint16)) / x32(2:uint16))",
                          "uint8", 32, "-avx2", "vpavgb");
    }
    TEST_CASE("saturating arithmetic") {
        check_instruction("saturating_add(a, b)", "uint8", 32, "-avx2", "vpaddusb");
        check_instruction("saturating_add(a, b)", "int16", 16, "-avx2", "vpaddsw");
        check_instruction("saturating_sub(a, b)", "uint16", 16, "-avx2", "vpsubusw");
        check_instruction("saturating_cast(a):uint8x16", "int16", 16, "-avx2", "packuswb", "uint8");
        check_instruction("saturating_cast(a):int16x8", "int32", 8, "-avx2", "packssdw", "int16");
    }
    TEST_CASE("minimum, maximum, absolute value") {
        check_instruction("min(a, b)", "float32", 8, "-avx", "vminps");
        check_instruction("max(a, b)", "uint8", 32, "-avx2", "vpmaxub");
        check_instruction("abs(a):uint16x16", "int16", 16, "-avx2", "vpabsw", "uint16");
    }
    TEST_CASE("fused multiply and add") {
        check_instruction("a * b + c", "float32", 8, "-avx2-fma", "vfmadd");
        check_instruction("a * b + c", "float32", 16, "-avx512_skylake", "zmm");
        check_instruction("a * b + c", "float32", 8, "-fma4", "vfmaddps");
        check_instruction("a * b + c", "float32", 16, "-avx10_1", "zmm");
        std::string strict =
            assembly_of(with_loads("a * b + c", 8), "float32", 8, "-avx2-fma-strict_float");
        CHECK_FALSE(has(strict, "vfmadd"));
        CHECK_FALSE(
            has(assembly_of(with_loads("strict_float(a * b + c)", 8), "float32", 8, "-avx2-fma"),
                "vfmadd"));
    }
    TEST_CASE("an accumulating loop uses operands from memory") {
        std::string text = assembly(R"(
module "m"
func "f"(a: input float32[1], b: input float32[1], out: output float32[1], n: int32):
    allocate acc: float32[8] in Register:
        acc[ramp(0, 1, 8)] = x8(0.0)
        for i in [0, +n): acc[ramp(0, 1, 8)] = acc[ramp(0, 1, 8)] + x8(a[i]) * b[ramp(i * 8, 1, 8)]
        out[ramp(0, 1, 8)] = acc[ramp(0, 1, 8)]
)",
                                    "x86-64-linux-avx2-fma");
        CHECK(has(text, "vfmadd231ps\t("));
        CHECK(has(text, "vbroadcastss"));
    }
    TEST_CASE("powers of e are scaled by an instruction") {
        check_instruction("exp(a)", "float32", 16, "-avx512_skylake", "vscalefps");
        check_instruction("exp(a)", "float32", 8, "-avx512_skylake", "vscalefps");
        check_instruction("exp(a)", "float32", 4, "-avx512_skylake", "vscalefps");
    }
    TEST_CASE("widening products") {
        check_instruction("mul_shift_right(a, b, x16(16:uint16))", "int16", 16, "-avx2", "vpmulhw");
        check_instruction("mul_shift_right(a, b, x16(16:uint16))", "uint16", 16, "-avx2",
                          "vpmulhuw");
        check_instruction("rounding_mul_shift_right(a, b, x16(15:uint16))", "int16", 16, "-avx2",
                          "vpmulhrsw");
        check_instruction("vector_reduce(add, widening_mul(a, b):int32x16, 8)", "int16", 16,
                          "-avx2", "vpmaddwd", "int32", 8);
    }
    TEST_CASE("dot products") {
        const char *module = R"(
module "m"
func "f"(a: input uint8[1], b: input int8[1], out: output int32[1]):
    out[ramp(0, 1, 16)] = out[ramp(0, 1, 16)] + vector_reduce(add, int32x64(a[ramp(0, 1, 64)]) * int32x64(b[ramp(0, 1, 64)]), 16)
)";
        CHECK(has(assembly(module, "x86-64-linux-avx512_zen4"), "vpdpbusd"));
        CHECK(has(assembly(module, "x86-64-linux-avxvnni"), "vpdpbusd"));
        CHECK(has(assembly(module, "x86-64-linux-avx2"), "vpmaddwd"));
        const char *words = R"(
module "m"
func "f"(a: input int16[1], b: input int16[1], out: output int32[1]):
    out[ramp(0, 1, 16)] = out[ramp(0, 1, 16)] + vector_reduce(add, int32x32(a[ramp(0, 1, 32)]) * int32x32(b[ramp(0, 1, 32)]), 16)
)";
        CHECK(has(assembly(words, "x86-64-linux-avx512_zen4"), "vpdpwssd"));
        const char *bfloats = R"(
module "m"
func "f"(a: input bfloat16[1], b: input bfloat16[1], out: output float32[1]):
    out[ramp(0, 1, 16)] = out[ramp(0, 1, 16)] + vector_reduce(add, float32x32(a[ramp(0, 1, 32)]) * float32x32(b[ramp(0, 1, 32)]), 16)
)";
        CHECK(has(assembly(bfloats, "x86-64-linux-avx512_zen4"), "vdpbf16ps"));
    }
    TEST_CASE("dot products with a group that is repeated") {
        const char *bytes = R"(
module "m"
func "f"(a: input uint8[1], b: input int8[1], out: output int32[1]):
    out[ramp(0, 1, 16)] = out[ramp(0, 1, 16)] + vector_reduce(add, x16(int32x4(a[ramp(0, 1, 4)])) * int32x64(b[ramp(0, 1, 64)]), 16)
)";
        std::string text = assembly(bytes, "x86-64-linux-avx512_zen4");
        CHECK(has(text, "vpdpbusd"));
        CHECK_FALSE(has(text, "vpmov"));
        const char *bfloats = R"(
module "m"
func "f"(a: input bfloat16[1], b: input bfloat16[1], out: output float32[1]):
    out[ramp(0, 1, 16)] = out[ramp(0, 1, 16)] + vector_reduce(add, x16(float32x2(a[ramp(0, 1, 2)])) * float32x32(b[ramp(0, 1, 32)]), 16)
)";
        CHECK(has(assembly(bfloats, "x86-64-linux-avx512_zen4"), "vdpbf16ps"));
    }
    TEST_CASE("rows that are loaded as columns are shuffled, not gathered") {
        std::string text = assembly(R"(
module "m"
func "f"(a: input float32[1], out: output float32[1], n: int32):
    out[ramp(0, 1, 64)] = a[ramp(ramp(0, n, 8), x8(1), 8)]
)",
                                    "x86-64-linux-avx2");
        CHECK(has(text, "vunpcklps"));
        CHECK_FALSE(has(text, "gather"));
        CHECK_FALSE(has(text, "vmovss"));
    }
    TEST_CASE("sums of bytes and of differences") {
        check_instruction("vector_reduce(add, uint32x64(absd(a, b):uint8x64), 8)", "uint8", 64,
                          "-avx2", "vpsadbw", "uint32", 8);
    }
    TEST_CASE("masks") {
        CHECK(has(assembly_of("a[ramp(i, 1, 8) if ramp(i, 1, 8) < x8(n)]", "float32", 8, "-avx2"),
                  "vmaskmovps"));
        CHECK(has(assembly_of("a[ramp(i, 1, 16) if ramp(i, 1, 16) < x16(n)]", "float32", 16,
                              "-avx512_skylake"),
                  "{%k"));
        std::string store = assembly(R"(
module "m"
func "f"(out: output uint8[1], n: int32):
    out[ramp(n, 1, 64) if ramp(n, 1, 64) < x64(100)] = x64(3:uint8)
)",
                                     "x86-64-linux-avx512_skylake");
        CHECK(has(store, "vmovdqu8"));
        CHECK(has(store, "{%k"));
    }
    TEST_CASE("a stack slot whose vectors are under a mask is a register") {
        std::string text = assembly(R"(
module "m"
func "f"(a: input float32[1], out: output float32[1], n: int32):
    allocate sum: float32[16] in Stack
    sum[ramp(0, 1, 16)] = x16(0.0)
    for i in [0, +n):
        let t = ramp(i * 16, 1, 16) < x16(n)
        sum[ramp(0, 1, 16) if t] = sum[ramp(0, 1, 16) if t] + a[ramp(i * 16, 1, 16) if t]
    out[ramp(0, 1, 16)] = sum[ramp(0, 1, 16)]
)",
                                    "x86-64-linux-avx512_skylake");
        CAPTURE(text);
        CHECK(has(text, "vaddps"));
        CHECK(!has(text, "rsp)"));
    }
    TEST_CASE("of several stores at one place the last is made") {
        std::string text = assembly(R"(
module "m"
func "f"(a: input float32[1], out: output float32[1], n: int32):
    for i in [0, +n):
        out[ramp(i * 16, 1, 16)] = out[ramp(i * 16, 1, 16)] + a[ramp(i * 16, 1, 16)]
        out[ramp(i * 16, 1, 16)] = out[ramp(i * 16, 1, 16)] + a[ramp(i * 16 + 1, 1, 16)]
        out[ramp(i * 16, 1, 16)] = out[ramp(i * 16, 1, 16)] + a[ramp(i * 16 + 2, 1, 16)]
)",
                                    "x86-64-linux-avx512_skylake");
        CAPTURE(text);
        CHECK(text.find("vmovups\t%zmm") == text.rfind("vmovups\t%zmm"));
    }
    TEST_CASE("a store of the first lane only writes no byte more") {
        std::string store = assembly(R"(
module "m"
func "f"(a: input int32[1], out: output int16[1], n: int32):
    out[ramp(n, 1, 4) if ramp(0, 1, 4) < x4(1)] = int16x4(a[ramp(n, 1, 4)])
)",
                                     "x86-64-linux-avx512_skylake");
        CAPTURE(store);
        CHECK((has(store, "movw\t%") || has(store, "pextrw")));
        CHECK(!has(store, "vmovss\t%"));
        CHECK(!has(store, "vmovd\t%xmm0, ("));
    }
    TEST_CASE("a mask for eight bytes is not made longer by a move between mask registers") {
        std::string text = assembly(R"(
module "m"
func "f"(a: input uint8[1], out: output uint8[1], n: int32):
    out[ramp(0, 1, 8) if ramp(0, 1, 8) < x8(n)] = a[ramp(n, 1, 8) if ramp(n, 1, 8) < x8(9)]
)",
                                    "x86-64-linux-avx512_skylake");
        CAPTURE(text);
        CHECK(has(text, "vmovdqu8"));
        CHECK(has(text, "vptestmb"));
        CHECK(!has(text, "kmovb\t%k"));
    }
    TEST_CASE("strided loads are shuffles, not gathers") {
        for (const char *stride : {"2", "3", "4", "-1"}) {
            std::string text =
                assembly_of(str("a[ramp(i, ", stride, ", 8)]"), "float32", 8, "-avx2");
            CAPTURE(stride);
            CHECK_FALSE(has(text, "gather"));
            CHECK((has(text, "shuf") || has(text, "perm") || has(text, "unpck")));
        }
    }
    TEST_CASE("divisions by constants are no divisions") {
        CHECK_FALSE(has(assembly_of(with_loads("a / x8(7)", 8), "int32", 8, "-avx2"), "div"));
        CHECK_FALSE(has(assembly_of(with_loads("a % x8(16)", 8), "int32", 8, "-avx2"), "mul"));
        CHECK(has(assembly_of(with_loads("a / x16(255:uint16)", 16), "uint16", 16, "-avx2"),
                  "vpmulhuw"));
    }
    TEST_CASE("half precision uses the machine's conversions") {
        check_instruction("a * b", "float16", 8, "-f16c", "vcvtph2ps");
        check_instruction("a * b", "float16", 32, "-avx512_sapphirerapids", "vmulph");
        check_instruction("fast_inverse(a)", "float32", 8, "-avx", "vrcpps");
        check_instruction("fast_inverse_sqrt(a)", "float32", 16, "-avx512", "vrsqrt14ps");
    }
    TEST_CASE("streamed stores go past the caches") {
        std::string text = assembly_of("x8(1.0)", "float32", 8, "-avx2");
        CHECK_FALSE(has(text, "movnt"));
        text = assembly(R"(
module "m"
func "f"(out: output float32[1], n: int32):
    for i in [0, +n): out[ramp(i * 8, 1, 8) streaming] = x8(1.0)
)",
                        "x86-64-linux-avx2");
        CHECK(has(text, "vmovntps"));
        CHECK(has(text, "sfence"));
    }
    TEST_CASE("one element for all lanes is loaded once, also where not all lanes are wanted") {
        const std::string text = assembly(R"(
module "m"
func "f"(a: input float32[1], out: output float32[1], n: int32):
    for i in [0, +n):
        let wanted = ramp(i * 8, 1, 8) <= x8(n)
        out[ramp(i * 8, 1, 8) if wanted] = a[x8(i) if wanted]
)",
                                          "x86-64-linux-avx2");
        CHECK(has(text, "vbroadcastss"));
        CHECK_FALSE(has(text, "vgather"));
    }
    TEST_CASE("each set of instructions brings its own") {
        check_instruction("a * b", "int32", 4, "-sse41", "pmulld");
        CHECK_FALSE(has(assembly_of(with_loads("a * b", 4), "int32", 4, ""), "pmulld"));
        check_instruction("a * b", "float32", 16, "-avx512_knl", "zmm");
        check_instruction("a * b", "int64", 8, "-avx512_skylake", "vpmullq");
        check_instruction("popcount(a)", "int32", 16, "-avx512_zen4", "vpopcntd");
        check_instruction("popcount(a)", "int32", 16, "-avx512_zen5", "vpopcntd");
        CHECK_FALSE(has(assembly_of(with_loads("popcount(a)", 16), "int32", 16, "-avx512_vnni"),
                        "vpopcntd"));
        Module m = parse_module("module \"m\"\nfunc \"f\"(n: int32): assert n > 0, -1\n");
        auto features_of = [&](const char *target) {
            return codegen::to_llvm_ir(m, Target(target));
        };
        CHECK(has(features_of("x86-64-linux-avx512_zen5"), "+avx512vp2intersect"));
        CHECK(has(features_of("x86-64-linux-avx512_cannonlake"), "+avx512vbmi"));
        CHECK_FALSE(has(features_of("x86-64-linux-avx512_cannonlake"), "+avx512vnni"));
        CHECK(has(features_of("x86-64-linux-avx512_vnni"), "+avx512vnni"));
        CHECK_FALSE(has(features_of("x86-64-linux-avx512_vnni"), "+avx512vbmi"));
        CHECK(has(features_of("x86-64-linux-x86apx"), "+egpr"));
        CHECK(has(features_of("x86-64-linux-avx10_1"), "+avx10.1"));
    }
    TEST_CASE("whether a machine has AVX10.1 is found out by its instructions") {
        const uint64_t needed = codegen::runtime_features(Target("x86-64-linux-avx10_1"));
        for (const tessera_cpu_feature_t f :
             {tessera_cpu_avx512vl, tessera_cpu_avx512vbmi2, tessera_cpu_avx512fp16})
            CHECK((needed >> f & 1) == 1);
        CHECK((needed >> tessera_cpu_amx_int8 & 1) == 0);
    }
    TEST_CASE("the processor that code is tuned for") {
        Module m = parse_module("module \"m\"\nfunc \"f\"(n: int32): assert n > 0, -1\n");
        for (const char *name : {"k8", "amdfam10", "btver1", "btver2", "bdver1", "bdver2", "bdver3",
                                 "bdver4", "znver1", "znver2", "znver3", "znver4", "znver5"}) {
            std::string text = codegen::to_llvm_ir(m, Target(str("x86-64-linux-tune_", name)));
            CHECK(has(text, str("\"tune-cpu\"=\"", name, "\"")));
        }
        CHECK(has(codegen::to_llvm_ir(m, Target("x86-64-linux-tune_k8_sse3")),
                  "\"tune-cpu\"=\"k8-sse3\""));
        CHECK(has(codegen::to_llvm_ir(m, Target("x86-64-linux")), "\"tune-cpu\"=\"x86-64\""));
    }
    TEST_CASE("an object with its bitcode") {
        Module m = parse_module("module \"m\"\nfunc \"f\"(n: int32): assert n > 0, -1\n");
        auto has_bitcode = [&](const char *target) {
            std::vector<char> object = codegen::to_object(m, Target(target));
            return std::string(object.begin(), object.end()).find("BC\xC0\xDE") !=
                   std::string::npos;
        };
        CHECK(has_bitcode("x86-64-linux-embed_bitcode"));
        CHECK_FALSE(has_bitcode("x86-64-linux"));
    }
    TEST_CASE("LLVM vectorizes and unrolls loops where the target asks for it") {
        std::string text =
            "module \"m\"\nfunc \"f\"(a: input float32[1], out: output float32[1], n: "
            "int32):\n    for i in [0, +n): out[i] = a[i] * 2.0:float32\n";
        CHECK_FALSE(has(assembly(text, "x86-64-linux"), "mulps"));
        CHECK_FALSE(has(assembly(text, "x86-64-linux"), "addps"));
        std::string vectors = assembly(text, "x86-64-linux-enable_llvm_loop_opt");
        CHECK((has(vectors, "mulps") || has(vectors, "addps")));
    }
    TEST_CASE("streamed loads leave the caches as they are") {
        auto copy = [](const std::string &streaming) {
            return assembly(
                str("module \"m\"\nfunc \"f\"(a: input float32[1], out: output "
                    "float32[1], n: int32):\n    for i in [0, +n): out[ramp(i * 8, 1, 8)] "
                    "= a[ramp(i * 8, 1, 8)",
                    streaming, "]\n"),
                "x86-64-linux-avx2");
        };
        CHECK_FALSE(has(copy(""), "movnt"));
        CHECK(has(copy(" streaming"), "vmovntdqa"));
    }
    TEST_CASE("gathers where the machine is good at them") {
        CHECK(
            has(assembly_of("b[a[ramp(i, 1, 16)]]", "int32", 16, "-avx512_skylake"), "vpgatherdd"));
        CHECK_FALSE(
            has(assembly_of("b[a[ramp(i, 1, 16)]]", "int32", 16, "-tune_znver4-avx512_zen4"),
                "gather"));
    }
    TEST_CASE("a table of bytes is in registers where there are lanes enough") {
        auto text = [](int lanes) {
            return assembly(str("module \"m\"\nfunc \"f\"(index: input uint16[1], out: output "
                                "uint8[1], n: int32):\n    allocate table: uint8[1024] in Auto\n"
                                "    for i in [0, +1024): table[i] = uint8(i * n)\n"
                                "    for i in [0, +n): out[ramp(i * ",
                                lanes, ", 1, ", lanes, ")] = table[int32x", lanes,
                                "(index[ramp(i * ", lanes, ", 1, ", lanes, ")])]\n"),
                            "x86-64-linux-avx512_zen4");
        };
        for (int lanes : {32, 64}) {
            INFO(lanes, " lanes");
            const std::string in_registers = text(lanes);
            CHECK((has(in_registers, "vpermi2b") || has(in_registers, "vpermt2b")));
            CHECK_FALSE(has(in_registers, "vpinsrb"));
        }
        CHECK(has(text(16), "vpinsrb"));
    }
    TEST_CASE("every kind of file is written, and unknown machines are refused") {
        Module m = parse_module("module \"m\"\nfunc \"f\"(n: int32): assert n > 0, -1\n");
        Target host = get_host_target();
        CHECK(has(codegen::to_llvm_ir(m, host), "define i32 @f("));
        CHECK(has(codegen::to_assembly(m, host), "f_argv:"));
        std::vector<char> object = codegen::to_object(m, host),
                          bitcode = codegen::to_bitcode(m, host);
        CHECK(std::string(object.data(), 4) == "\x7f"
                                               "ELF");
        CHECK(std::string(bitcode.data(), 2) == "BC");
        CHECK_THROWS_WITH_AS(codegen::to_object(m, Target("hexagon-32-qurt")),
                             doctest::Contains("x86-64-linux"), CompileError);
        CHECK_THROWS_AS(codegen::JitModule(m, Target("arm-64-linux")), CompileError);
    }
    TEST_CASE("features that no code looks for are refused") {
        Module m = parse_module("module \"m\"\nfunc \"f\"(n: int32): assert n > 0, -1\n");
        for (auto feature : {Target::MSAN, Target::TSAN, Target::ASAN, Target::SanitizerCoverage,
                             Target::SoftFloatABI, Target::Semihosting, Target::EGL}) {
            Target t = get_host_target().with_feature(feature);
            CHECK_FALSE(t.supported());
            std::string advice = "leave " + Target::feature_to_name(feature) + " out";
            CHECK_THROWS_WITH_AS(codegen::to_object(m, t), doctest::Contains(advice.c_str()),
                                 CompileError);
            CHECK_THROWS_AS(codegen::JitModule(m, t), CompileError);
        }
    }
    TEST_CASE("in the large code model, calls reach anywhere") {
        const std::string text = "module \"m\"\nfunc \"f\"(n: int32): "
                                 "assert n > 0, extern int32 somewhere(user_context(), n)\n";
        CHECK(has(assembly(text, "x86-64-linux-llvm_large_code_model"), "movabsq"));
        CHECK_FALSE(has(assembly(text, "x86-64-linux"), "movabsq"));
    }
    TEST_CASE("phases report their times; unknown functions are refused") {
        codegen::Options options;
        std::vector<std::string> phases;
        options.report_time = [&](std::string_view phase, double ms) {
            phases.emplace_back(phase);
            CHECK(ms >= 0);
        };
        Module m = parse_module("module \"m\"\nfunc \"f\"(n: int32): assert n > 0, -1\n");
        codegen::JitModule jit(m, get_host_target(), {}, options);
        CHECK(phases == std::vector<std::string>{"emit LLVM IR", "make machine code", "link"});
        CHECK_THROWS_AS(jit.address("g"), InternalError);
        CHECK_NOTHROW(
            codegen::to_llvm_ir(m, get_host_target().with_feature(Target::EnableLLVMLoopOpt)));
    }
}
