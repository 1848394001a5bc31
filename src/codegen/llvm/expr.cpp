#include "codegen/llvm/patterns.h"

namespace tessera::codegen {

Value *Emitter::value(const Expr &e) {
    const ExprNode *node = e.get();
    bool shared = node->use_count() > 1;
    auto &values = memo.values[in_coordinate];
    if (shared) {
        auto known = values.find(node);
        if (known != values.end()) return known->second;
    }
    uint64_t calls_before = impure_calls;
    Value *v = dispatch(e);
    if (shared && impure_calls == calls_before) {
        values[node] = v;
        memo_log.push_back(e);
    }
    return v;
}

Value *Emitter::value_as(bool coordinate, const Expr &e) {
    bool outer = std::exchange(in_coordinate, coordinate);
    Value *v = value(e);
    in_coordinate = outer;
    return v;
}

Value *Emitter::coordinate(const Expr &e) { return value_as(coordinates.are(e), e); }

Value *Emitter::bound_value(Symbol let, const Expr &e) {
    return value_as(in_coordinate || coordinates.contains(let), e);
}

Value *Emitter::dispatch(const Expr &e) {
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return emit(static_cast<const T &>(*e.get()));
        TESSERA_EXPR_NODES(CASE)
#undef CASE
    default: throw InternalError("code generation met an expression of unknown kind");
    }
}

Value *Emitter::emit(const IntImm &node) { return int_constant(node.type, node.value); }

Value *Emitter::emit(const UIntImm &node) { return int_constant(node.type, int64_t(node.value)); }

Value *Emitter::emit(const FloatImm &node) { return float_constant(node.type, node.value); }

Value *Emitter::emit(const StringImm &node) { return string_constant(node.value); }

Value *Emitter::emit(const Variable &node) {
    auto found = f->variables.find(node.name);
    if (found == f->variables.end()) {
        throw InternalError(str("code generation met the unbound variable ", node.name));
    }
    return found->second;
}

Value *Emitter::emit(const Call &node) {
    throw InternalError(str("code generation met a call of ", node.callee,
                            "; storage flattening should have replaced it"));
}

Value *Emitter::emit(const Cast &node) {
    return cast(value(node.value), node.value.type(), node.type);
}

Value *Emitter::emit(const Reinterpret &node) {
    return reinterpret(value(node.value), node.value.type(), node.type);
}

bool Emitter::via_float32(Type t) const {
    if (t.is_bfloat()) return true;
    return t.is_float() && t.bits() == 16 && !architecture.computes_half(target);
}

bool Emitter::never_overflows(Type t) const {
    return in_coordinate && t.is_int() && t.bits() >= 32;
}

Value *Emitter::in_float32(Type t, std::initializer_list<Value *> operands,
                           const std::function<Value *(const std::vector<Value *> &, Type)> &f) {
    Type wide = Float(32, t.lanes());
    std::vector<Value *> widened;
    for (Value *v : operands) widened.push_back(cast(v, t, wide));
    return cast(f(widened, wide), wide, t);
}

Value *Emitter::add(Value *a, Value *b2, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a, b2}, [&](auto &v, Type w) { return add(v[0], v[1], w); });
    }
    if (t.is_any_float()) return b.CreateFAdd(a, b2);
    return b.CreateAdd(a, b2, "", false, never_overflows(t));
}

Value *Emitter::sub(Value *a, Value *b2, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a, b2}, [&](auto &v, Type w) { return sub(v[0], v[1], w); });
    }
    if (t.is_any_float()) return b.CreateFSub(a, b2);
    return b.CreateSub(a, b2, "", false, never_overflows(t));
}

Value *Emitter::mul(Value *a, Value *b2, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a, b2}, [&](auto &v, Type w) { return mul(v[0], v[1], w); });
    }
    if (t.is_any_float()) return b.CreateFMul(a, b2);
    return b.CreateMul(a, b2, "", false, never_overflows(t));
}

// One instruction on x86, whose second operand is the result if either is not a number.
Value *Emitter::minimum(Value *a, Value *b2, Type t) {
    if (t.is_int()) return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b2);
    if (t.is_uint()) return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b2);
    return select(compare(NodeKind::LT, a, b2, t), a, b2);
}

Value *Emitter::maximum(Value *a, Value *b2, Type t) {
    if (t.is_int()) return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b2);
    if (t.is_uint()) return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, b2);
    return select(compare(NodeKind::GT, a, b2, t), a, b2);
}

Value *Emitter::select(Value *condition, Value *a, Value *b2) {
    if (auto *constant = llvm::dyn_cast<llvm::Constant>(condition)) {
        if (constant->isAllOnesValue()) return a;
        if (constant->isNullValue()) return b2;
    }
    return b.CreateSelect(condition, a, b2);
}

