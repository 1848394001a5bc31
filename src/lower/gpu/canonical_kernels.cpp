#include "lower/gpu/canonical_kernels.h"
#include "algebra/prove.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/barrier_placer.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/memory_plan.h"
#include "lower/gpu/thread_elements.h"
#include "lower/gpu/warp_roles.h"

namespace tessera::lower {

using namespace ir;

namespace {

// Statements that all threads of a block run at the same time: none is the
// first thread's alone.
bool is_collective(const Stmt &s) {
    const auto *evaluate = s.as<Evaluate>();
    const auto *c = evaluate ? evaluate->value.as<IntrinsicCall>() : nullptr;
    if (!c) return false;
    return c->op == Intrinsic::gpu_barrier || c->op == Intrinsic::gpu_cluster_barrier ||
           c->op == Intrinsic::async_commit || c->op == Intrinsic::async_wait ||
           c->op == Intrinsic::barrier_wait || c->op == Intrinsic::barrier_arrive ||
           c->op == Intrinsic::tensor_wait;
}

// Statements in which blocks of a cluster, or whole warps of a block, meet, wait or
// arrive somewhere, or in which threads have roles.
bool has_meetings(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const IntrinsicCall &c) {
        any |= c.op == Intrinsic::gpu_cluster_barrier || c.op == Intrinsic::barrier_arrive ||
               c.op == Intrinsic::barrier_wait || c.op == Intrinsic::gpu_is_producer;
    });
    return any;
}

// Tells the barriers that wait for all consumers, or all of the producer, how many warps of them
// there are.
class CountWarps final : public Mutator {
public:
    CountWarps(int64_t consumers, int64_t producers)
        : consumers(consumers / threads_of_warp), producers(producers / threads_of_warp) {}

private:
    Expr visit(const IntrinsicCall &c) override {
        const bool is_counted = c.op == Intrinsic::barrier_init && c.args.size() > 1,
                   is_of_producer = is_counted && is_const(c.args[1], all_producer_warps),
                   is_of_all = is_counted && is_const(c.args[1], all_consumer_warps);
        if (!is_of_all && !is_of_producer) return Mutator::visit(c);
        const int64_t warps = is_of_producer ? producers : consumers;
        const int64_t blocks = c.args.size() > 2 ? as_const_int(c.args[2]).value_or(1) : 1;
        return call(c.type, c.op, {c.args[0], int32_t(warps * blocks)});
    }
    const int64_t consumers, producers;
};

// Rewrites statements that all threads of the producer run: loops over threads are over these, and
// the first one asks the machine for its copies.
class ByProducers final : public Mutator {
public:
    explicit ByProducers(const KernelDescription &kernel) : kernel(kernel) {}

private:
    Stmt visit(const For &loop) override {
        if (!is_over_threads(loop)) return Mutator::visit(loop);
        const Stmt s = LetStmt::make(loop.name, kernel.index_of_producer() + loop.min, loop.body);
        if (is_const(loop.extent, kernel.producers)) return s;
        return IfThenElse::make(kernel.index_of_producer() < loop.extent, s);
    }
    Stmt visit(const MachineOp &op) override { return first(Stmt(&op)); }
    Stmt visit(const Evaluate &e) override {
        return is_collective(Stmt(&e)) ? Stmt(&e) : first(Stmt(&e));
    }
    Stmt first(const Stmt &s) const { return IfThenElse::make(kernel.is_first_of_producer(), s); }
    const KernelDescription &kernel;
};

// Says which group of consumers a thread is of.
class InGroup final : public Mutator {
public:
    explicit InGroup(Expr group) : group(std::move(group)) {}

private:
    Expr visit(const IntrinsicCall &c) override {
        return c.op == Intrinsic::gpu_consumer_group ? group : Mutator::visit(c);
    }
    const Expr group;
};

// Rewrites what the blocks of one kernel do: loops over threads become one nest
// around it.
class KernelBody {
public:
    KernelBody(const Stmt &body, const BlockLoops &blocks)
        : kernel(describe_kernel(body, blocks)), lets(blocks.lets), ranges(blocks.variables()),
          memory(kernel, blocks, lets, ranges),
          barriers(kernel.has_threads() ? [this] { return barrier(); }
                                        : BarrierPlacer::Statement()) {}

    Stmt operator()(const Stmt &body) {
        Stmt s = at_block(body);
        for (size_t d = 0; d < thread_dimensions; d++) {
            if (!kernel.extent(d).defined()) continue;
            Symbol name = kernel.threads.names[d];
            if (kernel.groups_of_consumers > 1 && d == kernel.role_dimension) {
                s = LetStmt::make(name, kernel.index_of_place(), s);
                name = kernel.place_in_block;
            }
            s = For::make(name, Expr(0), kernel.extent_of_block(d), LoopKind::GPUThread,
                          Partition::Never, s);
        }
        if (kernel.groups_of_consumers > 1) s = InGroup(kernel.group_of_place())(s);
        if (kernel.roles.any()) s = CountWarps(kernel.consumers, kernel.producers)(s);
        return memory.with_memory_of_block(s);
    }
    // Storage of the device that stands around the kernel.
    std::vector<StorageOutside> take_global() { return memory.take_global(); }

private:
    // ---- What all threads of a block run ----

