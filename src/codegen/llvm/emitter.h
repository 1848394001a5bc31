#pragma once
#include "codegen/llvm/coordinates.h"
#include "codegen/llvm/values.h"
#include <array>
#include <llvm/IR/MDBuilder.h>

namespace tessera::codegen {

// Locates a buffer's elements.
struct BufferValues {
    Value *base = nullptr;        // the first element; null: to be read from the descriptor
    Value *descriptor = nullptr;  // the tessera_buffer_t, if there is one
    uint64_t alignment = 1;       // of base, in bytes
    int64_t bytes = 0;            // of an allocation of a constant size
    bool may_overlap = false;     // it may be a part of another buffer
    bool is_constant = false;     // nobody writes it while the function runs
    int swizzle = 0;              // as in ir::AllocationFacts
};

// A coordinate as wide as an address: a 64-bit value, null for 0, and what is added to it, which
// becomes part of the address where an element is accessed.
struct WideCoordinate {
    Value *part = nullptr;
    int64_t offset = 0;
};

// The state of the LLVM function that is being written.
struct FunctionState {
    llvm::Function *function = nullptr;
    llvm::BasicBlock *entry = nullptr;  // holds the stack slots
    std::unordered_map<Symbol, Value *> variables;
    std::unordered_map<Symbol, WideCoordinate> wide_variables;  // of some of them
    std::unordered_map<Symbol, BufferValues> buffers;
    bool streams_stores = false;
};

// Intrinsics that only a host has: its errors, texts, memory and the structs of its runtime.
#define TESSERA_HOST_INTRINSICS(X)                                                                 \
    X(require)                                                                                     \
    X(user_context)                                                                                \
    X(stringify)                                                                                   \
    X(make_struct)                                                                                 \
    X(make_buffer)                                                                                 \
    X(alloca)                                                                                      \
    X(free)                                                                                        \
    X(is_device_dirty)                                                                             \
    X(mark_host_dirty)                                                                             \
    X(mark_device_dirty)                                                                           \
    X(device_buffer)                                                                               \
    X(on_device)                                                                                   \
    X(device_address)                                                                              \
    X(tensor_map)                                                                                  \
    X(gpu_processors)                                                                              \
    X(set_buffer_field)

// Those that only kernels have.
#define TESSERA_DEVICE_INTRINSICS(X)                                                               \
    X(gpu_barrier)                                                                                 \
    X(gpu_warp_barrier)                                                                            \
    X(gpu_role_barrier)                                                                            \
    X(gpu_is_producer)                                                                             \
    X(gpu_consumer_group)                                                                          \
    X(gpu_set_registers)                                                                           \
    X(barrier_arrive)                                                                              \
    X(shuffle_lanes)                                                                               \
    X(gpu_cluster_barrier)                                                                         \
    X(cluster_load)                                                                                \
    X(async_commit)                                                                                \
    X(async_wait)                                                                                  \
    X(barrier_init)                                                                                \
    X(barrier_expect)                                                                              \
    X(barrier_wait)                                                                                \
    X(barrier_end)                                                                                 \
    X(tensor_wait)

// Walks flat IR and writes LLVM IR, for whatever machine LLVM knows: expressions, memory, loops and
// branches. Its functions are in a file per subject:
//   expr.cpp        dispatch, operators, let       wide.cpp    coordinates as wide as addresses
//   intrinsics.cpp  the table of intrinsics        float_intrinsics.cpp  those of floats
//   memory.cpp      where elements are             loads.cpp, stores.cpp
//   control.cpp     statements, loops, branches    atomic.cpp  atomic updates
//   function.cpp    blocks and stack slots
// Differences between instruction sets are behind two interfaces: architecture.h, patterns.h.
// Differences between programs of a host and kernels of a device are in classes that derive from
// this one, such as HostEmitter (host/host_emitter.h).
class Emitter : public Values {
protected:
    Emitter(llvm::Module &module, const Target &target, const Architecture &architecture);

    // ---- What each kind of machine does in its own way ----

