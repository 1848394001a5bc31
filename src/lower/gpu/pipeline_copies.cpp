#include "lower/gpu/pipeline_copies.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/tensor_operation.h"
#include "ir/visitor.h"
#include "lower/gpu/keep_copies.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/pipeline_loop.h"
#include "lower/gpu/stored_tile.h"
#include "lower/gpu/warp_roles.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include "lower/storage/hoist_storage.h"
#include <algorithm>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

bool is_ring(const Realize &r) { return r.storage.is_async && r.storage.copies.defined(); }

namespace {

// ---- Where ring buffers are allocated ----

class HoistRings final : public Mutator {
    // Takes ring buffers directly in the body of a loop within a kernel out of
    // it.
    Stmt visit(const For &loop) override {
        const bool outer =
            std::exchange(in_kernel, in_kernel || traits_of(loop.loop_kind).gpu == GPULevel::Block);
        const bool moves = in_kernel && loop.loop_kind == LoopKind::Serial;
        const std::vector<const HoistedStorage *> around = std::exchange(moved, {});
        Stmt s = loop.with<&For::body>(take_out(loop.body, moves));
        for (const HoistedStorage *h : moved) s = h->with<&HoistedStorage::body>(s);
        moved = around;
        in_kernel = outer;
        return s;
    }
    Stmt visit(const HoistedStorage &h) override {
        if (!in_kernel && is_ring_here(h)) refuse_idle_ring(h.func, h.facts.copies_written);
        return Mutator::visit(h);  // without a loop it is copied once for a block
    }
    static bool is_ring_here(const HoistedStorage &h) {
        const auto *r = h.body.as<Realize>();
        return h.facts.copies.defined() && r && r->func == h.func && r->storage.is_async;
    }
    Stmt take_out(const Stmt &s, bool moves) {
        const auto *h = s.as<HoistedStorage>();
        if (moves && h && is_ring_here(*h)) {
            moved.push_back(h);
            const auto &r = *h->body.as<Realize>();
            return r.with<&Realize::body>(take_out(r.body, true));
        }
        if (!moves) return (*this)(s);
        if (const auto *let = s.as<LetStmt>())
            return let->with<&LetStmt::body>(take_out(let->body, true));
        if (const auto *p = s.as<ProducerConsumer>())
            return p->with<&ProducerConsumer::body>(take_out(p->body, true));
        if (const auto *other = s.as<Realize>())
            return other->with<&Realize::body>(take_out(other->body, true));
        if (const auto *block = s.as<Block>()) {
            std::vector<Stmt> all;
            for (const Stmt &each : block->stmts) all.push_back(take_out(each, true));
            return Block::make(all);
        }
        return (*this)(s);
    }
    bool in_kernel = false;
    std::vector<const HoistedStorage *> moved;
};

// ---- Copies that are waited for where they are made ----

// Has the machine copy, while a thread goes on with other elements, what a
// production of a Func only copies from memory of the device; each thread waits
// for its own copies at the end.
class CopyAsynchronously final : public Mutator {
public:
    CopyAsynchronously(Symbol func, const std::unordered_set<Symbol> &of_kernel)
        : func(func), of_kernel(of_kernel) {}

private:
    bool is_copy(const Provide &p) const {
        const auto *c = p.values.size() == 1 ? p.values[0].as<Call>() : nullptr;
        return c && !of_kernel.contains(c->callee) && c->callee != func;
    }
    Stmt visit(const ProducerConsumer &p) override {
        if (p.func != func || !p.is_producer) return Mutator::visit(p);
        bool only_copies = true;
        for_each_node(p.body, [&](const Provide &store) {
            only_copies &= store.func == func && is_copy(store);
        });
        if (!only_copies) return Stmt(&p);
        return Block::make({Mutator::visit(p), evaluate(Intrinsic::async_commit),
                            evaluate(Intrinsic::async_wait, {0})});
    }
    Stmt visit(const Provide &p) override {
        if (p.func != func) return Stmt(&p);
        return MachineOp::make(MachineOpKind::copy_async, {}, Stmt(&p));
    }
    const Symbol func;
    const std::unordered_set<Symbol> &of_kernel;
};

bool has_tensor_operation(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const MachineOp &op) { any |= is_tensor_operation(op.op); });
    return any;
}

