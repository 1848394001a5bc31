#include "codegen/llvm/emitter.h"
#include "ir/operators.h"
#include <llvm/IR/IntrinsicsX86.h>

// Instructions that LLVM does not find, or not reliably, in what the plain code becomes.
namespace tessera::codegen {
namespace {

namespace I = llvm::Intrinsic;

// value == a * b, where a and b are of a narrower type.
struct Product {
    Expr a, b;
};

Expr narrower(const Expr &e) {
    const auto *cast = e.as<Cast>();
    if (!cast) return Expr();
    Type from = cast->value.type(), to = cast->type;
    bool same_value = to.can_represent(from) && from.bits() < to.bits();
    return same_value ? cast->value : Expr();
}

// Whether t holds every product of an a and a b, of which neither is wider than 16 bits.
bool holds_product(Type t, Type a, Type b) {
    if (t.is_float()) return true;
    if (a.bits() > 16 || b.bits() > 16) return false;
    for (int64_t x : {a.min_int(), a.max_int()}) {
        for (int64_t y : {b.min_int(), b.max_int()}) {
            if (!t.element_of().can_represent(x * y)) return false;
        }
    }
    return true;
}

bool find_product(const Expr &e, Product &found) {
    if (const auto *mul = e.as<Mul>()) {
        found = {narrower(mul->a), narrower(mul->b)};
        return found.a.defined() && found.b.defined() &&
               holds_product(e.type(), found.a.type(), found.b.type());
    }
    if (const auto *call = e.as<IntrinsicCall>(); call && call->op == Intrinsic::widening_mul) {
        found = {call->args[0], call->args[1]};
        return true;
    }
    const auto *cast = e.as<Cast>();
    return cast && e.type().is_int_or_uint() && cast->value.type().is_int_or_uint() &&
           e.type().can_represent(cast->value.type()) && find_product(cast->value, found);
}

bool is_signed_byte(Type t) { return t.is_int() && t.bits() == 8; }
bool is_unsigned_byte(Type t) { return t.is_uint() && t.bits() == 8; }
bool fits_int16(Type t) { return Int(16, t.lanes()).can_represent(t) && !t.is_bool(); }

// The same machine operation for vectors of 16, 32 and 64 bytes, where there is one.
struct Widths {
    I::ID bytes16, bytes32, bytes64;