    // One of TESSERA_HOST_INTRINSICS, TESSERA_DEVICE_INTRINSICS or TESSERA_RUNTIME_INTRINSICS.
    virtual Value *host_call(const IntrinsicCall &c) = 0;
    // Calls a function that is compiled elsewhere, by default as extern_function says.
    virtual Value *call_extern(const ExternCall &node);
    // A function that is compiled elsewhere, such as one of the C library. A pure one has no
    // effects.
    virtual llvm::FunctionCallee extern_function(const std::string &name, Type result,
                                                 const std::vector<Type> &args, bool pure) = 0;
    // Reads a property of a tessera_buffer_t, and the address of the first element in one.
    virtual Value *buffer_property(const BufferProperty &node) = 0;
    virtual Value *address_in(Value *descriptor) = 0;
    // Writes the body, and storage for a buffer that does not lie on the stack around it.
    virtual void allocate_in_memory(const Allocate &node) = 0;
    // Ends the block that is reached where an assertion does not hold.
    virtual void fail_assertion(const Expr &message) = 0;
    // Writes the body, and `undo` behind it and wherever the body is left.
    virtual void with_cleanup(const std::function<void()> &undo,
                              const std::function<void()> &body) = 0;
    // A loop of any kind; of a serial one serial_loop writes what is the same everywhere.
    virtual void loop(const For &node) = 0;
    // Statements that run at the same time, and one that waits for another.
    virtual void fork(const Fork &node) = 0;
    virtual void acquire(const Acquire &node) = 0;
    // A statement that is a function of its own, and runs here.
    virtual void invoke(const Invoke &node) = 0;
    // A constant within an index, or a bound of a loop.
    virtual Value *coordinate_constant(const IntImm &node);
    // Emits the machine's operation if it has one; else the body is written.
    virtual void machine_op(const MachineOp &node) { run(node.body); }
    // Writes the body of an Atomic that has mutexes, holding that of the element at `index`.
    virtual void run_locked(const Atomic &node, const Expr &index) = 0;

    // function.cpp
    void begin_function(llvm::Function *function, FunctionState &state);
    void add_target_attributes(llvm::Function *function);
    llvm::AllocaInst *stack_slot(llvm::Type *type, uint64_t count, uint64_t alignment);
    llvm::BasicBlock *new_block(const char *name);
    void start(llvm::BasicBlock *block);  // go on writing there

    // expr.cpp
    Value *value(const Expr &e);
    Value *coordinate(const Expr &e);  // the value of an index, or of a bound of a loop
    Value *bound_value(Symbol let, const Expr &e);
    Value *value_as(bool coordinate, const Expr &e);
    Value *dispatch(const Expr &e);
#define EMIT(T) Value *emit(const T &node);
    TESSERA_EXPR_NODES(EMIT)
#undef EMIT

    // wide.cpp
    bool is_wide(const Expr &index) const;
    WideCoordinate wide(const Expr &e);
    WideCoordinate wide_node(const Expr &e);
    Value *wide_value(const WideCoordinate &w);
    void bind_wide(Symbol let, const Expr &value);

    // intrinsics.cpp
    using EmitIntrinsic = Value *(Emitter::*)(const IntrinsicCall &);
    static EmitIntrinsic emitter_of(Intrinsic op);
    Value *arg(const IntrinsicCall &c, size_t i) { return value(c.args[i]); }
    Value *arg_as(const IntrinsicCall &c, size_t i, Type t);
#define EMIT(name, arity, pure) Value *emit_##name(const IntrinsicCall &c);
    TESSERA_INTRINSICS(EMIT)
#undef EMIT
    Value *bit_operation(const IntrinsicCall &c, llvm::Instruction::BinaryOps op);
    Value *count_bits(const IntrinsicCall &c, llvm::Intrinsic::ID id);
    Value *shift_call(const IntrinsicCall &c, bool left, bool rounding);
    Value *mul_shift_right(const IntrinsicCall &c, bool rounding);
    Value *saturating_op(const IntrinsicCall &c, llvm::Intrinsic::ID of_signed,
                         llvm::Intrinsic::ID of_unsigned);
    [[noreturn]] void refuse(const IntrinsicCall &c);

