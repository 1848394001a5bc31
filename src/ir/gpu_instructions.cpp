#include "ir/gpu_instructions.h"
#include "base/error.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::ir {

namespace {

Symbol symbol(std::string_view name) { return Symbol::interned(name); }

Stmt loops_over(const std::vector<LayoutCoordinate> &loops, Stmt body) {
    for (size_t i = loops.size(); i-- > 0;)
        body = For::make(symbol(loops[i].name), 0, int32_t(loops[i].extent), LoopKind::Serial,
                         Partition::Never, body);
    return body;
}

Expr element(const InstructionOperand &operand) {
    std::vector<Expr> at;
    for (const LayoutCoordinate &c : operand.layout.coordinates)
        at.push_back(int32_variable(symbol(c.name)));
    return Call::make(operand.type, operand.name, CallKind::Func, 0, at);
}

Stmt assign(const InstructionOperand &operand, const Expr &value) {
    return Provide::make(operand.name, {value}, element(operand).as<Call>()->args);
}

// Elements of an operand that a register of 32 bits holds.
int64_t in_word(Type type) { return 4 / type.bytes(); }

// The sign of each element in a word of 32 bits.
const char *signs_in_word(Type type) {
    return type.bits() == 8 ? "0x80808080" : type.bits() == 16 ? "0x80008000" : "0x80000000";
}

// Replaces $A, or the part $A[2:4] of it, by registers of this name with a number.
std::string with_names_of_a(const std::string &assembly, const std::string &name, int64_t words) {
    std::string text;
    size_t begin = 0;
    for (size_t at = assembly.find("$A"); at != std::string::npos;
         at = assembly.find("$A", begin)) {
        text += assembly.substr(begin, at - begin);
        begin = at + 2;
        int64_t from = 0, to = words;
        if (begin < assembly.size() && assembly[begin] == '[') {
            const size_t colon = assembly.find(':', begin), end = assembly.find(']', begin);
            from = std::stoll(assembly.substr(begin + 1, colon - begin - 1));
            to = std::stoll(assembly.substr(colon + 1, end - colon - 1));
            begin = end + 1;
        }
        text += "{";
        for (int64_t i = from; i < to; i++) text += str(i == from ? "" : ", ", name, i);
        text += "}";
    }
    return text + assembly.substr(begin);
}

// Tensor cores see floats of 32 bits as tf32: they ignore the 13 lowest bits.
std::string name_of_operand(Type type) { return type == Float(32) ? "tf32" : short_name(type); }

// Returns the name of the types of a product: that of the sums, and those of A and B, or one if
// these are the same.
std::string types_of(Type sum, Type a, Type b) {
    const std::string first = name_of_operand(a), second = name_of_operand(b);
    return str(short_name(sum), ".", first, first == second ? "" : "." + second);
}

// Returns the digits of an operand's register: words of 4 lanes along k, which hold neighbours.
std::string within_word(Type type) {
    const int64_t n = in_word(type);
    return n > 1 ? str("k%", n) : "0";
}
std::string lane_along_k(Type type) {
    const int64_t n = in_word(type);
    return n > 1 ? str("k/", n, "%4") : "k%4";
}

}  // namespace

std::string short_name(Type type) {
    if (type.is_float8()) return type.code() == TypeCode::Float8E4M3 ? "e4m3" : "e5m2";
    const char *const prefix = type.is_bfloat()  ? "bf"
                               : type.is_float() ? "f"
                               : type.is_int()   ? "s"
                                                 : "u";
    return str(prefix, type.bits());
}

Instruction that_subtracts(Instruction row) {
    const InstructionOperand &sums = row.operands[0], &a = row.operand("A");
    const Type sum = sums.type;
    const Expr products = cast(sum, element(a)) * cast(sum, element(row.operand("B")));
    row.meaning =
        loops_over({{"i", row.extent("i")}, {"j", row.extent("j")}, {"k", row.extent("k")}},
                   assign(sums, element(sums) - products));
    row.name += ".minus";
    if (row.is_asynchronous) {
        const std::string signs = ", 1, 1, 1";  // of D, A and B
        row.assembly.replace(row.assembly.find(signs), signs.size(), ", 1, -1, 1");
        return row;
    }
    const int64_t words = a.layout.output("register")->extent() / in_word(a.type);
    std::string changed = str("{\n\t.reg .b32 minus<", words, ">;\n\t");
    for (int64_t i = 0; i < words; i++)
        changed += str("xor.b32 minus", i, ", $A[", i, "], ", signs_in_word(a.type), ";\n\t");
    row.assembly = str(changed, with_names_of_a(row.assembly, "minus", words), "\n\t}");
    return row;
}

