#include "codegen/llvm/patterns.h"
#include "ir/operators.h"

namespace tessera::codegen {

Emitter::EmitIntrinsic Emitter::emitter_of(Intrinsic op) {
    static constexpr EmitIntrinsic table[] = {
#define ROW(name, arity, pure) &Emitter::emit_##name,
        TESSERA_INTRINSICS(ROW)
#undef ROW
    };
    return table[size_t(op)];
}

Value *Emitter::emit(const IntrinsicCall &node) {
    if (!info_of(node.op).pure) impure_calls++;
    if (Value *v = patterns->intrinsic(node)) return v;
    return (this->*emitter_of(node.op))(node);
}

void Emitter::refuse(const IntrinsicCall &c) {
    throw InternalError(str("code generation met the intrinsic ", info_of(c.op).name,
                            ", which lowering should have replaced"));
}

Value *Emitter::arg_as(const IntrinsicCall &c, size_t i, Type t) {
    return cast(value(c.args[i]), c.args[i].type(), t.with_lanes(c.args[i].type().lanes()));
}

// ---- Integers and bits ----

Value *Emitter::emit_abs(const IntrinsicCall &c) {
    Type t = c.args[0].type();
    Value *v = arg(c, 0);
    if (t.is_uint()) return v;
    if (t.is_float()) return unary_float(llvm::Intrinsic::fabs, v, t);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, b.getFalse());
}

Value *Emitter::emit_absd(const IntrinsicCall &c) {
    Type t = c.args[0].type();
    Value *x = arg(c, 0), *y = arg(c, 1);
    if (t.is_float()) return unary_float(llvm::Intrinsic::fabs, sub(x, y, t), t);
    return b.CreateSub(maximum(x, y, t), minimum(x, y, t));
}

Value *Emitter::bit_operation(const IntrinsicCall &c, llvm::Instruction::BinaryOps op) {
    Type t = c.type, bits = t.is_float() ? UInt(t.bits(), t.lanes()) : t;
    Value *x = reinterpret(arg(c, 0), c.args[0].type(), bits);
    Value *y = reinterpret(arg(c, 1), c.args[1].type(), bits);
    return reinterpret(b.CreateBinOp(op, x, y), bits, t);
}

Value *Emitter::emit_bitwise_and(const IntrinsicCall &c) {
    return bit_operation(c, llvm::Instruction::And);
}
Value *Emitter::emit_bitwise_or(const IntrinsicCall &c) {
    return bit_operation(c, llvm::Instruction::Or);
}
Value *Emitter::emit_bitwise_xor(const IntrinsicCall &c) {
    return bit_operation(c, llvm::Instruction::Xor);
}
Value *Emitter::emit_bitwise_not(const IntrinsicCall &c) {
    Type t = c.type, bits = t.is_float() ? UInt(t.bits(), t.lanes()) : t;
    return reinterpret(b.CreateNot(reinterpret(arg(c, 0), t, bits)), bits, t);
}

Value *Emitter::shift_call(const IntrinsicCall &c, bool left, bool rounding) {
    Type t = c.type;
    Type count_type = c.args[1].type();
    bool count_signed = count_type.is_int();
    Value *x = arg_as(c, 0, t);
    Value *count = cast(arg(c, 1), count_type, count_type.with_bits(t.bits()));
    if (!rounding) {
        return left ? shift_left(x, count, t, count_signed)
                    : shift_right(x, count, t, count_signed);
    }
    if (!left) return rounding_shift_right(x, count, t, count_signed);
    if (!count_signed) return shift_left(x, count, t, false);
    return rounding_shift_right(x, b.CreateNeg(count), t, true);
}

Value *Emitter::emit_shift_left(const IntrinsicCall &c) { return shift_call(c, true, false); }
Value *Emitter::emit_shift_right(const IntrinsicCall &c) { return shift_call(c, false, false); }
Value *Emitter::emit_widening_shift_left(const IntrinsicCall &c) {
    return shift_call(c, true, false);
}
Value *Emitter::emit_widening_shift_right(const IntrinsicCall &c) {
    return shift_call(c, false, false);
}
Value *Emitter::emit_rounding_shift_left(const IntrinsicCall &c) {
    return shift_call(c, true, true);
}
Value *Emitter::emit_rounding_shift_right(const IntrinsicCall &c) {
    return shift_call(c, false, true);
}