// Has each thread wait where it has produced a Func.
class FenceBehind final : public Mutator {
public:
    explicit FenceBehind(Symbol func) : func(func) {}

private:
    Stmt visit(const ProducerConsumer &p) override {
        if (p.func != func || !p.is_producer) return Mutator::visit(p);
        const Stmt fence = evaluate(Intrinsic::async_wait, {0});
        return p.with<&ProducerConsumer::body>(Block::make(p.body, fence));
    }
    const Symbol func;
};

// Has the machine, or all threads that compute it, store what the memory of a block holds.
class StoreTiles final : public Mutator {
public:
    StoreTiles(const Realize &tile, const Realizations &storage,
               const std::unordered_set<Symbol> &of_kernel, const AroundCopy &around,
               bool by_machine)
        : tile(tile), storage(storage), of_kernel(of_kernel), around(around),
          by_machine(by_machine) {
        for_each_node(tile.body, [&](const For &loop) { has_threads |= is_over_threads(loop); });
    }
    Layout layout;  // that the machine reads; undefined: it reads nothing

private:
    Stmt visit(const For &loop) override {
        if (is_over_threads(loop)) return Stmt(&loop);
        const auto found = StoredTile::of(tile, Stmt(&loop), storage, around);
        if (!found || of_kernel.contains(found->stored_func())) return Mutator::visit(loop);
        const Layout wanted = by_machine ? found->layout_for_machine() : Layout();
        if (!wanted.defined()) {
            const Stmt s = has_threads ? found->by_threads(threads_of(tile.body)) : Stmt();
            return s.defined() ? s : Mutator::visit(loop);
        }
        layout = wanted;
        return found->by_machine();
    }
    Stmt visit(const Realize &r) override {
        return r.func == tile.func ? Stmt(&r) : Mutator::visit(r);
    }
    const Realize &tile;
    const Realizations &storage;
    const std::unordered_set<Symbol> &of_kernel;
    const AroundCopy &around;
    const bool by_machine;
    bool has_threads = false;
};

