#pragma once
#include "base/target.h"
#include "codegen/llvm/architecture.h"
#include "codegen/llvm/coordinates.h"
#include "ir/module.h"
#include <array>
#include <functional>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <unordered_map>
#include <unordered_set>

namespace tessera::program {
class Parameter;
}

// Walks flat IR and writes LLVM IR. One class, its functions in a file per subject:
//   interface.cpp what callers of a function see                types.cpp    types and constants
//   function.cpp  functions, arguments, errors and clean-up
//   expr.cpp      dispatch, arithmetic, comparison, let         divide.cpp   Euclidean division
//   cast.cpp      casts, half and bfloat16                      shift.cpp    shifts
//   intrinsics.cpp  the table of intrinsics                     math.cpp     transcendentals
//   vectors.cpp   shuffles, ramps, reductions                   memory.cpp   loads and stores
//   storage.cpp   allocations, buffer structs                   control.cpp  loops, branches
//   parallel.cpp  closures, tasks, semaphores                   atomic.cpp   atomic updates
//   text.cpp      strings and their making                      coordinates.cpp  which values are
//   wide.cpp      coordinates as wide as addresses
// What is different between instruction sets is behind two interfaces: architecture.h, patterns.h.
// What a register holds: bool is i1 (a byte in memory), bfloat16 is i16, Handle is ptr.
namespace tessera::codegen {

using namespace tessera::ir;
using llvm::Value;

// Where a buffer's elements are.
struct Storage {
    Value *base = nullptr;        // the first element; null: to be read from the descriptor
    Value *descriptor = nullptr;  // the tessera_buffer_t, if there is one
    uint64_t alignment = 1;       // of base, in bytes
    Value *to_free = nullptr;     // where base is as long as nobody has freed it, if somebody does
    int64_t bytes = 0;            // of an allocation of a constant size
    int place = -1;               // the growing place that it occupies
};

// A block on the heap, for one buffer after another: where its address and its size are.
struct GrowingPlace {
    llvm::AllocaInst *pointer, *bytes;
    bool in_use = false;
};

// A coordinate as wide as an address: a 64-bit value, null for 0, and what is added to it, which
// becomes part of the address where an element is accessed.
struct WideCoordinate {
    Value *part = nullptr;
    int64_t offset = 0;
};

// What has to be undone when a statement is left, in whatever way.
struct Cleanup {
    std::function<void()> emit;
    llvm::BasicBlock *block = nullptr;  // entered on failure; made when first needed
    llvm::PHINode *code = nullptr;      // the error code, in that block
};

// What belongs to the LLVM function that is being written.
struct FunctionState {
    llvm::Function *function = nullptr;
    llvm::BasicBlock *entry = nullptr;  // holds the stack slots
    Value *user_context = nullptr;
    Value *task_parent = nullptr;
    std::unordered_map<Symbol, Value *> variables;
    std::unordered_map<Symbol, WideCoordinate> wide_variables;  // of some of them
    std::unordered_map<Symbol, Storage> buffers;
    std::vector<Cleanup> cleanups;
    std::vector<GrowingPlace> places;
    bool streams_stores = false;
    bool hoisted_base_pointers = false;  // below a loop before which they were read
    bool crowded = false;                // so many loops in a row that each gets a function
};

class Emitter {
public:
    Emitter(llvm::Module &module, const Target &target);
    ~Emitter();

    // Declares every function of the module, then defines them.
    void emit_module(const ir::Module &m);

private:
    // interface.cpp
    bool in_this_process() const { return target.has_feature(Target::JIT); }
    void bind_arguments(const LoweredFunction &f, llvm::Function *function);
    llvm::Function *declare(const LoweredFunction &f);
    void define_argv(const LoweredFunction &f, llvm::Function *callee);
    void define_metadata(const LoweredFunction &f);
    llvm::Constant *described(const Argument &a);
    llvm::Constant *scalar_metadata(const Expr &value, Type type);
    llvm::Constant *buffer_estimates(const program::Parameter &p);
    llvm::GlobalVariable *private_global(llvm::Constant *value, bool constant, const char *name);
    llvm::Constant *embed(const Argument &a);
    void add_extension(llvm::Function *function, int parameter, Type type);

