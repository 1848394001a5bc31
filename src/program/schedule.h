#pragma once
#include "ir/nodes.h"
#include "program/loop_level.h"
#include "program/reduction_domain.h"
#include <string>
#include <tuple>
#include <variant>
#include <vector>

// A schedule is data: the list of directives as the user wrote them, each with the line where, and
// beside it what they amount to (loops, transforms, levels), which lowering reads.
namespace tessera::program {

// ---- Directives of one stage (a pure definition, or an update) ----

// old = outer * factor + inner (+ the loop's min).
struct Split {
    Symbol old, outer, inner;
    Expr factor;
    TailStrategy tail = TailStrategy::Auto;
};
// fused = (outer - its min) * extent of inner + (inner - its min).
struct Fuse {
    Symbol inner, outer, fused;
};
struct Rename {
    Symbol old, new_name;
};
// These loops, innermost first, in the places that they have together now.
struct Reorder {
    std::vector<Symbol> vars;
};
struct SetLoopKind {
    Symbol var;
    LoopKind kind = LoopKind::Serial;
};
// Instructions of the machine run the iterations of the loop, those of this name or family
// (ir/instruction.h).
struct Tensorize {
    Symbol var;
    std::string instruction;
};
struct SetPartition {
    Symbol var;
    Partition partition = Partition::Auto;
};
// At the loop `at`, bring the region of `what` into the cache that the iteration of the loop `from`
// reads which is `offset` later; or writes, if it is the stage's own function.
struct PrefetchDirective {
    Symbol what;  // a function or an image
    Symbol at, from;
    Expr offset;
    PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf;
};
struct AtomicDirective {
    bool override_associativity_test = false;
};
struct AllowRaceConditions {};
// From here on the directives are those of a copy of the stage for when the condition holds.
struct SpecializeDirective {
    Expr condition;
};
struct SpecializeFail {
    std::string message;
};
struct StreamLoads {
    std::vector<Symbol> what;  // functions and images; empty: all
};
struct StreamStores {};
// Blocks of a kernel, or clusters, are begun in groups of so many rows, column by column, so that
// those that run at the same time read the same rows and columns of what they are computed from.
// Undefined: along a Hilbert curve.
struct GroupBlocks {
    Expr rows;
};
// So many blocks for each multiprocessor run, and each computes what several blocks would.
struct PersistentBlocks {
    Expr blocks;
};
// A kernel's code leaves so many blocks room on a multiprocessor.
struct ResidentBlocks {
    Expr blocks;
};
// One role of a kernel's warps copies ahead what the others, the consumers, use: with so many
// registers a thread of each role. 0 for both: what a kernel of so many threads has.
struct WarpSpecialize {
    Expr producer_registers, consumer_registers;
};
// Consumers of such a kernel are twice as many, and take tiles in turns.
struct PingPong {};
// The loops are meant as they are.
struct Unscheduled {};

// A reduction loop (a variable of the domain, or one made from some), and the dimension that it
// becomes of an intermediate function.
struct Preserved {
    Symbol rvar, var;
};
// Before this, the stage was another: partial results come from the function `intermediate`.
struct Rfactor {
    std::vector<Preserved> preserved;
    Symbol intermediate;
};
// The stage reads `made`, a copy of the image, in its place.
struct CopyInput {
    Symbol image, made;
};

using StageDirective =
    std::variant<Split, Fuse, Rename, Reorder, SetLoopKind, Tensorize, SetPartition,
                 PrefetchDirective, AtomicDirective, AllowRaceConditions, SpecializeDirective,
                 SpecializeFail, StreamLoads, StreamStores, GroupBlocks, PersistentBlocks,
                 ResidentBlocks, WarpSpecialize, PingPong, Unscheduled, Rfactor, CopyInput>;

// The function that the directive makes; undefined if it makes none.
Symbol made_by(const StageDirective &directive);

// ---- Directives of a Func ----

struct ComputeLevel {
    LoopLevel level;
};
struct StoreLevel {
    LoopLevel level;
};
struct HoistStorageLevel {
    LoopLevel level;
};
// The region of `var` that is computed: [min, min + extent), where these are defined; min and
// extent are rounded (outwards) so that min % modulus == remainder, extent % modulus == 0.
struct BoundDirective {
    Symbol var;
    Expr min, extent;
    Expr modulus, remainder;
};
struct EstimateDirective {
    Symbol var;
    Expr min, extent;
};
struct FoldStorage {
    Symbol var;
    Expr extent;
    bool fold_forward = true;
};
struct RingBuffer {
    Expr extent;
};
struct AsyncDirective {};
struct ReorderStorage {
    std::vector<Symbol> vars;
};
struct AlignStorage {
    Symbol var;
    Expr alignment;
};
struct BoundStorage {
    Symbol var;
    Expr extent;
};
struct StoreIn {
    MemoryType memory = MemoryType::Auto;
};
struct Trace {
    bool loads = false, stores = false, realizations = false;
    std::string tag;
};
struct NoProfiling {};
// The Func, which is a copy of another one or of an image, is computed by copying between buffers:
// into memory of the device, or of the host.
struct CopyToDevice {};
struct CopyToHost {};

using FuncDirective =
    std::variant<ComputeLevel, StoreLevel, HoistStorageLevel, BoundDirective, EstimateDirective,
                 FoldStorage, RingBuffer, AsyncDirective, ReorderStorage, AlignStorage,
                 BoundStorage, StoreIn, Trace, NoProfiling, CopyToDevice, CopyToHost>;

// A directive, where it was written, and when it was given.
template<typename Directive>
struct Written {
    Directive directive;
    Location at;
    uint64_t order = 0;  // next_order() of then
};

// Returns a larger number each time: the order in which directives are given to all functions.
uint64_t next_order();

// ---- What the directives amount to ----

struct Loop {
    Symbol var;
    LoopKind kind = LoopKind::Serial;
    bool is_reduction = false;  // of a reduction domain, or made from loops of one
    Partition partition = Partition::Auto;
    bool in_call = false;  // of an extern stage: one call of its function runs all iterations
    std::string instruction = "";  // of a tensorized loop
};

using LoopTransform = std::variant<Split, Fuse, Rename>;

struct StageSchedule {
    std::vector<Written<StageDirective>> directives;
    // Derived, by apply():
    std::vector<Written<LoopTransform>> transforms;  // in the order they were written
    std::vector<Loop> loops;                         // innermost first
    std::vector<Written<PrefetchDirective>> prefetches;
    bool atomic = false, override_associativity_test = false;
    bool allow_race_conditions = false;
    bool stream_stores = false, stream_all_loads = false;
    std::vector<Symbol> stream_loads;
    int block_group = 0, blocks_per_processor = 0;  // 0: the order of the loops; all at once
    bool is_along_hilbert_curve = false;            // the order of blocks
    int resident_blocks = 0;                        // 0: as the compiler chooses
    ir::WarpRoles roles;                            // of the kernel's warps
    bool touched = false;                           // the user has said something about this stage

