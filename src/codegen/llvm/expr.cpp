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

Value *Emitter::emit(const IntImm &node) {
    return in_coordinate ? coordinate_constant(node) : int_constant(node.type, node.value);
}

Value *Emitter::coordinate_constant(const IntImm &node) {
    return int_constant(node.type, node.value);
}

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

Value *Emitter::emit(const BufferProperty &node) { return buffer_property(node); }

Value *Emitter::emit(const ExternCall &node) {
    if (!node.pure) impure_calls++;
    return call_extern(node);
}

Value *Emitter::call_extern(const ExternCall &node) {
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

Value *Emitter::emit(const Ramp &node) {
    Value *base = value(node.base), *stride = value(node.stride);
    Type t = node.base.type();
    if (t.is_vector() || t.is_float()) {
        std::vector<Value *> parts = {base};
        for (int i = 1; i < node.lanes; i++) parts.push_back(add(parts.back(), stride, t));
        return concat(parts);
    }
    std::vector<llvm::Constant *> steps;
    for (int i = 0; i < node.lanes; i++) {
        steps.push_back(llvm::ConstantInt::get(register_type(t), uint64_t(i)));
    }
    Value *offsets = mul(splat(stride, node.lanes), llvm::ConstantVector::get(steps), node.type);
    return add(splat(base, node.lanes), offsets, node.type);
}

Value *Emitter::emit(const Broadcast &node) { return repeat(value(node.value), node.lanes); }

Value *Emitter::emit(const Shuffle &node) {
    std::vector<Value *> vectors;
    for (const Expr &v : node.vectors) vectors.push_back(value(v));
    if (vectors.size() == 1) return shuffle(vectors[0], nullptr, node.indices);
    if (vectors.size() == 2) return shuffle(vectors[0], vectors[1], node.indices);
    Value *all = concat(vectors);
    return node.is_concat() ? all : shuffle(all, nullptr, node.indices);
}

Value *Emitter::emit(const VectorReduce &node) {
    if (Value *v = patterns->reduce(node, Expr())) return v;
    Type t = node.value.type();
    Value *v = value(node.value);
    // The least or largest of floats of 8 bits is one of them, which a cast might not give.
    const bool chooses = node.op == ReduceOp::Min || node.op == ReduceOp::Max;
    if (!via_float32(t) || (t.is_float8() && chooses))
        return reduce(node.op, v, t.element_of(), node.lanes);
    Type wide = Float(32, t.lanes());
    Value *reduced = reduce(node.op, cast(v, t, wide), Float(32), node.lanes);
    return cast(reduced, Float(32, node.lanes), node.type);
}

}  // namespace tessera::codegen
