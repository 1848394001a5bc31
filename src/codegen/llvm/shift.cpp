#include "codegen/llvm/patterns.h"

// Shifts have a value for every count: all bits are shifted out by one that is too large, and a
// negative one shifts the other way.
namespace tessera::codegen {

Value *Values::left_by_unsigned(Value *a, Value *count, Type t) {
    Value *in_range = b.CreateICmpULT(count, int_constant(t, t.bits()));
    return select(in_range, b.CreateShl(a, count), int_constant(t, 0));
}

Value *Values::right_by_unsigned(Value *a, Value *count, Type t) {
    if (t.is_int()) {
        Value *most = int_constant(t, t.bits() - 1);
        return b.CreateAShr(a, b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, most));
    }
    Value *in_range = b.CreateICmpULT(count, int_constant(t, t.bits()));
    return select(in_range, b.CreateLShr(a, count), int_constant(t, 0));
}

Value *Values::shift_left(Value *a, Value *count, Type t, bool count_signed) {
    if (Value *v = patterns->shift(a, count, t, {true, false, count_signed})) return v;
    Value *left = left_by_unsigned(a, count, t);
    if (!count_signed) return left;
    Value *right = right_by_unsigned(a, b.CreateNeg(count), t);
    return select(b.CreateICmpSLT(count, int_constant(t, 0)), right, left);
}

Value *Values::shift_right(Value *a, Value *count, Type t, bool count_signed) {
    if (Value *v = patterns->shift(a, count, t, {false, false, count_signed})) return v;
    Value *right = right_by_unsigned(a, count, t);
    if (!count_signed) return right;
    Value *left = left_by_unsigned(a, b.CreateNeg(count), t);
    return select(b.CreateICmpSLT(count, int_constant(t, 0)), left, right);
}

// Half of the last unit is added before it is shifted out: that bit is what rounds.
Value *Values::rounding_shift_right(Value *a, Value *count, Type t, bool count_signed) {
    if (Value *v = patterns->shift(a, count, t, {false, true, count_signed})) return v;
    Value *zero = int_constant(t, 0), *one = int_constant(t, 1);
    Value *last = b.CreateSub(count, one);
    Value *round = b.CreateAnd(right_by_unsigned(a, last, t), one);
    Value *right = b.CreateAdd(right_by_unsigned(a, count, t), round);
    if (!count_signed) return select(b.CreateICmpEQ(count, zero), a, right);
    Value *left = left_by_unsigned(a, b.CreateNeg(count), t);
    return select(b.CreateICmpSGT(count, zero), right, left);
}

}  // namespace tessera::codegen
