#include "codegen/nvptx/kernel_emitter.h"
#include "codegen/nvptx/libdevice.h"
#include "codegen/nvptx/ptx.h"
#include "codegen/statements.h"
#include "ir/allocation.h"
#include "ir/operators.h"
#include "ir/tile_copy.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include <algorithm>
#include <cstdlib>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <optional>
#include <unordered_set>

namespace tessera::codegen {

namespace I = llvm::Intrinsic;

std::string kernel_symbol(const std::string &name) {
    std::string symbol;
    for (char c : name) symbol += isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return symbol;
}

KernelEmitter::KernelEmitter(llvm::Module &module, const Target &target,
                             const Architecture &architecture, int capability,
                             KernelReports &reports)
    : Emitter(module, target, architecture), has_async_copies(capability >= 80),
      has_matrix_stores(capability >= 90), waits(waits_for_kernels(target, capability)),
      reports(reports) {}

void KernelEmitter::refuse_in_kernel(const std::string &what) {
    throw CompileError(str(what, " cannot be done within a kernel, on a GPU"));
}

// Holds what the code of a kernel is chosen by, found in one walk over its body.
struct KernelFacts {
    std::unordered_set<Symbol> loaded, stored;  // buffers
    std::unordered_set<Symbol> in_operands;     // what the operands of machine operations use
    // Threads do what needs all of a warp, or wait for what others have to begin, or read the
    // memory of another block, which has to be there. A barrier of the block waits only for threads
    // that have not ended.
    bool computes_together = false;
    // There are machine operations besides copies of single threads.
    bool has_tensor_instructions = false;
    bool is_read_by_units = false;   // units beside the threads (wgmma) read memory of the block
    int64_t blocks_of_cluster = 0;   // 0: the kernel has no clusters
    int64_t most_private_bytes = 0;  // of the largest storage that a thread has for itself
    // So many blocks are to have room on a multiprocessor; 0: the schedule does not say. Roles
    // change numbers of registers, so that ptxas has to know how many a thread begins with.
    int resident_blocks = 0;
    std::optional<int64_t> threads = 1;  // of a block, if their number is known

    // Returns true for a tensor map, the one pointer that instructions use.
    bool is_map(const ir::Argument &a) const {
        return a.is_scalar() && a.type.is_handle() && in_operands.contains(a.name);
    }
    // Returns true if threads may have at most 128 registers, so that a multiprocessor has 16 warps
    // to choose from. It helps kernels with sums in registers, unless the sums take most of the
    // 128, and not those with tensor instructions, which wait for nothing else. Otherwise ptxas
    // chooses.
    bool wants_room_for_warps() const {
        constexpr int64_t many = 128, too_many = 320;
        return most_private_bytes >= many && most_private_bytes < too_many &&
               !has_tensor_instructions;
    }
};

namespace {

class FindFacts final : public Visitor {
public:
    KernelFacts found;

private:
    void visit(const Load &load) override {
        found.loaded.insert(load.buffer);
        Visitor::visit(load);
    }
    void visit(const Store &store) override {
        found.stored.insert(store.buffer);
        Visitor::visit(store);
    }
    void visit(const MachineOp &op) override {
        found.computes_together = true;
        found.has_tensor_instructions |= op.op != MachineOpKind::copy_async;
        found.is_read_by_units |= TileCopy::is_group(op);
        for (const Expr &e : op.operands) found.in_operands.merge(symbols_in(e));
        Visitor::visit(op);
    }
    void visit(const IntrinsicCall &c) override {
        found.computes_together |= c.op == Intrinsic::cluster_load;
        found.is_read_by_units |= c.op == Intrinsic::tensor_wait;
        Visitor::visit(c);
    }
    void visit(const Allocate &a) override {
        const bool is_private =
            a.memory == MemoryType::Auto || traits_of(a.memory).space == AddressSpace::Private;
        if (is_private)
            found.most_private_bytes =
                std::max(found.most_private_bytes, constant_bytes(a).value_or(0));
        Visitor::visit(a);
    }
    void visit(const For &loop) override {
        const bool was_in_cluster = in_cluster;
        in_cluster |= loop.loop_kind == LoopKind::GPUCluster;
        if (in_cluster && loop.loop_kind == LoopKind::GPUBlock)
            found.blocks_of_cluster = as_const_int(loop.extent).value_or(0);
        if (traits_of(loop.loop_kind).gpu == GPULevel::Thread) count_threads(loop);
        found.resident_blocks = std::max(
            {found.resident_blocks, loop.origin.resident_blocks, int(loop.origin.roles.any())});
        Visitor::visit(loop);
        in_cluster = was_in_cluster;
    }
    void count_threads(const For &loop) {
        const auto *extent = loop.extent.as<IntImm>();
        if (found.threads && extent)
            found.threads = *found.threads * std::max<int64_t>(1, extent->value);
        else
            found.threads = std::nullopt;
    }
    bool in_cluster = false;
};

// Passes what the host has written in the parameter itself, where the machine reads it.
void pass_in_place(llvm::Function &function, unsigned parameter) {
    constexpr unsigned bytes = 128, aligned_to = 64;
    llvm::LLVMContext &c = function.getContext();
    auto *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(c), bytes);
    function.addParamAttr(parameter, llvm::Attribute::getWithByValType(c, type));
    function.addParamAttr(parameter, llvm::Attribute::getWithAlignment(c, llvm::Align(aligned_to)));
    function.addParamAttr(parameter, llvm::Attribute::get(c, "nvvm.grid_constant"));
}

}  // namespace