    // float_intrinsics.cpp
    Value *float_call(const IntrinsicCall &c, llvm::Intrinsic::ID id);
    Value *math_call(const IntrinsicCall &c, const char *name);
    Value *approximate(const IntrinsicCall &c, bool of_root);

    // memory.cpp
    const BufferValues &storage(Symbol buffer);
    Value *base_pointer(Symbol buffer);
    Value *element_pointer(Symbol buffer, Type element, const Expr &index);
    Value *element_pointer(Value *base, Type element, Value *index);
    Value *swizzled_pointer(Value *base, Type element, const Expr &index, int swizzle);
    llvm::Align alignment_of(Symbol buffer, Type element, const Alignment &known);
    llvm::MDNode *alias_tag(Symbol buffer);
    void tag(llvm::Instruction &access, Symbol buffer);
    template<typename I> I *tagged(I *access, Symbol buffer) {
        tag(*access, buffer);
        return access;
    }
    template<typename I> I *streamed(I *access) {
        mark_as_streamed(*access);
        return access;
    }
    void mark_as_streamed(llvm::Instruction &access);
    uint64_t streaming_alignment(uint64_t bytes) const;
    Value *is_aligned(Value *pointer, uint64_t alignment);
    bool is_whole_in_slot(Symbol buffer, Type element, const Expr &first, int lanes);
    Value *lane_pointer(Value *first, Type element, const Expr &stride, int lane);
    Value *from_memory(Value *v, Type t);
    Value *to_memory(Value *v, Type t);
    Value *predicate(const Expr &e);
    void allocate_on_stack(const Allocate &node, uint64_t bytes);

    // loads.cpp
    Value *load_vector(const Load &node);
    Value *load_same(const Load &node, const Expr &index, Value *mask);
    Value *load_dense(const Load &node, const Expr &first, int lanes, Value *mask);
    Value *load_chunk(const Load &node, Value *pointer, llvm::Align align, int lanes, Value *mask);
    Value *load_streaming(const Load &node, Value *pointer, llvm::Align align, Type t);
    Value *load_lanes(const Load &node, const Ramp &index);
    Value *look_up(const Load &node);
    Value *load_each(const Load &node, Value *index);
    Value *load_scalar(const Load &node);
    Value *gather(const Load &node, Value *index, Value *mask);

    // stores.cpp
    void store_value(const Store &node, Value *v);
    Value *without_last_bit(Value *v, Type t);
    void store_dense(const Store &node, const Expr &first, Value *v, Value *mask);
    void store_chunk(const Store &node, Value *pointer, llvm::Align align, Value *v, Value *mask);
    void store_streaming(const Store &node, Value *pointer, llvm::Align align, Value *v);
    void store_lanes(const Store &node, const Ramp &index, Value *v);
    void store_each(const Store &node, Value *index, Value *v, Value *mask);

    // control.cpp
    void run(const Stmt &s);
    void dispatch(const Stmt &s);
#define EMIT(T) void emit(const T &node);
    TESSERA_STMT_NODES(EMIT)
#undef EMIT
    void serial_loop(const For &loop);
    void counted_loop(Value *min, Value *extent, const std::function<void(Value *)> &body);
    void run_iteration(const For &loop, Value *index);
    void branch(Value *condition, const std::function<void()> &then_case,
                const std::function<void()> &else_case);
    Value *choose(Value *condition, const std::function<Value *()> &then_value,
                  const std::function<Value *()> &else_value);
    // Goes on in a block of its own; `fail`, which ends another one, is run unless it holds.
    struct CheckNames {
        const char *failed, *ok;
    };
    void check(Value *holds, const CheckNames &blocks, const std::function<void()> &fail);

    // atomic.cpp
    bool atomic_store(const Store &node);
    void atomic_element(const Store &node, Value *pointer, Value *lane_operand, int lane);
    void compare_exchange_loop(const Store &node, Value *pointer, int lane);

    llvm::MDBuilder metadata;
    FunctionState *f = nullptr;
    Coordinates coordinates;  // of the function that is being written

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

    std::unordered_map<Symbol, llvm::MDNode *> alias_tags;
    llvm::MDNode *alias_root = nullptr;
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
