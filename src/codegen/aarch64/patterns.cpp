#include "codegen/aarch64/patterns.h"
#include "ir/operators.h"
#include <llvm/IR/IntrinsicsAArch64.h>

namespace tessera::codegen {
namespace {

namespace I = llvm::Intrinsic;

constexpr int register_bytes = 16;

// The same operation of signed and of unsigned lanes.
struct Pair {
    I::ID of_int, of_uint;

    I::ID of(Type t) const { return t.is_int() ? of_int : of_uint; }
};

class AArch64Patterns final : public Patterns {
public:
    using Patterns::Patterns;
    Value *reduce(const VectorReduce &node, const Expr &accumulator) override;
    Value *intrinsic(const IntrinsicCall &call) override;
    Value *shift(Value *v, Value *count, Type t, const Shift &how) override;
    Value *fast_inverse(Value *x, int lanes, bool of_root) override;
    Value *multiply(const ir::Instruction &row, Value *sums, Value *a, Value *c) override;

private:
    Value *lane_by_lane(const IntrinsicCall &c, const Pair &op);
    Value *doubling_mul(const IntrinsicCall &c, I::ID op);
    Value *dot(const VectorReduce &node, const Expr &accumulator);
    Value *sum_of_narrower(const VectorReduce &node);
    Value *sum_of_neighbours(Value *v, Type narrow);
    Value *reduce_neighbours(ReduceOp op, Value *v, Type element, int lanes);
};

}  // namespace

// ---- Lane by lane ----

Value *AArch64Patterns::lane_by_lane(const IntrinsicCall &c, const Pair &op) {
    Type t = c.args[0].type();
    if (!t.is_vector() || !t.is_int_or_uint() || t.is_bool() || t.bits() > 32) return nullptr;
    if (c.args[1].type() != t) return nullptr;
    return by_native_width({value(c.args[0]), value(c.args[1])}, t.lanes(), t.bytes(),
                           register_bytes, [&](int, const std::vector<Value *> &v) {
                               return machine_call(op.of(t), v, {v[0]->getType()});
                           });
}

// sqdmulh, sqrdmulh: the upper half of twice the product, saturated.
Value *AArch64Patterns::doubling_mul(const IntrinsicCall &c, I::ID op) {
    Type t = c.type;
    bool fits = t.is_vector() && t.is_int() && (t.bits() == 16 || t.bits() == 32);
    if (!fits || c.args[0].type() != t || c.args[1].type() != t) return nullptr;
    if (constant_in_all_lanes(c.args[2]) != t.bits() - 1) return nullptr;
    return lane_by_lane(c, {op, op});
}

Value *AArch64Patterns::intrinsic(const IntrinsicCall &c) {
    switch (c.op) {
    case Intrinsic::absd: return lane_by_lane(c, {I::aarch64_neon_sabd, I::aarch64_neon_uabd});
    case Intrinsic::halving_add:
        return lane_by_lane(c, {I::aarch64_neon_shadd, I::aarch64_neon_uhadd});
    case Intrinsic::rounding_halving_add:
        return lane_by_lane(c, {I::aarch64_neon_srhadd, I::aarch64_neon_urhadd});
    case Intrinsic::halving_sub:
        return lane_by_lane(c, {I::aarch64_neon_shsub, I::aarch64_neon_uhsub});
    case Intrinsic::mul_shift_right: return doubling_mul(c, I::aarch64_neon_sqdmulh);
    case Intrinsic::rounding_mul_shift_right: return doubling_mul(c, I::aarch64_neon_sqrdmulh);
    default: return nullptr;
    }
}

// sshl and the like shift to the left by the lowest byte of each count, or if that is negative to
// the right. Shifts by constants LLVM does better itself, unless they round.
Value *AArch64Patterns::shift(Value *v, Value *count, Type t, const Shift &how) {
    if (!t.is_vector() || t.bits() > 64) return nullptr;
    if (!how.rounding && llvm::isa<llvm::Constant>(count)) return nullptr;
    Type counts = t.with_code(how.count_signed ? TypeCode::Int : TypeCode::UInt);
    count = minimum(count, int_constant(counts, 127), counts);
    if (how.count_signed) count = maximum(count, int_constant(counts, -127), counts);
    if (!how.left) count = b.CreateNeg(count);
    const Pair op = how.rounding ? Pair{I::aarch64_neon_srshl, I::aarch64_neon_urshl}
                                 : Pair{I::aarch64_neon_sshl, I::aarch64_neon_ushl};
    return by_native_width({v, count}, t.lanes(), t.bytes(), register_bytes,
                           [&](int, const std::vector<Value *> &part) {
                               return machine_call(op.of(t), part, {part[0]->getType()});
                           });
}

// The machine's guess of 8 bits, and two steps of Newton's, which know zero and infinity.
Value *AArch64Patterns::fast_inverse(Value *x, int lanes, bool of_root) {
    llvm::IRBuilder<>::FastMathFlagGuard keep(b);
    b.clearFastMathFlags();
    auto inverse = [&](int, const std::vector<Value *> &part) {
        Value *v = part[0];
        auto machine = [&](I::ID id, const std::vector<Value *> &args) {
            return machine_call(id, args, {v->getType()});
        };
        Value *y = machine(of_root ? I::aarch64_neon_frsqrte : I::aarch64_neon_frecpe, {v});
        for (int step = 0; step < 2; step++) {
            Value *by = of_root ? machine(I::aarch64_neon_frsqrts, {v, b.CreateFMul(y, y)})
                                : machine(I::aarch64_neon_frecps, {v, y});
            y = b.CreateFMul(y, by);
        }
        return y;
    };
    return by_native_width({as_vector(x)}, lanes, 4, register_bytes, inverse);
}

// ---- Reductions ----

Value *AArch64Patterns::reduce(const VectorReduce &node, const Expr &accumulator) {
    Type t = node.type.element_of();
    if (t.is_bool() || t.is_handle()) return nullptr;
    if (t.is_float() && (t.bits() <= 16 || depends_on_order(node.op, t))) return nullptr;
    if (Value *v = dot(node, accumulator)) return v;
    if (accumulator.defined()) return nullptr;
    if (Value *v = sum_of_narrower(node)) return v;
    bool pairs =
        node.op == ReduceOp::Add || (t.is_int_or_uint() && t.bits() <= 32 &&
                                     (node.op == ReduceOp::Min || node.op == ReduceOp::Max));
    int factor = node.value.type().lanes() / node.lanes;
    if (!pairs || factor % 2) return nullptr;
    return reduce_neighbours(node.op, value(node.value), t, node.lanes);
}

// udot, sdot and usdot: four products of bytes are added to each lane of 32 bits.
Value *AArch64Patterns::dot(const VectorReduce &node, const Expr &accumulator) {
    Type t = node.type;
    int lanes = node.value.type().lanes(), factor = lanes / node.lanes;
    bool fits = node.op == ReduceOp::Add && t.is_int_or_uint() && t.bits() == 32 && factor % 4 == 0;
    if (!fits || !target.has_feature(Target::ARMDotProd)) return nullptr;
    Product product;
    Expr bytes = narrower(node.value);
    if (!find_product(node.value, product)) {
        if (!bytes.defined()) return nullptr;
        product = {bytes, make_const(bytes.type(), 1)};
    }
    if (is_signed_byte(product.a.type())) std::swap(product.a, product.b);
    Type x = product.a.type(), y = product.b.type();
    if (x.bits() != 8 || y.bits() != 8) return nullptr;
    bool mixed = x.is_int() != y.is_int();
    if (mixed && !target.has_feature(Target::ARMv86a)) return nullptr;
    I::ID op = mixed        ? I::aarch64_neon_usdot
               : x.is_int() ? I::aarch64_neon_sdot
                            : I::aarch64_neon_udot;
    bool exact = factor == 4;
    Value *start =
        exact && accumulator.defined() ? value(accumulator) : int_constant(Int(32, lanes / 4), 0);
    Value *partial =
        by_native_width({as_vector(start), value(product.a), value(product.b)}, lanes / 4, 4,
                        register_bytes, [&](int, const std::vector<Value *> &v) {
                            return machine_call(op, v, {v[0]->getType(), v[1]->getType()});
                        });
    return exact ? partial : finish_dot(node, accumulator, partial);
}

// Sums of what has fewer bits than the sum: neighbours are added in twice as many bits as they
// have, which saddlp and uaddlp do, until there are enough.
Value *AArch64Patterns::sum_of_narrower(const VectorReduce &node) {
    Type t = node.type;
    int factor = node.value.type().lanes() / node.lanes;
    if (node.op != ReduceOp::Add || !t.is_int_or_uint() || factor % 2) return nullptr;
    Product product;
    Expr operand = narrower(node.value);
    Value *v;
    Type narrow;
    if (find_product(node.value, product) && product.a.type().bits() == product.b.type().bits()) {
        Type x = product.a.type(), y = product.b.type();
        narrow = (x.is_int() ? x : y).widen();
        if (narrow.bits() >= t.bits()) return nullptr;
        v = b.CreateMul(cast(value(product.a), x, narrow), cast(value(product.b), y, narrow));
    } else {
        if (!operand.defined() || operand.type().is_bool()) return nullptr;
        narrow = operand.type();
        v = value(operand);
    }
    for (; narrow.bits() < t.bits() && factor % 2 == 0; factor /= 2) {
        v = sum_of_neighbours(v, narrow);
        narrow = narrow.widen().with_lanes(narrow.lanes() / 2);
    }
    v = cast(v, narrow, t.with_lanes(narrow.lanes()));
    return reduce_neighbours(ReduceOp::Add, v, t.element_of(), node.lanes);
}

Value *AArch64Patterns::sum_of_neighbours(Value *v, Type narrow) {
    const Pair op = {I::aarch64_neon_saddlp, I::aarch64_neon_uaddlp};
    Type wide = narrow.widen();
    auto *result = llvm::FixedVectorType::get(register_type(wide.element_of()),
                                              unsigned(register_bytes / wide.bytes()));
    return by_native_width({v}, narrow.lanes() / 2, wide.bytes(), register_bytes,
                           [&](int, const std::vector<Value *> &part) {
                               return machine_call(op.of(narrow), part,
                                                   {result, part[0]->getType()});
                           });
}

// Reduces as far as halves go, neighbours by pairs (addp and the like) or across the whole
// register.
Value *AArch64Patterns::reduce_neighbours(ReduceOp op, Value *v, Type element, int lanes) {
    auto *type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    int count = type ? int(type->getNumElements()) : 1;
    bool is_int = element.is_int_or_uint();
    if (lanes == 1 && is_int && count > 1) {
        if (op == ReduceOp::Add) return b.CreateAddReduce(v);
        return op == ReduceOp::Min ? b.CreateIntMinReduce(v, element.is_int())
                                   : b.CreateIntMaxReduce(v, element.is_int());
    }
    const Pair pairs = op == ReduceOp::Min   ? Pair{I::aarch64_neon_sminp, I::aarch64_neon_uminp}
                       : op == ReduceOp::Max ? Pair{I::aarch64_neon_smaxp, I::aarch64_neon_umaxp}
                       : is_int              ? Pair{I::aarch64_neon_addp, I::aarch64_neon_addp}
                                             : Pair{I::aarch64_neon_faddp, I::aarch64_neon_faddp};
    int per_register = register_bytes / element.bytes();
    for (; count > lanes && (count / lanes) % 2 == 0; count /= 2) {
        v = by_native_width({v}, count / 2, element.bytes(), register_bytes,
                            [&](int, const std::vector<Value *> &part) {
                                Value *low = slice(part[0], 0, 1, per_register);
                                Value *high = slice(part[0], per_register, 1, per_register);
                                return machine_call(pairs.of(element), {low, high},
                                                    {low->getType()});
                            });
    }
    return reduce_lanes(op, v, element, lanes);
}

Value *AArch64Patterns::multiply(const ir::Instruction &row, Value *sums, Value *a, Value *c) {
    struct Row {
        const char *mnemonic;
        I::ID op;
    };
    constexpr Row rows[] = {{"sdot", I::aarch64_neon_sdot},    {"udot", I::aarch64_neon_udot},
                            {"usdot", I::aarch64_neon_usdot},  {"smmla", I::aarch64_neon_smmla},
                            {"ummla", I::aarch64_neon_ummla},  {"usmmla", I::aarch64_neon_usmmla},
                            {"bfmmla", I::aarch64_neon_bfmmla}};
    for (const Row &r : rows) {
        if (row.mnemonic != r.mnemonic) continue;
        std::vector<llvm::Type *> overloads = {
            sums->getType(), llvm::FixedVectorType::get(b.getInt8Ty(), register_bytes)};
        if (r.op == I::aarch64_neon_bfmmla) overloads.clear();
        return machine_call(r.op, {sums, row.is_swapped ? c : a, row.is_swapped ? a : c},
                            overloads);
    }
    return nullptr;
}

std::unique_ptr<Patterns> aarch64_patterns(Emitter &emitter) {
    return std::make_unique<AArch64Patterns>(emitter);
}

}  // namespace tessera::codegen