class PipelineCopies final : public Mutator {
public:
    explicit PipelineCopies(const Target &target)
        : has_tile_stores(std::ranges::all_of(target.cuda_capabilities(), [](int capability) {
              return capability >= end_of_stores().capability;
          })) {}

private:
    Stmt visit(const Realize &r) override {
        storage[r.func] = &r;
        if (in_kernel) of_kernel.insert(r.func);
        if (in_kernel && !in_blocks) has_stages_of_cluster = true;
        Stmt s;
        if (in_kernel && is_ring(r)) {
            rings[r.func] = &r;
            s = pipelined_storage(r);
            rings.erase(r.func);
            if (roles.any()) s = taken_out(*s.as<Realize>());
        } else {
            s = Mutator::visit(r);
            if (r.memory == MemoryType::GPUSharedAsync) s = without_ring(*s.as<Realize>());
            if (in_kernel && has_panels(r)) s = in_panels(*s.as<Realize>());
            if (has_tensors && r.memory == MemoryType::GPUShared) s = stored(*s.as<Realize>());
        }
        storage.erase(r.func);
        return s;
    }
    // Puts what instructions read in panels into these. They see what threads have stored after a
    // fence, which the wait is, too.
    static Stmt in_panels(const Realize &r) {
        StorageFacts facts = r.storage;
        facts.layout = layout_of_panels(r);
        return r.with<&Realize::body, &Realize::storage>(FenceBehind(r.func)(r.body), facts);
    }
    // Copies from the memory of the block, which no threads are named for: of storage that threads
    // have filled, after a fence, where the machine copies.
    Stmt stored(const Realize &r) const {
        const AroundCopy around(names_of_kernel, {}, lets);
        StoreTiles tiles(r, storage, of_kernel, around, has_tile_stores);
        const Stmt body = tiles(r.body);
        if (!tiles.layout.defined()) return r.with<&Realize::body>(body);
        StorageFacts facts = r.storage;
        const bool is_fenced = facts.layout.defined();
        facts.layout = tiles.layout;
        return r.with<&Realize::body, &Realize::storage>(
            is_fenced ? body : FenceBehind(r.func)(body), facts);
    }
    Stmt without_ring(const Realize &r) const {
        return r.with<&Realize::memory, &Realize::body>(
            MemoryType::GPUShared, CopyAsynchronously(r.func, of_kernel)(r.body));
    }
    Stmt pipelined_storage(const Realize &r) {
        // Copies that no loop is around get one of one iteration, which uses one slot.
        const bool is_once = !split_copies(r.body, {{r.func, &r}}).copies.empty();
        const Stmt body = (*this)(is_once ? once(r.body) : r.body);
        for_each_node(body, [&](const ProducerConsumer &p) {
            if (p.func != r.func || !p.is_producer) return;
            bool is_shared = false;
            for_each_node(Stmt(&p), [&](const For &l) { is_shared |= is_over_threads(l); });
            for_each_node(Stmt(&p), [&](const MachineOp &) { is_shared = true; });
            if (!is_shared) refuse(r);
        });
        StorageFacts facts = r.storage;
        facts.is_async = facts.is_copy_shared = false;
        facts.copies = Expr();
        facts.is_pipelined = true;
        Region bounds = r.bounds;
        if (is_once && (!roles.any() || serial_loops.empty())) bounds.back().extent = 1;
        const Stmt s = r.with<&Realize::bounds>(bounds);
        facts.layout = layout_of_ring(*s.as<Realize>());
        return s.as<Realize>()->with<&Realize::memory, &Realize::body, &Realize::storage>(
            MemoryType::GPUShared, body, facts);
    }
    static Stmt once(const Stmt &s) {
        return For::make(Symbol::fresh("once"), 0, 1, LoopKind::Serial, Partition::Never, s);
    }
    [[noreturn]] static void refuse(const Realize &r) {
        throw CompileError(r.storage.async_written,
                           str("async of ", r.func,
                               ": within a kernel it is for what is computed directly in a serial "
                               "loop around the loops over threads"));
    }
    Stmt visit(const For &loop) override {
        if (traits_of(loop.loop_kind).gpu == GPULevel::Block) return over_blocks(loop);
        if (traits_of(loop.loop_kind).gpu == GPULevel::Cluster) return over_clusters(loop);
        const bool is_loop = !is_const(simplify(loop.extent), 1);
        const bool repeats =
            in_kernel && is_loop && traits_of(loop.loop_kind).gpu == GPULevel::None;
        if (repeats) serial_loops.push_back(&loop);
        if (in_kernel) names_of_kernel.insert(loop.name);
        const Stmt s = Mutator::visit(loop);
        if (repeats) serial_loops.pop_back();
        const bool may_copy = in_kernel && !rings.empty() && loop.loop_kind == LoopKind::Serial;
        return may_copy ? pipelined(*s.as<For>()) : s;
    }
    Stmt over_blocks(const For &loop) {
        const bool is_outermost = !std::exchange(in_kernel, true);
        const bool is_first_of_block = !std::exchange(in_blocks, true);
        if (is_outermost) has_tensors = has_tensor_operation(loop.body);
        roles = loop.origin.roles;
        names_of_kernel.insert(loop.name);
        if (is_first_of_block && roles.any() && !serial_loops.empty())
            refuse_roles(str("the ", loop_name(loop), " is within the ",
                             loop_name(*serial_loops.back()),
                             ", so that the roles would begin anew in each iteration"));
        if (is_first_of_block && roles.any() && has_stages_of_cluster)
            refuse_roles(
                "the kernel has stages that are computed at a loop over clusters, and roles "
                "are for kernels whose blocks run one stage, and what is computed in it");
        const std::vector<BlockOfCluster> around = cluster;
        if (in_cluster) enter_block_of_cluster(loop);
        const Stmt kept =
            is_first_of_block ? loop.with<&For::body>(keep_copies(loop.body)) : Stmt(&loop);
        Stmt s = Mutator::visit(*kept.as<For>());
        if (is_first_of_block) s = wait_behind_tensors(s);
        cluster = around;
        if (roles.any() && !std::exchange(have_roles, true)) s = with_roles(*s.as<For>());
        if (is_first_of_block) in_blocks = have_roles = false;
        return is_outermost ? left_kernel(s) : s;
    }
    Stmt over_clusters(const For &loop) {
        const bool is_outermost = !std::exchange(in_kernel, true);
        if (is_outermost) has_tensors = has_tensor_operation(loop.body);
        names_of_kernel.insert(loop.name);
        in_cluster = true;
        Stmt s = Mutator::visit(loop);
        return is_outermost ? left_kernel(s) : s;
    }
    Stmt left_kernel(const Stmt &s) {
        in_kernel = in_cluster = has_stages_of_cluster = has_tensors = false;
        roles = {};
        lets.clear();
        return s;
    }
    Stmt visit(const LetStmt &let) override {
        if (in_kernel) lets[let.name] = substitute(lets, let.value);
        if (in_kernel) names_of_kernel.insert(let.name);
        return Mutator::visit(let);
    }
    Stmt visit(const IfThenElse &branch) override {
        conditions += !serial_loops.empty();
        conditions_of_kernel += in_kernel;
        const Stmt s = Mutator::visit(branch);
        conditions_of_kernel -= in_kernel;
        conditions -= !serial_loops.empty();
        return s;
    }
    Stmt pipelined(const For &loop) {
        LoopParts parts = split_copies(loop.body, rings);
        if (parts.copies.empty()) return Stmt(&loop);
        for (const LoopParts::Copy &c : parts.copies) check_source(c);
        const std::vector<BlockOfCluster> blocks = blocks_in_step();
        const PlaceInKernel place{storage, serial_loops, lets, roles, names_of_kernel, blocks};
        const PipelineLoop pipeline(loop, std::move(parts), place);
        if (!roles.any()) return pipeline();
        if (conditions > 0)
            refuse_roles(str("the ", loop_name(loop),
                             ", whose copies are made ahead, is run only where a condition holds "
                             "that may differ between iterations of a loop around"));
        if (!roles.ping_pong) return pipeline.by_roles(barriers);
        if (!barriers.empty())
            refuse_ping_pong("the kernel has several loops whose copies are made ahead");
        const For &of_turns = *serial_loops.front();
        turns = {int32_variable(of_turns.name) - of_turns.min, SlotBarriers("order", 2)};
        return pipeline.by_roles(barriers, &*turns);
    }

