#include "codegen/llvm/patterns.h"
#include "ir/float_bits.h"

namespace tessera::codegen {

Values::Values(llvm::Module &module, const Target &target, const Architecture &architecture)
    : context(module.getContext()), module(module), target(target.with_implied_features()),
      architecture(architecture), b(context) {
    if (target.has_feature(Target::StrictFloat)) return;
    llvm::FastMathFlags flags;
    flags.setAllowContract();
    flags.setNoSignedZeros();
    b.setFastMathFlags(flags);
}

Values::~Values() = default;

llvm::Type *Values::llvm_vector(llvm::Type *element, int lanes) {
    return lanes == 1 ? element : llvm::FixedVectorType::get(element, unsigned(lanes));
}

llvm::Type *Values::register_type(Type t) {
    llvm::Type *element = nullptr;
    switch (t.code()) {
    case TypeCode::Int:
    case TypeCode::UInt:
    case TypeCode::BFloat:
    case TypeCode::Float8E4M3:
    case TypeCode::Float8E5M2: element = b.getIntNTy(unsigned(t.bits())); break;
    case TypeCode::Float:
        element = t.bits() == 16   ? b.getHalfTy()
                  : t.bits() == 32 ? b.getFloatTy()
                                   : b.getDoubleTy();
        break;
    case TypeCode::Handle: element = b.getPtrTy(); break;
    }
    return llvm_vector(element, t.lanes());
}

llvm::Type *Values::memory_type(Type t) { return register_type(t.is_bool() ? t.with_bits(8) : t); }

// Returns the type that C functions take and return: a float16, which C does not have, as its bits.
llvm::Type *Values::c_type(Type t) { return t == Float(16) ? b.getInt16Ty() : register_type(t); }

Value *Values::splat(Value *scalar, int lanes) {
    return lanes == 1 ? scalar : b.CreateVectorSplat(unsigned(lanes), scalar);
}

Value *Values::int_constant(Type t, int64_t value) {
    auto bits = llvm::APInt(unsigned(t.bits()), uint64_t(value), true, true);
    return splat(b.getInt(bits), t.lanes());
}

Value *Values::float_constant(Type t, double value) {
    if (t.is_bfloat() || t.is_float8()) return int_constant(t, int64_t(bits_of_float(t, value)));
    return llvm::ConstantFP::get(register_type(t), value);
}

Value *Values::int32(int64_t value) { return b.getInt32(uint32_t(value)); }
Value *Values::int64(int64_t value) { return b.getInt64(uint64_t(value)); }

Value *Values::string_constant(const std::string &text) {
    Value *&known = strings[text];
    if (!known) known = b.CreateGlobalString(text, "text", 0, &module);
    return known;
}

}  // namespace tessera::codegen