    // All that two schedules are compared by.
    static auto derived() {
        using S = StageSchedule;
        return std::tuple(&S::transforms, &S::loops, &S::prefetches, &S::atomic,
                          &S::override_associativity_test, &S::allow_race_conditions,
                          &S::stream_stores, &S::stream_all_loads, &S::stream_loads,
                          &S::block_group, &S::blocks_per_processor, &S::is_along_hilbert_curve,
                          &S::resident_blocks, &S::roles);
    }
};

// Says whether a stage is computed as a copy between buffers, and to which side.
enum class CopySide : uint8_t { None, Host, Device };

struct StorageDimension {
    Symbol var;
    Expr alignment, bound;  // undefined: none
    Expr fold_factor;
    bool fold_forward = true;
    Location alignment_written, bound_written, fold_written;
};

struct FuncSchedule {
    std::vector<Written<FuncDirective>> directives;
    // Levels of directives that may still become others: which directive, and what it then is.
    struct Late {
        size_t directive;
        Ref<LateLevel> level;
    };
    std::vector<Late> late_levels;
    // Derived, by apply():
    LoopLevel compute_level = LoopLevel::inlined();
    LoopLevel store_level = LoopLevel::inlined();
    LoopLevel hoist_level = LoopLevel::inlined();
    Location compute_written, store_written, hoist_written, ring_buffer_written;
    bool store_level_set = false, hoist_level_set = false;  // else they follow compute, store
    std::vector<StorageDimension> storage;                  // innermost first
    std::vector<Written<BoundDirective>> bounds;
    std::vector<EstimateDirective> estimates;
    MemoryType memory = MemoryType::Auto;
    bool async = false;
    Expr ring_buffer;
    Trace trace;
    bool no_profiling = false;
    CopySide copy = CopySide::None;
    Location copy_written;

    // All that two schedules are compared by.
    static auto derived() {
        using S = FuncSchedule;
        return std::tuple(&S::compute_level, &S::store_level, &S::hoist_level, &S::storage,
                          &S::bounds, &S::memory, &S::async, &S::ring_buffer,
                          &S::ring_buffer_written, &S::trace, &S::no_profiling, &S::copy);
    }
};

// The schedule with all levels as they are now.
FuncSchedule with_levels_of_now(FuncSchedule schedule);

template<typename... Fs>
struct overloaded : Fs... {
    using Fs::operator()...;
};

}  // namespace tessera::program
