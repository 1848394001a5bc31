#include "codegen/llvm/patterns.h"
#include "ir/float_bits.h"
#include <cmath>

namespace tessera::codegen {

Value *Values::cast(Value *v, Type from, Type to) {
    if (from == to) return v;
    if (to.is_handle() && from.is_handle()) return v;
    if (to.is_handle()) {
        Type bits = UInt(64, to.lanes());
        return b.CreateIntToPtr(cast(v, from, bits), register_type(to));
    }
    if (from.is_handle()) {
        Type bits = UInt(64, from.lanes());
        return cast(b.CreatePtrToInt(v, register_type(bits)), bits, to);
    }
    if (to.is_bool()) return cast_to_bool(v, from);
    if (from.is_float()) {
        return to.is_float() ? cast_float_to_float(v, from, to) : cast_float_to_int(v, from, to);
    }
    return to.is_float() ? cast_int_to_float(v, from, to) : cast_int_to_int(v, from, to);
}

Value *Values::cast_to_bool(Value *v, Type from) {
    if (from.is_float()) return compare(NodeKind::NE, v, float_constant(from, 0), from);
    return b.CreateICmpNE(v, int_constant(from, 0));
}

Value *Values::cast_int_to_int(Value *v, Type from, Type to) {
    llvm::Type *type = register_type(to);
    return from.is_int() ? b.CreateSExtOrTrunc(v, type) : b.CreateZExtOrTrunc(v, type);
}

// An integer of 64 bits, or where it has more than 52 the upper 53, the last of which is set if any
// below are. A double holds that, and rounding it to a bfloat16's 8 gives what rounding the integer
// would have given.
Value *Values::int64_rounded_to_odd(Value *v, Type from) {
    constexpr int cut = 64 - 53, held = 52;
    Value *low = b.CreateAnd(v, int_constant(from, (1 << cut) - 1));
    Value *carry = b.CreateAdd(low, int_constant(from, (1 << cut) - 1));
    Value *odd = b.CreateAnd(b.CreateOr(v, carry), int_constant(from, -(1 << cut)));
    Value *past = from.is_int() ? b.CreateAShr(v, held) : b.CreateLShr(v, held);
    // Within the numbers of 52 bits and a sign, the bits past them are all 0 or all 1.
    Value *far = b.CreateAdd(past, int_constant(from, from.is_int() ? 1 : 0));
    Value *is_short = b.CreateICmpULE(far, int_constant(from, from.is_int() ? 1 : 0));
    return select(is_short, v, odd);
}

// Rounded once: 64 bits hold more than a float32, and more than a double.
Value *Values::cast_int_to_float(Value *v, Type from, Type to) {
    if (to.bits() <= 16) {
        if (from.bits() == 64 && to.is_bfloat()) v = int64_rounded_to_odd(v, from);
        Type wide = Float(from.bits() >= 32 && to.is_bfloat() ? 64 : 32, to.lanes());
        return cast(cast_int_to_float(v, from, wide), wide, to);
    }
    bool zero_extend = !from.is_int() && from.bits() < 32;
    if (zero_extend) v = b.CreateZExt(v, register_type(Int(32, from.lanes())));
    llvm::Type *type = register_type(to);
    return from.is_int() || zero_extend ? b.CreateSIToFP(v, type) : b.CreateUIToFP(v, type);
}

// A value that does not fit has no meaning, but must not spoil what is made of it: a clamp of it
// is still within its bounds. Hence the freeze.
Value *Values::cast_float_to_int(Value *v, Type from, Type to) {
    if (from.bits() <= 16) {
        Type wide = Float(32, from.lanes());
        return cast_float_to_int(cast(v, from, wide), wide, to);
    }
    if (to.bits() < 32) {
        Type wide = Int(32, to.lanes());
        return b.CreateTrunc(cast_float_to_int(v, from, wide), register_type(to));
    }
    llvm::Type *type = register_type(to);
    return b.CreateFreeze(to.is_int() ? b.CreateFPToSI(v, type) : b.CreateFPToUI(v, type));
}

// To nearest, ties to even; a NaN stays one.
Value *Values::bfloat_from_float32(Value *v, int lanes) {
    Type u32 = UInt(32, lanes);
    Value *bits = b.CreateBitCast(v, register_type(u32));
    Value *odd = b.CreateAnd(b.CreateLShr(bits, 16), int_constant(u32, 1));
    Value *rounded = b.CreateAdd(bits, b.CreateAdd(odd, int_constant(u32, 0x7fff)));
    Value *quiet = b.CreateOr(bits, int_constant(u32, 0x400000));
    Value *chosen = select(b.CreateFCmpUNO(v, v), quiet, rounded);
    return b.CreateTrunc(b.CreateLShr(chosen, 16), register_type(BFloat(16, lanes)));
}

namespace {

// A float of 8 bits beside float32: the mantissa starts `shift` bits lower, and exponents are
// larger by `bias`.
struct Float8Layout {
    int shift, bias;
    int64_t largest, nan;
    explicit Float8Layout(Type t) {
        const bool is_e4m3 = t.code() == TypeCode::Float8E4M3;
        shift = is_e4m3 ? 20 : 21;
        bias = is_e4m3 ? 127 - 7 : 127 - 15;
        largest = is_e4m3 ? 0x7e : 0x7b;
        nan = int64_t(bits_of_float(t.element_of(), NAN));
    }
    // The least normal number and the step of those below it.
    double least_normal() const { return std::ldexp(1.0, bias - 126); }
    double step() const { return std::ldexp(least_normal(), shift - 23); }
};

}  // namespace

// Infinities of a Float8E4M3, of which there are none, are its NaNs.
Value *Values::float32_from_float8(Value *v, Type from) {
    if (Value *done = patterns->float32_from_float8(v, from)) return done;
    const Float8Layout layout(from);
    const Type u32 = UInt(32, from.lanes()), f32 = Float(32, from.lanes());
    auto constant = [&](int64_t value) { return int_constant(u32, value); };
    auto as_float = [&](Value *x) { return b.CreateBitCast(x, register_type(f32)); };
    Value *bits = b.CreateZExt(v, register_type(u32));
    Value *sign = b.CreateShl(b.CreateAnd(bits, constant(0x80)), 24);
    Value *size = b.CreateAnd(bits, constant(0x7f));
    Value *placed = b.CreateShl(size, uint64_t(layout.shift));
    Value *normal = b.CreateAdd(placed, constant(int64_t(layout.bias) << 23));
    // With the least exponent's bit before it a number below it is that much too large.
    Value *with_bit = b.CreateOr(placed, constant(int64_t(layout.bias + 1) << 23));
    Value *below = b.CreateFSub(as_float(with_bit), float_constant(f32, layout.least_normal()));
    Value *is_below = b.CreateICmpULT(placed, constant(1 << 23));
    Value *finite = select(is_below, b.CreateBitCast(below, register_type(u32)), normal);
    Value *special = b.CreateOr(placed, constant(0x7f800000));
    Value *is_special = b.CreateICmpUGT(size, constant(layout.largest));
    return as_float(b.CreateOr(select(is_special, special, finite), sign));
}

// To nearest, ties to even, and at most the largest; a NaN stays one.
Value *Values::float8_from_float32(Value *v, Type to) {
    if (Value *done = patterns->float8_from_float32(v, to)) return done;
    const Float8Layout layout(to);
    const Type u32 = UInt(32, to.lanes()), f32 = Float(32, to.lanes());
    auto constant = [&](int64_t value) { return int_constant(u32, value); };
    Value *bits = b.CreateBitCast(v, register_type(u32));
    Value *size = b.CreateAnd(bits, constant(0x7fffffff));
    Value *odd = b.CreateAnd(b.CreateLShr(size, uint64_t(layout.shift)), constant(1));
    const int64_t half = (int64_t(1) << (layout.shift - 1)) - 1;
    Value *up = b.CreateAdd(size, constant(half - (int64_t(layout.bias) << 23)));
    Value *normal = b.CreateLShr(b.CreateAdd(up, odd), uint64_t(layout.shift));
    // A float32 this large has the step for its last bit: a sum is rounded to it.
    const double large = std::ldexp(layout.step(), 23);
    Value *sum =
        b.CreateFAdd(b.CreateBitCast(size, register_type(f32)), float_constant(f32, large));
    Value *below = b.CreateSub(b.CreateBitCast(sum, register_type(u32)),
                               constant(int64_t(bits_of_float(Float(32), large))));
    const int64_t least = int64_t(layout.bias + 1) << 23;
    Value *finite = select(b.CreateICmpULT(size, constant(least)), below, normal);
    finite = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, finite, constant(layout.largest));
    Value *is_nan = b.CreateICmpUGT(size, constant(0x7f800000));
    Value *result = select(is_nan, constant(layout.nan), finite);
    Value *sign = b.CreateAnd(b.CreateLShr(bits, 24), constant(0x80));
    return b.CreateTrunc(b.CreateOr(result, sign), register_type(to));
}