Stmt product_meaning(const std::vector<InstructionOperand> &operands, int64_t i, int64_t j,
                     int64_t k) {
    const Type sum = operands[0].type;
    const Expr products = cast(sum, element(operands[1])) * cast(sum, element(operands[2]));
    return loops_over({{"i", i}, {"j", j}, {"k", k}},
                      assign(operands[0], element(operands[0]) + products));
}

InstructionOperand in_registers(const char *name, Type type, const std::string &layout) {
    return {symbol(name), type, OperandPlace::Registers, parse_layout(layout)};
}

// Four threads have a word each of 16 bytes along k; a thread's next word is of the row eight
// below, and then of the next 16 bytes.
Instruction mma_m16n8(int64_t k, Type sum, Type a, Type b) {
    const int64_t n = in_word(a), half = 4 * n;
    const std::string lane = lane_along_k(a), within = within_word(a);
    const auto next = [&](int64_t registers) {
        return k > half ? str("k/", half, "*", registers, " + ") : std::string();
    };
    Instruction made{
        .name = str("mma.m16n8k", k, ".", types_of(sum, a, b)),
        .family = a == Float(32) ? "mma.tf32" : "mma",
        .threads = 32,
        .capability = a.is_float8()              ? 89
                      : a == Float(16) && k == 8 ? 75
                                                 : 80,
        .operands = {
            in_registers("D", sum, "i:16 j:8 -> thread(i%8*4 + j/2) register(i/8*2 + j%2)"),
            in_registers("A", a,
                         str("i:16 k:", k, " -> thread(i%8*4 + ", lane, ") register(", next(2 * n),
                             "i/8*", n, " + ", within, ")")),
            in_registers(
                "B", b,
                str("k:", k, " j:8 -> thread(j*4 + ", lane, ") register(", next(n), within, ")"))}};
    made.rounds_operands = a == Float(32);
    made.meaning = product_meaning(made.operands, 16, 8, k);
    made.assembly =
        str("mma.sync.aligned.m16n8k", k, ".row.col.", short_name(sum), ".", name_of_operand(a),
            ".", name_of_operand(b), ".", short_name(sum), " $D, $A, $B, $D;");
    return made;
}

Instruction ldmatrix_x4(Type element, bool transposed) {
    const int64_t of_row = 16 / element.bytes(), n = in_word(element);
    const std::string lane = transposed ? "c*4 + r/2" : str("r*4 + c", n > 1 ? str("/", n) : "");
    const std::string within = transposed ? " + r%2" : n > 1 ? str(" + c%", n) : "";
    Instruction made{
        .name = str("ldmatrix.x4", transposed ? ".trans." : ".", name_of_operand(element)),
        .family = "ldmatrix",
        .threads = 32,
        .capability = 75,
        .operands = {in_registers("F", element,
                                  str("m:4 r:8 c:", of_row, " -> thread(", lane, ") register(m*", n,
                                      within, ")")),
                     {symbol("M"), element, OperandPlace::MemoryOfRows,
                      parse_layout(str("m:4 r:8 c:", of_row, " -> row(m*8 + r) element(c)"))}}};
    made.meaning = loops_over({{"m", 4}, {"r", 8}, {"c", of_row}},
                              assign(made.operands[0], ir::element(made.operands[1])));
    made.assembly =
        str("ldmatrix.sync.aligned.m8n8.x4", transposed ? ".trans" : "", ".shared.b16 $F, [$M];");
    return made;
}

Instruction stmatrix_x4(Type element) {
    const Instruction load = ldmatrix_x4(element, false);
    Instruction made{.name = str("stmatrix.x4.", name_of_operand(element)),
                     .family = "stmatrix",
                     .threads = 32,
                     .capability = 90,
                     .operands = {load.operand("M"), load.operand("F")}};
    made.meaning = loops_over({{"m", 4}, {"r", 8}, {"c", 16 / element.bytes()}},
                              assign(made.operands[0], ir::element(made.operands[1])));
    made.assembly = "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$M], $F;";
    return made;
}

