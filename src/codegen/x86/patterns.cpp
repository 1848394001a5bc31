#include "codegen/x86/patterns.h"
#include "codegen/x86/amx.h"
#include <llvm/IR/IntrinsicsX86.h>
#include <numeric>

namespace tessera::codegen {
namespace {

namespace I = llvm::Intrinsic;

bool fits_int16(Type t) { return Int(16, t.lanes()).can_represent(t) && !t.is_bool(); }

// The same machine operation for vectors of 16, 32 and 64 bytes, where there is one.
struct Widths {
    I::ID bytes16, bytes32, bytes64;

    I::ID of(int bytes) const { return bytes == 16 ? bytes16 : bytes == 32 ? bytes32 : bytes64; }
};

class X86Patterns final : public Patterns {
public:
    using Patterns::Patterns;
    Value *reduce(const VectorReduce &node, const Expr &accumulator) override;
    Value *intrinsic(const IntrinsicCall &call) override;
    Value *shift(Value *, Value *, Type, const Shift &) override { return nullptr; }
    Value *fast_inverse(Value *x, int lanes, bool of_root) override;
    bool has_byte_tables() const override { return target.has_feature(Target::AVX512_Cannonlake); }
    Value *look_up(const std::vector<Value *> &registers, const Expr &index) override;
    Value *scale(Value *x, Value *n, int lanes) override;
    Value *multiply(const ir::Instruction &row, Value *sums, Value *a, Value *c) override;
    std::unique_ptr<TileRegisters> tile_registers() override { return amx_registers(module(), b); }

private:
    Value *dot(const VectorReduce &node, const Expr &accumulator);
    Value *dot_of_bfloats(const VectorReduce &node, const Expr &accumulator, const Expr &a,
                          const Expr &c);
    Value *accumulate(const VectorReduce &node, const Expr &accumulator, Value *x, Value *y,
                      int group);
    Value *sum_of_bytes(const VectorReduce &node);
    Value *rounding_mul_shift(const IntrinsicCall &c);
    int native_integer_bytes() const { return target.natural_vector_size(1, true); }
};

}  // namespace

Value *X86Patterns::reduce(const VectorReduce &node, const Expr &accumulator) {
    if (node.op != ReduceOp::Add) return nullptr;
    if (node.value.type().bits() > 64 || node.value.type().is_bool()) return nullptr;
    if (Value *v = dot(node, accumulator)) return v;
    if (accumulator.defined()) return nullptr;
    return sum_of_bytes(node);
}

Value *X86Patterns::dot(const VectorReduce &node, const Expr &accumulator) {
    Product product;
    if (!find_product(node.value, product)) return nullptr;
    Type t = node.type, a = product.a.type(), c = product.b.type();
    int factor = node.value.type().lanes() / node.lanes;
    if (t.is_float()) return dot_of_bfloats(node, accumulator, product.a, product.b);
    if (t.bits() != 32 || !t.is_int_or_uint()) return nullptr;
    bool vnni = target.has_feature(Target::AVX512_VNNI) || target.has_feature(Target::AVXVNNI);
    if (is_signed_byte(a) && is_unsigned_byte(c)) std::swap(product.a, product.b);
    bool mixed_bytes = is_unsigned_byte(product.a.type()) && is_signed_byte(product.b.type());
    if (vnni && mixed_bytes && factor % 4 == 0) {
        return accumulate(node, accumulator, value(product.a), value(product.b), 4);
    }
    if (factor % 2 != 0 || !fits_int16(a) || !fits_int16(c)) return nullptr;
    auto as_int16 = [&](const Expr &e) {
        return cast(value(e), e.type(), Int(16, e.type().lanes()));
    };
    Value *x = as_int16(product.a), *y = as_int16(product.b);
    if (vnni) return accumulate(node, accumulator, x, y, 2);
    constexpr Widths madd = {I::x86_sse2_pmadd_wd, I::x86_avx2_pmadd_wd,
                             I::x86_avx512_pmaddw_d_512};
    int partial_lanes = node.value.type().lanes() / 2;
    Value *partial = by_native_width(
        {x, y}, partial_lanes, 4, native_integer_bytes(),
        [&](int bytes, const std::vector<Value *> &v) { return machine_call(madd.of(bytes), v); });
    return finish_dot(node, accumulator, partial);
}

// vpdpbusd and vpdpwssd: `group` products are added to each int32 of the accumulator.
Value *X86Patterns::accumulate(const VectorReduce &node, const Expr &accumulator, Value *x,
                               Value *y, int group) {
    bool bytes4 = group == 4;
    bool wide = target.has_feature(Target::AVX512_VNNI);
    const Widths op = bytes4 ? Widths{I::x86_avx512_vpdpbusd_128, I::x86_avx512_vpdpbusd_256,
                                      I::x86_avx512_vpdpbusd_512}
                             : Widths{I::x86_avx512_vpdpwssd_128, I::x86_avx512_vpdpwssd_256,
                                      I::x86_avx512_vpdpwssd_512};
    int partial_lanes = node.value.type().lanes() / group;
    bool exact = partial_lanes == node.lanes;
    Value *start = exact && accumulator.defined() ? value(accumulator)
                                                  : int_constant(Int(32, partial_lanes), 0);
    Value *partial = by_native_width(
        {as_vector(start), x, y}, partial_lanes, 4, wide ? 64 : 32,
        [&](int bytes, const std::vector<Value *> &v) { return machine_call(op.of(bytes), v); });
    return exact ? partial : finish_dot(node, accumulator, partial);
}

Value *X86Patterns::dot_of_bfloats(const VectorReduce &node, const Expr &accumulator, const Expr &a,
                                   const Expr &c) {
    int lanes = node.value.type().lanes(), factor = lanes / node.lanes;
    bool fits = a.type().is_bfloat() && c.type().is_bfloat() && node.type.bits() == 32;
    if (!fits || factor % 2 || is_strict() || !target.has_feature(Target::AVX512_Zen4))
        return nullptr;
    constexpr Widths op = {I::x86_avx512bf16_dpbf16ps_128, I::x86_avx512bf16_dpbf16ps_256,
                           I::x86_avx512bf16_dpbf16ps_512};
    bool exact = factor == 2;
    Value *start = exact && accumulator.defined() ? value(accumulator)
                                                  : float_constant(Float(32, lanes / 2), 0);
    Value *partial = by_native_width(
        {as_vector(start), value(a), value(c)}, lanes / 2, 4, 64,
        [&](int bytes, const std::vector<Value *> &v) { return machine_call(op.of(bytes), v); });
    return exact ? partial : finish_dot(node, accumulator, partial);
}

// Sums of 8 bytes, or of their absolute differences: psadbw.
Value *X86Patterns::sum_of_bytes(const VectorReduce &node) {
    Type t = node.type;
    int lanes = node.value.type().lanes(), factor = lanes / node.lanes;
    Expr bytes = narrower(node.value);
    if (!bytes.defined() || !is_unsigned_byte(bytes.type()) || factor % 8 || !t.is_int_or_uint()) {
        return nullptr;
    }
    const auto *call = bytes.as<IntrinsicCall>();
    bool difference = call && call->op == Intrinsic::absd && is_unsigned_byte(call->args[0].type());
    Value *x = value(difference ? call->args[0] : bytes);
    Value *y = difference ? value(call->args[1]) : llvm::Constant::getNullValue(x->getType());
    constexpr Widths sad = {I::x86_sse2_psad_bw, I::x86_avx2_psad_bw, I::x86_avx512_psad_bw_512};
    Value *sums = by_native_width(
        {x, y}, lanes / 8, 8, native_integer_bytes(),
        [&](int width, const std::vector<Value *> &v) { return machine_call(sad.of(width), v); });
    Value *narrow = cast(sums, UInt(64, lanes / 8), t.with_lanes(lanes / 8));
    return reduce_lanes(ReduceOp::Add, narrow, t.element_of(), node.lanes);
}

// pmulhrsw. It gives -2^15 for -2^15 * -2^15, and for nothing else: turn that into 2^15 - 1.
Value *X86Patterns::rounding_mul_shift(const IntrinsicCall &c) {
    Type t = c.type;
    bool int16s = t.is_int() && t.bits() == 16 && c.args[0].type() == t && c.args[1].type() == t;
    bool has = target.has_feature(Target::SSE41);
    if (!int16s || !t.is_vector() || !has) return nullptr;
    if (constant_in_all_lanes(c.args[2]) != 15) return nullptr;
    constexpr Widths op = {I::x86_ssse3_pmul_hr_sw_128, I::x86_avx2_pmul_hr_sw,
                           I::x86_avx512_pmul_hr_sw_512};
    Value *product = by_native_width(
        {value(c.args[0]), value(c.args[1])}, t.lanes(), 2, native_integer_bytes(),
        [&](int bytes, const std::vector<Value *> &v) { return machine_call(op.of(bytes), v); });
    Value *lowest = b.CreateICmpEQ(product, int_constant(t, -32768));
    return b.CreateXor(product, b.CreateSExt(lowest, register_type(t)));
}

// The machine's 12-bit (14-bit, with AVX-512) guess, and one step of Newton's.
Value *X86Patterns::fast_inverse(Value *x, int lanes, bool of_root) {
    bool avx512 = target.has_feature(Target::AVX512), avx = target.has_feature(Target::AVX);
    auto guess = [&](int bytes, const std::vector<Value *> &v) -> Value * {
        if (bytes == 16) return machine_call(of_root ? I::x86_sse_rsqrt_ps : I::x86_sse_rcp_ps, v);
        if (bytes == 32) {
            return machine_call(of_root ? I::x86_avx_rsqrt_ps_256 : I::x86_avx_rcp_ps_256, v);
        }
        auto *zero = llvm::Constant::getNullValue(v[0]->getType());
        return machine_call(of_root ? I::x86_avx512_rsqrt14_ps_512 : I::x86_avx512_rcp14_ps_512,
                            {v[0], zero, b.getInt16(0xffff)});
    };
    Value *y = by_native_width({as_vector(x)}, lanes, 4, avx512 ? 64 : avx ? 32 : 16, guess);
    auto real = [&](double v) { return float_constant(Float(32, lanes), v); };
    llvm::IRBuilder<>::FastMathFlagGuard keep(b);
    b.clearFastMathFlags();
    if (!of_root) return b.CreateFMul(y, b.CreateFSub(real(2), b.CreateFMul(x, y)));
    Value *half = b.CreateFMul(b.CreateFMul(real(0.5), x), b.CreateFMul(y, y));
    return b.CreateFMul(y, b.CreateFSub(real(1.5), half));
}

Value *X86Patterns::scale(Value *x, Value *n, int lanes) {
    if (!target.has_feature(Target::AVX512_Skylake)) return nullptr;
    constexpr Widths op = {I::x86_avx512_mask_scalef_ps_128, I::x86_avx512_mask_scalef_ps_256,
                           I::x86_avx512_mask_scalef_ps_512};
    return by_native_width({x, n}, lanes, 4, 64, [&](int bytes, const std::vector<Value *> &v) {
        std::vector<Value *> args = {v[0], v[1], v[0]};  // those of lanes that are masked out
        args.push_back(bytes == 64 ? b.getInt16(0xffff) : b.getInt8(0xff));
        constexpr int current_rounding = 4;
        if (bytes == 64) args.push_back(b.getInt32(current_rounding));
        return machine_call(op.of(bytes), args);
    });
}

// vpermi2b finds a byte among 128, by the low 7 bits of its lane of the index; the others choose
// between what was found in several.
Value *X86Patterns::look_up(const std::vector<Value *> &registers, const Expr &index) {
    std::vector<Value *> table = registers;
    constexpr int width = 64;
    const int lanes = index.type().lanes();
    if (index.type().bits() == 8 && table.size() > 4) table.resize(4);
    while (table.size() < 2 || (table.size() & (table.size() - 1)) != 0) {
        table.push_back(table.back());  // nothing is found there
    }
    const Type byte = UInt(8, lanes);
    Value *all = value(index);
    auto byte_of = [&](int shift) {
        Value *shifted = shift ? b.CreateLShr(all, int_constant(index.type(), shift)) : all;
        return b.CreateTrunc(shifted, register_type(byte));
    };
    std::vector<Value *> operands = {byte_of(0)};
    const bool high_bits = table.size() > 4;
    if (high_bits) operands.push_back(byte_of(8));
    auto find = [&](int, const std::vector<Value *> &parts) -> Value * {
        auto *type = llvm::cast<llvm::FixedVectorType>(parts[0]->getType());
        const int count = int(type->getNumElements());
        auto filled_up = [&](Value *v) {
            std::vector<int> places(width, -1);
            std::iota(places.begin(), places.begin() + count, 0);
            return count == width ? v : b.CreateShuffleVector(v, places);
        };
        Value *low = filled_up(parts[0]), *high = high_bits ? filled_up(parts[1]) : nullptr;
        std::vector<Value *> found;
        for (size_t i = 0; i < table.size(); i += 2) {
            found.push_back(
                machine_call(I::x86_avx512_vpermi2var_qi_512, {table[i], low, table[i + 1]}));
        }
        for (int bit = 7; found.size() > 1; bit++) {
            Value *from = bit == 7 ? low : high,
                  *zero = llvm::Constant::getNullValue(low->getType());
            Value *mask = b.getInt8(uint8_t(1 << (bit % 8)));
            Value *is_set =
                b.CreateICmpNE(b.CreateAnd(from, b.CreateVectorSplat(width, mask)), zero);
            for (size_t i = 0; i < found.size() / 2; i++) {
                found[i] = b.CreateSelect(is_set, found[2 * i + 1], found[2 * i]);
            }
            found.resize(found.size() / 2);
        }
        return count == width ? found[0] : slice(found[0], 0, 1, count);
    };
    return by_native_width(operands, lanes, 1, width, find);
}

Value *X86Patterns::intrinsic(const IntrinsicCall &call) {
    return call.op == Intrinsic::rounding_mul_shift_right ? rounding_mul_shift(call) : nullptr;
}

Value *X86Patterns::multiply(const ir::Instruction &row, Value *sums, Value *a, Value *c) {
    struct Row {
        const char *mnemonic;
        Widths op;
    };
    constexpr Row rows[] = {
        {"vpdpbusd",
         {I::x86_avx512_vpdpbusd_128, I::x86_avx512_vpdpbusd_256, I::x86_avx512_vpdpbusd_512}},
        {"vpdpwssd",
         {I::x86_avx512_vpdpwssd_128, I::x86_avx512_vpdpwssd_256, I::x86_avx512_vpdpwssd_512}},
        {"vdpbf16ps",
         {I::x86_avx512bf16_dpbf16ps_128, I::x86_avx512bf16_dpbf16ps_256,
          I::x86_avx512bf16_dpbf16ps_512}}};
    const int bytes = int(row.extent("j")) * row.operand("D").type.bytes();
    for (const Row &r : rows) {
        if (row.mnemonic != r.mnemonic) continue;
        return machine_call(r.op.of(bytes), {sums, row.is_swapped ? c : a, row.is_swapped ? a : c});
    }
    return nullptr;
}

std::unique_ptr<Patterns> x86_patterns(Emitter &emitter) {
    return std::make_unique<X86Patterns>(emitter);
}

}  // namespace tessera::codegen
