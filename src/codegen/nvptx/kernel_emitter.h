#pragma once
#include "codegen/llvm/emitter.h"
#include "codegen/nvptx/kernel_reports.h"
#include "ir/tensor_operation.h"
#include <array>
#include <span>

namespace tessera::codegen {

struct KernelFacts;

// Writes kernels: functions of a module that blocks of threads run (lower/gpu/outline_kernels.h).
// Loops over blocks and threads are not in the code: each thread reads which one it is. A kernel
// that may report something takes the address of a tessera_cuda_reports_t before all else.
class KernelEmitter final : public Emitter {
public:
    // For GPUs of a compute capability, as in 90 for 9.0.
    KernelEmitter(llvm::Module &module, const Target &target, const Architecture &architecture,
                  int capability, KernelReports &reports);

    void emit_kernel(const LoweredFunction &kernel);

private:
    Value *host_call(const IntrinsicCall &c) override;
    Value *call_extern(const ExternCall &node) override;
    llvm::FunctionCallee extern_function(const std::string &name, Type result,
                                         const std::vector<Type> &args, bool pure) override;
    Value *buffer_property(const BufferProperty &node) override;
    Value *address_in(Value *descriptor) override;
    void allocate_in_memory(const Allocate &node) override;
    void fail_assertion(const Expr &message) override { fail(message, message); }
    void with_cleanup(const std::function<void()> &undo,
                      const std::function<void()> &body) override;
    void loop(const For &node) override;
    void fork(const Fork &node) override;
    void acquire(const Acquire &node) override;
    void invoke(const Invoke &node) override;
    void run_locked(const Atomic &node, const Expr &index) override;

    void machine_op(const MachineOp &node) override;
    Value *coordinate_constant(const IntImm &node) override;

    // tensor_ops.cpp
    llvm::CallInst *assembly(const std::string &text, const std::string &constraints,
                             llvm::Type *result, llvm::ArrayRef<Value *> operands);
    const Load &element_at(const Expr &place);
    Value *pointer_to(const Expr &place);
    Value *shared_address(const Expr &place);
    Value *asynchronous_call(const IntrinsicCall &c);
    llvm::Type *word_type(Type element);
    std::vector<Value *> word_places(const Expr &first, int64_t from, int64_t count);
    void accumulate(std::span<Value *const> places, llvm::Type *word, const std::string &text,
                    const std::string &inputs, std::vector<Value *> operands);
    std::vector<Value *> load_fragment(const Expr &place, const ir::Instruction &load);
    Value *matrix_descriptor(const Expr &place, const ir::TensorOperation::Operand &o,
                             Type element);
    std::vector<std::vector<Value *>> operands_at(const ir::TensorOperation &t,
                                                  std::string_view name, int64_t k);
    std::pair<Value *, Value *> exchange(Value *low, Value *high, Value *lane, uint32_t distance);
    std::array<Value *, 4> exchange_elements(const std::array<Value *, 4> &words, int element_bits,
                                             Value *lane);
    std::array<Value *, 4> in_words(std::span<const Expr> elements);
    std::array<Value *, 4> exchange_in_quad(const std::array<Value *, 4> &words, Value *lane);
    std::string assembly_of(const ir::TensorOperation &t, int64_t sums, int64_t of_a, int64_t of_b);
    void tensor(const MachineOp &node);
    void tensor_wait(const IntrinsicCall &c);
    void copy_tile(const MachineOp &node);
    void copy_async(const MachineOp &node);
    void store_quads(const MachineOp &node);
    void store_matrices(const std::array<Value *, 4> &words, Value *own, Value *lane);

    llvm::Function *declare(const LoweredFunction &kernel, const KernelFacts &facts);
    void wait_for_kernels();
    bool reports_something() const { return reports.of(name) != nullptr; }
    void bind_arguments(const LoweredFunction &kernel, const KernelFacts &facts,
                        llvm::Function *function);
    void allocate_shared(const Allocate &node);
    Value *index_in(const For &loop);
    Value *cluster_load(const IntrinsicCall &c);
    Value *lanes_of_row(int64_t lanes);
    Value *shuffled(Value *v, Value *lane, int64_t lanes);
    [[noreturn]] static void refuse_in_kernel(const std::string &what);

    // reports.cpp
    Value *in_reports(size_t offset);
    void write_record(Value *record, size_t number);
    void fail(const Expr &place, const Expr &error);
    void print(const ExternCall &line);

    const bool has_async_copies, has_matrix_stores;
    const bool waits;  // kernels do, for those before them (waits_for_kernels in ptx.h)
    KernelReports &reports;
    std::string name;  // of the kernel
    bool needs_all_threads = false, has_clusters = false;
    bool has_readers = false;      // of what threads store for units of the machine
    Value *shared_used = nullptr;  // bytes of the block's memory that are taken
};

// Returns the name of this kernel in PTX, whose names have letters, digits, _ and $ alone.
std::string kernel_symbol(const std::string &name);

}  // namespace tessera::codegen
