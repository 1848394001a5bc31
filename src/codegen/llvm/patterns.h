#pragma once
#include "codegen/llvm/emitter.h"
#include "codegen/llvm/tile_registers.h"
#include "ir/instruction.h"
#include <optional>

namespace tessera::codegen {

// Describes a shift; its direction is that of a positive count.
struct Shift {
    bool left, rounding, count_signed;
};

// Instructions of one architecture that LLVM does not find, or not reliably, in what the plain code
// becomes. Each function gives null where none fits, and the plain code is written instead.
class Patterns {
public:
    explicit Patterns(Emitter &emitter);
    virtual ~Patterns() = default;
    Patterns(const Patterns &) = delete;

    // The reduction, added to the accumulator if that is defined.
    virtual Value *reduce(const VectorReduce &node, const Expr &accumulator) = 0;
    virtual Value *intrinsic(const IntrinsicCall &call) = 0;
    // The count has as many bits as t; shifts have a value for each (see shift.cpp).
    virtual Value *shift(Value *v, Value *count, Type t, const Shift &how) = 0;
    // 1 / x or 1 / sqrt(x) of float32s, to about 22 bits.
    virtual Value *fast_inverse(Value *x, int lanes, bool of_root) = 0;
    // exp(x) and log(x) of float32s, to about 1e-5.
    virtual Value *fast_exp(Value * /*x*/) { return nullptr; }
    virtual Value *fast_log(Value * /*x*/) { return nullptr; }
    // Casts between float32s and floats of 8 bits.
    virtual Value *float32_from_float8(Value * /*v*/, Type /*from*/) { return nullptr; }
    virtual Value *float8_from_float32(Value * /*v*/, Type /*to*/) { return nullptr; }
    // Returns true if a division by a constant is better a product with its reciprocal, of which
    // the last bit may differ.
    virtual bool divides_by_reciprocals() const { return false; }
    // x * 2^n, rounded once, of float32s; n are whole numbers.
    virtual Value *scale(Value * /*x*/, Value * /*n*/, int /*lanes*/) { return nullptr; }
    // A byte of the table, which is in registers of 64, for each lane of the index.
    virtual bool has_byte_tables() const { return false; }
    virtual Value *look_up(const std::vector<Value *> & /*table*/, const Expr & /*index*/) {
        return nullptr;
    }

    // The sums of an instruction, to which it has added the product of its operands: vectors that
    // are as wide as its registers.
    virtual Value *multiply(const ir::Instruction & /*row*/, Value * /*sums*/, Value * /*a*/,
                            Value * /*b*/) {
        return nullptr;
    }
    virtual std::unique_ptr<TileRegisters> tile_registers() { return nullptr; }

protected:
    // The emitter's, for those that derive from this.
    Value *value(const Expr &e) { return emitter.value(e); }
    Value *cast(Value *v, Type from, Type to) { return emitter.cast(v, from, to); }
    Value *add(Value *x, Value *y, Type t) { return emitter.add(x, y, t); }
    Value *minimum(Value *x, Value *y, Type t) { return emitter.minimum(x, y, t); }
    Value *maximum(Value *x, Value *y, Type t) { return emitter.maximum(x, y, t); }
    Value *reduce_lanes(ReduceOp op, Value *v, Type element, int lanes) {
        return emitter.reduce(op, v, element, lanes);
    }
    Value *slice(Value *v, int begin, int stride, int lanes) {
        return emitter.slice(v, begin, stride, lanes);
    }
    bool depends_on_order(ReduceOp op, Type element) const {
        return emitter.depends_on_order(op, element);
    }
    Value *as_vector(Value *v) { return emitter.as_vector(v); }
    Value *int_constant(Type t, int64_t value) { return emitter.int_constant(t, value); }
    Value *float_constant(Type t, double value) { return emitter.float_constant(t, value); }
    llvm::Type *register_type(Type t) { return emitter.register_type(t); }
    bool is_strict() const { return emitter.strict; }

    llvm::Module &module() { return emitter.module; }
    // Calls an intrinsic of LLVM; operands are seen as the types it wants.
    Value *machine_call(llvm::Intrinsic::ID id, std::vector<Value *> args,
                        llvm::ArrayRef<llvm::Type *> overloads = {});
    // Cuts the operands into machine vectors, applies f(bytes of the vector, parts), and puts the
    // results together. The last part is filled up with zeros. Each operand has the same number of
    // bytes per result lane, so that each is cut into as many parts.
    using PerVector = std::function<Value *(int, std::vector<Value *>)>;
    Value *by_native_width(const std::vector<Value *> &operands, int result_lanes,
                           int bytes_per_result, int native_bytes, const PerVector &f);
    // Adds what remains once each machine result holds the sum of a few products.
    Value *finish_dot(const VectorReduce &node, const Expr &accumulator, Value *partial);

private:
    Emitter &emitter;

protected:
    llvm::IRBuilder<> &b;
    const Target &target;
};

// value == a * b, where a and b are of a narrower type.
struct Product {
    Expr a, b;
};
bool find_product(const Expr &e, Product &found);

// The operand of a cast to a type with more bits that has every value of the former, also where it
// is what a Broadcast repeats; else undefined.
Expr narrower(const Expr &e);

// The one number in all lanes, if it is a constant that fits.
std::optional<int64_t> constant_in_all_lanes(const Expr &e);

inline bool is_signed_byte(Type t) { return t.is_int() && t.bits() == 8; }
inline bool is_unsigned_byte(Type t) { return t.is_uint() && t.bits() == 8; }

}  // namespace tessera::codegen