    Stmt at_block(const Stmt &s) {
        if (is_collective(s)) return together(s);
        const bool is_alone = !s.as<LetStmt>() && !s.as<Allocate>() && thread_depth(s) == 0;
        if (is_alone && !has_meetings(s)) return alone(s);
        switch (s.kind()) {
        case NodeKind::For: return for_each(*s.as<For>());
        case NodeKind::Block: return in_order(*s.as<Block>());
        case NodeKind::LetStmt: {
            const auto &let = *s.as<LetStmt>();
            const Stmt before = barriers.before(BlockAccesses(let.value));
            const Stmt body = lets.within(let, [&] { return at_block(let.body); });
            return Block::make({before, let.with<&LetStmt::body>(body)});
        }
        case NodeKind::ProducerConsumer: {
            const auto &node = *s.as<ProducerConsumer>();
            const auto body = [&] { return at_block(node.body); };
            return node.with<&ProducerConsumer::body>(
                node.is_producer ? barriers.in_production(body) : body());
        }
        case NodeKind::Atomic: {
            const auto &node = *s.as<Atomic>();
            return node.with<&Atomic::body>(at_block(node.body));
        }
        case NodeKind::Allocate: return allocated(*s.as<Allocate>());
        case NodeKind::IfThenElse: return branch(*s.as<IfThenElse>());
        default: return alone(s);
        }
    }

    // Rewrites what all threads of a block, or of its consumers, do together.
    Stmt together(const Stmt &s) {
        const Intrinsic op = s.as<Evaluate>()->value.as<IntrinsicCall>()->op;
        if (op != Intrinsic::gpu_barrier && op != Intrinsic::gpu_cluster_barrier) return s;
        barriers.have_met();
        return op == Intrinsic::gpu_barrier && in_role ? barrier() : s;
    }
    // A statement of the first thread, or of the first lane of each row.
    Stmt alone(const Stmt &s) {
        const Stmt before = barriers.before(BlockAccesses(s));
        return Block::make({before, guarded(in_row ? leaf(s, 1) : OwnStorage(*this)(s), 0)});
    }
    // Gives what is allocated within a statement of one thread names of its own
    // where copies of it, which unrolling has made, may have memory of the block.
    class OwnStorage final : public Mutator {
    public:
        explicit OwnStorage(const KernelBody &body)
            : Mutator(Mutator::Visits::PerUse), body(body) {}

    private:
        Stmt visit(const Allocate &a) override { return body.own(a, (*this)(a.body)); }
        const KernelBody &body;
    };
    Stmt own(const Allocate &a, const Stmt &body) const {
        if (kernel.is_allocated_once(a.buffer)) return a.with<&Allocate::body>(body);
        const Symbol name = Symbol::fresh(a.buffer.text());
        return a.with<&Allocate::buffer, &Allocate::body>(
            name, move_into_slice(body, a.buffer, {1, 0, name}));
    }
    // For the threads whose indices are 0 from a dimension on.
    Stmt guarded(Stmt s, size_t from) const {
        if (kernel.groups_of_consumers > 1 && !in_role)
            s = IfThenElse::make(kernel.group_of_place() == 0, s);
        for (size_t d = from; d < (in_row ? 1 : thread_dimensions); d++) {
            if (kernel.threads.names[d].defined() && !is_const(kernel.extent(d), 1))
                s = IfThenElse::make(kernel.thread(d) == 0, s);
        }
        return s;
    }

    Stmt in_order(const Block &block) {
        std::vector<Stmt> all;
        for (const Stmt &s : block.stmts) all.push_back(at_block(s));
        return Block::make(all);
    }

    Stmt for_each(const For &loop) {
        if (find_rows_of_lanes(Stmt(&loop))) return rows(loop);
        if (is_over_threads(loop)) {
            const bool is_first = loop.origin.known() && loop.origin.stage == 0;
            const Stmt before = barriers.before(
                is_first
                    ? BlockAccesses::of_production(Stmt(&loop), barriers.number_of_production())
                    : BlockAccesses(Stmt(&loop)));
            const size_t depth = thread_depth(Stmt(&loop));
            return Block::make({before, guarded(leaf(Stmt(&loop)), depth)});
        }
        return repeated(loop);
    }

