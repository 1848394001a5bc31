#pragma once
#include <cstdint>
#include <string_view>

namespace tessera {

// Lists how the iterations of a loop may run: the enumerator, and the word in the IR's text.
// clang-format off
#define TESSERA_LOOP_KINDS(X)                                                                      \
    X(Serial, "for") X(Parallel, "parallel") X(Vectorized, "vectorized") X(Unrolled, "unrolled")   \
    X(GPUCluster, "gpu_cluster") /* iterations are clusters of blocks, which run at once */         \
    X(GPUBlock, "gpu_block")    /* iterations are blocks of a grid, or of a cluster */              \
    X(GPUThread, "gpu_thread")  /* iterations are threads of a block */                             \
    X(GPULane, "gpu_lane")      /* iterations are lanes of a warp: threads that go together */     \
    X(GPUWarp, "gpu_warp")      /* iterations are warps of a block: 32 threads each */              \
    X(GPUWarpgroup, "gpu_warpgroup") /* 128 threads each */                                         \
    X(Tensorized, "tensorized") /* an instruction that the loop names runs the iterations */
// clang-format on
enum class LoopKind : uint8_t {
#define ENUMERATOR(name, text) name,
    TESSERA_LOOP_KINDS(ENUMERATOR)
#undef ENUMERATOR
};

// The level of a GPU's hierarchy of threads whose members run the iterations of a loop.
enum class GPULevel : uint8_t { None, Cluster, Block, Thread, Lane };

// The properties of a kind of loop for all passes but code generation.
struct LoopTraits {
    bool is_in_order = false;            // each iteration ends before the next one begins
    bool is_on_threads = false;          // iterations run on several threads, which need atomics
    bool is_in_lanes = false;            // iterations are lanes of vectors
    bool needs_constant_extent = false;  // how often it runs is known when the pipeline is compiled
    bool has_code = false;               // a loop in machine code; else lowering replaces it
    GPULevel gpu = GPULevel::None;
    std::string_view directive;  // what makes it
};

// A switch without a default, here and wherever else kinds are distinguished: code that has no case
// for a new kind does not compile.
constexpr LoopTraits traits_of(LoopKind kind) {
    switch (kind) {
    case LoopKind::Serial: return {.is_in_order = true, .has_code = true, .directive = "serial"};
    case LoopKind::Parallel:
        return {.is_on_threads = true, .has_code = true, .directive = "parallel"};
    case LoopKind::Vectorized:
        return {.is_in_lanes = true, .needs_constant_extent = true, .directive = "vectorize"};
    case LoopKind::Unrolled:
        return {.is_in_order = true, .needs_constant_extent = true, .directive = "unroll"};
    case LoopKind::GPUCluster:
        return {.is_on_threads = true, .gpu = GPULevel::Cluster, .directive = "gpu_clusters"};
    case LoopKind::GPUBlock:
        return {.is_on_threads = true, .gpu = GPULevel::Block, .directive = "gpu_blocks"};
    case LoopKind::GPUThread:
        return {.is_on_threads = true, .gpu = GPULevel::Thread, .directive = "gpu_threads"};
    case LoopKind::GPULane:
        return {.is_on_threads = true, .gpu = GPULevel::Lane, .directive = "gpu_lanes"};
    case LoopKind::GPUWarp:
        return {.is_on_threads = true, .gpu = GPULevel::Thread, .directive = "gpu_warps"};
    case LoopKind::GPUWarpgroup:
        return {.is_on_threads = true, .gpu = GPULevel::Thread, .directive = "gpu_warpgroups"};
    case LoopKind::Tensorized:
        return {.is_in_order = true, .needs_constant_extent = true, .directive = "tensorize"};
    }
    __builtin_unreachable();
}

// Says if a loop is split into a prologue, a steady state and an epilogue so that the steady state
// needs no boundary tests. Auto: where it pays.
enum class Partition : uint8_t { Auto, Never, Always };

// Lists the memories in which a Func may be stored.
// clang-format off
#define TESSERA_MEMORY_TYPES(X)                                                                    \
    X(Auto) X(Heap) X(Stack) X(Register) X(GPUShared) X(GPUTexture) X(LockedCache) X(VTCM)         \
    X(AMXTile) X(GPUSharedAsync)                                                                   \
    X(Tile) /* accumulators of tensor instructions, in the registers of the threads that work on them */
// clang-format on
enum class MemoryType : uint8_t {
#define ENUMERATOR(name) name,
    TESSERA_MEMORY_TYPES(ENUMERATOR)
#undef ENUMERATOR
};

// Says where elements are, for machines that reach each place with instructions of its own.
enum class AddressSpace : uint8_t {
    Generic,  // anywhere: the address says where
    Global,   // all threads of a device see it
    Shared,   // the threads of a block see it
    Private,  // one thread sees it
};

// The properties of a kind of memory.
struct MemoryTraits {
    AddressSpace space = AddressSpace::Generic;
    bool is_on_cpu = false;            // code for a CPU can allocate it
    bool may_be_on_stack = false;      // what is small and of a constant size is on the stack
    bool may_be_of_any_size = false;   // as large as the run that allocates it wants it
    bool needs_constant_size = false;  // it cannot be allocated otherwise
};

constexpr MemoryTraits traits_of(MemoryType memory) {
    using enum AddressSpace;
    switch (memory) {
    case MemoryType::Auto:
        return {.is_on_cpu = true, .may_be_on_stack = true, .may_be_of_any_size = true};
    case MemoryType::Heap: return {.space = Global, .is_on_cpu = true, .may_be_of_any_size = true};
    case MemoryType::Stack: return {.space = Private, .is_on_cpu = true, .may_be_on_stack = true};
    case MemoryType::Register:
        return {.space = Private,
                .is_on_cpu = true,
                .may_be_on_stack = true,
                .needs_constant_size = true};
    case MemoryType::GPUShared:
    case MemoryType::GPUSharedAsync: return {.space = Shared};
    case MemoryType::GPUTexture: return {.space = Global};
    case MemoryType::Tile: return {.space = Private, .needs_constant_size = true};
    case MemoryType::LockedCache:
    case MemoryType::VTCM:
    case MemoryType::AMXTile: return {};
    }
    __builtin_unreachable();
}

// Lists the operations of a machine (MachineOp in nodes.h), and their operands. A place is
// address_of a Load; bytes are those of one call.
// clang-format off
#define TESSERA_MACHINE_OPS(X)                                                                     \
    X(tensor)     /* the threads that run an instruction (ir/tensor_operation.h) */                 \
    X(copy_tile)  /* one thread, asynchronously (ir/tile_copy.h): an instruction, the place in the  \
                     block, of a load the barrier that counts its bytes, a tensor_map, of a load    \
                     the blocks of the cluster that get it, a bit each, or 0; the coordinates */    \
    X(copy_async) /* one element after the other, of 16 bytes in all, asynchronously */             \
    X(store_quads) /* four threads exchange what they store, so that each stores 16 bytes: what     \
                     stores them, or nothing yet */
// clang-format on
enum class MachineOpKind : uint8_t {
#define ENUMERATOR(name) name,
    TESSERA_MACHINE_OPS(ENUMERATOR)
#undef ENUMERATOR
};

// Says what happens where a split does not divide the extent of the loop evenly.
enum class TailStrategy : uint8_t {
    RoundUp,
    GuardWithIf,
    Predicate,
    PredicateLoads,
    PredicateStores,
    ShiftInwards,
    ShiftInwardsAndBlend,
    RoundUpAndBlend,
    Auto
};

// Says what a prefetch does where it would read outside of the buffer.
enum class PrefetchBoundStrategy : uint8_t { Clamp, GuardWithIf, NonFaulting };

// The operations that VectorReduce can do between neighbouring lanes.
enum class ReduceOp : uint8_t { Add, SaturatingAdd, Mul, Min, Max, And, Or };

// A property of one dimension of a buffer, or about a buffer as a whole (then dim is 0).
enum class BufferField : uint8_t {
    Min,
    Extent,
    Stride,
    Host,
    Dimensions,
    TypeCode,
    TypeBits,
    Device
};

// Says how linkers know a function: by its name in C, or by that and its namespaces and parameters,
// as C++ does. Default: as Target::CPlusPlusMangling says.
enum class NameMangling : uint8_t { Default, C, CPlusPlus };

enum class CallKind : uint8_t {
    Func,   // a value of a Func of this pipeline
    Image,  // an element of an ImageParam or a Buffer
};

constexpr LoopKind all_loop_kinds[] = {
#define ENUMERATOR(name, text) LoopKind::name,
    TESSERA_LOOP_KINDS(ENUMERATOR)
#undef ENUMERATOR
};
constexpr MemoryType all_memory_types[] = {
#define ENUMERATOR(name) MemoryType::name,
    TESSERA_MEMORY_TYPES(ENUMERATOR)
#undef ENUMERATOR
};

constexpr MachineOpKind all_machine_ops[] = {
#define ENUMERATOR(name) MachineOpKind::name,
    TESSERA_MACHINE_OPS(ENUMERATOR)
#undef ENUMERATOR
};

std::string_view name_of(LoopKind k);
std::string_view name_of(Partition p);
std::string_view name_of(MemoryType m);
std::string_view name_of(MachineOpKind op);
std::string_view name_of(TailStrategy t);
std::string_view name_of(PrefetchBoundStrategy s);
std::string_view name_of(ReduceOp op);
std::string_view name_of(BufferField f);

}  // namespace tessera