    // ---- Clusters ----

    void enter_block_of_cluster(const For &loop) {
        for (BlockOfCluster &b : cluster) b.step *= as_const_int(loop.extent).value_or(0);
        cluster.push_back(
            {loop.name, substitute(lets, loop.min), as_const_int(loop.extent).value_or(0), 1});
    }
    // Those whose number is not known, or that run the loop on a condition, may not be in step; nor
    // if what is computed for the whole cluster has loops over blocks, too.
    std::vector<BlockOfCluster> blocks_in_step() const {
        const bool in_step = conditions_of_kernel == 0 && !has_stages_of_cluster;
        const bool known =
            std::ranges::all_of(cluster, [](const BlockOfCluster &b) { return b.extent > 0; });
        return in_step && known ? cluster : std::vector<BlockOfCluster>();
    }

    // ---- Roles of warps ----

    // Leaves a ring buffer for both roles to be allocated around them.
    Stmt taken_out(const Realize &ring) {
        taken.push_back(Ref<const Realize>(&ring));
        return ring.body;
    }
    // Gives the warps of the innermost loop over blocks their roles.
    Stmt with_roles(const For &loop) {
        if (barriers.empty())
            refuse_roles("no loop of the kernel has copies for wgmma that are async() with "
                         "ring_buffer(n), so that there is nothing to copy ahead");
        std::vector<Stmt> first;
        int64_t most_blocks = 1;
        for (const RoleBarriers &b : barriers) {
            if (b.full) first.push_back(b.full->each(Intrinsic::barrier_init));
            if (b.copied)
                first.push_back(b.copied->each(Intrinsic::barrier_init, {all_producer_warps}));
            first.push_back(b.empty.each(Intrinsic::barrier_init,
                                         {all_consumer_warps, Expr(int32_t(b.blocks))}));
            most_blocks = std::max(most_blocks, b.blocks);
        }
        if (turns)
            first.push_back(turns->order.each(Intrinsic::barrier_init, {all_consumer_warps}));
        // Blocks of a cluster use one another's barriers from here on, and to the end.
        const Stmt meet =
            evaluate(most_blocks > 1 ? Intrinsic::gpu_cluster_barrier : Intrinsic::gpu_barrier);
        first.push_back(meet);
        const Stmt both = split_roles(loop.body);
        const auto &choice = *both.as<IfThenElse>();
        check_producer(choice.then_case);
        first.push_back(!turns ? both
                               : choice.with<&IfThenElse::else_case>(in_turns(choice.else_case)));
        if (most_blocks > 1) first.push_back(meet);
        Stmt s = Block::make(first);
        for (const Ref<const Realize> &r : taken) s = r->with<&Realize::body>(s);
        for (const RoleBarriers &b : barriers) {
            s = b.empty.around(s);
            if (b.copied) s = b.copied->around(s);
            if (b.full) s = b.full->around(s);
        }
        if (turns) s = turns->order.around(s);
        turns.reset();
        taken.clear();
        barriers.clear();
        return loop.with<&For::body>(s);
    }
    // The producer knows nothing of what the consumers compute.
    void check_producer(const Stmt &s) const {
        for_each_node(s, [&](const Call &c) {
            if (of_kernel.contains(c.callee) && !is_taken(c.callee))
                refuse_roles(str("what is copied ahead depends on ", c.callee,
                                 ", which is computed in the same kernel"));
        });
    }
    bool is_taken(Symbol func) const {
        return std::ranges::any_of(taken,
                                   [&](const Ref<const Realize> &r) { return r->func == func; });
    }
    // Returns what the consumers do, each group in every other turn.
    Stmt in_turns(const Stmt &s) const {
        if (const auto *let = s.as<LetStmt>())
            return let->with<&LetStmt::body>(in_turns(let->body));
        const auto *loop = s.as<For>();
        if (!loop || loop->loop_kind != LoopKind::Serial)
            refuse_ping_pong("there is more in the kernel than the tiles of a persistent block");
        check_storage(loop->body);
        const Expr is_own = (int32_variable(loop->name) - loop->min) % 2 ==
                            call(Int(32), Intrinsic::gpu_consumer_group, {});
        return loop->with<&For::body>(IfThenElse::make(is_own, loop->body));
    }
    // Groups of consumers have no memory of their own in that of the block.
    void check_storage(const Stmt &s) const {
        class Shared final : public Visitor {
        public:
            Symbol func;

        private:
            void visit(const For &loop) override {
                if (!is_over_threads(loop)) Visitor::visit(loop);
            }
            void visit(const Realize &r) override {
                const bool is_own = r.memory == MemoryType::Tile ||
                                    r.memory == MemoryType::Register ||
                                    r.memory == MemoryType::Stack;
                if (!is_own) func = r.func;
                Visitor::visit(r);
            }
        };
        Shared shared;
        shared(s);
        if (shared.func.defined())
            refuse_ping_pong(str("the memory of the block has ", shared.func,
                                 ", which both groups of consumers would use at once; compute it "
                                 "outside of the kernel, or within a loop over threads"));
    }
    [[noreturn]] void refuse_ping_pong(const std::string &why) const {
        throw CompileError(roles.written, str("ping_pong: ", why));
    }
    [[noreturn]] void refuse_roles(const std::string &why) const {
        throw CompileError(roles.written, str("warp_specialize: ", why));
    }