    // A loop over threads, each of which is a row of lanes: they run the body
    // together, as the threads of a block run a kernel's.
    Stmt rows(const For &loop) {
        if (!is_over_threads(loop)) return repeated(loop);
        if (in_row) return row(loop);
        const Stmt before = barriers.before(BlockAccesses(Stmt(&loop)));
        in_row = true;
        const Stmt s = barriers.apart([&] { return row(loop); });
        in_row = false;
        return Block::make({before, guarded(s, thread_depth(loop.body) + 1)});
    }
    Stmt row(const For &loop) {
        const size_t d = thread_depth(loop.body);
        const Stmt body = bound(loop, [&] { return at_block(loop.body); });
        const Stmt s = LetStmt::make(loop.name, kernel.thread(d) + loop.min, body);
        if (algebra::can_prove(loop.extent >= kernel.extent(d))) return s;
        return IfThenElse::make(kernel.thread(d) < loop.extent, s);
    }

    // A serial loop that all threads run.
    Stmt repeated(const For &loop) {
        const Stmt before = barriers.before(BlockAccesses(loop.extent));
        const BarrierPlacer::Loop placed =
            barriers.repeated([&] { return bound(loop, [&] { return at_block(loop.body); }); });
        return Block::make({before, placed.before, loop.with<&For::body>(placed.body)});
    }
    template<typename F> Stmt bound(const For &loop, F body) {
        const Expr min = lets.expand(loop.min), extent = lets.expand(loop.extent);
        ranges.bind(loop.name, {min, min + extent - 1});
        Stmt s = body();
        ranges.unbind(loop.name);
        return s;
    }

    // The condition is the same for all threads of a block.
    Stmt branch(const IfThenElse &node) {
        if (is_choice_of_role(node)) return roles(node);
        const Stmt before = barriers.before(BlockAccesses(node.condition));
        BarrierPlacer::Statement otherwise;
        if (node.else_case.defined()) otherwise = [&] { return at_block(node.else_case); };
        const auto made = barriers.either([&] { return at_block(node.then_case); }, otherwise);
        return Block::make(
            {before, IfThenElse::make(node.condition, made.then_case, made.else_case)});
    }
    // The consumers run one body together, and one thread of the producer's, or all of them, the
    // other.
    Stmt roles(const IfThenElse &node) {
        in_role = true;
        Stmt consume = barriers.apart([&] { return at_block(node.else_case); });
        in_role = false;
        Stmt produce = thread_depth(node.then_case) > 0
                           ? ByProducers(kernel)(node.then_case)
                           : IfThenElse::make(kernel.is_first_of_producer(), node.then_case);
        if (kernel.roles.producer_registers > 0) {
            consume = Block::make(set_registers(kernel.roles.consumer_registers, true), consume);
            produce = Block::make(set_registers(kernel.roles.producer_registers, false), produce);
        }
        return IfThenElse::make(kernel.is_consumer(), consume, produce);
    }
    static Stmt set_registers(int count, bool is_more) {
        return Evaluate::make(
            call(Int(32), Intrinsic::gpu_set_registers, {int32_t(count), int32_t(is_more)}));
    }

    // ---- Storage of all threads of a block ----

    Stmt allocated(const Allocate &a) {
        if (in_row) return allocated_in_row(a);
        switch (a.memory) {
        case MemoryType::Stack:
        case MemoryType::Register:
            // Lanes share registers; so do the threads of a block of one thread.
            if (kernel.has_thread_loops)
                return private_at_block(a, private_to_threads(a, kernel.threads, lets));
            if (!kernel.is_allocated_once(a.buffer)) break;
            if (auto own = private_to_threads_if_possible(a, kernel.threads, lets);
                own && is_much_smaller(*own->as<Allocate>(), a)) {
                return private_at_block(a, *own);
            }
            break;
        case MemoryType::Heap:
            if (kernel.is_allocated_once(a.buffer) &&
                are_elements_of_one_thread_each(a, kernel.threads, lets)) {
                barriers.privates.insert(a.buffer);
            }
            return move_into_slice(at_block(a.body), a.buffer, memory.put_in_device(a));
        case MemoryType::GPUSharedAsync:
        case MemoryType::Auto:
        case MemoryType::GPUShared:
        case MemoryType::GPUTexture:
        case MemoryType::LockedCache:
        case MemoryType::VTCM:
        case MemoryType::AMXTile: break;
        case MemoryType::Tile:  // each thread has its part
            barriers.privates.insert(a.buffer);
            return a.with<&Allocate::body>(at_block(a.body));
        }
        if (a.facts.is_pipelined) barriers.privates.insert(a.buffer);
        memory.put_in_block(a);
        const Symbol owner = memory.share_memory(a);
        if (owner.defined() && owner != a.buffer) barriers.memory_of[a.buffer] = owner;
        const Stmt body = at_block(a.body);
        if (owner.defined()) memory.give_back(owner);
        return body;
    }
    // Storage of which each thread has the part that it alone uses.
    Stmt private_at_block(const Allocate &a, const Stmt &own) {
        barriers.privates.insert(a.buffer);
        return own.as<Allocate>()->with<&Allocate::body>(at_block(own.as<Allocate>()->body));
    }
    // Storage of the lanes of a row. Each lane has its part of what is dealt out
    // to them.
    Stmt allocated_in_row(const Allocate &a) {
        if (a.memory == MemoryType::Tile) {
            barriers.privates.insert(a.buffer);
            const Stmt body = at_block(a.body);
            barriers.privates.erase(a.buffer);  // a copy of this by unrolling may be the row's
            return a.with<&Allocate::body>(body);
        }
        const Slice slice = memory.put_in_row(a);
        return move_into_slice(at_block(a.body), a.buffer, slice);
    }