// Two mma.sync m16n8k16: of the halves of the columns, or of the rows; or, of 8 rows, of the halves
// of the columns with A and B exchanged, which gives D by columns.
Instruction wmma_k16(int64_t rows, int64_t columns, Type sum, Type element) {
    const bool is_exchanged = rows == 8, is_wide = rows == 32 || is_exchanged;
    const std::string own = is_exchanged ? "j" : "i", other = is_exchanged ? "i" : "j";
    const std::string lane_of_rows = own + "%8*4 + ",
                      lane_of_columns = is_wide ? other + "*4 + " : "j%8*4 + ",
                      lane_in_sums = is_wide ? other + "/2" : "j/2%4";
    const std::string of_rows = is_wide ? str(own, "/16*8 + k/8*4 + ", own, "/8%2*2 + k%2")
                                        : "k/8*4 + i/8*2 + k%2",
                      of_columns = is_wide ? "k/8*2 + k%2" : "j/8*4 + k/8*2 + k%2",
                      of_sums = is_wide ? str(own, "/16*4 + ", own, "/8%2*2 + ", other, "%2")
                                        : "j/8*4 + i/8*2 + j%2";
    const std::string of_a = str("i:", rows, " k:16 -> "), of_b = str("k:16 j:", columns, " -> "),
                      wide = str("thread(", lane_of_rows, "k/2%4) register(", of_rows, ")"),
                      narrow = str("thread(", lane_of_columns, "k/2%4) register(", of_columns, ")");
    Instruction made{
        .name = str("wmma.m", rows, "n", columns, "k16.", types_of(sum, element, element)),
        .family = "wmma",
        .threads = 32,
        .capability = 80,
        .operands = {in_registers("D", sum,
                                  str("i:", rows, " j:", columns, " -> thread(", lane_of_rows,
                                      lane_in_sums, ") register(", of_sums, ")")),
                     in_registers("A", element, of_a + (is_exchanged ? narrow : wide)),
                     in_registers("B", element, of_b + (is_exchanged ? wide : narrow))}};
    made.meaning = product_meaning(made.operands, rows, columns, 16);
    const int64_t words = 4 / in_word(sum);
    const std::string types = str(short_name(sum), ".", short_name(element), ".",
                                  short_name(element), ".", short_name(sum));
    for (const int64_t half : {0, 1}) {
        const std::string d = str("$D[", half * words, ":", (half + 1) * words, "]"),
                          of_16 = is_wide ? str("[", half * 4, ":", half * 4 + 4, "]") : "",
                          of_8 = is_wide ? "" : str("[", half * 2, ":", half * 2 + 2, "]");
        made.assembly += str(half ? "\n\t" : "", "mma.sync.aligned.m16n8k16.row.col.", types, " ",
                             d, ", ", is_exchanged ? "$B" : "$A", of_16, ", ",
                             is_exchanged ? "$A" : "$B", of_8, ", ", d, ";");
    }
    return made;
}

Layout wgmma_layout(const Instruction &wgmma, std::string_view operand, WgmmaOperand lies) {
    const InstructionOperand &o = wgmma.operand(operand);
    const bool is_a = operand == "A";
    const std::string own = is_a ? "i" : "j";
    const int64_t extent = wgmma.extent(own), of_panel = lies.swizzle / o.type.bytes();
    Layout layout = parse_layout(
        str(is_a ? str(own, ":", extent, " k:") : str("k:"), wgmma.extent("k"),
            is_a ? std::string() : str(" ", own, ":", extent), " -> element(",
            lies.is_along_k ? str(own, "*", of_panel, " + k)") : str("k*", of_panel, ")")));
    if (!lies.is_along_k) {
        const int64_t within = std::min(extent, of_panel);
        const size_t coordinate = is_a ? 0 : 1;
        std::vector<LayoutDigit> &digits = layout.outputs[0].digits;
        digits.push_back({coordinate, 1, within, 1});
        if (extent > within)
            digits.push_back({coordinate, of_panel, extent / of_panel, lies.panel});
    }
    return layout;
}

Instruction wgmma_m64(int64_t columns, Type sum, Type a, Type b, bool a_in_registers) {
    const int64_t n = in_word(a), half = 4 * n, k = 2 * half;
    const bool may_be_transposed = a.bits() == 16, has_signs = sum.is_float();
    Instruction made{.name = str("wgmma.m64n", columns, "k", k, ".", types_of(sum, a, b),
                                 a_in_registers ? ".rs" : ""),
                     .family = a == Float(32) ? "wgmma.tf32" : "wgmma",
                     .threads = 128,
                     .is_asynchronous = true,
                     .capability = 90,
                     .is_of_one_capability = true};
    const auto in_memory = [&](const char *name, Type type, const std::string &coordinates) {
        return InstructionOperand{symbol(name), type, OperandPlace::Memory,
                                  parse_layout(coordinates + " -> element(0)")};
    };
    made.operands = {in_registers("D", sum,
                                  str("i:64 j:", columns,
                                      " -> thread(i/16*32 + i%8*4 + j/2%4) register(j/8*4 + "
                                      "i/8%2*2 + j%2)")),
                     a_in_registers
                         ? in_registers("A", a,
                                        str("i:64 k:", k, " -> thread(i/16*32 + i%8*4 + ",
                                            lane_along_k(a), ") register(k/", half, "*", 2 * n,
                                            " + i/8%2*", n, " + ", within_word(a), ")"))
                         : in_memory("A", a, str("i:64 k:", k)),
                     in_memory("B", b, str("k:", k, " j:", columns))};
    for (InstructionOperand &o : made.operands) {
        if (o.place == OperandPlace::Memory) o.layout = wgmma_layout(made, o.name.text(), {});
    }
    made.rounds_operands = a == Float(32);
    made.meaning = product_meaning(made.operands, 64, columns, k);
    made.assembly = str("wgmma.mma_async.sync.aligned.m64n", columns, "k", k, ".", short_name(sum),
                        ".", name_of_operand(a), ".", name_of_operand(b), " $D, $A, $B, 1",
                        has_signs ? ", 1, 1" : "",
                        !may_be_transposed ? ""
                        : a_in_registers   ? ", %B"
                                           : ", %A, %B",
                        ";");
    return made;
}