Value *Emitter::negate_if(Value *condition, Value *a) {
    return select(condition, b.CreateNeg(a), a);
}

Value *Emitter::compare(NodeKind kind, Value *a, Value *b2, Type t) {
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

Value *Emitter::unary_float(llvm::Intrinsic::ID id, Value *a, Type t) {
    if (via_float32(t)) {
        return in_float32(t, {a}, [&](auto &v, Type w) { return unary_float(id, v[0], w); });
    }
    return b.CreateUnaryIntrinsic(id, a);
}

Value *Emitter::emit(const Add &node) {
    // acc + reduction: dot-product instructions add the accumulator for nothing.
    if (const auto *r = node.b.as<VectorReduce>()) {
        if (Value *v = patterns->reduce(*r, node.a)) return v;
    }
    if (const auto *r = node.a.as<VectorReduce>()) {
        if (Value *v = patterns->reduce(*r, node.b)) return v;
    }
    Value *a = value(node.a);
    return add(a, value(node.b), node.type);
}

Value *Emitter::emit(const Sub &node) {
    Value *a = value(node.a);
    return sub(a, value(node.b), node.type);
}

Value *Emitter::emit(const Mul &node) {
    Value *a = value(node.a);
    return mul(a, value(node.b), node.type);
}

Value *Emitter::emit(const Div &node) {
    Value *a = value(node.a);
    return divide(a, value(node.b), node.type);
}

Value *Emitter::emit(const Mod &node) {
    Value *a = value(node.a);
    return modulo(a, value(node.b), node.type);
}

Value *Emitter::emit(const Min &node) {
    Value *a = value(node.a);
    return minimum(a, value(node.b), node.type);
}

Value *Emitter::emit(const Max &node) {
    Value *a = value(node.a);
    return maximum(a, value(node.b), node.type);
}

#define COMPARISON(T)                                                                              \
    Value *Emitter::emit(const T &node) {                                                          \
        Value *a = value(node.a);                                                                  \
        return compare(NodeKind::T, a, value(node.b), node.a.type());                              \
    }
COMPARISON(EQ)
COMPARISON(NE)
COMPARISON(LT)
COMPARISON(LE)
COMPARISON(GT)
COMPARISON(GE)
#undef COMPARISON

Value *Emitter::emit(const And &node) {
    Value *a = value(node.a);
    return b.CreateAnd(a, value(node.b));
}

Value *Emitter::emit(const Or &node) {
    Value *a = value(node.a);
    return b.CreateOr(a, value(node.b));
}

Value *Emitter::emit(const Not &node) { return b.CreateNot(value(node.a)); }

Value *Emitter::emit(const Select &node) {
    Value *condition = value(node.condition);
    Value *true_value = value(node.true_value);
    return select(condition, true_value, value(node.false_value));
}

// A chain of lets is walked in a loop: it may be thousands long.
Value *Emitter::emit(const Let &first) {
    MemoScope forget(*this);
    std::vector<std::pair<Symbol, Value *>> former;
    std::vector<std::pair<Symbol, WideCoordinate>> former_wide;
    const Let *let = &first;
    Expr body;
    for (; let; let = body.as<Let>()) {
        Value *bound = bound_value(let->name, let->value);
        former.emplace_back(let->name, f->variables[let->name]);
        f->variables[let->name] = bound;
        auto other = f->wide_variables.find(let->name);  // of another let of that name
        if (other != f->wide_variables.end()) {
            former_wide.push_back(*other);
            f->wide_variables.erase(other);
        }
        body = let->body;
    }
    Value *result = value(body);
    for (const auto &[name, wide] : former_wide) f->wide_variables.try_emplace(name, wide);
    for (auto i = former.rbegin(); i != former.rend(); ++i) {
        if (i->second) {
            f->variables[i->first] = i->second;
        } else {
            f->variables.erase(i->first);
        }
    }
    return result;
}

Value *Emitter::emit(const ExternCall &node) {
    if (!node.pure) impure_calls++;
    std::vector<Value *> args;
    std::vector<Type> types;
    for (const Expr &a : node.args) {
        args.push_back(value(a));
        types.push_back(a.type().element_of());
    }
    Type result = node.type.element_of();
    llvm::FunctionCallee callee = extern_function(node.function, result, types, node.pure);
    return per_lane(node.type.lanes(), result, args, [&](const std::vector<Value *> &lane) {
        std::vector<Value *> passed;
        for (size_t i = 0; i < lane.size(); i++) {
            passed.push_back(b.CreateBitCast(lane[i], c_type(types[i])));
        }
        auto *call = b.CreateCall(callee, passed);
        if (auto *function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
            call->setAttributes(function->getAttributes());
        }
        return b.CreateBitCast(call, register_type(result));
    });
}

}  // namespace tessera::codegen
