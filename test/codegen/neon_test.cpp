#include "codegen/harness.h"

using namespace tessera;
using namespace tessera::test;

// Which instructions of AArch64 are chosen. What they compute: integer_test.cpp for integers,
// aot/aarch64_test.cpp for floats and pipelines.
namespace {

std::string vectors(std::string text, int lanes) {
    for (size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
        text.replace(at, 1, str("[ramp(i * ", lanes, ", 1, ", lanes, ")]"));
    }
    return text;
}

std::string arm_assembly(const std::string &value, const std::string &type, int lanes,
                         const std::string &features, const std::string &result, int result_lanes) {
    return assembly(str("module \"m\"\nfunc \"f\"(a: input ", type, "[1], b: input ", type,
                        "[1], c: input ", type, "[1], out: output ", result,
                        "[1], n: int32):\n    for i in [0, +n): out[ramp(i * ", result_lanes,
                        ", 1, ", result_lanes, ")] = ", vectors(value, lanes), "\n"),
                    "arm-64-linux" + features);
}

// The instruction is among those for the value, in which `a$` is a vector of the buffer a.
void check(const std::string &instruction, const std::string &value, const std::string &type,
           int lanes, const std::string &features = "", const std::string &result = "",
           int result_lanes = 0) {
    std::string text = arm_assembly(value, type, lanes, features, result.empty() ? type : result,
                                    result_lanes ? result_lanes : lanes);
    INFO(value, " of ", type, "x", lanes, features, ": no ", instruction, " in\n", text);
    CHECK(text.find(str('\t', instruction, '\t')) != std::string::npos);
}

}  // namespace