    // function.cpp
    void define(const LoweredFunction &f, llvm::Function *function);
    void begin_function(llvm::Function *function, FunctionState &state);
    void end_function();
    void add_target_attributes(llvm::Function *function);
    void bind_argument(const Argument &argument, Value *value);
    void fail(Value *code);              // clean up and return the code
    void fail_unless_zero(Value *code);  // likewise, if it is not 0
    llvm::BasicBlock *unwind_block(size_t depth, Value *code, llvm::BasicBlock *from);
    void with_cleanup(const std::function<void()> &undo, const std::function<void()> &body);
    void run_function_body(const Stmt &body);
    llvm::AllocaInst *stack_slot(llvm::Type *type, uint64_t count, uint64_t alignment);
    llvm::BasicBlock *new_block(const char *name);
    void start(llvm::BasicBlock *block);  // go on writing there

    // types.cpp
    llvm::Type *register_type(Type t);
    llvm::Type *memory_type(Type t);
    llvm::Type *c_type(Type t);
    llvm::Type *llvm_vector(llvm::Type *element, int lanes);
    Value *int_constant(Type t, int64_t value);
    Value *float_constant(Type t, double value);
    Value *splat(Value *scalar, int lanes);
    Value *int32(int64_t value);
    Value *int64(int64_t value);

    // expr.cpp
    Value *value(const Expr &e);
    Value *coordinate(const Expr &e);  // the value of an index, or of a bound of a loop
    Value *bound_value(Symbol let, const Expr &e);
    Value *value_as(bool coordinate, const Expr &e);
    Value *dispatch(const Expr &e);
#define EMIT(T) Value *emit(const T &node);
    TESSERA_EXPR_NODES(EMIT)
#undef EMIT
    Value *add(Value *a, Value *b, Type t);
    Value *sub(Value *a, Value *b, Type t);
    Value *mul(Value *a, Value *b, Type t);
    Value *minimum(Value *a, Value *b, Type t);
    Value *maximum(Value *a, Value *b, Type t);
    Value *select(Value *condition, Value *a, Value *b);
    Value *negate_if(Value *condition, Value *a);
    Value *compare(NodeKind kind, Value *a, Value *b, Type t);
    Value *unary_float(llvm::Intrinsic::ID id, Value *a, Type t);
    // Whether arithmetic of this type is done in float32 and rounded.
    bool via_float32(Type t) const;
    bool never_overflows(Type t) const;
    Value *in_float32(Type t, std::initializer_list<Value *> operands,
                      const std::function<Value *(const std::vector<Value *> &, Type)> &f);

    // wide.cpp
    bool is_wide(const Expr &index) const;
    WideCoordinate wide(const Expr &e);
    WideCoordinate wide_node(const Expr &e);
    Value *wide_value(const WideCoordinate &w);
    void bind_wide(Symbol let, const Expr &value);

    // cast.cpp
    Value *cast(Value *v, Type from, Type to);
    Value *cast_to_bool(Value *v, Type from);
    Value *cast_int_to_int(Value *v, Type from, Type to);
    Value *cast_int_to_float(Value *v, Type from, Type to);
    Value *cast_float_to_int(Value *v, Type from, Type to);
    Value *cast_float_to_float(Value *v, Type from, Type to);
    Value *bfloat_from_float32(Value *v, int lanes);
    Value *float32_rounded_to_odd(Value *v, int lanes);
    Value *int64_rounded_to_odd(Value *v, Type from);
    Value *saturating_cast(Value *v, Type from, Type to);
    Value *saturate_float_to_int(Value *v, Type from, Type to);
    Value *reinterpret(Value *v, Type from, Type to);

    // divide.cpp
    Value *divide(Value *a, Value *b, Type t);
    Value *modulo(Value *a, Value *b, Type t);
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

    // intrinsics.cpp
    using EmitIntrinsic = Value *(Emitter::*)(const IntrinsicCall &);
    static EmitIntrinsic emitter_of(Intrinsic op);
    Value *arg(const IntrinsicCall &c, size_t i) { return value(c.args[i]); }
    Value *arg_as(const IntrinsicCall &c, size_t i, Type t);
#define EMIT(name, arity, pure) Value *emit_##name(const IntrinsicCall &c);
    TESSERA_INTRINSICS(EMIT)
#undef EMIT
    Value *runtime_call(const IntrinsicCall &c);
    Value *bit_operation(const IntrinsicCall &c, llvm::Instruction::BinaryOps op);
    Value *count_bits(const IntrinsicCall &c, llvm::Intrinsic::ID id);
    Value *shift_call(const IntrinsicCall &c, bool left, bool rounding);
    Value *mul_shift_right(const IntrinsicCall &c, bool rounding);
    Value *float_call(const IntrinsicCall &c, llvm::Intrinsic::ID id);
    Value *saturating_op(const IntrinsicCall &c, llvm::Intrinsic::ID of_signed,
                         llvm::Intrinsic::ID of_unsigned);
    [[noreturn]] void refuse(const IntrinsicCall &c);

