#include "ir/cpu_instructions.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::ir {

namespace {

// A tile register has 16 rows of 64 bytes.
CpuInstruction of_tiles(const char *name, Type sum, Type a, Type b) {
    const int64_t together = 4 / a.bytes();
    return {.name = name,
            .mnemonic = name,
            .family = "amx",
            .features = {Target::AVX512_SapphireRapids},
            .sum = sum,
            .a = a,
            .b = b,
            .rows = 16,
            .columns = 16,
            .k = 16 * together,
            .interleaved = together};
}

// The 32 bits of A are repeated for all lanes of a vector register.
struct OfVectors {
    const char *name, *mnemonic, *family;
    Target::Arch arch;
    std::vector<Target::Feature> features;
    Type sum, a, b;
    int64_t columns;
    bool is_swapped = false;
};
CpuInstruction of_vectors(const OfVectors &v) {
    const int64_t together = 4 / v.a.bytes();
    return {.name = v.name,
            .mnemonic = v.mnemonic,
            .family = v.family,
            .arch = v.arch,
            .features = v.features,
            .sum = v.sum,
            .a = v.a,
            .b = v.b,
            .rows = 1,
            .columns = v.columns,
            .k = together,
            .interleaved = together,
            .is_swapped = v.is_swapped};
}

// Two rows of A and two columns of B, of 64 bits each, are in registers of 128.
CpuInstruction of_pairs(const char *name, const char *mnemonic, Type sum, Type a, Type b,
                        bool is_swapped = false) {
    return {.name = name,
            .mnemonic = mnemonic,
            .family = "mmla",
            .arch = Target::ARM,
            .features = {Target::ARMv86a},
            .sum = sum,
            .a = a,
            .b = b,
            .rows = 2,
            .columns = 2,
            .k = 8 / a.bytes(),
            .is_swapped = is_swapped};
}

std::vector<CpuInstruction> all_instructions() {
    const Type s8 = Int(8), u8 = UInt(8), s16 = Int(16), s32 = Int(32), bf16 = BFloat(16),
               f32 = Float(32);
    const std::vector<Target::Feature> vnni = {Target::AVX512_VNNI},
                                       narrow = {Target::AVXVNNI, Target::AVX512_VNNI},
                                       bfloat = {Target::AVX512_Zen4},
                                       dot = {Target::ARMDotProd, Target::ARMv84a},
                                       mixed = {Target::ARMv86a};
    return {
        of_tiles("tdpbssd", s32, s8, s8),
        of_tiles("tdpbusd", s32, u8, s8),
        of_tiles("tdpbsud", s32, s8, u8),
        of_tiles("tdpbuud", s32, u8, u8),
        of_tiles("tdpbf16ps", f32, bf16, bf16),
        of_vectors({"vpdpbusd", "vpdpbusd", "vnni", Target::X86, vnni, s32, u8, s8, 16}),
        of_vectors(
            {"vpdpbusd.swapped", "vpdpbusd", "vnni", Target::X86, vnni, s32, s8, u8, 16, true}),
        of_vectors({"vpdpwssd", "vpdpwssd", "vnni", Target::X86, vnni, s32, s16, s16, 16}),
        of_vectors({"vdpbf16ps", "vdpbf16ps", "vnni", Target::X86, bfloat, f32, bf16, bf16, 16}),
        of_vectors({"vpdpbusd.256", "vpdpbusd", "vnni", Target::X86, narrow, s32, u8, s8, 8}),
        of_vectors({"vpdpbusd.swapped.256", "vpdpbusd", "vnni", Target::X86, narrow, s32, s8, u8, 8,
                    true}),
        of_vectors({"vpdpwssd.256", "vpdpwssd", "vnni", Target::X86, narrow, s32, s16, s16, 8}),
        of_vectors({"vdpbf16ps.256", "vdpbf16ps", "vnni", Target::X86, bfloat, f32, bf16, bf16, 8}),
        of_pairs("smmla", "smmla", s32, s8, s8),
        of_pairs("ummla", "ummla", UInt(32), u8, u8),
        of_pairs("ummla.int32", "ummla", s32, u8, u8),
        of_pairs("usmmla", "usmmla", s32, u8, s8),
        of_pairs("usmmla.swapped", "usmmla", s32, s8, u8, true),
        of_pairs("bfmmla", "bfmmla", f32, bf16, bf16),
        of_vectors({"sdot", "sdot", "dot", Target::ARM, dot, s32, s8, s8, 4}),
        of_vectors({"udot", "udot", "dot", Target::ARM, dot, UInt(32), u8, u8, 4}),
        of_vectors({"udot.int32", "udot", "dot", Target::ARM, dot, s32, u8, u8, 4}),
        of_vectors({"usdot", "usdot", "dot", Target::ARM, mixed, s32, u8, s8, 4}),
        of_vectors({"usdot.swapped", "usdot", "dot", Target::ARM, mixed, s32, s8, u8, 4, true}),
    };
}

Expr cpu_element(const InstructionOperand &operand, const Expr &row, const Expr &column) {
    return Call::make(operand.type, operand.name, CallKind::Func, 0, {row, column});
}

Stmt cpu_loop(Symbol name, int64_t extent, const Stmt &body) {
    return For::make(name, 0, int32_t(extent), LoopKind::Serial, Partition::Never, body);
}

}  // namespace

