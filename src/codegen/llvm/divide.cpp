#include "codegen/llvm/patterns.h"

namespace tessera::codegen {
namespace {

// The one number in all lanes, if it is a constant.
const llvm::APInt *constant_of(Value *v) {
    auto *constant = llvm::dyn_cast<llvm::Constant>(v);
    if (!constant) return nullptr;
    if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
    auto *number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
    return number ? &number->getValue() : nullptr;
}

}  // namespace

Value *Values::zero_where_zero(Value *divisor, Value *result) {
    Value *zero = llvm::Constant::getNullValue(divisor->getType());
    return select(b.CreateICmpEQ(divisor, zero), zero, result);
}

// For vectors of up to 32 bits the quotient is that of floats, cut off: these have so many more
// bits than the operands that a quotient which is no integer is never rounded up to one.
Value *Values::divide_unsigned(Value *a, Value *divisor, Type t, bool top_bit_clear) {
    Type uint = t.with_code(TypeCode::UInt);
    Value *one = int_constant(uint, 1), *zero = int_constant(uint, 0);
    Value *safe = select(b.CreateICmpEQ(divisor, zero), one, divisor);
    if (t.is_scalar() || t.bits() > 32) return b.CreateUDiv(a, safe);
    bool small = t.bits() <= 16;
    llvm::Type *real = llvm_vector(small ? b.getFloatTy() : b.getDoubleTy(), t.lanes());
    llvm::Type *i32 = llvm_vector(b.getInt32Ty(), t.lanes());
    if (small) {
        a = b.CreateZExt(a, i32);
        safe = b.CreateZExt(safe, i32);
    }
    bool fits_signed = small || top_bit_clear;
    Value *dividend = fits_signed ? b.CreateSIToFP(a, real) : b.CreateUIToFP(a, real);
    Value *by = small ? b.CreateSIToFP(safe, real) : b.CreateUIToFP(safe, real);
    llvm::IRBuilder<>::FastMathFlagGuard exactly(b);
    b.clearFastMathFlags();
    Value *quotient = b.CreateFDiv(dividend, by);
    Value *whole = fits_signed ? b.CreateFPToSI(quotient, i32) : b.CreateFPToUI(quotient, i32);
    return small ? b.CreateTrunc(whole, register_type(uint)) : whole;
}

// With s = -1 for a negative a, else 0: (a ^ s) / |b| ^ s is floor(a / |b|), and needs no care for
// the most negative numbers.
Value *Values::divide_signed(Value *a, Value *divisor, Type t) {
    Value *sign = b.CreateAShr(a, uint64_t(t.bits() - 1));
    Value *zero = int_constant(t, 0);
    Value *negative = b.CreateICmpSLT(divisor, zero);
    Value *magnitude = negate_if(negative, divisor);
    Value *quotient = divide_unsigned(b.CreateXor(a, sign), magnitude, t, true);
    return negate_if(negative, b.CreateXor(quotient, sign));
}

Value *Values::divide_by_constant(Value *a, int64_t divisor, Type t) {
    uint64_t magnitude = divisor < 0 ? 0 - uint64_t(divisor) : uint64_t(divisor);
    magnitude &= t.max_uint() | (uint64_t(1) << (t.bits() - 1));
    Value *floor;
    if (llvm::isPowerOf2_64(magnitude)) {
        floor = b.CreateAShr(a, llvm::Log2_64(magnitude));
    } else {
        Value *sign = b.CreateAShr(a, uint64_t(t.bits() - 1));
        Value *by = int_constant(t, int64_t(magnitude));
        floor = b.CreateXor(b.CreateUDiv(b.CreateXor(a, sign), by), sign);
    }
    return divisor < 0 ? b.CreateNeg(floor) : floor;
}

Value *Values::divide_floats(Value *a, Value *divisor) {
    Value *quotient = b.CreateFDiv(a, divisor);
    auto *division = llvm::dyn_cast<llvm::Instruction>(quotient);
    const bool by_reciprocal =
        !strict && patterns->divides_by_reciprocals() && llvm::isa<llvm::Constant>(divisor);
    if (division && by_reciprocal) division->setHasAllowReciprocal(true);
    return quotient;
}

Value *Values::divide(Value *a, Value *divisor, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a, divisor}, [&](auto &v, Type w) { return divide(v[0], v[1], w); });
    }
    if (t.is_float()) return divide_floats(a, divisor);
    if (t.is_bool()) return b.CreateAnd(a, divisor);
    if (const llvm::APInt *constant = constant_of(divisor)) {
        if (constant->isZero()) return int_constant(t, 0);
        if (t.is_int()) return divide_by_constant(a, constant->getSExtValue(), t);
        return b.CreateUDiv(a, divisor);
    }
    Value *quotient =
        t.is_int() ? divide_signed(a, divisor, t) : divide_unsigned(a, divisor, t, false);
    return zero_where_zero(divisor, quotient);
}

Value *Values::modulo(Value *a, Value *divisor, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a, divisor}, [&](auto &v, Type w) { return modulo(v[0], v[1], w); });
    }
    if (t.is_float()) {
        Value *whole = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFDiv(a, divisor));
        return b.CreateFSub(a, b.CreateFMul(divisor, whole));
    }
    if (t.is_bool()) return int_constant(t, 0);
    const llvm::APInt *constant = constant_of(divisor);
    if (constant) {
        if (constant->isZero()) return int_constant(t, 0);
        llvm::APInt magnitude = t.is_int() ? constant->abs() : *constant;
        if (magnitude.isPowerOf2()) {
            return b.CreateAnd(a, splat(b.getInt(magnitude - 1), t.lanes()));
        }
        if (t.is_uint()) return b.CreateURem(a, divisor);
    }
    Value *remainder = b.CreateSub(a, b.CreateMul(divide(a, divisor, t), divisor));
    return constant ? remainder : zero_where_zero(divisor, remainder);
}

Value *Values::divide_round_to_zero(Value *a, Value *divisor, Type t) {
    if (t.is_uint() || t.is_float()) return divide(a, divisor, t);
    const llvm::APInt *constant = constant_of(divisor);
    if (constant && !constant->isZero() && !constant->isAllOnes()) {
        return b.CreateSDiv(a, divisor);
    }
    Value *zero = int_constant(t, 0);
    Value *a_negative = b.CreateICmpSLT(a, zero), *b_negative = b.CreateICmpSLT(divisor, zero);
    Value *quotient =
        divide_unsigned(negate_if(a_negative, a), negate_if(b_negative, divisor), t, false);
    Value *rounded = negate_if(b.CreateXor(a_negative, b_negative), quotient);
    return zero_where_zero(divisor, rounded);
}

}  // namespace tessera::codegen