    // ---- What each thread does ----

    // Loops over threads become conditions, the innermost one that of x. `from`:
    // what is allocated is for each index in the dimensions from this one on: 0
    // for each thread, 1 for each row.
    Stmt leaf(const Stmt &s, size_t from = 0) {
        class Leaf final : public Mutator {
        public:
            Leaf(KernelBody &body, size_t from)
                : Mutator(Mutator::Visits::PerUse), body(body), from(from) {}

        private:
            Stmt visit(const For &loop) override {
                const Stmt s = body.bound(loop, [&] { return (*this)(loop.body); });
                if (!is_over_threads(loop)) return loop.with<&For::body>(s);
                const size_t d = thread_depth(loop.body);
                const KernelDescription &kernel = body.kernel;
                const Stmt one = LetStmt::make(loop.name, kernel.thread(d) + loop.min, s);
                const bool all = algebra::can_prove(loop.extent >= kernel.extent(d));
                return all ? one : IfThenElse::make(kernel.thread(d) < loop.extent, one);
            }
            Stmt visit(const LetStmt &let) override {
                return body.lets.within(let, [&] { return Mutator::visit(let); });
            }
            Stmt visit(const Allocate &a) override {
                const Stmt s = (*this)(a.body);
                const auto slice = body.memory.put_in_thread(a, from);
                return slice ? move_into_slice(s, a.buffer, *slice) : body.own(a, s);
            }
            KernelBody &body;
            const size_t from;
        };
        return Leaf(*this, from)(s);
    }

    Stmt barrier() const {
        const auto meet = [](Intrinsic op, std::vector<Expr> operands) {
            return Evaluate::make(call(Int(32), op, std::move(operands)));
        };
        if (in_row) return meet(Intrinsic::gpu_warp_barrier, {kernel.extent(0)});
        if (!in_role) return meet(Intrinsic::gpu_barrier, {});
        Expr of_consumers = 1;
        if (kernel.groups_of_consumers > 1)
            of_consumers = call(Int(32), Intrinsic::gpu_consumer_group, {}) + 1;
        return meet(Intrinsic::gpu_role_barrier, {of_consumers, int32_t(kernel.consumers)});
    }

    const KernelDescription kernel;
    LetScope lets;
    algebra::IntervalScope ranges;  // of the loops around what is visited
    MemoryPlan memory;
    BarrierPlacer barriers;
    bool in_row = false;   // the lanes of a row run what is visited, and not all
                           // threads of a block
    bool in_role = false;  // the consumers do
};

class CanonicalKernels final : public Mutator {
public:
    CanonicalKernels() : Mutator(Mutator::Visits::PerUse) {}

private:
    Stmt visit(const For &loop) override {
        if (!is_over_blocks(loop)) return Mutator::visit(loop);
        bool is_innermost = true;
        for_each_node(loop.body, [&](const For &f) { is_innermost &= !is_over_blocks(f); });
        blocks.push(loop);
        Stmt s;
        if (is_innermost) {
            KernelBody kernel(loop.body, blocks);
            s = loop.with<&For::body>(kernel(loop.body));
            outside = kernel.take_global();
        } else {
            s = Mutator::visit(loop);
        }
        blocks.pop();
        if (!blocks.empty()) return s;
        for (const StorageOutside &a : outside) s = allocated_around(a, s);
        outside.clear();
        return s;
    }

    Stmt visit(const LetStmt &let) override {
        if (blocks.empty()) return Mutator::visit(let);
        return blocks.lets.within(let, [&] { return Mutator::visit(let); });
    }

    BlockLoops blocks;
    std::vector<StorageOutside> outside;
};

}  // namespace

Stmt canonical_kernels(const Stmt &s, const lower::Context &) {
    bool any = false;
    for_each_node(s, [&](const For &loop) { any |= is_over_blocks(loop); });
    return any ? CanonicalKernels()(s) : s;
}

}  // namespace tessera::lower
