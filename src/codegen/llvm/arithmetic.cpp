#include "codegen/llvm/values.h"

namespace tessera::codegen {

bool Values::via_float32(Type t) const {
    if (t.is_bfloat() || t.is_float8()) return true;
    return t.is_float() && t.bits() == 16 && !architecture.computes_half(target);
}

bool Values::never_overflows(Type t) const { return in_coordinate && t.is_int() && t.bits() >= 32; }

Value *Values::in_float32(Type t, std::initializer_list<Value *> operands,
                          const std::function<Value *(const std::vector<Value *> &, Type)> &f) {
    Type wide = Float(32, t.lanes());
    std::vector<Value *> widened;
    for (Value *v : operands) widened.push_back(cast(v, t, wide));
    return cast(f(widened, wide), wide, t);
}

Value *Values::add(Value *a, Value *b2, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a, b2}, [&](auto &v, Type w) { return add(v[0], v[1], w); });
    }
    if (t.is_float()) return b.CreateFAdd(a, b2);
    return b.CreateAdd(a, b2, "", false, never_overflows(t));
}

Value *Values::sub(Value *a, Value *b2, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a, b2}, [&](auto &v, Type w) { return sub(v[0], v[1], w); });
    }
    if (t.is_float()) return b.CreateFSub(a, b2);
    return b.CreateSub(a, b2, "", false, never_overflows(t));
}

Value *Values::mul(Value *a, Value *b2, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a, b2}, [&](auto &v, Type w) { return mul(v[0], v[1], w); });
    }
    if (t.is_float()) return b.CreateFMul(a, b2);
    return b.CreateMul(a, b2, "", false, never_overflows(t));
}

Value *Values::minimum(Value *a, Value *b2, Type t) {
    if (t.is_int()) return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b2);
    if (t.is_uint()) return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b2);
    if (!via_float32(t)) return b.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, a, b2);
    // The operands are compared as float32 but not converted back, which would cost more.
    Value *lesser = select(compare(NodeKind::LT, a, b2, t), a, b2);
    return select(compare(NodeKind::NE, b2, b2, t), a, lesser);
}

Value *Values::maximum(Value *a, Value *b2, Type t) {
    if (t.is_int()) return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b2);
    if (t.is_uint()) return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, b2);
    if (!via_float32(t)) return b.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, a, b2);
    Value *greater = select(compare(NodeKind::GT, a, b2, t), a, b2);
    return select(compare(NodeKind::NE, b2, b2, t), a, greater);
}

Value *Values::select(Value *condition, Value *a, Value *b2) {
    if (auto *constant = llvm::dyn_cast<llvm::Constant>(condition)) {
        if (constant->isAllOnesValue()) return a;
        if (constant->isNullValue()) return b2;
    }
    return b.CreateSelect(condition, a, b2);
}

Value *Values::negate_if(Value *condition, Value *a) {
    return select(condition, b.CreateNeg(a), a);
}

Value *Values::compare(NodeKind kind, Value *a, Value *b2, Type t) {
    if (via_float32(t)) {
        Type wide = Float(32, t.lanes());
        return compare(kind, cast(a, t, wide), cast(b2, t, wide), wide);
    }
    using P = llvm::CmpInst::Predicate;
    struct Row {
        P of_float, of_int, of_uint;
    };
    Row row{};
    switch (kind) {
    case NodeKind::EQ: row = {P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ}; break;
    case NodeKind::NE: row = {P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE}; break;
    case NodeKind::LT: row = {P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT}; break;
    case NodeKind::LE: row = {P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE}; break;
    case NodeKind::GT: row = {P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT}; break;
    case NodeKind::GE: row = {P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE}; break;
    default: throw InternalError("not a comparison");
    }
    return b.CreateCmp(t.is_float() ? row.of_float : t.is_int() ? row.of_int : row.of_uint, a, b2);
}

Value *Values::unary_float(llvm::Intrinsic::ID id, Value *a, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a}, [&](auto &v, Type w) { return unary_float(id, v[0], w); });
    }
    return b.CreateUnaryIntrinsic(id, a);
}

}  // namespace tessera::codegen
