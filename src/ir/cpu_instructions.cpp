#include "ir/cpu_instructions.h"
#include "base/error.h"
#include "ir/gpu_instructions.h"

namespace tessera::ir {

namespace {

using Features = std::vector<Target::Feature>;

// The types of sums, A and B, and the extents of a product. `interleaved` neighbours along k are
// together for each j in a row of B; if that is 0, all are.
struct ProductOfCpu {
    Type sum, a, b;
    int64_t rows, columns, k, interleaved;
};

// Adds the operands and the meaning to a row.
Instruction row_of(const ProductOfCpu &p, Instruction row) {
    const std::string of_d = row.is_swapped && p.rows > 1 ? str("register(j*", p.rows, " + i)")
                                                          : str("register(i*", p.columns, " + j)");
    const std::string of_b = p.interleaved ? str("row(k/", p.interleaved, ") element(j*",
                                                 p.interleaved, " + k%", p.interleaved, ")")
                                           : "row(j) element(k)";
    const auto in_rows = [](const char *name, Type type, const std::string &layout) {
        return InstructionOperand{Symbol::interned(name), type, OperandPlace::MemoryOfRows,
                                  parse_layout(layout)};
    };
    row.operands = {
        in_registers("D", p.sum, str("i:", p.rows, " j:", p.columns, " -> thread(0) ", of_d)),
        in_rows("A", p.a, str("i:", p.rows, " k:", p.k, " -> row(i) element(k)")),
        in_rows("B", p.b, str("k:", p.k, " j:", p.columns, " -> ", of_b))};
    row.meaning = product_meaning(row.operands, p.rows, p.columns, p.k);
    return row;
}

// A tile register has 16 rows of 64 bytes.
Instruction of_tiles(const char *name, Type sum, Type a, Type b) {
    const int64_t together = 4 / a.bytes();
    return row_of({sum, a, b, 16, 16, 16 * together, together},
                  {.name = name,
                   .family = "amx",
                   .arch = Target::X86,
                   .features = {Target::AVX512_SapphireRapids},
                   .mnemonic = name,
                   .is_of_tiles = true});
}

// The 32 bits of A are repeated for all lanes of a vector register.
struct OfVectors {
    const char *name, *mnemonic, *family;
    Target::Arch arch;
    Features features;
    Type sum, a, b;
    int64_t columns;
    bool is_swapped = false;
};
Instruction of_vectors(const OfVectors &v) {
    const int64_t together = 4 / v.a.bytes();
    return row_of({v.sum, v.a, v.b, 1, v.columns, together, together},
                  {.name = v.name,
                   .family = v.family,
                   .arch = v.arch,
                   .features = v.features,
                   .mnemonic = v.mnemonic,
                   .is_swapped = v.is_swapped});
}

// Two rows of A and two columns of B, of 64 bits each, are in registers of 128.
Instruction of_pairs(const char *name, const char *mnemonic, Type sum, Type a, Type b,
                     bool is_swapped = false) {
    return row_of({sum, a, b, 2, 2, 8 / a.bytes(), 0}, {.name = name,
                                                        .family = "mmla",
                                                        .arch = Target::ARM,
                                                        .features = {Target::ARMv86a},
                                                        .mnemonic = mnemonic,
                                                        .is_swapped = is_swapped});
}

std::vector<Instruction> all_instructions() {
    const Type s8 = Int(8), u8 = UInt(8), s16 = Int(16), s32 = Int(32), bf16 = BFloat(16),
               f32 = Float(32);
    const Features vnni = {Target::AVX512_VNNI}, narrow = {Target::AVXVNNI, Target::AVX512_VNNI},
                   bfloat = {Target::AVX512_Zen4}, dot = {Target::ARMDotProd, Target::ARMv84a},
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

}  // namespace

const std::vector<Instruction> &cpu_instructions() {
    static const std::vector<Instruction> all = all_instructions();
    return all;
}

}  // namespace tessera::ir
