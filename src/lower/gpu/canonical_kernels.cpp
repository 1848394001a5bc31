#include "lower/gpu/canonical_kernels.h"
#include "algebra/bounds.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/allocation.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/tensor_operation.h"
#include "ir/visitor.h"
#include "lower/gpu/block_accesses.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/kernel_shape.h"
#include "lower/gpu/private_storage.h"
#include "lower/gpu/slices.h"
#include "lower/gpu/thread_elements.h"
#include "lower/loops/loop_name.h"
#include <algorithm>
#include <array>

namespace tessera::lower {

using namespace ir;

namespace {

// Rewrites what the blocks of one kernel do.
class KernelBody {
public:
    KernelBody(const Stmt &body, const BlockLoops &blocks)
        : has_loops_over_threads(has_thread_loops(body)), shape(block_shape(body, blocks)),
          blocks(blocks), lets(blocks.lets), ranges(blocks.variables()) {
        check_number_of_threads(body);
        for_each_node(body, [&](const Allocate &a) { times_allocated[a.buffer]++; });
        if (const For *rows = find_rows_of_lanes(body)) fit_rows_in_warps(*rows, body);
        fit_instructions(body);
        static constexpr const char *names[thread_dimensions] = {"thread_x", "thread_y",
                                                                 "thread_z"};
        for (size_t d = 0; d < thread_dimensions; d++) {
            if (shape[d].defined()) threads[d] = Symbol::fresh(names[d]);
        }
    }

    Stmt operator()(const Stmt &body) {
        Stmt s = at_block(body);
        for (size_t d = 0; d < thread_dimensions; d++) {
            if (!shape[d].defined()) continue;
            s = For::make(threads[d], Expr(0), shape[d], LoopKind::GPUThread, Partition::Never, s);
        }
        for (const bool has_own_memory : {false, true}) {
            for (const Outside &a : shared) {
                if (a.within.defined() != has_own_memory) s = around(a, s);
            }
        }
        return s;
    }

    // Storage that stands outside of what uses it: of the device, or of a block. All slices of it,
    // one for each block, row or thread, have the same size.
    struct Outside {
        Ref<const Allocate> node;
        MemoryType memory;
        Symbol size;
        Expr most, slices;
        Symbol within = {};  // the memory of another buffer of the block, if it has none of its own
    };
    static Stmt around(const Outside &a, const Stmt &s) {
        const Expr size = Variable::make(Int(32), a.size);
        // The host checks products of extents in 64 bits.
        std::vector<Expr> extents = {size, a.slices};
        if (a.memory != MemoryType::Heap || is_const(a.slices, 1))
            extents = {algebra::simplify(size * a.slices)};
        AllocationFacts facts = a.node->facts;
        facts.within = a.within;
        return LetStmt::make(a.size, a.most,
                             a.node->with<&Allocate::memory, &Allocate::extents, &Allocate::padding,
                                          &Allocate::condition, &Allocate::body, &Allocate::facts>(
                                 a.memory, std::move(extents), 0, Expr(), s, facts));
    }
    // Returns the size of a slice. Copies of a loop's body that unrolling has made take turns: it
    // is that of the largest.
    static Expr add(std::vector<Outside> &all, const Allocate &a, MemoryType memory,
                    const Expr &most, const Expr &slices) {
        auto same =
            std::ranges::find_if(all, [&](const Outside &o) { return o.node->buffer == a.buffer; });
        if (same == all.end()) {
            all.push_back({Ref<const Allocate>(&a), memory, Symbol::fresh(str(a.buffer, "_size")),
                           most, slices});
            same = all.end() - 1;
        } else {
            same->most = algebra::simplify(max(same->most, most));
        }
        return Variable::make(Int(32), same->size);
    }
    std::vector<Outside> global;

private:
    static bool has_thread_loops(const Stmt &body) {
        bool any = false;
        for_each_node(body, [&](const For &loop) { any |= loop.loop_kind == LoopKind::GPUThread; });
        return any;
    }
    // A number that is not known now is checked when the kernel is launched.
    void check_number_of_threads(const Stmt &body) const {
        constexpr int64_t most = 1024;
        int64_t count = 1;
        for (const Expr &extent : shape) {
            const auto known = extent.defined() ? as_const_int(extent) : std::optional<int64_t>(1);
            count *= std::max<int64_t>(1, known.value_or(1));
        }
        if (count <= most) return;
        Location at;
        for_each_node(body, [&](const For &loop) {
            if (is_over_threads(loop) && !at.known()) at = loop.origin.kind_written;
        });
        throw CompileError(
            at, str("a block of this kernel has ", count, " threads, and can have ", most,
                    " at most: loops over threads of all that is computed in the block count, the "
                    "longest in each dimension"));
    }
    // So that the lanes of a row wait for one another alone.
    void fit_rows_in_warps(const For &rows, const Stmt &body) {
        constexpr int64_t most = 32;
        const auto lanes = as_const_int(shape[0]);
        if (!lanes || *lanes > most) {
            throw CompileError(rows.origin.kind_written,
                               str("the ", loop_name(rows),
                                   " has lanes within: a kernel with rows of lanes has "
                                   "at most ",
                                   most,
                                   " threads along x, a number that is known when it is "
                                   "compiled; here it is ",
                                   shape[0]));
        }
        int64_t fitting = 1;
        while (fitting < *lanes) fitting *= 2;
        shape[0] = int32_t(fitting);
        for_each_node(body, [&](const IntrinsicCall &c) {
            if (c.op == Intrinsic::shuffle_lanes && !is_const(c.args[2], fitting))
                throw InternalError(str("a shuffle of ", c.args[2], " lanes in rows of ", fitting));
        });
    }
    // The threads that run an instruction together are a warp, or a warpgroup, of the machine.
    void fit_instructions(const Stmt &body) {
        int64_t together = 1;
        for_each_node(body, [&](const MachineOp &op) {
            if (is_tensor_operation(op.op))
                together = std::max<int64_t>(together, TensorOperation::of(op).instruction.threads);
            if (op.op == MachineOpKind::store_quads) together = std::max<int64_t>(together, 32);
        });
        if (together == 1) return;
        const auto known = as_const_int(shape[0]);
        if (!known)
            throw CompileError(str("a kernel with instructions of tensor cores has a number of "
                                   "threads along x that is known when it is compiled; here it is ",
                                   shape[0]));
        shape[0] = int32_t((*known + together - 1) / together * together);
    }
    bool has_threads() const { return threads[0].defined(); }
    Expr thread(size_t d) const { return Variable::make(Int(32), threads[d]); }

