#include "codegen/llvm/patterns.h"

namespace tessera::codegen {

// c[0] x^n + c[1] x^(n-1) + ...
Value *Values::polynomial(Value *x, std::initializer_list<double> coefficients) {
    Value *sum = nullptr;
    for (double c : coefficients) {
        Value *constant = llvm::ConstantFP::get(x->getType(), c);
        sum = sum ? b.CreateFAdd(b.CreateFMul(sum, x), constant) : constant;
    }
    return sum;
}

// e^x = 2^n e^r with n = round(x / ln 2); where no instruction scales by 2^n, that is multiplied in
// two steps, as it may be too large or too small for one number although the result is not. The
// polynomial is that of the Cephes library's expf, as is log_float32's that of its logf.
Value *Values::exp_float32(Value *x, int lanes) {
    llvm::IRBuilder<>::FastMathFlagGuard keep(b);
    b.clearFastMathFlags();
    if (!strict) b.getFastMathFlags().setAllowContract();
    Type f32 = Float(32, lanes), i32 = Int(32, lanes);
    auto real = [&](double v) { return float_constant(f32, v); };
    // These are comparisons because a NaN stays a NaN here, which minimum and maximum leave out.
    Value *within = select(b.CreateFCmpOGT(real(-105), x), real(-105), x);
    within = select(b.CreateFCmpOLT(real(89), within), real(89), within);
    Value *n = unary_float(llvm::Intrinsic::roundeven,
                           b.CreateFMul(within, real(1.44269504088896341)), f32);
    Value *r = b.CreateFSub(within, b.CreateFMul(n, real(0.693359375)));
    r = b.CreateFSub(r, b.CreateFMul(n, real(-2.12194440e-4)));
    Value *p = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                              1.6666665459e-1, 5.0000001201e-1});
    Value *e = b.CreateFAdd(b.CreateFAdd(b.CreateFMul(p, b.CreateFMul(r, r)), r), real(1));
    if (Value *scaled = patterns->scale(e, n, lanes)) return scaled;
    Value *power = b.CreateFreeze(b.CreateFPToSI(n, register_type(i32)));
    Value *half = b.CreateAShr(power, 1);
    auto power_of_two = [&](Value *k) {
        Value *exponent = b.CreateShl(b.CreateAdd(k, int_constant(i32, 127)), 23);
        return b.CreateBitCast(exponent, register_type(f32));
    };
    return b.CreateFMul(b.CreateFMul(e, power_of_two(half)),
                        power_of_two(b.CreateSub(power, half)));
}

// log x = log m + k ln 2 with m in [sqrt(1/2), sqrt(2)).
Value *Values::log_float32(Value *x, int lanes) {
    llvm::IRBuilder<>::FastMathFlagGuard keep(b);
    b.clearFastMathFlags();
    if (!strict) b.getFastMathFlags().setAllowContract();
    Type f32 = Float(32, lanes), i32 = Int(32, lanes);
    auto real = [&](double v) { return float_constant(f32, v); };
    auto integer = [&](int64_t v) { return int_constant(i32, v); };
    Value *tiny = b.CreateFCmpOLT(x, real(1.17549435e-38));
    Value *normal = select(tiny, b.CreateFMul(x, real(8388608)), x);
    Value *bits = b.CreateBitCast(normal, register_type(i32));
    // Counted from sqrt(1/2), the exponent field holds k.
    Value *above = b.CreateSub(bits, integer(0x3f3504f3));
    Value *k = b.CreateAShr(above, 23);
    Value *m = b.CreateBitCast(b.CreateSub(bits, b.CreateShl(k, 23)), register_type(f32));
    k = b.CreateSub(k, select(tiny, integer(23), integer(0)));
    Value *kf = b.CreateSIToFP(k, register_type(f32));
    Value *d = b.CreateFSub(m, real(1)), *square = b.CreateFMul(d, d);
    Value *p = polynomial(d, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                              1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                              3.3333331174e-1});
    Value *y = b.CreateFMul(b.CreateFMul(p, d), square);
    y = b.CreateFAdd(y, b.CreateFMul(kf, real(-2.12194440e-4)));
    y = b.CreateFSub(y, b.CreateFMul(square, real(0.5)));
    Value *result = b.CreateFAdd(b.CreateFAdd(d, y), b.CreateFMul(kf, real(0.693359375)));
    auto *infinity = llvm::ConstantFP::getInfinity(x->getType());
    auto *nan = llvm::ConstantFP::getNaN(x->getType());
    result = select(b.CreateFCmpOEQ(x, infinity), infinity, result);
    result = select(b.CreateFCmpULT(x, real(0)), nan, result);
    return select(b.CreateFCmpOEQ(x, real(0)), llvm::ConstantFP::getInfinity(x->getType(), true),
                  result);
}