    // Values that the kernel computes may not be there when their copy is begun.
    void check_source(const LoopParts::Copy &c) const {
        for_each_node(c.stmt, [&](const Call &call) {
            if (call.callee == c.ring->func || !of_kernel.contains(call.callee)) return;
            throw CompileError(c.ring->storage.async_written,
                               str("async of ", c.ring->func, ": it copies ", call.callee,
                                   ", which is computed in the same kernel; copies are made ahead "
                                   "of what is there before the kernel runs"));
        });
    }

    const bool has_tile_stores;  // all GPUs of the target have them
    bool has_tensors = false;    // instructions of tensor cores in the kernel
    Realizations storage;        // around
    std::unordered_map<Symbol, const Realize *> rings;
    std::unordered_set<Symbol> of_kernel;        // Funcs whose storage is within one
    std::unordered_set<Symbol> names_of_kernel;  // loops and lets within one, so far
    bool in_kernel = false, in_blocks = false, in_cluster = false;
    bool has_stages_of_cluster = false;     // that are computed at a loop over clusters
    std::vector<BlockOfCluster> cluster;    // the loops over its blocks around, outermost first
    std::vector<const For *> serial_loops;  // of more than one iteration, within the kernel
    Substitution lets;                      // of kernels
    int conditions = 0;                     // around, within serial loops
    int conditions_of_kernel = 0;           // around
    WarpRoles roles;                        // of the kernel
    bool have_roles = false;                // the warps of the kernel have them
    std::vector<RoleBarriers> barriers;
    std::optional<ConsumerTurns> turns;  // of consumers that take tiles in turns
    std::vector<Ref<const Realize>> taken;
};

}  // namespace

Stmt hoist_rings(const Stmt &s, const lower::Context &) { return HoistRings()(s); }

Stmt pipeline_copies(const Stmt &s, const lower::Context &context) {
    bool has_kernels = false;
    for_each_node(s, [&](const For &loop) {
        has_kernels |= traits_of(loop.loop_kind).gpu == GPULevel::Block;
    });
    return has_kernels ? PipelineCopies(context.target)(s) : s;
}

}  // namespace tessera::lower
