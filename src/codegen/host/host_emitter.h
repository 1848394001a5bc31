#pragma once
#include "codegen/llvm/emitter.h"
#include "codegen/nvptx/device_image.h"
#include "ir/module.h"
#include "ir/tensor_operation.h"
#include <unordered_set>

namespace tessera::program {
class Parameter;
}

namespace tessera::codegen {

// Cleanup code for when a statement is left, in whatever way.
struct Cleanup {
    std::function<void()> emit;
    llvm::BasicBlock *block = nullptr;  // entered on failure; made when first needed
    llvm::PHINode *code = nullptr;      // the error code, in that block
};

// A block on the heap, for one buffer after another: where its address and its size are.
struct GrowingPlace {
    llvm::AllocaInst *pointer, *bytes;
    bool in_use = false;
};

// Says how a buffer holds its memory, if that ends before its scope may.
struct OwnedMemory {
    Value *to_free = nullptr;  // where its address is as long as nobody has freed it
    int place = -1;            // the growing place that it occupies
};

// Registers that hold the sums of a Tile: variables, or tile registers if there are none.
struct HeldTile {
    std::vector<llvm::AllocaInst *> sums;
};

struct HostFunction : FunctionState {
    const HeldTile *held = nullptr;  // around the statement that is being written
    Value *user_context = nullptr;
    Value *task_parent = nullptr;
    std::vector<Cleanup> cleanups;
    std::vector<GrowingPlace> places;
    std::unordered_map<Symbol, OwnedMemory> owned;
    bool hoisted_base_pointers = false;  // below a loop before which they were read
};

// Writes the functions of a module for a machine with an operating system, a heap and the runtime:
// those that programs call. Its functions are in a file per subject:
//   interface.cpp   what callers of a function see   function.cpp  functions, errors and clean-up
//   heap.cpp        storage on the heap              buffers.cpp   the runtime's structs
//   parallel.cpp    closures, loops, tasks           runtime.cpp   calls of C functions, texts
//   launch.cpp      launches of kernels          tensor.cpp    instructions that multiply matrices
class HostEmitter final : public Emitter {
public:
    HostEmitter(llvm::Module &module, const Target &target);
    HostEmitter(llvm::Module &module, const Target &target, const Architecture &architecture);

    // Declares every function of the module that programs call, then defines them. `code`: that
    // of its kernels.
    void emit_module(const ir::Module &m, const DeviceCode &code);

private:
    HostFunction &host() const { return static_cast<HostFunction &>(*f); }

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
    void find_what_is_freed_early(const Stmt &body);
    void end_function();
    void bind_argument(const Argument &argument, Value *value);
    void fail(Value *code);              // clean up and return the code
    void fail_unless_zero(Value *code);  // likewise, if it is not 0
    void fail_assertion(const Expr &message) override;
    llvm::BasicBlock *unwind_block(size_t depth, Value *code, llvm::BasicBlock *from);
    void with_cleanup(const std::function<void()> &undo,
                      const std::function<void()> &body) override;
    void run_function_body(const Stmt &body);

    // heap.cpp
    void allocate_in_memory(const Allocate &node) override;
    Value *allocation_extent(const Expr &e);
    Value *checked_elements(Symbol buffer, Type type, const std::vector<Expr> &extents);
    Value *allocation_bytes(const Allocate &node);
    Value *request_memory(const Allocate &node, Value *bytes);
    void free_memory(Value *pointer);
    void allocate_on_heap(const Allocate &node);
    void allocate_in_place(const Allocate &node);
    int free_place();
    void grow_place(const GrowingPlace &place, const Allocate &node, Value *bytes);
    void free_places();

    // buffers.cpp
    llvm::StructType *buffer_struct();
    llvm::StructType *dimension_struct();
    llvm::MDNode *descriptor_tag();
    void set_buffer_flag(Value *descriptor, uint64_t flag);
    Value *descriptor_of(Symbol buffer);
    Value *buffer_field(Value *descriptor, BufferField field, Value *dim, llvm::Type *&type);
    Value *address_in(Value *descriptor) override;
    Value *buffer_property(const BufferProperty &node) override;

    // parallel.cpp
    struct Closure;
    Closure closure_of(const Invoke &node, Symbol index = {});
    void bind(const Closure &closure, llvm::Function *function);
    llvm::Function *define_invoked(const Closure &closure);
    void loop(const For &node) override;
    void parallel_loop(const For &loop);
    void hoist_base_pointers(const Stmt &body);
    void fork(const Fork &node) override;
    void acquire(const Acquire &node) override;
    void invoke(const Invoke &node) override;
    void run_locked(const Atomic &node, const Expr &index) override;

    // tensor.cpp
    void machine_op(const MachineOp &node) override;
    void configure_tiles(const MachineOp &node);
    void hold(const TensorOperation &t, const Stmt &body);
    void move_sums(const TensorOperation &t, const HeldTile &tile, bool to_memory);
    void set_to_zero(const TensorOperation &t, const HeldTile &tile);
    void multiply(const TensorOperation &t, const HeldTile &tile);
    void multiply_vectors(const TensorOperation &t, const HeldTile &tile);
    void multiply_tiles(const TensorOperation &t);
    HeldTile registers_for(const TensorOperation &t);
    Value *operand_vector(const InstructionOperand &operand, Value *place, Value *stride,
                          int64_t bytes);
    Value *by_assembly(const ir::Instruction &row, Value *sums, Value *a, Value *b_vector);
    Value *row_stride(const Expr &row, const Expr &next);

    // launch.cpp
    void launch(const LoweredFunction &kernel, const Invoke &node);
    Value *addresses_of(std::span<const Expr> values, size_t room_before);
    llvm::Function *report_function(const std::string &kernel,
                                    const std::vector<KernelReport> &reports);
    void answer(const KernelReport &report, Value *record);
    llvm::GlobalVariable *kernels();
    llvm::Constant *image(const DeviceImage &image);

    // runtime.cpp
    Value *host_call(const IntrinsicCall &c) override;
#define HOST(name) Value *host_##name(const IntrinsicCall &c);
    TESSERA_HOST_INTRINSICS(HOST)
#undef HOST
    Value *runtime_call(const IntrinsicCall &c);
    Value *call_runtime(const char *name, llvm::Type *result, const std::vector<Value *> &args);
    llvm::FunctionCallee extern_function(const std::string &name, Type result,
                                         const std::vector<Type> &args, bool pure) override;
    Value *text_of(const std::vector<Expr> &parts);
    Value *append_text(Value *at, Value *end, Value *v, Type t, bool is_text);

    const ir::Module *lowered = nullptr;  // what is being written
    const DeviceCode *device_code = nullptr;
    std::string target_text;                    // as it was requested
    std::unordered_set<std::string> pipelines;  // the names of the module's functions
    std::unordered_set<Symbol> freed_early;     // buffers, before the end of their scope
};

}  // namespace tessera::codegen