    // Statements that all threads of a block run at the same time: none is the first thread's
    // alone.
    static bool is_collective(const Stmt &s) {
        const auto *evaluate = s.as<Evaluate>();
        const auto *c = evaluate ? evaluate->value.as<IntrinsicCall>() : nullptr;
        if (!c) return false;
        return c->op == Intrinsic::gpu_barrier || c->op == Intrinsic::gpu_cluster_barrier ||
               c->op == Intrinsic::async_commit || c->op == Intrinsic::async_wait ||
               c->op == Intrinsic::barrier_wait || c->op == Intrinsic::tensor_wait;
    }

    // Statements in which blocks of a cluster meet.
    static bool has_meetings(const Stmt &s) {
        bool any = false;
        for_each_node(
            s, [&](const IntrinsicCall &c) { any |= c.op == Intrinsic::gpu_cluster_barrier; });
        return any;
    }

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
            note(BlockAccesses(let.value));
            const Stmt before = needed_barrier();
            const Stmt body = lets.within(let, [&] { return at_block(let.body); });
            return Block::make({before, let.with<&LetStmt::body>(body)});
        }
        case NodeKind::ProducerConsumer: {
            const auto &node = *s.as<ProducerConsumer>();
            const int around = production;
            if (node.is_producer) production = ++productions;
            const Stmt body = at_block(node.body);
            production = around;
            return node.with<&ProducerConsumer::body>(body);
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

    // Rewrites what all threads of a block do together.
    Stmt together(const Stmt &s) {
        const Intrinsic op = s.as<Evaluate>()->value.as<IntrinsicCall>()->op;
        if (op == Intrinsic::gpu_barrier || op == Intrinsic::gpu_cluster_barrier) {
            phase.pending.clear();
            phase.has_met = true;
        }
        return s;
    }
    // A statement of the first thread, or of the first lane of each row.
    Stmt alone(const Stmt &s) {
        note(BlockAccesses(s));
        return with_barriers(guarded(in_row ? leaf(s, 1) : OwnStorage(*this)(s), 0));
    }
    // Gives what is allocated within a statement of one thread names of its own where copies of it,
    // which unrolling has made, may have memory of the block.
    class OwnStorage final : public Mutator {
    public:
        explicit OwnStorage(const KernelBody &kernel)
            : Mutator(Mutator::Visits::PerUse), kernel(kernel) {}

    private:
        Stmt visit(const Allocate &a) override { return kernel.own(a, (*this)(a.body)); }
        const KernelBody &kernel;
    };
    Stmt own(const Allocate &a, const Stmt &body) const {
        if (times_allocated.at(a.buffer) < 2) return a.with<&Allocate::body>(body);
        const Symbol name = Symbol::fresh(a.buffer.text());
        return a.with<&Allocate::buffer, &Allocate::body>(
            name, move_into_slice(body, a.buffer, {1, 0, name}));
    }
    // For the threads whose indices are 0 from a dimension on.
    Stmt guarded(Stmt s, size_t from) const {
        for (size_t d = from; d < (in_row ? 1 : thread_dimensions); d++) {
            if (threads[d].defined() && !is_const(shape[d], 1))
                s = IfThenElse::make(thread(d) == 0, s);
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
            note(is_first ? BlockAccesses::of_production(Stmt(&loop), production)
                          : BlockAccesses(Stmt(&loop)));
            const size_t depth = thread_depth(Stmt(&loop));
            return with_barriers(guarded(leaf(Stmt(&loop)), depth));
        }
        return repeated(loop);
    }

    // A loop over threads, each of which is a row of lanes: they run the body together, as the
    // threads of a block run a kernel's.
    Stmt rows(const For &loop) {
        if (!is_over_threads(loop)) return repeated(loop);
        const bool enters = !in_row;
        Stmt before;
        if (enters) {
            note(BlockAccesses(Stmt(&loop)));
            before = needed_barrier();
        }
        const Phase around = enters ? std::exchange(phase, Phase()) : Phase();
        in_row = true;
        const size_t d = thread_depth(loop.body);
        const Expr min = lets.expand(loop.min), extent = lets.expand(loop.extent);
        ranges.bind(loop.name, {min, min + extent - 1});
        Stmt s = LetStmt::make(loop.name, thread(d) + loop.min, at_block(loop.body));
        ranges.unbind(loop.name);
        if (!algebra::can_prove(loop.extent >= shape[d]))
            s = IfThenElse::make(thread(d) < loop.extent, s);
        if (!enters) return s;
        in_row = false;
        phase = around;
        return Block::make({before, guarded(s, d + 1)});
    }

    // A serial loop that all threads run. The barrier between what was done before and the first
    // iteration stands before it; that between two iterations, in it.
    Stmt repeated(const For &loop) {
        note(BlockAccesses(loop.extent));
        Stmt before = needed_barrier();
        Phase around = std::exchange(phase, Phase());
        const int productions_before = productions;
        const Expr min = lets.expand(loop.min), extent = lets.expand(loop.extent);
        ranges.bind(loop.name, {min, min + extent - 1});
        Stmt body = at_block(loop.body);
        ranges.unbind(loop.name);
        // The next iteration begins with what the first one began with.
        const bool meets_first = has_threads() && around.pending.conflicts_with(phase.leading),
                   meets_next = has_threads() &&
                                phase.pending.conflicts_with(phase.leading, productions_before);
        if (meets_first && meets_next) {
            body = Block::make(barrier(), body);
        } else if (meets_first) {
            before = Block::make({before, barrier()});
            around.pending.clear();
            around.has_met = true;
        } else if (meets_next) {
            body = Block::make(body, barrier());
            phase.pending.clear();
        }
        if (!around.has_met) around.leading.add(phase.leading);
        around.pending.add(phase.pending);
        phase = std::move(around);
        return Block::make({before, loop.with<&For::body>(body)});
    }

    // The condition is the same for all threads of a block.
    Stmt branch(const IfThenElse &node) {
        note(BlockAccesses(node.condition));
        const Stmt before = needed_barrier();
        const Phase at_start = phase;
        Stmt then_case = at_block(node.then_case), else_case;
        Phase after = std::exchange(phase, at_start);
        if (node.else_case.defined()) else_case = at_block(node.else_case);
        phase.pending.add(after.pending);
        phase.leading.add(after.leading);
        phase.has_met = at_start.has_met || (phase.has_met && after.has_met);
        return Block::make({before, IfThenElse::make(node.condition, then_case, else_case)});
    }

    // Storage of all threads of a block.
    Stmt allocated(const Allocate &a) {
        if (in_row) return allocated_in_row(a);
        switch (a.memory) {
        case MemoryType::Stack:
        case MemoryType::Register:
            // Lanes share registers; so do the threads of a block of one thread.
            if (has_loops_over_threads)
                return private_at_block(a, private_to_threads(a, {threads, shape}, lets));
            if (times_allocated[a.buffer] > 1) break;
            if (auto own = private_to_threads_if_possible(a, {threads, shape}, lets);
                own && is_much_smaller(*own->as<Allocate>(), a)) {
                return private_at_block(a, *own);
            }
            break;
        case MemoryType::Heap: {
            if (times_allocated[a.buffer] == 1 &&
                are_elements_of_one_thread_each(a, {threads, shape}, lets)) {
                privates.insert(a.buffer);
            }
            const Expr size =
                add(global, a, MemoryType::Heap, most_elements(a, ranges, false), blocks.count());
            return move_into_slice(at_block(a.body), a.buffer, {1, blocks.number() * size});
        }
        case MemoryType::GPUSharedAsync:
        case MemoryType::Auto:
        case MemoryType::GPUShared:
        case MemoryType::GPUTexture:
        case MemoryType::LockedCache:
        case MemoryType::VTCM:
        case MemoryType::AMXTile: break;
        case MemoryType::Tile: {  // each thread has its part
            privates.insert(a.buffer);
            return a.with<&Allocate::body>(at_block(a.body));
        }
        }
        if (a.facts.is_pipelined) privates.insert(a.buffer);
        // It depends on the block no more than the launch can find out.
        algebra::IntervalScope serial = ranges;
        unbind_blocks(serial);
        add(shared, a, MemoryType::GPUShared, most_elements(a, serial, true), 1);
        const bool has_own_memory = a.facts.is_pipelined || a.facts.swizzle != 0;
        if (has_own_memory || times_allocated[a.buffer] > 1) return at_block(a.body);
        const size_t taken = take_memory(a);
        const Stmt body = at_block(a.body);
        slots[taken].is_free = true;
        return body;
    }

    // Storage of the block that others may have after it.
    struct Slot {
        Symbol buffer;
        bool is_free = false;
    };
    // Gives what was added last the memory of a buffer that is not used any more, if there is one.
    size_t take_memory(const Allocate &a) {
        const auto unused = std::ranges::find(slots, true, &Slot::is_free);
        if (unused == slots.end()) {
            slots.push_back({a.buffer});
            return slots.size() - 1;
        }
        unused->is_free = false;
        memory_of[a.buffer] = shared.back().within = unused->buffer;
        auto first = std::ranges::find_if(
            shared, [&](const Outside &o) { return o.node->buffer == unused->buffer; });
        const int64_t bytes = a.type.bytes(), of_first = first->node->type.bytes();
        const Expr wanted =
            (shared.back().most * int32_t(bytes) + int32_t(of_first - 1)) / int32_t(of_first);
        first->most = algebra::simplify(max(first->most, wanted));
        return size_t(unused - slots.begin());
    }
    // Rows of a loop that is not unrolled keep their distances, so that a thread's part may be as
    // large as all of it.
    static bool is_much_smaller(const Allocate &part, const Allocate &all) {
        const auto of_part = constant_bytes(part), of_all = constant_bytes(all);
        return of_part && of_all && *of_part <= *of_all / 4;
    }
    // Storage of which each thread has the part that it alone uses.
    Stmt private_at_block(const Allocate &a, const Stmt &own) {
        privates.insert(a.buffer);
        return own.as<Allocate>()->with<&Allocate::body>(at_block(own.as<Allocate>()->body));
    }
    // Storage of the lanes of a row. Each lane has its part of what is dealt out to them.
    Stmt allocated_in_row(const Allocate &a) {
        if (a.memory == MemoryType::Tile) {
            privates.insert(a.buffer);
            const Stmt body = at_block(a.body);
            privates.erase(a.buffer);  // a copy of this by unrolling may be the row's
            return a.with<&Allocate::body>(body);
        }
        const bool is_global = a.memory == MemoryType::Heap;
        algebra::IntervalScope variables = ranges;
        if (!is_global) unbind_blocks(variables);
        Expr rows = 1, row = 0;
        for (size_t d = thread_dimensions; d-- > 1;) {
            if (!threads[d].defined()) continue;
            row = row * shape[d] + thread(d);
            rows = rows * shape[d];
        }
        const Expr most = most_elements(a, variables, !is_global);
        const Expr size = is_global ? add(global, a, MemoryType::Heap, most, rows * blocks.count())
                                    : add(shared, a, MemoryType::GPUShared, most, rows);
        if (is_global) row = row + blocks.number() * rows;
        return move_into_slice(at_block(a.body), a.buffer, {1, algebra::simplify(row * size)});
    }
    // Storage in the memory of a block is at the same place in all blocks of a cluster.
    void unbind_blocks(algebra::IntervalScope &variables) const {
        for (const auto &[variable, range] : blocks.variables().all()) {
            if (variable != blocks.of_cluster()) variables.unbind(variable);
        }
    }
    // The most elements that it has while these variables run through their ranges, with padding.
    // A size that no memory can hold is a little too much, and does not wrap around: the allocation
    // refuses it.
    Expr most_elements(const Allocate &a, algebra::IntervalScope &variables, bool is_shared) const {
        const int64_t limit = is_shared ? 1 << 18 : INT32_MAX;
        Expr box = 1, wide = make_one(Int(64));
        variables.facts = lets.known();
        for (const Expr &e : a.extents) {
            const Expr extent = max(cast(Int(32), lets.expand(e)), 0);
            box = box * extent;
            wide = wide * cast(Int(64), upper_bound(a, extent, variables));
        }
        Expr most = upper_bound(a, box + a.padding, variables);
        wide = algebra::simplify(wide + IntImm::make(Int(64), a.padding));
        const auto known = as_const_int(wide);
        if (known && *known > INT32_MAX) refuse_size(a);
        if (known || a.extents.size() < 2) return most;
        return algebra::simplify(cast(Int(32), min(wide, IntImm::make(Int(64), limit))));
    }
    static Expr upper_bound(const Allocate &a, const Expr &e,
                            const algebra::IntervalScope &variables) {
        const algebra::Interval range = algebra::bounds_of_expr(algebra::simplify(e), variables);
        if (!range.has_upper_bound()) refuse_size(a);
        return range.max;
    }
    [[noreturn]] static void refuse_size(const Allocate &a) {
        throw CompileError(a.facts.compute_written,
                           str("the size of ", a.buffer,
                               ", which is allocated within a kernel, has no bound that is known "
                               "before the kernel runs; give it one with bound_extent or "
                               "bound_storage"));
    }

    // ---- What each thread does ----

    // Loops over threads become conditions, the innermost one that of x. `from`: what is allocated
    // is for each index in the dimensions from this one on: 0 for each thread, 1 for each row.
    Stmt leaf(const Stmt &s, size_t from = 0) {
        class Leaf final : public Mutator {
        public:
            Leaf(KernelBody &kernel, size_t from)
                : Mutator(Mutator::Visits::PerUse), kernel(kernel), from(from) {}

        private:
            Stmt visit(const For &loop) override {
                const Expr min = kernel.lets.expand(loop.min),
                           extent = kernel.lets.expand(loop.extent);
                kernel.ranges.bind(loop.name, {min, min + extent - 1});
                const Stmt body = (*this)(loop.body);
                kernel.ranges.unbind(loop.name);
                if (!is_over_threads(loop)) return loop.with<&For::body>(body);
                const size_t d = thread_depth(loop.body);
                const Stmt s = LetStmt::make(loop.name, kernel.thread(d) + loop.min, body);
                const bool all = algebra::can_prove(loop.extent >= kernel.shape[d]);
                return all ? s : IfThenElse::make(kernel.thread(d) < loop.extent, s);
            }
            Stmt visit(const LetStmt &let) override {
                return kernel.lets.within(let, [&] { return Mutator::visit(let); });
            }
            Stmt visit(const Allocate &a) override {
                return kernel.allocated_in_thread(a, (*this)(a.body), from);
            }
            KernelBody &kernel;
            const size_t from;
        };
        return Leaf(*this, from)(s);
    }

    // A device has the thread's own memory for all threads that it can run, used or not.
    static bool is_small(const Allocate &a) {
        constexpr int64_t most = int64_t(16) << 10;
        const std::optional<int64_t> bytes = constant_bytes(a);
        return bytes && *bytes <= most;
    }
    static void check_private_size(const Allocate &a) {
        constexpr int64_t most = int64_t(512) << 10;
        const std::optional<int64_t> bytes = constant_bytes(a);
        if (!bytes || *bytes <= most) return;
        throw CompileError(a.facts.compute_written,
                           str("store_in of ", a.buffer, ": a thread has at most ", most,
                               " bytes of its own in a kernel, and ", a.buffer, " has ", *bytes,
                               "; store it in Heap"));
    }
    // Storage of one thread. Elements that do not fit into registers and the thread's own memory
    // are in memory of the device, or of the block, in which neighbouring threads have neighbouring
    // elements.
    Stmt allocated_in_thread(const Allocate &a, const Stmt &body, size_t from) {
        const bool is_shared = traits_of(a.memory).space == AddressSpace::Shared;
        const bool is_dynamic = a.memory == MemoryType::Auto && !is_small(a);
        if (traits_of(a.memory).space == AddressSpace::Private) check_private_size(a);
        if (!is_shared && !is_dynamic && a.memory != MemoryType::Heap) return own(a, body);
        algebra::IntervalScope variables = ranges;
        if (is_shared) unbind_blocks(variables);
        Expr threads_of_block = 1, number = 0;
        for (size_t d = thread_dimensions; d-- > from;) {
            if (!threads[d].defined()) continue;
            number = number * shape[d] + thread(d);
            threads_of_block = threads_of_block * shape[d];
        }
        const Expr most = most_elements(a, variables, is_shared);
        if (is_shared) {
            add(shared, a, MemoryType::GPUShared, most, threads_of_block);
        } else {
            const Expr size =
                add(global, a, MemoryType::Heap, most, threads_of_block * blocks.count());
            number = number + blocks.number() * (size * threads_of_block);
        }
        return move_into_slice(body, a.buffer, {threads_of_block, algebra::simplify(number)});
    }

    // ---- Barriers ----

    Stmt barrier() const {
        return Evaluate::make(in_row ? call(Int(32), Intrinsic::gpu_warp_barrier, {shape[0]})
                                     : call(Int(32), Intrinsic::gpu_barrier, {}));
    }
    // Holds what was accessed since the threads met.
    struct Phase {
        BlockAccesses pending;
        BlockAccesses leading;  // of a loop's body, before they meet in it for certain
        bool has_met = false;
    };
    void note(BlockAccesses accesses) {
        accesses.remove(privates);
        accesses.rename(memory_of);
        if (has_threads() && phase.pending.conflicts_with(accesses)) {
            is_barrier_needed = true;
            phase.pending.clear();
            phase.has_met = true;
        }
        phase.pending.add(accesses);
        if (!phase.has_met) phase.leading.add(accesses);
    }
    // Before what was noted last.
    Stmt needed_barrier() { return std::exchange(is_barrier_needed, false) ? barrier() : Stmt(); }
    Stmt with_barriers(const Stmt &s) { return Block::make({needed_barrier(), s}); }

    // Buffers for which no barrier has to be placed: of each thread, or with barriers of their own.
    std::unordered_set<Symbol> privates;
    std::vector<Slot> slots;
    std::unordered_map<Symbol, Symbol> memory_of;     // of buffers that are in that of others
    std::unordered_map<Symbol, int> times_allocated;  // unrolled bodies have one buffer
    const bool has_loops_over_threads;
    std::array<Expr, thread_dimensions> shape;
    bool in_row = false;  // the lanes of a row run what is visited, and not all threads of a block
    const BlockLoops &blocks;
    std::array<Symbol, thread_dimensions> threads;
    std::vector<Outside> shared;  // storage of the block
    LetScope lets;
    algebra::IntervalScope ranges;  // of the loops around what is visited
    Phase phase;
    bool is_barrier_needed = false;
    // The number of productions that were entered, and the number of this one. The kernel itself is
    // one.
    int productions = 1, production = 1;
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
            outside = std::move(kernel.global);
        } else {
            s = Mutator::visit(loop);
        }
        blocks.pop();
        if (!blocks.empty()) return s;
        for (const KernelBody::Outside &a : outside) s = KernelBody::around(a, s);
        outside.clear();
        return s;
    }

    Stmt visit(const LetStmt &let) override {
        if (blocks.empty()) return Mutator::visit(let);
        return blocks.lets.within(let, [&] { return Mutator::visit(let); });
    }

    BlockLoops blocks;
    std::vector<KernelBody::Outside> outside;
};

}  // namespace

Stmt canonical_kernels(const Stmt &s, const lower::Context &) {
    bool any = false;
    for_each_node(s, [&](const For &loop) { any |= is_over_blocks(loop); });
    return any ? CanonicalKernels()(s) : s;
}

}  // namespace tessera::lower
