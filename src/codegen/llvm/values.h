#pragma once
#include "base/target.h"
#include "codegen/llvm/architecture.h"
#include "ir/nodes.h"
#include <functional>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <unordered_map>

namespace tessera::codegen {

using namespace tessera::ir;
using llvm::Value;

// Writes LLVM IR that makes values of values, wherever it will run: what an operator or a cast of
// our IR means. Its functions are in a file per subject:
//   types.cpp    types and constants                  arithmetic.cpp  arithmetic, comparison
//   cast.cpp     casts, narrow floats                 divide.cpp      Euclidean division
//   shift.cpp    shifts                               vectors.cpp     shuffles, reductions
//   math.cpp     transcendentals
// The values of registers: bool is i1 (a byte in memory), bfloat16 is i16, float8 i8, Handle is
// ptr.
class Values {
public:
    virtual ~Values();

protected:
    Values(llvm::Module &module, const Target &target, const Architecture &architecture);

    // types.cpp
    llvm::Type *register_type(Type t);
    llvm::Type *memory_type(Type t);
    llvm::Type *c_type(Type t);
    llvm::Type *llvm_vector(llvm::Type *element, int lanes);
    Value *int_constant(Type t, int64_t value);
    Value *float_constant(Type t, double value);
    Value *string_constant(const std::string &text);
    Value *splat(Value *scalar, int lanes);
    Value *int32(int64_t value);
    Value *int64(int64_t value);

    // arithmetic.cpp
    Value *add(Value *a, Value *b, Type t);
    Value *sub(Value *a, Value *b, Type t);
    Value *mul(Value *a, Value *b, Type t);
    Value *minimum(Value *a, Value *b, Type t);
    Value *maximum(Value *a, Value *b, Type t);
    Value *select(Value *condition, Value *a, Value *b);
    Value *negate_if(Value *condition, Value *a);
    Value *compare(NodeKind kind, Value *a, Value *b, Type t);
    Value *unary_float(llvm::Intrinsic::ID id, Value *a, Type t);
    // Returns true if arithmetic of this type is done in float32 and rounded.
    bool via_float32(Type t) const;
    bool never_overflows(Type t) const;
    Value *in_float32(Type t, std::initializer_list<Value *> operands,
                      const std::function<Value *(const std::vector<Value *> &, Type)> &f);

    // cast.cpp
    Value *cast(Value *v, Type from, Type to);
    Value *cast_to_bool(Value *v, Type from);
    Value *cast_int_to_int(Value *v, Type from, Type to);
    Value *cast_int_to_float(Value *v, Type from, Type to);
    Value *cast_float_to_int(Value *v, Type from, Type to);
    Value *cast_float_to_float(Value *v, Type from, Type to);
    Value *bfloat_from_float32(Value *v, int lanes);
    Value *float32_from_float8(Value *v, Type from);
    Value *float8_from_float32(Value *v, Type to);
    Value *float32_rounded_to_odd(Value *v, int lanes);
    Value *int64_rounded_to_odd(Value *v, Type from);
    Value *saturating_cast(Value *v, Type from, Type to);
    Value *saturate_float_to_int(Value *v, Type from, Type to);
    Value *reinterpret(Value *v, Type from, Type to);

    // divide.cpp
    Value *divide(Value *a, Value *b, Type t);
    Value *modulo(Value *a, Value *b, Type t);
    Value *divide_floats(Value *a, Value *b);
    Value *divide_by_constant(Value *a, int64_t b, Type t);
    Value *divide_unsigned(Value *a, Value *b, Type t, bool top_bit_clear);
    Value *divide_signed(Value *a, Value *b, Type t);
    Value *divide_round_to_zero(Value *a, Value *b, Type t);
    Value *zero_where_zero(Value *divisor, Value *result);

    // shift.cpp
    Value *shift_left(Value *a, Value *count, Type t, bool count_signed);
    Value *shift_right(Value *a, Value *count, Type t, bool count_signed);
    Value *rounding_shift_right(Value *a, Value *count, Type t, bool count_signed);
    Value *left_by_unsigned(Value *a, Value *count, Type t);
    Value *right_by_unsigned(Value *a, Value *count, Type t);

    // vectors.cpp
    Value *shuffle(Value *a, Value *b, const std::vector<int> &indices);
    Value *slice(Value *v, int begin, int stride, int lanes);
    Value *concat(const std::vector<Value *> &parts);
    Value *repeat(Value *v, int times);
    Value *as_vector(Value *v);
    Value *per_lane(int lanes, Type result, const std::vector<Value *> &args,
                    const std::function<Value *(const std::vector<Value *> &)> &f);
    bool depends_on_order(ReduceOp op, Type element) const;
    Value *reduce_pair(ReduceOp op, Value *a, Value *b, Type t);
    Value *reduce(ReduceOp op, Value *v, Type element, int lanes);
    Value *reduce_to_one(ReduceOp op, Value *v, Type element);
    Value *all_lanes(Value *condition);

    // math.cpp
    Value *exp_float32(Value *x, int lanes);
    Value *log_float32(Value *x, int lanes);
    Value *pow_float32(Value *x, Value *y, int lanes);
    Value *pow_special_cases(Value *x, Value *y, Value *result, int lanes);
    Value *polynomial(Value *x, std::initializer_list<double> coefficients);

    llvm::LLVMContext &context;
    llvm::Module &module;
    Target target;  // with implied features
    const Architecture &architecture;
    std::unique_ptr<Patterns> patterns;
    llvm::IRBuilder<> b;
    bool strict = false;         // no contraction, and no other order of reductions
    bool in_coordinate = false;  // what is written is part of one: its sums do not overflow

private:
    std::unordered_map<std::string, Value *> strings;
};

}  // namespace tessera::codegen