    // math.cpp
    Value *math_call(const IntrinsicCall &c, const char *name);
    Value *per_lane(int lanes, Type result, const std::vector<Value *> &args,
                    const std::function<Value *(const std::vector<Value *> &)> &f);
    Value *exp_float32(Value *x, int lanes);
    Value *log_float32(Value *x, int lanes);
    Value *pow_float32(Value *x, Value *y, int lanes);
    Value *pow_special_cases(Value *x, Value *y, Value *result, int lanes);
    Value *polynomial(Value *x, std::initializer_list<double> coefficients);
    Value *approximate(const IntrinsicCall &c, bool of_root);

    // vectors.cpp
    Value *shuffle(Value *a, Value *b, const std::vector<int> &indices);
    Value *slice(Value *v, int begin, int stride, int lanes);
    Value *concat(const std::vector<Value *> &parts);
    Value *reverse(Value *v);
    Value *repeat(Value *v, int times);
    std::vector<Value *> interleave(const std::vector<Value *> &first,
                                    const std::vector<Value *> &second, Type t);
    Value *as_vector(Value *v);
    bool depends_on_order(ReduceOp op, Type element) const;
    Value *reduce_pair(ReduceOp op, Value *a, Value *b, Type t);
    Value *reduce(ReduceOp op, Value *v, Type element, int lanes);
    Value *reduce_to_one(ReduceOp op, Value *v, Type element);

    // memory.cpp
    const Storage &storage(Symbol buffer);
    Value *base_pointer(Symbol buffer);
    Value *element_pointer(Symbol buffer, Type element, const Expr &index);
    Value *element_pointer(Value *base, Type element, Value *index);
    llvm::Align alignment_of(Symbol buffer, Type element, const Alignment &known);
    llvm::MDNode *alias_tag(Symbol buffer);
    llvm::MDNode *descriptor_tag();
    template<typename I> I *tagged(I *access, Symbol buffer);
    Value *load_vector(const Load &node);
    Value *load_groups(const Load &node, const Ramp &index);
    Value *load_rows(const Load &node, const Ramp &index);
    Value *load_transposed(const Load &node, const Ramp &index, const Ramp &group);
    bool is_whole_in_slot(Symbol buffer, Type element, const Expr &first, int lanes);
    Value *load_dense(const Load &node, const Expr &first, int lanes, Value *mask);
    Value *load_chunk(const Load &node, Value *pointer, llvm::Align align, int lanes, Value *mask);
    uint64_t streaming_alignment(uint64_t bytes) const;
    template<typename I> I *streamed(I *access);
    Value *is_aligned(Value *pointer, uint64_t alignment);
    Value *load_streaming(const Load &node, Value *pointer, llvm::Align align, Type t);
    Value *load_strided(const Load &node, const Ramp &ramp, int64_t stride);
    Value *lane_pointer(Value *first, Type element, const Expr &stride, int lane);
    Value *load_lanes(const Load &node, const Ramp &index);
    Value *look_up(const Load &node);
    Value *load_each(const Load &node, Value *index);
    Value *load_scalar(const Load &node);
    Value *gather(const Load &node, Value *index, Value *mask);
    Value *from_memory(Value *v, Type t);
    Value *to_memory(Value *v, Type t);
    void store_value(const Store &node, Value *v);
    Value *without_last_bit(Value *v, Type t);
    void store_groups(const Store &node, const Ramp &index, Value *v);
    void store_dense(const Store &node, const Expr &first, Value *v, Value *mask);
    void store_chunk(const Store &node, Value *pointer, llvm::Align align, Value *v, Value *mask);
    void store_streaming(const Store &node, Value *pointer, llvm::Align align, Value *v);
    void store_lanes(const Store &node, const Ramp &index, Value *v);
    void store_each(const Store &node, Value *index, Value *v, Value *mask);
    Value *predicate(const Expr &e);

    // storage.cpp
    Value *allocation_extent(const Expr &e);
    Value *allocation_elements(const Allocate &node);
    void allocate_on_stack(const Allocate &node, uint64_t bytes);
    void allocate_on_heap(const Allocate &node);
    void allocate_in_place(const Allocate &node);
    Value *allocation_bytes(const Allocate &node);
    Value *request_memory(const Allocate &node, Value *bytes);
    int free_place();
    void grow_place(const GrowingPlace &place, const Allocate &node, Value *bytes);
    void free_places();
    Value *descriptor_of(Symbol buffer);
    Value *buffer_field(Value *descriptor, BufferField field, Value *dim, llvm::Type *&type);
    llvm::StructType *buffer_struct();
    llvm::StructType *dimension_struct();
    Value *make_struct(const std::vector<Value *> &members, const std::vector<Type> &types);