llvm::Function *KernelEmitter::declare(const LoweredFunction &kernel, const KernelFacts &facts) {
    auto *global =
        llvm::PointerType::get(context, architecture.address_space(AddressSpace::Global));
    std::vector<llvm::Type *> types;
    if (reports_something()) types.push_back(global);
    const unsigned first = unsigned(types.size());
    const auto args = std::span(kernel.args).subspan(lower::launch_arguments);
    for (const Argument &a : args) {
        if (facts.is_map(a)) {
            types.push_back(b.getPtrTy());
            continue;
        }
        types.push_back(a.is_scalar() ? memory_type(a.type) : static_cast<llvm::Type *>(global));
    }
    auto *type = llvm::FunctionType::get(b.getVoidTy(), types, false);
    auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                            kernel_symbol(kernel.name), module);
    function->setCallingConv(llvm::CallingConv::PTX_Kernel);
    for (unsigned i = 0; i < args.size(); i++) {
        if (facts.is_map(args[i])) pass_in_place(*function, first + i);
        if (args[i].is_scalar()) continue;
        // To LLVM, no other thread writes what is noalias: it would move loads across barriers.
        const bool is_read = facts.loaded.contains(args[i].name);
        const bool is_written = facts.stored.contains(args[i].name);
        // Nor does a kernel before it, which this one may wait for.
        if (!waits && (!is_read || !is_written))
            function->addParamAttr(first + i, llvm::Attribute::NoAlias);
        if (!is_written) function->addParamAttr(first + i, llvm::Attribute::ReadOnly);
    }
    if (facts.blocks_of_cluster > 0)
        function->addFnAttr("nvvm.cluster_dim", str(facts.blocks_of_cluster, ",1,1"));
    if (const auto threads = facts.threads) {
        function->addFnAttr("nvvm.maxntid", std::to_string(*threads));
        constexpr int64_t fewest = 512;
        int64_t blocks = facts.resident_blocks;
        if (blocks == 0 && *threads * 2 <= fewest && facts.wants_room_for_warps())
            blocks = fewest / *threads;
        if (blocks > 0) function->addFnAttr("nvvm.minctasm", std::to_string(blocks));
    }
    return function;
}

// ptxas 13.0 takes what lies exactly 2^23 bytes before an address from another base, where it
// splits the offsets of several accesses (docs/gpu_notes.md). Constants that may lead there become
// registers, so that they are added to an index of 32 bits, and not to an address.
Value *KernelEmitter::coordinate_constant(const IntImm &node) {
    constexpr int64_t near = 1 << 18;  // of elements; they have at most 16 bytes
    if (node.type != Int(32) || std::abs(node.value) < near)
        return Emitter::coordinate_constant(node);
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty()}, false);
    auto *move = llvm::InlineAsm::get(type, "mov.b32 $0, $1;", "=r,n", false);
    return b.CreateCall(move, {b.getInt32(uint32_t(node.value))});
}

