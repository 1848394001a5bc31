#include "codegen/llvm/patterns.h"
#include "ir/operators.h"

namespace tessera::codegen {
namespace {

// Returns true if t holds every product of an a and a b, of which neither is wider than 16 bits.
bool holds_product(Type t, Type a, Type b) {
    if (t.is_float()) return t.bits() >= 32;
    if (a.bits() > 16 || b.bits() > 16) return false;
    for (int64_t x : {a.min_int(), a.max_int()}) {
        for (int64_t y : {b.min_int(), b.max_int()}) {
            if (!t.element_of().can_represent(x * y)) return false;
        }
    }
    return true;
}

}  // namespace

Expr narrower(const Expr &e) {
    if (const auto *same = e.as<Broadcast>()) {
        Expr narrow = narrower(same->value);
        return narrow.defined() ? Broadcast::make(narrow, same->lanes) : Expr();
    }
    const auto *cast = e.as<Cast>();
    if (!cast) return Expr();
    Type from = cast->value.type(), to = cast->type;
    bool same_value = to.can_represent(from) && from.bits() < to.bits();
    return same_value ? cast->value : Expr();
}

bool find_product(const Expr &e, Product &found) {
    if (const auto *mul = e.as<Mul>()) {
        found = {narrower(mul->a), narrower(mul->b)};
        return found.a.defined() && found.b.defined() &&
               holds_product(e.type(), found.a.type(), found.b.type());
    }
    if (const auto *call = e.as<IntrinsicCall>(); call && call->op == Intrinsic::widening_mul) {
        found = {call->args[0], call->args[1]};
        return true;
    }
    const auto *cast = e.as<Cast>();
    return cast && e.type().is_int_or_uint() && cast->value.type().is_int_or_uint() &&
           e.type().can_represent(cast->value.type()) && find_product(cast->value, found);
}

std::optional<int64_t> constant_in_all_lanes(const Expr &e) {
    const auto *same = e.as<Broadcast>();
    Expr one = same ? same->value : e;
    if (const auto *i = one.as<IntImm>()) return i->value;
    const auto *u = one.as<UIntImm>();
    bool fits = u && u->value <= uint64_t(INT64_MAX);
    return fits ? std::optional<int64_t>(u->value) : std::nullopt;
}

Patterns::Patterns(Emitter &emitter) : emitter(emitter), b(emitter.b), target(emitter.target) {}

Value *Patterns::machine_call(llvm::Intrinsic::ID id, std::vector<Value *> args,
                              llvm::ArrayRef<llvm::Type *> overloads) {
    llvm::Function *function =
        llvm::Intrinsic::getOrInsertDeclaration(&emitter.module, id, overloads);
    for (size_t i = 0; i < args.size(); i++) {
        args[i] = b.CreateBitCast(args[i], function->getFunctionType()->getParamType(unsigned(i)));
    }
    return b.CreateCall(function, args);
}

Value *Patterns::by_native_width(const std::vector<Value *> &operands, int result_lanes,
                                 int bytes_per_result, int native_bytes, const PerVector &f) {
    int bytes = 16;
    while (bytes < native_bytes && bytes < result_lanes * bytes_per_result) bytes *= 2;
    int per_part = bytes / bytes_per_result;
    std::vector<Value *> results;
    for (int begin = 0; begin < result_lanes; begin += per_part) {
        int count = std::min(per_part, result_lanes - begin);
        std::vector<Value *> parts;
        for (Value *v : operands) {
            auto *type = llvm::cast<llvm::FixedVectorType>(v->getType());
            int lanes = int(type->getNumElements()), per_result = lanes / result_lanes;
            Value *part = slice(v, begin * per_result, 1, count * per_result);
            if (count < per_part) {
                auto *zeros = llvm::Constant::getNullValue(
                    emitter.llvm_vector(type->getElementType(), (per_part - count) * per_result));
                part = emitter.concat({part, zeros});
            }
            parts.push_back(part);
        }
        Value *result = f(bytes, parts);
        results.push_back(count < per_part ? slice(result, 0, 1, count) : result);
    }
    return emitter.concat(results);
}

Value *Patterns::finish_dot(const VectorReduce &node, const Expr &accumulator, Value *partial) {
    Value *sum = reduce_lanes(ReduceOp::Add, partial, node.type.element_of(), node.lanes);
    return accumulator.defined() ? add(sum, value(accumulator), node.type) : sum;
}

}  // namespace tessera::codegen
