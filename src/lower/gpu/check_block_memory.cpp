#include "lower/gpu/check_block_memory.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/launch_shape.h"

namespace tessera::lower {

using namespace ir;

namespace {

// The most bytes that a block can share, from a compute capability on.
struct BlockMemory {
    int capability, bytes;
};
constexpr BlockMemory block_memories[] = {{75, 64 << 10}, {80, 163 << 10}, {86, 99 << 10},
                                          {89, 99 << 10}, {90, 227 << 10}, {100, 227 << 10},
                                          {120, 99 << 10}};

BlockMemory block_memory_of(int capability) {
    BlockMemory found = block_memories[0];
    for (const BlockMemory &m : block_memories) {
        if (m.capability <= capability) found = {capability, m.bytes};
    }
    return found;
}

// Returns that capability of the target which has most memory. If the target names none, the code
// may run on any GPU.
BlockMemory most_memory(const Target &target) {
    constexpr int any = 100;
    if (target.get_cuda_capability_lower_bound() < block_memories[0].capability)
        return block_memory_of(any);
    BlockMemory most = {0, 0};
    for (const int capability : target.cuda_capabilities()) {
        const BlockMemory m = block_memory_of(capability);
        if (m.bytes >= most.bytes) most = m;
    }
    return most;
}

class CheckBlockMemory final : public Visitor {
public:
    explicit CheckBlockMemory(const Target &target) : most(most_memory(target)) {}

private:
    void visit(const For &loop) override {
        if (!is_over_blocks(loop)) return Visitor::visit(loop);
        const LaunchShape shape = launch_shape_of(Stmt(&loop));
        const auto bytes = as_const_int(shape.values.back());
        if (!bytes || *bytes <= most.bytes || !shape.largest) return;
        const Allocate &a = *shape.largest;
        throw CompileError(
            a.facts.compute_written,
            str("a block of this kernel shares ", *bytes, " bytes of memory, ",
                shape.bytes_of_largest, " of them for ", a.buffer, "; GPUs of compute capability ",
                most.capability / 10, ".", most.capability % 10, " have ", most.bytes,
                " for a block. Compute less of it at a time, or store it in MemoryType::Heap"));
    }
    const BlockMemory most;
};

}  // namespace

Stmt check_block_memory(const Stmt &s, const Context &context) {
    if (context.target.has_gpu_feature()) CheckBlockMemory(context.target)(s);
    return s;
}

}  // namespace tessera::lower