    I::ID of(int bytes) const { return bytes == 16 ? bytes16 : bytes == 32 ? bytes32 : bytes64; }
};

}  // namespace

// Calls an intrinsic; operands are seen as the types it wants.
Value *Emitter::x86_call(llvm::Intrinsic::ID id, std::vector<Value *> args) {
    llvm::Function *function = I::getOrInsertDeclaration(&module, id);
    for (size_t i = 0; i < args.size(); i++) {
        args[i] = b.CreateBitCast(args[i], function->getFunctionType()->getParamType(unsigned(i)));
    }
    return b.CreateCall(function, args);
}

// Cuts the operands into machine vectors, applies f(bytes of the vector, parts), and puts the
// results together. The last part is filled up with zeros. All operands have the same number of
// bytes per result lane, so that each is cut into as many parts.
Value *Emitter::by_native_width(const std::vector<Value *> &operands, int result_lanes,
                                int bytes_per_result, int native_bytes,
                                const std::function<Value *(int, std::vector<Value *>)> &f) {
    int bytes = 16;
    while (bytes < native_bytes && bytes < result_lanes * bytes_per_result) bytes *= 2;
    int per_part = bytes / bytes_per_result;
    std::vector<Value *> results;
    for (int begin = 0; begin < result_lanes; begin += per_part) {
        int count = std::min(per_part, result_lanes - begin);
        std::vector<Value *> parts;
        for (Value *v : operands) {
            auto *type = llvm::cast<llvm::FixedVectorType>(v->getType());
            int lanes = int(type->getNumElements()), per_result = lanes / result_lanes;
            Value *part = slice(v, begin * per_result, 1, count * per_result);
            if (count < per_part) {
                auto *zeros = llvm::Constant::getNullValue(
                    llvm_vector(type->getElementType(), (per_part - count) * per_result));
                part = concat({part, zeros});
            }
            parts.push_back(part);
        }
        Value *result = f(bytes, parts);
        results.push_back(count < per_part ? slice(result, 0, 1, count) : result);
    }
    return concat(results);
}

int Emitter::native_integer_bytes() const { return target.natural_vector_size(1, true); }

Value *Emitter::x86_reduce(const VectorReduce &node, const Expr &accumulator) {
    if (target.arch != Target::X86 || node.op != ReduceOp::Add) return nullptr;
    if (node.value.type().bits() > 64 || node.value.type().is_bool()) return nullptr;
    if (Value *v = x86_dot(node, accumulator)) return v;
    if (accumulator.defined()) return nullptr;
    return x86_sum_of_bytes(node);
}

// What remains to be added once each machine result holds the sum of a few products.
Value *Emitter::finish_dot(const VectorReduce &node, const Expr &accumulator, Value *partial) {
    Value *sum = reduce(ReduceOp::Add, partial, node.type.element_of(), node.lanes);
    return accumulator.defined() ? add(sum, value(accumulator), node.type) : sum;
}

Value *Emitter::x86_dot(const VectorReduce &node, const Expr &accumulator) {
    Product product;
    if (!find_product(node.value, product)) return nullptr;
    Type t = node.type, a = product.a.type(), c = product.b.type();
    int factor = node.value.type().lanes() / node.lanes;
    if (t.is_float()) return x86_dot_of_bfloats(node, accumulator, product.a, product.b);
    if (t.bits() != 32 || !t.is_int_or_uint()) return nullptr;
    bool vnni = target.has_feature(Target::AVX512_VNNI) || target.has_feature(Target::AVXVNNI);
    if (is_signed_byte(a) && is_unsigned_byte(c)) std::swap(product.a, product.b);
    bool mixed_bytes = is_unsigned_byte(product.a.type()) && is_signed_byte(product.b.type());
    if (vnni && mixed_bytes && factor % 4 == 0) {
        return x86_accumulate(node, accumulator, value(product.a), value(product.b), 4);
    }
    if (factor % 2 != 0 || !fits_int16(a) || !fits_int16(c)) return nullptr;
    auto as_int16 = [&](const Expr &e) {
        return cast(value(e), e.type(), Int(16, e.type().lanes()));
    };
    Value *x = as_int16(product.a), *y = as_int16(product.b);
    if (vnni) return x86_accumulate(node, accumulator, x, y, 2);
    constexpr Widths madd = {I::x86_sse2_pmadd_wd, I::x86_avx2_pmadd_wd,
                             I::x86_avx512_pmaddw_d_512};
    int partial_lanes = node.value.type().lanes() / 2;
    Value *partial = by_native_width(
        {x, y}, partial_lanes, 4, native_integer_bytes(),
        [&](int bytes, const std::vector<Value *> &v) { return x86_call(madd.of(bytes), v); });
    return finish_dot(node, accumulator, partial);
}

// vpdpbusd and vpdpwssd: `group` products are added to each int32 of the accumulator.
Value *Emitter::x86_accumulate(const VectorReduce &node, const Expr &accumulator, Value *x,
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
        [&](int bytes, const std::vector<Value *> &v) { return x86_call(op.of(bytes), v); });
    return exact ? partial : finish_dot(node, accumulator, partial);
}