void KernelEmitter::bind_arguments(const LoweredFunction &kernel, const KernelFacts &facts,
                                   llvm::Function *function) {
    const auto args = std::span(kernel.args).subspan(lower::launch_arguments);
    const unsigned first = reports_something() ? 1 : 0;
    for (unsigned i = 0; i < args.size(); i++) {
        const Argument &a = args[i];
        Value *v = function->getArg(first + i);
        if (a.is_scalar()) {
            f->variables[a.name] = facts.is_map(a) ? v : from_memory(v, a.type);
            continue;
        }
        BufferValues storage;
        storage.base = v;
        // Said of each load: LLVM does not see it from the argument where many additions lie
        // between.
        storage.is_constant = !waits && !facts.stored.contains(a.name);
        storage.alignment = 16;  // where an index is known to be aligned: lower/gpu/align_vectors.h
        f->buffers[a.name] = storage;
    }
}

// Every thread waits, before it accesses memory, for all kernels before this one on its stream:
// they have ended then, and so have those that they have waited for. Then the next kernel's blocks
// may come to wait, wherever all blocks of this one have found room.
void KernelEmitter::wait_for_kernels() {
    assembly("griddepcontrol.wait;", "~{memory}", b.getVoidTy(), {});
    assembly("griddepcontrol.launch_dependents;", "~{memory}", b.getVoidTy(), {});
}

void KernelEmitter::emit_kernel(const LoweredFunction &kernel) {
    FunctionState state;
    name = kernel.name;
    FindFacts find;
    find(kernel.body);
    const KernelFacts &facts = find.found;
    needs_all_threads = facts.computes_together;
    has_clusters = facts.blocks_of_cluster > 0;
    has_readers = facts.is_read_by_units;
    if (may_report(kernel)) reports.add(name);
    llvm::Function *function = declare(kernel, facts);
    begin_function(function, state);
    shared_used = int32(0);
    bind_arguments(kernel, facts, function);
    coordinates = Coordinates(std::span(&kernel, 1));
    if (waits) wait_for_kernels();
    run(kernel.body);
    b.CreateRetVoid();
    b.SetInsertPoint(f->entry);
    b.CreateBr(f->entry->getNextNode());
    f = nullptr;
}

// ---- Loops ----

// Returns the index of the cluster, of the block in its cluster or in the grid, or of the thread in
// its block.
Value *KernelEmitter::index_in(const For &node) {
    constexpr I::ID blocks[] = {I::nvvm_read_ptx_sreg_ctaid_x, I::nvvm_read_ptx_sreg_ctaid_y,
                                I::nvvm_read_ptx_sreg_ctaid_z};
    constexpr I::ID threads[] = {I::nvvm_read_ptx_sreg_tid_x, I::nvvm_read_ptx_sreg_tid_y,
                                 I::nvvm_read_ptx_sreg_tid_z};
    constexpr I::ID clusters[] = {I::nvvm_read_ptx_sreg_clusterid_x,
                                  I::nvvm_read_ptx_sreg_clusterid_y,
                                  I::nvvm_read_ptx_sreg_clusterid_z};
    const size_t d = lower::dimension_of(node);
    switch (node.loop_kind) {
    case LoopKind::GPUCluster: return b.CreateIntrinsic(clusters[d], {});
    case LoopKind::GPUBlock:
        return b.CreateIntrinsic(has_clusters ? I::nvvm_read_ptx_sreg_cluster_ctarank : blocks[d],
                                 {});
    default: return b.CreateIntrinsic(threads[d], {});
    }
}