// |x|^y = 2^(y log2 |x|), in doubles, whose spare bits the product with y uses up.
Value *Values::pow_float32(Value *x, Value *y, int lanes) {
    llvm::IRBuilder<>::FastMathFlagGuard keep(b);
    b.clearFastMathFlags();
    if (!strict) b.getFastMathFlags().setAllowContract();
    Type f32 = Float(32, lanes), f64 = Float(64, lanes), i64 = Int(64, lanes);
    auto real = [&](double v) { return float_constant(f64, v); };
    auto integer = [&](int64_t v) { return int_constant(i64, v); };
    Value *size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    Value *wide = cast(size, f32, f64), *exponent = cast(y, f32, f64);
    Value *bits = b.CreateBitCast(wide, register_type(i64));
    Value *above = b.CreateSub(bits, integer(0x3fe6a09e667f3bcd));
    Value *high = b.CreateAnd(above, integer(int64_t(0xfff0000000000000)));
    Value *m = b.CreateBitCast(b.CreateSub(bits, high), register_type(f64));
    // The exponent fits 32 bits, which are converted faster.
    Type i32 = Int(32, lanes);
    Value *k = b.CreateAShr(b.CreateTrunc(b.CreateLShr(high, 32), register_type(i32)), 20);
    Value *s = b.CreateFDiv(b.CreateFSub(m, real(1)), b.CreateFAdd(m, real(1)));
    Value *series = polynomial(b.CreateFMul(s, s), {1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7,
                                                    1.0 / 5, 1.0 / 3, 1.0});
    Value *log2 = b.CreateFAdd(b.CreateSIToFP(k, register_type(f64)),
                               b.CreateFMul(b.CreateFMul(s, real(2.8853900817779268)), series));
    log2 = select(b.CreateFCmpOEQ(wide, real(0)),
                  llvm::ConstantFP::getInfinity(wide->getType(), true), log2);
    log2 =
        select(b.CreateFCmpOEQ(wide, llvm::ConstantFP::getInfinity(wide->getType())), wide, log2);
    Value *power = b.CreateFMul(exponent, log2);
    power = minimum(maximum(power, real(-200), f64), real(200), f64);
    Value *n = unary_float(llvm::Intrinsic::roundeven, power, f64);
    Value *r = b.CreateFMul(b.CreateFSub(power, n), real(0.693147180559945309));
    Value *e = polynomial(r, {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                              1.0 / 6, 0.5, 1.0, 1.0});
    Value *n32 = b.CreateFPToSI(n, register_type(i32));
    Value *biased = b.CreateSExt(b.CreateAdd(n32, int_constant(i32, 1023)), register_type(i64));
    Value *scale = b.CreateBitCast(b.CreateShl(biased, 52), register_type(f64));
    Value *result = cast(b.CreateFMul(e, scale), f64, f32);
    return pow_special_cases(x, y, result, lanes);
}

Value *Values::pow_special_cases(Value *x, Value *y, Value *result, int lanes) {
    Type f32 = Float(32, lanes), i32 = Int(32, lanes);
    auto real = [&](double v) { return float_constant(f32, v); };
    auto *nan = llvm::ConstantFP::getNaN(x->getType());
    Value *size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, y);
    Value *whole = b.CreateFCmpOEQ(unary_float(llvm::Intrinsic::trunc, y, f32), y);
    Value *half = b.CreateFMul(y, real(0.5));
    Value *even = b.CreateFCmpOEQ(unary_float(llvm::Intrinsic::trunc, half, f32), half);
    Value *odd = b.CreateAnd(whole, b.CreateNot(even));
    Value *negative = b.CreateICmpSLT(b.CreateBitCast(x, register_type(i32)), int_constant(i32, 0));
    result = select(b.CreateAnd(negative, odd), b.CreateFNeg(result), result);
    Value *below_zero = b.CreateAnd(b.CreateFCmpOLT(x, real(0)), b.CreateNot(whole));
    Value *finite = b.CreateFCmpOGT(x, llvm::ConstantFP::getInfinity(x->getType(), true));
    result = select(b.CreateAnd(below_zero, finite), nan, result);
    result = select(b.CreateFCmpUNO(x, y), nan, result);
    Value *endless = b.CreateFCmpOEQ(size, llvm::ConstantFP::getInfinity(x->getType()));
    Value *minus_one = b.CreateAnd(b.CreateFCmpOEQ(x, real(-1)), endless);
    Value *one = b.CreateOr(b.CreateFCmpOEQ(x, real(1)), b.CreateFCmpOEQ(y, real(0)));
    return select(b.CreateOr(one, minus_one), real(1), result);
}

}  // namespace tessera::codegen