Value *Emitter::x86_dot_of_bfloats(const VectorReduce &node, const Expr &accumulator, const Expr &a,
                                   const Expr &c) {
    int lanes = node.value.type().lanes(), factor = lanes / node.lanes;
    bool fits = a.type().is_bfloat() && c.type().is_bfloat() && node.type.bits() == 32;
    if (!fits || factor % 2 || strict || !target.has_feature(Target::AVX512_Zen4)) return nullptr;
    constexpr Widths op = {I::x86_avx512bf16_dpbf16ps_128, I::x86_avx512bf16_dpbf16ps_256,
                           I::x86_avx512bf16_dpbf16ps_512};
    bool exact = factor == 2;
    Value *start = exact && accumulator.defined() ? value(accumulator)
                                                  : float_constant(Float(32, lanes / 2), 0);
    Value *partial = by_native_width(
        {as_vector(start), value(a), value(c)}, lanes / 2, 4, 64,
        [&](int bytes, const std::vector<Value *> &v) { return x86_call(op.of(bytes), v); });
    return exact ? partial : finish_dot(node, accumulator, partial);
}

// Sums of 8 bytes, or of their absolute differences: psadbw.
Value *Emitter::x86_sum_of_bytes(const VectorReduce &node) {
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
        [&](int width, const std::vector<Value *> &v) { return x86_call(sad.of(width), v); });
    Value *narrow = cast(sums, UInt(64, lanes / 8), t.with_lanes(lanes / 8));
    return reduce(ReduceOp::Add, narrow, t.element_of(), node.lanes);
}

// pmulhrsw. It gives -2^15 for -2^15 * -2^15, and for nothing else: turn that into 2^15 - 1.
Value *Emitter::x86_rounding_mul_shift(const IntrinsicCall &c) {
    Type t = c.type;
    bool int16s = t.is_int() && t.bits() == 16 && c.args[0].type() == t && c.args[1].type() == t;
    bool has = target.arch == Target::X86 && target.has_feature(Target::SSE41);
    if (!int16s || !t.is_vector() || !has) return nullptr;
    const auto *count = c.args[2].as<Broadcast>();
    Expr amount = count ? count->value : c.args[2];
    const auto *u = amount.as<UIntImm>();
    const auto *i = amount.as<IntImm>();
    if (!(u && u->value == 15) && !(i && i->value == 15)) return nullptr;
    constexpr Widths op = {I::x86_ssse3_pmul_hr_sw_128, I::x86_avx2_pmul_hr_sw,
                           I::x86_avx512_pmul_hr_sw_512};
    Value *product = by_native_width(
        {arg(c, 0), arg(c, 1)}, t.lanes(), 2, native_integer_bytes(),
        [&](int bytes, const std::vector<Value *> &v) { return x86_call(op.of(bytes), v); });
    Value *lowest = b.CreateICmpEQ(product, int_constant(t, -32768));
    return b.CreateXor(product, b.CreateSExt(lowest, register_type(t)));
}

// The machine's 12-bit (14-bit, with AVX-512) guess, and one step of Newton's.
Value *Emitter::x86_fast_inverse(Value *x, int lanes, bool of_root) {
    if (target.arch != Target::X86) return nullptr;
    bool avx512 = target.has_feature(Target::AVX512), avx = target.has_feature(Target::AVX);
    auto guess = [&](int bytes, const std::vector<Value *> &v) -> Value * {
        if (bytes == 16) return x86_call(of_root ? I::x86_sse_rsqrt_ps : I::x86_sse_rcp_ps, v);
        if (bytes == 32) {
            return x86_call(of_root ? I::x86_avx_rsqrt_ps_256 : I::x86_avx_rcp_ps_256, v);
        }
        auto *zero = llvm::Constant::getNullValue(v[0]->getType());
        return x86_call(of_root ? I::x86_avx512_rsqrt14_ps_512 : I::x86_avx512_rcp14_ps_512,
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

// AMD's gathers are slower than loads one by one.
bool Emitter::prefers_gather(Type t) const {
    bool intel = target.processor_tune == Target::ProcessorGeneric;
    return intel && target.has_feature(Target::AVX512_Skylake) && t.bits() >= 32 && t.lanes() >= 8;
}

}  // namespace tessera::codegen