// A float32 whose last bit says whether anything was cut off, so that rounding it once more gives
// what rounding the double would have given.
Value *Values::float32_rounded_to_odd(Value *v, int lanes) {
    Type f32 = Float(32, lanes), i32 = Int(32, lanes);
    Value *nearest = b.CreateFPTrunc(v, register_type(f32));
    Value *back = b.CreateFPExt(nearest, v->getType());
    auto size = [&](Value *x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); };
    Value *too_large = b.CreateFCmpOGT(size(back), size(v));
    Value *bits = b.CreateBitCast(nearest, register_type(i32));
    Value *towards_zero = b.CreateAdd(bits, b.CreateSExt(too_large, register_type(i32)));
    Value *inexact = b.CreateZExt(b.CreateFCmpUNE(back, v), register_type(i32));
    return b.CreateBitCast(b.CreateOr(towards_zero, inexact), register_type(f32));
}

// No freedom here: LLVM would take two roundings for one, and one for none.
Value *Values::cast_float_to_float(Value *v, Type from, Type to) {
    llvm::IRBuilder<>::FastMathFlagGuard exactly(b);
    b.clearFastMathFlags();
    Type f32 = Float(32, to.lanes());
    if (from.is_bfloat()) {
        Value *wide = b.CreateZExt(v, register_type(UInt(32, to.lanes())));
        return cast(b.CreateBitCast(b.CreateShl(wide, 16), register_type(f32)), f32, to);
    }
    if (from.is_float8()) return cast(float32_from_float8(v, from), f32, to);
    if (to.bits() <= 16 && from.bits() == 64) {
        return cast(float32_rounded_to_odd(v, to.lanes()), f32, to);
    }
    if (to.bits() == 64 && from.bits() == 16) return cast(cast(v, from, f32), f32, to);
    if (to.is_bfloat()) return bfloat_from_float32(cast(v, from, f32), to.lanes());
    if (to.is_float8()) return float8_from_float32(cast(v, from, f32), to);
    return b.CreateFPCast(v, register_type(to));
}