std::span<const CpuInstruction> cpu_instructions() {
    static const std::vector<CpuInstruction> all = all_instructions();
    return all;
}

const CpuInstruction *cpu_instruction(std::string_view name) {
    const auto all = cpu_instructions();
    const auto found = std::ranges::find(all, name, &CpuInstruction::name);
    return found == all.end() ? nullptr : &*found;
}

std::vector<const CpuInstruction *> cpu_instructions_called(std::string_view name) {
    std::vector<const CpuInstruction *> found;
    for (const CpuInstruction &i : cpu_instructions()) {
        if (i.name == name || i.mnemonic == name || i.family == name) found.push_back(&i);
    }
    return found;
}

bool CpuInstruction::is_on(const Target &target) const {
    const Target all = target.with_implied_features();
    return target.arch == arch && target.bits == 64 && all.features_any_of(features);
}

Instruction CpuInstruction::instruction() const {
    const auto own = [](const char *name) { return Symbol::interned(name); };
    const std::string of_d = is_swapped && rows > 1 ? str("register(j*", rows, " + i)")
                                                    : str("register(i*", columns, " + j)");
    const std::string of_b = interleaved ? str("row(k/", interleaved, ") element(j*", interleaved,
                                               " + k%", interleaved, ")")
                                         : "row(j) element(k)";
    Instruction made{
        .name = name,
        .threads = 1,
        .operands = {{own("D"), sum, OperandPlace::Registers,
                      parse_layout(str("i:", rows, " j:", columns, " -> thread(0) ", of_d))},
                     {own("A"), a, OperandPlace::MemoryOfRows,
                      parse_layout(str("i:", rows, " k:", k, " -> row(i) element(k)"))},
                     {own("B"), b, OperandPlace::MemoryOfRows,
                      parse_layout(str("k:", k, " j:", columns, " -> ", of_b))}}};
    const Expr at_i = int32_variable(own("i")), at_j = int32_variable(own("j")),
               at_k = int32_variable(own("k"));
    const Expr product = cast(sum, cpu_element(made.operands[1], at_i, at_k)) *
                         cast(sum, cpu_element(made.operands[2], at_k, at_j));
    const Stmt body = Provide::make(own("D"), {cpu_element(made.operands[0], at_i, at_j) + product},
                                    {at_i, at_j});
    made.meaning =
        cpu_loop(own("i"), rows, cpu_loop(own("j"), columns, cpu_loop(own("k"), k, body)));
    return made;
}

}  // namespace tessera::ir