Value *Emitter::count_bits(const IntrinsicCall &c, llvm::Intrinsic::ID id) {
    Value *v = arg(c, 0);
    if (id == llvm::Intrinsic::ctpop) return b.CreateUnaryIntrinsic(id, v);
    return b.CreateBinaryIntrinsic(id, v, b.getFalse());
}

Value *Emitter::emit_popcount(const IntrinsicCall &c) {
    return count_bits(c, llvm::Intrinsic::ctpop);
}
Value *Emitter::emit_count_leading_zeros(const IntrinsicCall &c) {
    return count_bits(c, llvm::Intrinsic::ctlz);
}
Value *Emitter::emit_count_trailing_zeros(const IntrinsicCall &c) {
    return count_bits(c, llvm::Intrinsic::cttz);
}

Value *Emitter::emit_div_round_to_zero(const IntrinsicCall &c) {
    Value *x = arg(c, 0);
    return divide_round_to_zero(x, arg(c, 1), c.type);
}

Value *Emitter::emit_mod_round_to_zero(const IntrinsicCall &c) {
    Type t = c.type;
    Value *x = arg(c, 0), *y = arg(c, 1);
    if (t.is_uint()) return modulo(x, y, t);
    Value *remainder = b.CreateSub(x, b.CreateMul(divide_round_to_zero(x, y, t), y));
    return zero_where_zero(y, remainder);
}

Value *Emitter::emit_extract_bits(const IntrinsicCall &c) {
    Type from = c.args[0].type(), whole = UInt(from.bits(), from.lanes());
    Value *x = reinterpret(arg(c, 0), from, whole);
    Value *at = cast(arg(c, 1), c.args[1].type(), whole);
    Type part = UInt(c.type.bits(), c.type.lanes());
    return reinterpret(cast(right_by_unsigned(x, at, whole), whole, part), part, c.type);
}

Value *Emitter::emit_concat_bits(const IntrinsicCall &c) {
    Type whole = UInt(c.type.bits(), c.type.lanes());
    Value *result = int_constant(whole, 0);
    int at = 0;
    for (size_t i = 0; i < c.args.size(); i++) {
        Type t = c.args[i].type(), bits = UInt(t.bits(), t.lanes());
        Value *part = cast(reinterpret(arg(c, i), t, bits), bits, whole);
        result = b.CreateOr(result, b.CreateShl(part, uint64_t(at)));
        at += t.bits();
    }
    return reinterpret(result, whole, c.type);
}

// ---- Wider, narrower, saturating, rounding ----

Value *Emitter::emit_widening_add(const IntrinsicCall &c) {
    Value *x = arg_as(c, 0, c.type);
    return add(x, arg_as(c, 1, c.type), c.type);
}
Value *Emitter::emit_widening_sub(const IntrinsicCall &c) {
    Value *x = arg_as(c, 0, c.type);
    return sub(x, arg_as(c, 1, c.type), c.type);
}
Value *Emitter::emit_widening_mul(const IntrinsicCall &c) {
    Value *x = arg_as(c, 0, c.type), *y = arg_as(c, 1, c.type);
    if (c.type.is_float()) return mul(x, y, c.type);
    bool both_signed = c.args[0].type().is_int() && c.args[1].type().is_int();
    return b.CreateMul(x, y, "", c.type.is_uint(), both_signed);
}
Value *Emitter::emit_widen_right_add(const IntrinsicCall &c) { return emit_widening_add(c); }
Value *Emitter::emit_widen_right_sub(const IntrinsicCall &c) { return emit_widening_sub(c); }
Value *Emitter::emit_widen_right_mul(const IntrinsicCall &c) {
    Value *x = arg_as(c, 0, c.type);
    return mul(x, arg_as(c, 1, c.type), c.type);
}