TEST_SUITE("instructions of AArch64") {
    TEST_CASE("saturating and halving arithmetic") {
        check("uqadd", "saturating_add(a$, b$)", "uint8", 16);
        check("sqadd", "saturating_add(a$, b$)", "int16", 8);
        check("uqsub", "saturating_sub(a$, b$)", "uint32", 4);
        check("uhadd", "halving_add(a$, b$)", "uint8", 16);
        check("shadd", "halving_add(a$, b$)", "int32", 4);
        check("urhadd", "rounding_halving_add(a$, b$)", "uint16", 8);
        check("srhadd", "rounding_halving_add(a$, b$)", "int8", 32);
        check("uhsub", "halving_sub(a$, b$)", "uint8", 16);
        check("shsub", "halving_sub(a$, b$)", "int16", 8);
        check("sqxtn", "saturating_cast(a$):int8x8", "int16", 8, "", "int8");
        check("sqxtun", "saturating_cast(a$):uint8x8", "int16", 8, "", "uint8");
        check("uqxtn", "saturating_cast(a$):uint16x4", "uint32", 4, "", "uint16");
    }
    TEST_CASE("differences, minimum, maximum, counts") {
        check("uabd", "absd(a$, b$)", "uint8", 16);
        check("sabd", "absd(a$, b$):uint16x8", "int16", 8, "", "uint16");
        check("umin", "min(a$, b$)", "uint8", 16);
        check("smax", "max(a$, b$)", "int32", 4);
        check("abs", "abs(a$):uint16x8", "int16", 8, "", "uint16");
        check("cnt", "popcount(a$)", "uint8", 16);
        check("clz", "count_leading_zeros(a$)", "int32", 4);
    }
    TEST_CASE("wider results") {
        check("umull", "widening_mul(a$, b$):uint16x8", "uint8", 8, "", "uint16");
        check("smull", "widening_mul(a$, b$):int32x4", "int16", 4, "", "int32");
        check("smlal", "out$ + widening_mul(a$, b$):int32x4", "int16", 4, "", "int32");
        check("uaddl", "widening_add(a$, b$):uint16x8", "uint8", 8, "", "uint16");
        check("ssubl", "widening_sub(a$, b$):int32x4", "int16", 4, "", "int32");
        check("sqdmulh", "mul_shift_right(a$, b$, x8(15:uint16))", "int16", 8);
        check("sqrdmulh", "rounding_mul_shift_right(a$, b$, x4(31:uint32))", "int32", 4);
    }
    TEST_CASE("shifts") {
        check("srshr", "rounding_shift_right(a$, x8(3:int16))", "int16", 8);
        check("urshr", "rounding_shift_right(a$, x16(2:uint8))", "uint8", 16);
        check("srshl", "rounding_shift_right(a$, b$)", "int32", 4);
        check("ushl", "shift_left(a$, b$)", "uint16", 8);
        check("sshl", "shift_right(a$, b$)", "int64", 2);
        check("shl", "shift_left(a$, x4(5:int32))", "int32", 4);
        check("sshr", "shift_right(a$, x4(5:int32))", "int32", 4);
    }
    TEST_CASE("sums of neighbours") {
        check("addp", "vector_reduce(add, a$, 4)", "int32", 8, "", "int32", 4);
        check("uaddlp", "vector_reduce(add, uint16x16(a$), 8)", "uint8", 16, "", "uint16", 8);
        check("uadalp", "out[ramp(0, 1, 8)] + vector_reduce(add, uint16x16(a$), 8)", "uint8", 16,
              "", "uint16", 8);
        check("saddlp", "vector_reduce(add, int32x16(a$) * int32x16(b$), 4)", "int8", 16, "",
              "int32", 4);
        check("umaxp", "vector_reduce(max, a$, 8)", "uint8", 16, "", "uint8", 8);
        check("faddp", "vector_reduce(add, a$, 4)", "float32", 8, "", "float32", 4);
        check("uaddlv", "x2(vector_reduce(add, uint32x16(a$), 1))", "uint8", 16, "", "uint32", 2);
        check("smaxv", "x2(vector_reduce(max, a$, 1))", "int16", 8, "", "int16", 2);
    }
    TEST_CASE("dot products") {
        const char *sum = "out[ramp(0, 1, 4)] + vector_reduce(add, int32x16(a$) * int32x16(b$), 4)";
        check("sdot", sum, "int8", 16, "-arm_dot_prod", "int32", 4);
        check("udot", sum, "uint8", 16, "-arm_dot_prod", "int32", 4);
        check("udot", "vector_reduce(add, uint32x16(a$), 4)", "uint8", 16, "-armv84a", "uint32", 4);
        check("smull", sum, "int8", 16, "", "int32", 4);
        std::string mixed = assembly(R"(
module "m"
func "f"(a: input uint8[1], b: input int8[1], out: output int32[1]):
    out[ramp(0, 1, 4)] = vector_reduce(add, int32x16(a[ramp(0, 1, 16)]) * int32x16(b[ramp(0, 1, 16)]), 4)
)",
                                     "arm-64-linux-armv86a");
        CHECK(mixed.find("usdot") != std::string::npos);
    }
    TEST_CASE("floats") {
        check("fmla", "a$ * b$ + c$", "float32", 4);
        check("frintm", "floor(a$)", "float64", 2);
        check("frintn", "round(a$)", "float32", 4);
        check("frecpe", "fast_inverse(a$)", "float32", 4);
        check("frsqrts", "fast_inverse_sqrt(a$)", "float32", 4);
        check("fcvtl", "a$ * b$", "float16", 4);
        auto halves = [](const char *features) {
            return arm_assembly("a$ * b$", "float16", 8, features, "float16", 8);
        };
        CHECK(halves("-arm_fp16").find("v0.8h, v") != std::string::npos);
        CHECK(halves("-arm_fp16").find("fcvt") == std::string::npos);
    }
    TEST_CASE("streamed accesses and prefetches") {
        std::string text = assembly(R"(
module "m"
func "f"(a: input float32[1], out: output float32[1], n: int32):
    for i in [0, +n):
        out[ramp(i * 8, 1, 8) streaming] = x8(1.0)
        prefetch(address_of(a[i * 8]), 1, 4)
)",
                                    "arm-64-linux");
        INFO(text);
        CHECK(text.find("\tstnp\t") != std::string::npos);
        CHECK(text.find("\tprfm\t") != std::string::npos);
    }
    TEST_CASE("what no code is made for") {
        Module m = parse_module("module \"m\"\nfunc \"f\"(n: int32): assert n > 0, -1\n");
        for (const char *feature : {"no_neon", "armv7s", "sve", "sve2", "sme2"}) {
            Target t(str("arm-64-linux-", feature));
            CHECK_FALSE(t.supported());
            CHECK_THROWS_WITH_AS(codegen::to_object(m, t),
                                 doctest::Contains(str("leave ", feature, " out").c_str()),
                                 CompileError);
        }
        CHECK(Target("arm-64-linux-arm_dot_prod").supported());
        CHECK_FALSE(Target("arm-32-linux").supported());
        CHECK_THROWS_WITH_AS(codegen::to_object(m, Target("arm-32-linux")),
                             doctest::Contains("x86-64-linux and arm-64-linux"), CompileError);
        CHECK_THROWS_WITH_AS(codegen::JitModule(m, Target("arm-64-linux")),
                             doctest::Contains("cannot run code for the target arm-64-linux"),
                             CompileError);
        auto features = [&](const char *target) {
            std::string text = codegen::to_llvm_ir(m, Target(target));
            size_t at = text.find("\"target-features\"=");
            return text.substr(at, text.find('"', at + 19) - at);
        };
        CHECK(features("arm-64-linux-armv82a").find("+v8.1a") != std::string::npos);
        CHECK(features("arm-64-linux").find("v8.1a") == std::string::npos);
        CHECK(features("arm-64-linux-armv84a").find("+dotprod") != std::string::npos);
    }
}