void KernelEmitter::loop(const For &node) {
    switch (node.loop_kind) {
    case LoopKind::Serial: return serial_loop(node);
    case LoopKind::GPUCluster:
    case LoopKind::GPUBlock:
    case LoopKind::GPUThread: {
        Value *index = nullptr;
        {
            MemoScope forget(*this);
            index = b.CreateNSWAdd(index_in(node), coordinate(node.min));
        }
        f->variables[node.name] = index;
        run(node.body);
        f->variables.erase(node.name);
        return;
    }
    case LoopKind::GPULane:
    case LoopKind::GPUWarp:
    case LoopKind::GPUWarpgroup:
    case LoopKind::Tensorized: refuse_in_kernel(str("a loop of kind ", name_of(node.loop_kind)));
    case LoopKind::Parallel: refuse_in_kernel("a parallel loop");
    case LoopKind::Vectorized:
    case LoopKind::Unrolled: refuse_loop(node);
    }
}

// ---- Memory ----

void KernelEmitter::allocate_shared(const Allocate &node) {
    if (node.facts.within.defined()) {
        BufferValues storage = f->buffers.at(node.facts.within);
        storage.may_overlap = true;
        storage.swizzle = node.facts.swizzle;
        f->buffers[node.buffer] = storage;
        return run(node.body);
    }
    constexpr auto most_alignment = unsigned(swizzle_period(most_swizzle));
    const auto aligned_to = unsigned(lower::shared_alignment(node));
    const unsigned space = architecture.address_space(AddressSpace::Shared);
    llvm::GlobalVariable *all = module.getNamedGlobal("shared_memory");
    if (!all) {
        auto *type = llvm::ArrayType::get(b.getInt8Ty(), 0);
        all = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::ExternalLinkage,
                                       nullptr, "shared_memory", nullptr,
                                       llvm::GlobalValue::NotThreadLocal, space);
        all->setAlignment(llvm::Align(most_alignment));
    }
    Value *const before = shared_used;
    Value *begin = before;
    if (node.facts.swizzle != 0)
        begin =
            b.CreateAnd(b.CreateAdd(begin, b.getInt32(aligned_to - 1)), b.getInt32(-aligned_to));
    {
        MemoScope forget(*this);
        shared_used = b.CreateNSWAdd(before, value(lower::shared_bytes(node)));
    }
    BufferValues storage;
    storage.base = b.CreateGEP(b.getInt8Ty(), all, begin);
    storage.alignment = aligned_to;
    storage.swizzle = node.facts.swizzle;
    f->buffers[node.buffer] = storage;
    run(node.body);
    shared_used = before;
}

void KernelEmitter::allocate_in_memory(const Allocate &node) {
    if (traits_of(node.memory).space == AddressSpace::Shared) return allocate_shared(node);
    const std::optional<int64_t> bytes = constant_bytes(node);
    if (!bytes) {
        throw CompileError(
            node.facts.compute_written,
            str("the size of ", node.buffer,
                ", which each thread of a kernel has for "
                "itself, is not known when the pipeline is compiled; give it a bound "
                "with bound_extent"));
    }
    allocate_on_stack(node, uint64_t(*bytes));
}

Value *KernelEmitter::buffer_property(const BufferProperty &node) {
    throw InternalError(str("a kernel asks for a property of ", node.buffer));
}
Value *KernelEmitter::address_in(Value *) {
    throw InternalError("a kernel uses the struct of a buffer");
}

// ---- What kernels cannot do ----

// The lanes of a warp, a bit each, that are in the row of this thread.
Value *KernelEmitter::lanes_of_row(int64_t lanes) {
    constexpr int64_t of_warp = 32;
    if (lanes == of_warp) return b.getInt32(UINT32_MAX);
    Value *lane = b.CreateIntrinsic(I::nvvm_read_ptx_sreg_laneid, {});
    Value *first = b.CreateAnd(lane, b.getInt32(uint32_t(-lanes)));
    return b.CreateShl(b.getInt32((uint32_t(1) << lanes) - 1), first);
}

// Loads what is at a place in the memory of another block of the cluster.
Value *KernelEmitter::cluster_load(const IntrinsicCall &c) {
    Value *there =
        b.CreateIntrinsic(I::nvvm_mapa_shared_cluster, {pointer_to(c.args[0]), arg(c, 1)});
    const llvm::Align alignment(uint64_t(c.type.bytes()));
    return from_memory(b.CreateAlignedLoad(memory_type(c.type), there, alignment), c.type);
}