    // control.cpp
    void run(const Stmt &s);
    void dispatch(const Stmt &s);
#define EMIT(T) void emit(const T &node);
    TESSERA_STMT_NODES(EMIT)
#undef EMIT
    void serial_loop(const For &loop, const std::function<void(Value *)> &body);
    void counted_loop(Value *min, Value *extent, const std::function<void(Value *)> &body);
    void bind_index(const For &loop, Value *index);
    void hoist_base_pointers(const Stmt &body);
    static bool is_crowded(const Stmt &body);
    void branch(Value *condition, const std::function<void()> &then_case,
                const std::function<void()> &else_case);
    Value *choose(Value *condition, const std::function<Value *()> &then_value,
                  const std::function<Value *()> &else_value);
    Value *all_lanes(Value *condition);

    // parallel.cpp
    struct Closure;
    Closure capture(const Stmt &body);
    void restore(const Closure &closure, Value *pointer);
    llvm::Function *outline(const Closure &closure, const Stmt &body, Symbol index,
                            llvm::FunctionType *type, const char *name);
    void parallel_loop(const For &loop);
    void loop_elsewhere(const For &loop);
    void loop_here(const For &loop);

    // atomic.cpp
    void locked_update(const Atomic &node);
    bool atomic_store(const Store &node);
    void atomic_element(const Store &node, Value *pointer, Value *lane_operand, int lane);
    void compare_exchange_loop(const Store &node, Value *pointer, int lane);

    // text.cpp
    Value *string_constant(const std::string &text);
    Value *stringify(const std::vector<Expr> &parts);
    Value *append_text(Value *at, Value *end, Value *v, Type t, bool is_text);
    Value *call_runtime(const char *name, llvm::Type *result, const std::vector<Value *> &args);
    llvm::FunctionCallee extern_function(const std::string &name, Type result,
                                         const std::vector<Type> &args, bool pure);

    llvm::LLVMContext &context;
    llvm::Module &module;
    std::unordered_set<Symbol> freed_early;  // buffers, before the end of their scope
    Target target;                           // with implied features
    const Architecture &architecture;
    std::unique_ptr<Patterns> patterns;
    std::string target_text;                    // as it was asked for
    std::unordered_set<std::string> pipelines;  // the names of the module's functions
    llvm::IRBuilder<> b;
    llvm::MDBuilder metadata;
    FunctionState *f = nullptr;
    bool strict = false;  // no contraction, and no other order of reductions
    llvm::FastMathFlags fast_flags;
    Coordinates coordinates;     // of the function that is being written
    bool in_coordinate = false;  // what is written is part of one: its sums do not overflow

    // Values of shared nodes, valid within the statement that is being written.
    struct Memo {
        std::array<std::unordered_map<const ExprNode *, Value *>, 2> values;  // by in_coordinate
        std::unordered_map<const ExprNode *, WideCoordinate> wide;

        void forget(const ExprNode *node) {
            for (auto &known : values) known.erase(node);
            wide.erase(node);
        }
    };
    Memo memo;
    std::vector<Expr> memo_log;  // keeps the nodes alive
    uint64_t impure_calls = 0;

    // Loads of this node give this value: the old element, in a compare-exchange loop.
    Symbol atomic_buffer;
    Value *atomic_old = nullptr;
    std::vector<std::pair<Symbol, Expr>> atomic_lets;
    bool in_atomic = false;

    std::unordered_map<std::string, Value *> strings;
    std::unordered_map<Symbol, llvm::MDNode *> alias_tags;
    llvm::MDNode *alias_root = nullptr;
    int closure_count = 0;
    friend class Patterns;
    friend struct MemoScope;
    friend struct FreshMemo;
};

// Values made before it are not seen within, and those made within are forgotten at its end.
struct FreshMemo {
    explicit FreshMemo(Emitter &e) : emitter(e) { exchange(); }
    ~FreshMemo() { exchange(); }
    void exchange() {
        std::swap(emitter.memo, memo);
        std::swap(emitter.memo_log, log);
    }
    Emitter &emitter;
    Emitter::Memo memo;
    std::vector<Expr> log;
};

// Values made within it are forgotten at its end.
struct MemoScope {
    explicit MemoScope(Emitter &e) : emitter(e), mark(e.memo_log.size()) {}
    ~MemoScope() {
        while (emitter.memo_log.size() > mark) {
            emitter.memo.forget(emitter.memo_log.back().get());
            emitter.memo_log.pop_back();
        }
    }
    Emitter &emitter;
    size_t mark;
};

}  // namespace tessera::codegen
