#include "lower/gpu/pipeline_copies.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/keep_copies.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/pipeline_loop.h"
#include "lower/gpu/warp_roles.h"
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

class PipelineCopies final : public Mutator {
    Stmt visit(const Realize &r) override {
        storage[r.func] = &r;
        if (in_kernel) of_kernel.insert(r.func);
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
        roles = loop.origin.roles;
        names_of_kernel.insert(loop.name);
        const Stmt kept =
            is_outermost ? loop.with<&For::body>(keep_copies(loop.body)) : Stmt(&loop);
        Stmt s = Mutator::visit(*kept.as<For>());
        if (is_outermost) s = wait_behind_tensors(s);
        if (roles.any() && !std::exchange(have_roles, true)) s = with_roles(*s.as<For>());
        if (!is_outermost) return s;
        in_kernel = have_roles = false;
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
        const Stmt s = Mutator::visit(branch);
        conditions -= !serial_loops.empty();
        return s;
    }
    Stmt pipelined(const For &loop) {
        LoopParts parts = split_copies(loop.body, rings);
        if (parts.copies.empty()) return Stmt(&loop);
        for (const LoopParts::Copy &c : parts.copies) check_source(c);
        const PlaceInKernel place{storage, serial_loops, lets, roles, names_of_kernel};
        const PipelineLoop pipeline(loop, std::move(parts), place);
        if (!roles.any()) return pipeline();
        if (conditions > 0)
            refuse_roles(str("the ", loop_name(loop),
                             ", whose copies are made ahead, is run only where a condition holds "
                             "that may differ between iterations of a loop around"));
        return pipeline.by_roles(barriers);
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
        for (const RoleBarriers &b : barriers) {
            first.push_back(b.full.each(Intrinsic::barrier_init));
            first.push_back(b.empty.each(Intrinsic::barrier_init, {all_consumer_warps}));
        }
        first.push_back(evaluate(Intrinsic::gpu_barrier));
        const Stmt both = split_roles(loop.body);
        check_producer(both.as<IfThenElse>()->then_case);
        first.push_back(both);
        Stmt s = Block::make(first);
        for (const Ref<const Realize> &r : taken) s = r->with<&Realize::body>(s);
        for (const RoleBarriers &b : barriers) s = b.full.around(b.empty.around(s));
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

    Realizations storage;  // around
    std::unordered_map<Symbol, const Realize *> rings;
    std::unordered_set<Symbol> of_kernel;        // Funcs whose storage is within one
    std::unordered_set<Symbol> names_of_kernel;  // loops and lets within one, so far
    bool in_kernel = false;
    std::vector<const For *> serial_loops;  // of more than one iteration, within the kernel
    Substitution lets;                      // of kernels
    int conditions = 0;                     // around, within serial loops
    WarpRoles roles;                        // of the kernel
    bool have_roles = false;                // the warps of the kernel have them
    std::vector<RoleBarriers> barriers;
    std::vector<Ref<const Realize>> taken;
};

}  // namespace

Stmt hoist_rings(const Stmt &s, const lower::Context &) { return HoistRings()(s); }

Stmt pipeline_copies(const Stmt &s, const lower::Context &) {
    bool has_kernels = false;
    for_each_node(s, [&](const For &loop) {
        has_kernels |= traits_of(loop.loop_kind).gpu == GPULevel::Block;
    });
    return has_kernels ? PipelineCopies()(s) : s;
}

}  // namespace tessera::lower
