#include "codegen/llvm/emitter.h"

namespace tessera::codegen {

llvm::Type *Emitter::llvm_vector(llvm::Type *element, int lanes) {
    return lanes == 1 ? element : llvm::FixedVectorType::get(element, unsigned(lanes));
}

llvm::Type *Emitter::register_type(Type t) {
    llvm::Type *element = nullptr;
    switch (t.code()) {
    case TypeCode::Int:
    case TypeCode::UInt:
    case TypeCode::BFloat: element = b.getIntNTy(unsigned(t.bits())); break;
    case TypeCode::Float:
        element = t.bits() == 16   ? b.getHalfTy()
                  : t.bits() == 32 ? b.getFloatTy()
                                   : b.getDoubleTy();
        break;
    case TypeCode::Handle: element = b.getPtrTy(); break;
    }
    return llvm_vector(element, t.lanes());
}

llvm::Type *Emitter::memory_type(Type t) { return register_type(t.is_bool() ? t.with_bits(8) : t); }

// As C functions take and return it: a float16, which C does not have, as its bits.
llvm::Type *Emitter::c_type(Type t) { return t == Float(16) ? b.getInt16Ty() : register_type(t); }

Value *Emitter::splat(Value *scalar, int lanes) {
    return lanes == 1 ? scalar : b.CreateVectorSplat(unsigned(lanes), scalar);
}

Value *Emitter::int_constant(Type t, int64_t value) {
    auto bits = llvm::APInt(unsigned(t.bits()), uint64_t(value), true, true);
    return splat(b.getInt(bits), t.lanes());
}

Value *Emitter::float_constant(Type t, double value) {
    if (t.is_bfloat()) return int_constant(t, bfloat16_t(value).to_bits());
    return llvm::ConstantFP::get(register_type(t), value);
}

Value *Emitter::int32(int64_t value) { return b.getInt32(uint32_t(value)); }
Value *Emitter::int64(int64_t value) { return b.getInt64(uint64_t(value)); }

}  // namespace tessera::codegen