// Returns the value in the thread of that lane of the row, by words of 32 bits.
Value *KernelEmitter::shuffled(Value *v, Value *lane, int64_t lanes) {
    auto *type = v->getType();
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
        Value *all = llvm::PoisonValue::get(vector);
        for (unsigned i = 0; i < vector->getNumElements(); i++)
            all =
                b.CreateInsertElement(all, shuffled(b.CreateExtractElement(v, i), lane, lanes), i);
        return all;
    }
    constexpr unsigned word = 32;
    const unsigned bits = unsigned(type->getPrimitiveSizeInBits());
    Value *integer = b.CreateBitCast(v, b.getIntNTy(bits));
    Value *members = lanes_of_row(lanes), *result = nullptr;
    Value *segments = b.getInt32(uint32_t(32 - lanes) << 8 | 31);
    for (unsigned first = 0; first < bits; first += word) {
        Value *part = b.CreateZExtOrTrunc(b.CreateLShr(integer, first), b.getInt32Ty());
        part = b.CreateIntrinsic(I::nvvm_shfl_sync_idx_i32, {members, part, lane, segments});
        part = b.CreateShl(b.CreateZExtOrTrunc(part, integer->getType()), first);
        result = result ? b.CreateOr(result, part) : part;
    }
    return b.CreateBitCast(result, type);
}

Value *KernelEmitter::host_call(const IntrinsicCall &c) {
    if (c.op == Intrinsic::require) {
        check(all_lanes(arg(c, 0)), {"require_failed", "required"},
              [&] { fail(Expr(&c), requirement_failed(c)); });
        return arg(c, 1);
    }
    if (c.op == Intrinsic::gpu_barrier) {
        b.CreateIntrinsic(I::nvvm_barrier_cta_sync_aligned_all, {b.getInt32(0)});
        return int32(0);
    }
    if (c.op == Intrinsic::gpu_warp_barrier) {
        b.CreateIntrinsic(I::nvvm_bar_warp_sync,
                          {lanes_of_row(as_const_int(c.args[0]).value_or(1))});
        return int32(0);
    }
    if (c.op == Intrinsic::gpu_cluster_barrier) {
        // The threads of a warp may have roles, and come here one after the other.
        b.CreateIntrinsic(I::nvvm_barrier_cluster_arrive, {});
        b.CreateIntrinsic(I::nvvm_barrier_cluster_wait, {});
        return int32(0);
    }
    if (c.op == Intrinsic::cluster_load) return cluster_load(c);
    if (c.op == Intrinsic::shuffle_lanes)
        return shuffled(arg(c, 0), arg(c, 1), as_const_int(c.args[2]).value_or(1));
    return asynchronous_call(c);
}

Value *KernelEmitter::call_extern(const ExternCall &node) {
    if (!lower::is_print(node)) return Emitter::call_extern(node);
    print(node);
    return int32(0);
}

llvm::FunctionCallee KernelEmitter::extern_function(const std::string &name, Type result,
                                                    const std::vector<Type> &args, bool pure) {
    const std::string in_library = libdevice_name(name);
    if (in_library.empty() || !pure) refuse_in_kernel(str("a call of the function ", name));
    std::vector<llvm::Type *> types;
    for (Type t : args) types.push_back(register_type(t));
    auto *type = llvm::FunctionType::get(register_type(result), types, false);
    llvm::FunctionCallee callee = module.getOrInsertFunction(in_library, type);
    auto *function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setMemoryEffects(llvm::MemoryEffects::none());
    function->addFnAttr(llvm::Attribute::WillReturn);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    return callee;
}

void KernelEmitter::with_cleanup(const std::function<void()> &undo,
                                 const std::function<void()> &body) {
    body();
    undo();
}

void KernelEmitter::fork(const Fork &) { refuse_in_kernel("a fork"); }
void KernelEmitter::acquire(const Acquire &) { refuse_in_kernel("waiting for a semaphore"); }
void KernelEmitter::invoke(const Invoke &node) {
    refuse_in_kernel(str("a call of ", node.function));
}
void KernelEmitter::run_locked(const Atomic &, const Expr &) {
    refuse_in_kernel("an update that takes a mutex");
}

}  // namespace tessera::codegen
