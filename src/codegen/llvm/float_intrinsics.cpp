#include "codegen/llvm/patterns.h"
#include "lower/finish/lower_intrinsics.h"

namespace tessera::codegen {

Value *Emitter::float_call(const IntrinsicCall &c, llvm::Intrinsic::ID id) {
    return unary_float(id, arg(c, 0), c.type);
}

Value *Emitter::emit_sqrt(const IntrinsicCall &c) { return float_call(c, llvm::Intrinsic::sqrt); }
Value *Emitter::emit_floor(const IntrinsicCall &c) { return float_call(c, llvm::Intrinsic::floor); }
Value *Emitter::emit_ceil(const IntrinsicCall &c) { return float_call(c, llvm::Intrinsic::ceil); }
Value *Emitter::emit_trunc(const IntrinsicCall &c) { return float_call(c, llvm::Intrinsic::trunc); }
Value *Emitter::emit_round(const IntrinsicCall &c) {
    return float_call(c, llvm::Intrinsic::roundeven);
}

Value *Emitter::emit_fma(const IntrinsicCall &c) {
    Value *x = arg(c, 0), *y = arg(c, 1), *z = arg(c, 2);
    if (c.type.bits() > 16) {
        return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
    }
    // The product is exact in doubles.
    Type wide = Float(64, c.type.lanes());
    Value *product = b.CreateFMul(cast(x, c.type, wide), cast(y, c.type, wide));
    Value *sum = b.CreateFAdd(product, cast(z, c.type, wide));
    return cast(sum, wide, c.type);
}

Value *Emitter::emit_is_nan(const IntrinsicCall &c) {
    Value *v = arg_as(c, 0, c.args[0].type().bits() <= 16 ? Float(32) : c.args[0].type());
    return b.CreateFCmpUNO(v, v);
}
Value *Emitter::emit_is_inf(const IntrinsicCall &c) {
    Value *v = arg_as(c, 0, c.args[0].type().bits() <= 16 ? Float(32) : c.args[0].type());
    Value *size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v);
    return b.CreateFCmpOEQ(size, llvm::ConstantFP::getInfinity(v->getType()));
}
Value *Emitter::emit_is_finite(const IntrinsicCall &c) {
    Value *v = arg_as(c, 0, c.args[0].type().bits() <= 16 ? Float(32) : c.args[0].type());
    Value *size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v);
    return b.CreateFCmpONE(size, llvm::ConstantFP::getInfinity(v->getType()));
}

Value *Emitter::emit_strict_float(const IntrinsicCall &c) {
    llvm::IRBuilder<>::FastMathFlagGuard keep(b);
    b.clearFastMathFlags();
    if (strict) return arg(c, 0);
    FreshMemo memo_of_its_own(*this);
    strict = true;
    Value *v = arg(c, 0);
    strict = false;
    return v;
}

// A function of the C library, lane by lane.
Value *Emitter::math_call(const IntrinsicCall &c, const char *name) {
    Type t = c.type.bits() <= 16 ? Float(32, c.type.lanes()) : c.type;
    std::vector<Value *> args;
    for (size_t i = 0; i < c.args.size(); i++) args.push_back(arg_as(c, i, t));
    std::string full = str(name, t.bits() == 32 ? "f" : "");
    std::vector<Type> types(args.size(), t.element_of());
    llvm::FunctionCallee callee = extern_function(full, t.element_of(), types, true);
    Value *result = per_lane(t.lanes(), t.element_of(), args, [&](const std::vector<Value *> &v) {
        return b.CreateCall(callee, v);
    });
    return cast(result, t, c.type);
}

#define LIBRARY(name)                                                                              \
    Value *Emitter::emit_##name(const IntrinsicCall &c) { return math_call(c, #name); }
LIBRARY(sin)
LIBRARY(cos)
LIBRARY(tan)
LIBRARY(asin)
LIBRARY(acos)
LIBRARY(atan)
LIBRARY(atan2)
LIBRARY(sinh)
LIBRARY(cosh)
LIBRARY(tanh)
LIBRARY(asinh)
LIBRARY(acosh)
LIBRARY(atanh)
#undef LIBRARY

// Vectors of float32 (and what is computed in it) have their own code.
Value *Emitter::emit_exp(const IntrinsicCall &c) {
    Type t = Float(32, c.type.lanes());
    if (c.type.bits() == 64 || c.type.is_scalar()) return math_call(c, "exp");
    return cast(exp_float32(arg_as(c, 0, t), t.lanes()), t, c.type);
}

Value *Emitter::emit_log(const IntrinsicCall &c) {
    Type t = Float(32, c.type.lanes());
    if (c.type.bits() == 64 || c.type.is_scalar()) return math_call(c, "log");
    return cast(log_float32(arg_as(c, 0, t), t.lanes()), t, c.type);
}

Value *Emitter::emit_pow(const IntrinsicCall &c) {
    Type t = Float(32, c.type.lanes());
    if (c.type.bits() == 64 || c.type.is_scalar()) return math_call(c, "pow");
    return cast(pow_float32(arg_as(c, 0, t), arg_as(c, 1, t), t.lanes()), t, c.type);
}

// 1 / x or 1 / sqrt(x), to about 22 bits.
Value *Emitter::approximate(const IntrinsicCall &c, bool of_root) {
    Type t = Float(32, c.type.lanes());
    if (c.type.bits() == 64) t = c.type;
    Value *x = arg_as(c, 0, t);
    Value *fast = t.bits() == 32 ? patterns->fast_inverse(x, t.lanes(), of_root) : nullptr;
    if (fast) return cast(fast, t, c.type);
    if (of_root) x = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    return cast(b.CreateFDiv(float_constant(t, 1), x), t, c.type);
}

// Computes a polynomial if there is no instruction, as on the host that launches a kernel.
Value *Emitter::emit_fast_exp(const IntrinsicCall &c) {
    Value *fast = patterns->fast_exp(arg(c, 0));
    return fast ? fast : value(lower::lower_fast_exp(c.args[0]));
}
Value *Emitter::emit_fast_log(const IntrinsicCall &c) {
    Value *fast = patterns->fast_log(arg(c, 0));
    return fast ? fast : value(lower::lower_fast_log(c.args[0]));
}

Value *Emitter::emit_fast_inverse(const IntrinsicCall &c) { return approximate(c, false); }
Value *Emitter::emit_fast_inverse_sqrt(const IntrinsicCall &c) { return approximate(c, true); }

}  // namespace tessera::codegen