Value *Values::saturate_float_to_int(Value *v, Type from, Type to) {
    if (from.bits() <= 16) {
        Type wide = Float(32, from.lanes());
        return saturate_float_to_int(cast(v, from, wide), wide, to);
    }
    int significand = from.bits() == 32 ? 24 : 53;
    if (to.bits() > 32 || to.bits() > significand) {
        auto id = to.is_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
        return b.CreateIntrinsic(id, {register_type(to), v->getType()}, {v});
    }
    // The bounds are floats: clamp first, and no NaN is left.
    Value *lowest = float_constant(from, to.is_int() ? double(to.min_int()) : 0.0);
    Value *highest = float_constant(from, double(to.max_uint()));
    Value *not_nan = select(b.CreateFCmpORD(v, v), v, float_constant(from, 0));
    return cast(minimum(maximum(not_nan, lowest, from), highest, from), from, to);
}

Value *Values::saturating_cast(Value *v, Type from, Type to) {
    if (to.is_float() || from.is_bool() || to.is_handle()) return cast(v, from, to);
    if (from.is_float()) return saturate_float_to_int(v, from, to);
    if (from.is_int() && to.is_uint()) v = maximum(v, int_constant(from, 0), from);
    if (from.max_uint() > to.max_uint()) {
        v = minimum(v, int_constant(from, int64_t(to.max_uint())), from);
    }
    if (from.is_int() && to.is_int() && from.bits() > to.bits()) {
        v = maximum(v, int_constant(from, to.min_int()), from);
    }
    return cast(v, from, to);
}

Value *Values::reinterpret(Value *v, Type from, Type to) {
    if (from == to) return v;
    if (from.is_bool() && to.is_bool()) return v;
    if (from.is_handle()) {
        Type bits = UInt(64, from.lanes());
        return reinterpret(b.CreatePtrToInt(v, register_type(bits)), bits, to);
    }
    if (to.is_handle()) {
        Type bits = UInt(64, to.lanes());
        return b.CreateIntToPtr(reinterpret(v, from, bits), register_type(to));
    }
    return b.CreateBitCast(v, register_type(to));
}

}  // namespace tessera::codegen