Value *Emitter::saturating_op(const IntrinsicCall &c, llvm::Intrinsic::ID of_signed,
                              llvm::Intrinsic::ID of_unsigned) {
    Value *x = arg(c, 0);
    return b.CreateBinaryIntrinsic(c.type.is_int() ? of_signed : of_unsigned, x, arg(c, 1));
}

Value *Emitter::emit_saturating_add(const IntrinsicCall &c) {
    if (c.type.is_float()) return emit_widening_add(c);
    return saturating_op(c, llvm::Intrinsic::sadd_sat, llvm::Intrinsic::uadd_sat);
}
Value *Emitter::emit_saturating_sub(const IntrinsicCall &c) {
    if (c.type.is_float()) return emit_widening_sub(c);
    return saturating_op(c, llvm::Intrinsic::ssub_sat, llvm::Intrinsic::usub_sat);
}
Value *Emitter::emit_saturating_cast(const IntrinsicCall &c) {
    return saturating_cast(arg(c, 0), c.args[0].type(), c.type);
}

// Without a wider type: the bits that both have, and half of those that one has.
Value *Emitter::emit_halving_add(const IntrinsicCall &c) {
    Type t = c.type;
    Value *x = arg(c, 0), *y = arg(c, 1);
    if (t.is_float()) return mul(add(x, y, t), float_constant(t, 0.5), t);
    Value *different = b.CreateXor(x, y);
    Value *half = t.is_int() ? b.CreateAShr(different, 1) : b.CreateLShr(different, 1);
    return b.CreateAdd(b.CreateAnd(x, y), half);
}

Value *Emitter::emit_rounding_halving_add(const IntrinsicCall &c) {
    Type t = c.type;
    if (t.is_float()) return emit_halving_add(c);
    Value *x = arg(c, 0), *y = arg(c, 1);
    Value *different = b.CreateXor(x, y);
    Value *half = t.is_int() ? b.CreateAShr(different, 1) : b.CreateLShr(different, 1);
    return b.CreateSub(b.CreateOr(x, y), half);
}

Value *Emitter::emit_halving_sub(const IntrinsicCall &c) {
    Type t = c.type;
    Value *x = arg(c, 0), *y = arg(c, 1);
    if (t.is_float()) return mul(sub(x, y, t), float_constant(t, 0.5), t);
    auto half = [&](Value *v) { return t.is_int() ? b.CreateAShr(v, 1) : b.CreateLShr(v, 1); };
    Value *borrow = b.CreateAnd(b.CreateAnd(b.CreateNot(x), y), int_constant(t, 1));
    return b.CreateSub(b.CreateSub(half(x), half(y)), borrow);
}

Value *Emitter::mul_shift_right(const IntrinsicCall &c, bool rounding) {
    Type t = c.type, wide = t.with_bits(2 * t.bits());
    Value *x = arg_as(c, 0, t), *y = arg_as(c, 1, t);
    auto *wide_type = llvm_vector(b.getIntNTy(unsigned(2 * t.bits())), t.lanes());
    auto extend = [&](Value *v) {
        return t.is_int() ? b.CreateSExt(v, wide_type) : b.CreateZExt(v, wide_type);
    };
    bool count_signed = c.args[2].type().is_int();
    Value *count = arg(c, 2);
    count = count_signed ? b.CreateSExtOrTrunc(count, wide_type)
                         : b.CreateZExtOrTrunc(count, wide_type);
    Value *product = b.CreateMul(extend(x), extend(y));
    Value *shifted = rounding ? rounding_shift_right(product, count, wide, count_signed)
                              : shift_right(product, count, wide, count_signed);
    auto limit = [&](int64_t v) {
        return splat(b.getInt(llvm::APInt(unsigned(2 * t.bits()), uint64_t(v), t.is_int())),
                     t.lanes());
    };
    shifted = minimum(shifted, limit(int64_t(t.max_uint())), wide);
    if (t.is_int()) shifted = maximum(shifted, limit(t.min_int()), wide);
    return b.CreateTrunc(shifted, register_type(t));
}

Value *Emitter::emit_mul_shift_right(const IntrinsicCall &c) { return mul_shift_right(c, false); }
Value *Emitter::emit_rounding_mul_shift_right(const IntrinsicCall &c) {
    return mul_shift_right(c, true);
}

