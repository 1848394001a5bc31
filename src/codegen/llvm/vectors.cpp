#include "codegen/llvm/patterns.h"
#include <numeric>

namespace tessera::codegen {
namespace {

int lanes_of(Value *v) {
    auto *type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return type ? int(type->getNumElements()) : 1;
}

std::vector<int> sequence(int begin, int stride, int count) {
    std::vector<int> indices(static_cast<size_t>(count));
    for (int i = 0; i < count; i++) indices[size_t(i)] = begin + i * stride;
    return indices;
}

}  // namespace

Value *Values::as_vector(Value *v) {
    if (v->getType()->isVectorTy()) return v;
    auto *type = llvm::FixedVectorType::get(v->getType(), 1);
    return b.CreateInsertElement(llvm::PoisonValue::get(type), v, uint64_t(0));
}

// Any index into a followed by b; one index gives a scalar.
Value *Values::shuffle(Value *a, Value *b2, const std::vector<int> &indices) {
    if (indices.size() == 1) {
        int at = indices[0], first = lanes_of(a);
        Value *from = at < first ? a : b2;
        if (!from->getType()->isVectorTy()) return from;
        return b.CreateExtractElement(from, uint64_t(at < first ? at : at - first));
    }
    a = as_vector(a);
    if (!b2) return b.CreateShuffleVector(a, indices);
    b2 = as_vector(b2);
    int na = lanes_of(a), nb = lanes_of(b2);
    if (na == nb) return b.CreateShuffleVector(a, b2, indices);
    // Both operands need the same number of lanes: pad the shorter one.
    int n = std::max(na, nb);
    auto pad = [&](Value *v, int lanes) {
        if (lanes == n) return v;
        std::vector<int> grown = sequence(0, 1, n);
        std::fill(grown.begin() + lanes, grown.end(), -1);
        return b.CreateShuffleVector(v, grown);
    };
    std::vector<int> moved = indices;
    for (int &i : moved) {
        if (i >= na) i += n - na;
    }
    return b.CreateShuffleVector(pad(a, na), pad(b2, nb), moved);
}

Value *Values::slice(Value *v, int begin, int stride, int lanes) {
    if (begin == 0 && stride == 1 && lanes == lanes_of(v)) return v;
    return shuffle(v, nullptr, sequence(begin, stride, lanes));
}

Value *Values::repeat(Value *v, int times) {
    int lanes = lanes_of(v);
    if (lanes == 1) return splat(v, times);
    std::vector<int> indices;
    for (int i = 0; i < times * lanes; i++) indices.push_back(i % lanes);
    return shuffle(v, nullptr, indices);
}

// By halves, so that equal vectors meet at every step.
Value *Values::concat(const std::vector<Value *> &parts) {
    std::vector<Value *> level = parts;
    while (level.size() > 1) {
        std::vector<Value *> next;
        for (size_t i = 0; i + 1 < level.size(); i += 2) {
            int lanes = lanes_of(level[i]) + lanes_of(level[i + 1]);
            next.push_back(shuffle(level[i], level[i + 1], sequence(0, 1, lanes)));
        }
        if (level.size() % 2) next.push_back(level.back());
        level = std::move(next);
    }
    return level[0];
}

Value *Values::per_lane(int lanes, Type result, const std::vector<Value *> &args,
                        const std::function<Value *(const std::vector<Value *> &)> &f) {
    if (lanes == 1) return f(args);
    Value *all = llvm::PoisonValue::get(register_type(result.with_lanes(lanes)));
    for (int i = 0; i < lanes; i++) {
        std::vector<Value *> lane;
        for (Value *v : args) {
            bool vector = v->getType()->isVectorTy();
            lane.push_back(vector ? b.CreateExtractElement(v, uint64_t(i)) : v);
        }
        all = b.CreateInsertElement(all, f(lane), uint64_t(i));
    }
    return all;
}

// ---- Reductions ----

Value *Values::reduce_pair(ReduceOp op, Value *a, Value *b2, Type t) {
    switch (op) {
    case ReduceOp::Add: return add(a, b2, t);
    case ReduceOp::Mul: return mul(a, b2, t);
    case ReduceOp::Min: return minimum(a, b2, t);
    case ReduceOp::Max: return maximum(a, b2, t);
    case ReduceOp::And: return b.CreateAnd(a, b2);
    case ReduceOp::Or: return b.CreateOr(a, b2);
    case ReduceOp::SaturatingAdd:
        if (t.is_float()) return add(a, b2, t);
        return b.CreateBinaryIntrinsic(
            t.is_int() ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat, a, b2);
    }
    throw InternalError("code generation met an unknown reduction");
}

// A saturating sum of signed numbers does, and what is computed strictly: these go from the first
// lane on.
bool Values::depends_on_order(ReduceOp op, Type element) const {
    if (element.is_float()) return strict || target.has_feature(Target::StrictFloat);
    return op == ReduceOp::SaturatingAdd && element.is_int();
}

// Halve the vector as long as it has an even number of lanes, then go lane by lane.
Value *Values::reduce_to_one(ReduceOp op, Value *v, Type element) {
    int lanes = lanes_of(v);
    bool keeps_order = depends_on_order(op, element);
    while (lanes > 1 && lanes % 2 == 0 && !keeps_order) {
        lanes /= 2;
        v = reduce_pair(op, slice(v, 0, 1, lanes), slice(v, lanes, 1, lanes),
                        element.with_lanes(lanes));
    }
    if (lanes == 1) return v;
    Value *result = slice(v, 0, 1, 1);
    for (int i = 1; i < lanes; i++) result = reduce_pair(op, result, slice(v, i, 1, 1), element);
    return result;
}

// `lanes` results. Neighbours are brought into vectors of their own: all first ones, all second
// ones, ... With a power of two, pairs first, which the machine has shuffles for.
Value *Values::reduce(ReduceOp op, Value *v, Type element, int lanes) {
    int factor = lanes_of(v) / lanes;
    if (factor == 1) return v;
    if (lanes == 1) return reduce_to_one(op, v, element);
    bool keeps_order = depends_on_order(op, element);
    while (factor % 2 == 0 && !keeps_order) {
        factor /= 2;
        int n = lanes * factor;
        v = reduce_pair(op, slice(v, 0, 2, n), slice(v, 1, 2, n), element.with_lanes(n));
    }
    Value *result = slice(v, 0, factor, lanes);
    for (int i = 1; i < factor; i++) {
        result = reduce_pair(op, result, slice(v, i, factor, lanes), element.with_lanes(lanes));
    }
    return result;
}

Value *Values::all_lanes(Value *condition) {
    if (!condition->getType()->isVectorTy()) return condition;
    return b.CreateAndReduce(condition);
}

}  // namespace tessera::codegen