namespace {

// Bytes of GPUs of compute capability 7.5: newer ones have it, and larger ones.
Instruction mma_m8n8k16(Type a, Type b) {
    const Type sum = Int(32);
    Instruction made{
        .name = str("mma.m8n8k16.", types_of(sum, a, b)),
        .family = "mma",
        .threads = 32,
        .capability = 75,
        .operands = {in_registers("D", sum, "i:8 j:8 -> thread(i*4 + j/2) register(j%2)"),
                     in_registers("A", a, "i:8 k:16 -> thread(i*4 + k/4) register(k%4)"),
                     in_registers("B", b, "k:16 j:8 -> thread(j*4 + k/4) register(k%4)")}};
    made.meaning = product_meaning(made.operands, 8, 8, 16);
    made.assembly = str("mma.sync.aligned.m8n8k16.row.col.s32.", name_of_operand(a), ".",
                        name_of_operand(b), ".s32 $D, $A, $B, $D;");
    return made;
}

}  // namespace

std::vector<Instruction> gpu_instructions(int64_t columns) {
    std::vector<Instruction> all;
    const Type s8 = Int(8), u8 = UInt(8), f16 = Float(16), bf16 = BFloat(16), f32 = Float(32),
               s32 = Int(32), e4m3 = Float8E4M3(), e5m2 = Float8E5M2();
    struct Types {
        Type sum, a, b;
    };
    const Types of_8_bits[] = {{s32, s8, s8}, {s32, u8, u8}, {s32, s8, u8}, {s32, u8, s8}};
    const Types floats_of_8_bits[] = {
        {f32, e4m3, e4m3}, {f32, e5m2, e5m2}, {f32, e4m3, e5m2}, {f32, e5m2, e4m3}};
    const Types of_16_bits[] = {{f32, f16, f16}, {f32, bf16, bf16}, {f16, f16, f16}};
    if (columns % 8 == 0 && columns > 0 && columns <= 256) {
        const bool fits_bytes = columns % 16 == 0 || columns == 8 || columns == 24;
        for (const bool a_in_registers : {false, true}) {
            for (const Types &t : of_16_bits)
                all.push_back(wgmma_m64(columns, t.sum, t.a, t.b, a_in_registers));
            all.push_back(wgmma_m64(columns, f32, f32, f32, a_in_registers));
            for (const Types &t : floats_of_8_bits)
                all.push_back(wgmma_m64(columns, t.sum, t.a, t.b, a_in_registers));
            for (const Types &t : of_8_bits) {
                if (fits_bytes) all.push_back(wgmma_m64(columns, t.sum, t.a, t.b, a_in_registers));
            }
        }
    }
    for (const int64_t k : {16, 8}) {
        for (const Types &t : of_16_bits) all.push_back(mma_m16n8(k, t.sum, t.a, t.b));
    }
    for (const int64_t k : {32, 16}) {
        for (const Types &t : of_8_bits) all.push_back(mma_m16n8(k, t.sum, t.a, t.b));
    }
    for (const Types &t : floats_of_8_bits) all.push_back(mma_m16n8(32, t.sum, t.a, t.b));
    for (const int64_t k : {8, 4}) all.push_back(mma_m16n8(k, f32, f32, f32));
    for (const int64_t rows : {16, 32, 8}) {
        for (const Types &t : of_16_bits) all.push_back(wmma_k16(rows, 256 / rows, t.sum, t.a));
    }
    for (const Types &t : of_8_bits) all.push_back(mma_m8n8k16(t.a, t.b));
    const size_t that_add = all.size();
    for (size_t i = 0; i < that_add; i++) {
        if (all[i].operands[0].type.is_float()) all.push_back(that_subtracts(all[i]));
    }
    return all;
}

}  // namespace tessera::ir