// ---- Hints ----

Value *Emitter::emit_likely(const IntrinsicCall &c) { return arg(c, 0); }
Value *Emitter::emit_likely_if_innermost(const IntrinsicCall &c) { return arg(c, 0); }
Value *Emitter::emit_promise_clamped(const IntrinsicCall &c) { return arg(c, 0); }
Value *Emitter::emit_unsafe_promise_clamped(const IntrinsicCall &c) { return arg(c, 0); }

// ---- Special values ----

Value *Emitter::emit_undef(const IntrinsicCall &c) { refuse(c); }
Value *Emitter::emit_random(const IntrinsicCall &c) { refuse(c); }
Value *Emitter::emit_lerp(const IntrinsicCall &c) { refuse(c); }
Value *Emitter::emit_gather(const IntrinsicCall &c) { refuse(c); }
Value *Emitter::emit_scatter(const IntrinsicCall &c) { refuse(c); }
Value *Emitter::emit_target_query(const IntrinsicCall &c) { refuse(c); }

Value *Emitter::emit_if_then_else(const IntrinsicCall &c) {
    Type condition = c.args[0].type();
    auto otherwise = [&]() -> Value * {
        return c.args.size() > 2 ? arg(c, 2) : llvm::Constant::getNullValue(register_type(c.type));
    };
    if (condition.is_vector()) {
        Value *chosen = arg(c, 0), *then_value = arg(c, 1);
        return select(chosen, then_value, otherwise());
    }
    return choose(arg(c, 0), [&] { return arg(c, 1); }, otherwise);
}

Value *Emitter::emit_return_second(const IntrinsicCall &c) {
    arg(c, 0);
    return arg(c, 1);
}

// ---- What lowered code needs ----

Value *Emitter::emit_address_of(const IntrinsicCall &c) {
    const Load &load = address_taken(Expr(&c));
    return element_pointer(load.buffer, load.type, load.index);
}

// One prefetch per element of the region, but not more than one per cache line.
Value *Emitter::emit_prefetch(const IntrinsicCall &c) {
    constexpr int64_t most_unrolled = 8;  // of a dimension
    Value *address = arg(c, 0);
    std::function<void(size_t, Value *)> walk = [&](size_t i, Value *at) {
        if (i >= c.args.size()) {
            b.CreateIntrinsic(llvm::Intrinsic::prefetch, {at->getType()},
                              {at, int32(0), int32(3), int32(1)});
            return;
        }
        Value *extent = arg_as(c, i, Int(64)), *stride = arg_as(c, i + 1, Int(64));
        auto *constant = llvm::dyn_cast<llvm::ConstantInt>(stride);
        int64_t per_line = 1;
        if (constant && constant->getSExtValue() > 0 && constant->getSExtValue() < 64) {
            per_line = 64 / constant->getSExtValue();
        }
        extent = b.CreateSDiv(b.CreateAdd(extent, int64(per_line - 1)), int64(per_line));
        stride = b.CreateMul(stride, int64(per_line));
        auto *count = llvm::dyn_cast<llvm::ConstantInt>(extent);
        if (count && count->getSExtValue() <= most_unrolled) {
            for (int64_t k = 0; k < count->getSExtValue(); k++) {
                walk(i + 2, b.CreateGEP(b.getInt8Ty(), at, b.CreateMul(int64(k), stride)));
            }
            return;
        }
        counted_loop(int64(0), extent, [&](Value *k) {
            MemoScope forget(*this);
            walk(i + 2, b.CreateGEP(b.getInt8Ty(), at, b.CreateMul(k, stride)));
        });
    };
    walk(1, address);
    return int32(0);
}

// ---- What a host, or a device, does ----

#define EMIT(name, ...)                                                                            \
    Value *Emitter::emit_##name(const IntrinsicCall &c) { return host_call(c); }
TESSERA_HOST_INTRINSICS(EMIT)
TESSERA_DEVICE_INTRINSICS(EMIT)
TESSERA_RUNTIME_INTRINSICS(EMIT)
#undef EMIT

}  // namespace tessera::codegen
