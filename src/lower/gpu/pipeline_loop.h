#pragma once
#include "ir/nodes.h"
#include "ir/operators.h"
#include "lower/gpu/staged_copy.h"

// One loop of a kernel that copies into ring buffers ahead of what uses them.
namespace tessera::lower {

// Returns a statement that calls an intrinsic.
ir::Stmt evaluate(ir::Intrinsic op, std::vector<ir::Expr> args = {});

// Waits for instructions wgmma behind the loops over threads that run them, where nothing else
// does.
ir::Stmt wait_behind_tensors(const ir::Stmt &s);

// The copies in the body of a loop, and what is left of it.
struct LoopParts {
    struct Copy {
        const ir::Realize *ring;
        ir::Stmt stmt;  // within the lets around it
    };
    std::vector<Copy> copies;
    ir::Stmt rest;
};
LoopParts split_copies(const ir::Stmt &body,
                       const std::unordered_map<Symbol, const ir::Realize *> &rings);

// One of the loops over the blocks of a cluster.
struct BlockOfCluster {
    Symbol loop;
    ir::Expr min;
    int64_t extent = 1, step = 1;  // step: of the number of a block in the cluster, by iteration
};

// Says where a loop stands in the kernel.
struct PlaceInKernel {
    const Realizations &storage;
    const std::vector<const ir::For *> &repeated_by;  // the serial loops around, outermost first
    const ir::Substitution &lets;                     // of the kernel, around
    const ir::WarpRoles &roles;
    const std::unordered_set<Symbol> &names;  // that are bound within the kernel, so far
    // All of whose blocks run the loop, in step; empty: there is no cluster, or they may not.
    const std::vector<BlockOfCluster> &cluster;
};

// A barrier for each slot of a ring buffer.
class SlotBarriers {
public:
    SlotBarriers(const char *name, int64_t slots) : name(Symbol::fresh(name)), slots(slots) {}

    // The place of the barrier of a slot.
    ir::Expr of(const ir::Expr &slot) const;
    // Calls an intrinsic for each barrier.
    ir::Stmt each(ir::Intrinsic op, const std::vector<ir::Expr> &operands = {}) const;
    // Returns the statement with the barriers' storage around it.
    ir::Stmt around(const ir::Stmt &s) const;

private:
    Symbol name;
    int64_t slots;
};

// The barriers of a loop whose copies a producer makes: where boxes have been copied to, and where
// all threads of the producer have copied something to, if they do; and where something may be.
struct RoleBarriers {
    std::optional<SlotBarriers> full, copied;
    SlotBarriers empty;
    int64_t blocks = 1;  // of a cluster, whose consumers arrive where something may be copied to
};

// Groups of consumers that take tiles in turns need this: the turn, and where each group says that
// it has waited for all copies of a tile.
struct ConsumerTurns {
    ir::Expr turn;
    SlotBarriers order;

    // A group begins to wait for copies when the other one has waited for those of the turn before:
    // a wait sees one phase of a barrier that has ended, not two.
    ir::Stmt begin() const;
    ir::Stmt end() const;
};

// Rewrites a loop and its copies: pipeline_copies.h.
class PipelineLoop {
public:
    PipelineLoop(const ir::For &loop, LoopParts parts, const PlaceInKernel &place);

    // All threads run the loop.
    ir::Stmt operator()() const;
    // The warps have roles. The barriers are for who calls this to allocate and
    // initialize.
    ir::Stmt by_roles(std::vector<RoleBarriers> &all_barriers,
                      const ConsumerTurns *turns = nullptr) const;

private:
    void check() const;
    [[noreturn]] void refuse_role(const std::string &why) const;
    void check_constant(const ir::For &of) const;

    ir::Stmt by_threads(const std::vector<StagedCopy> &copies) const;
    ir::Stmt by_tiles(const std::vector<StagedCopy> &copies) const;
    ir::Stmt by_both(const std::vector<StagedCopy> &of_threads,
                     const std::vector<StagedCopy> &of_machine) const;
    ir::Stmt of_all_threads(const std::vector<StagedCopy> &copies) const;
    ir::Stmt of_producers(const std::vector<StagedCopy> &copies) const;
    ir::Stmt copied_by_producers(const std::vector<StagedCopy> &copies, const SlotBarriers &copied,
                                 const ir::Expr &n) const;
    ir::Stmt last_of_producers(const SlotBarriers &copied, const ir::Expr &n) const;
    // The copies of how many iterations go on while the threads of a producer begin the next.
    int32_t behind() const { return int32_t(slots - 2); }
    ir::Stmt wait_for_sums(int32_t but) const;
    ir::Stmt until_done(const ir::Stmt &body) const;
    ir::Stmt end_of(const SlotBarriers &full) const;
    StagedCopy copy_of(const LoopParts::Copy &c, const ir::Expr &number) const;
    ir::Expr k() const { return ir::int32_variable(loop.name); }
    ir::Expr iteration() const;
    ir::Expr number() const;
    int32_t ahead() const { return int32_t(slots - 1); }
    ir::Stmt begin(const ir::Stmt &copies, const ir::Expr &at) const;
    ir::Stmt before(const ir::Stmt &copies, const ir::Stmt &after_each, int32_t iterations) const;
    ir::Stmt in_slots(ir::Stmt s, const ir::Expr &number) const;
    AroundCopy around() const;
    ir::Stmt boxes(const ir::Expr &full, const std::vector<StagedCopy> &copies,
                   const std::vector<SharedCopy> &shared = {}) const;
    std::vector<SharedCopy> shared_copies(const std::vector<StagedCopy> &copies,
                                          RoleBarriers &barriers, ir::Expr &all_blocks) const;
    bool runs_in_step() const;

    const ir::For &loop;
    const LoopParts parts;
    const bool is_repeated;  // the block runs the loop several times
    const PlaceInKernel place;
    const bool is_for_wgmma;      // threads copy for others
    const ir::Expr accumulators;  // of wgmma, which the loop waits for; undefined: there are none
    const int64_t slots;
};

}  // namespace tessera::lower
