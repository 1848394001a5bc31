#include "lower/gpu/pipeline_copies.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/tensor_operation.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/staged_copy.h"
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
    // Takes ring buffers directly in the body of a loop within a kernel out of it.
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
        if (is_ring_here(h)) refuse_idle_ring(h.func, h.facts.copies_written);
        return Mutator::visit(h);
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

// ---- The pipeline ----

Stmt evaluate(Intrinsic op, std::vector<Expr> args = {}) {
    return Evaluate::make(call(Int(32), op, std::move(args)));
}

// The copies in the body of a loop, and what is left of it.
struct LoopParts {
    struct Copy {
        const Realize *ring;
        Stmt stmt;  // within the lets around it
    };
    std::vector<Copy> copies;
    Stmt rest;
};

class SplitBody {
public:
    explicit SplitBody(const std::unordered_map<Symbol, const Realize *> &rings) : rings(rings) {}
    LoopParts operator()(const Stmt &body) {
        parts.rest = split(body);
        return std::move(parts);
    }

private:
    Stmt split(const Stmt &s) {
        if (const auto *let = s.as<LetStmt>()) {
            lets.push_back(let);
            const Stmt body = split(let->body);
            lets.pop_back();
            return let->with<&LetStmt::body>(body);
        }
        if (const auto *p = s.as<ProducerConsumer>()) {
            const auto ring = rings.find(p->func);
            if (ring == rings.end() || !p->is_producer)
                return p->with<&ProducerConsumer::body>(split(p->body));
            Stmt copy = s;
            for (auto let = lets.rbegin(); let != lets.rend(); ++let)
                copy = (*let)->with<&LetStmt::body>(copy);
            parts.copies.push_back({ring->second, copy});
            return Evaluate::make(0);
        }
        if (const auto *block = s.as<Block>()) {
            std::vector<Stmt> all;
            for (const Stmt &each : block->stmts) all.push_back(split(each));
            return Block::make(all);
        }
        return s;
    }
    const std::unordered_map<Symbol, const Realize *> &rings;
    std::vector<const LetStmt *> lets;
    LoopParts parts;
};

bool is_asynchronous(const MachineOp &op) {
    return is_tensor_operation(op.op) && TensorOperation::of(op).instruction.is_asynchronous;
}

// The place of the accumulators of the instructions wgmma in a statement; undefined if there are
// none.
Expr wgmma_accumulators(const Stmt &s) {
    Expr place;
    for_each_node(s, [&](const MachineOp &op) {
        if (is_asynchronous(op)) place = TensorOperation::of(op).accumulators;
    });
    return place;
}

// Finds what instructions wgmma of a statement write, and what else uses Funcs there.
class UsesOutside final : public Visitor {
public:
    explicit UsesOutside(const Stmt &s) { (*this)(s); }
    std::unordered_set<Symbol> tiles, others;
    bool realizes = false;  // a Tile

private:
    void visit(const MachineOp &op) override {
        if (!is_asynchronous(op)) return Visitor::visit(op);
        const Expr first = TensorOperation::of(op).accumulators.as<IntrinsicCall>()->args[0];
        tiles.insert(first.as<Call>()->callee);
    }
    void visit(const Call &c) override {
        others.insert(c.callee);
        Visitor::visit(c);
    }
    void visit(const Provide &p) override {
        others.insert(p.func);
        Visitor::visit(p);
    }
    void visit(const Realize &r) override {
        realizes |= r.memory == MemoryType::Tile;
        Visitor::visit(r);
    }
};

// Rewrites a loop and its copies.
class PipelineLoop {
public:
    PipelineLoop(const For &loop, LoopParts parts, bool is_repeated, const Realizations &storage,
                 const std::unordered_set<Symbol> &of_kernel)
        : loop(loop), parts(std::move(parts)), is_repeated(is_repeated),
          accumulators(wgmma_accumulators(this->parts.rest)),
          slots(as_const_int(this->parts.copies.front().ring->storage.copies).value_or(0)) {
        check();
        for (const LoopParts::Copy &c : this->parts.copies)
            add(StagedCopy(*c.ring, c.stmt, storage), of_kernel);
    }

    Stmt operator()() const {
        if (!accumulators.defined()) return by_threads();
        return of_threads.empty() ? by_tiles() : by_both();
    }

private:
    void check() const {
        if (accumulators.defined()) check_accumulators();
        for (const LoopParts::Copy &c : parts.copies) {
            const auto n = as_const_int(c.ring->storage.copies);
            if (n && *n == slots && slots >= 2) continue;
            throw CompileError(c.ring->storage.async_written,
                               str("async of ", c.ring->func,
                                   ": within a kernel it needs a ring_buffer of a known number of "
                                   "copies, 2 at least, the same for all that is copied in the ",
                                   loop_name(loop)));
        }
    }
    // Between the begin of an instruction and its wait, nobody else may use what it writes.
    void check_accumulators() const {
        UsesOutside uses(parts.rest);
        if (uses.tiles.size() == 1 && !uses.others.contains(*uses.tiles.begin()) && !uses.realizes)
            return;
        throw CompileError(parts.copies.front().ring->storage.async_written,
                           str("async of ", parts.copies.front().ring->func, ": in the ",
                               loop_name(loop),
                               " instructions wgmma add to one Tile, which is "
                               "stored and used outside of it"));
    }
    Expr k() const { return Variable::make(Int(32), loop.name); }
    Expr iteration() const { return simplify(k() - loop.min); }
    int32_t ahead() const { return int32_t(slots - 1); }
    // Returns what is begun for an iteration, if there is one.
    Stmt begin(const Stmt &copies, const Expr &at) const {
        const Stmt shifted = substitute(loop.name, simplify(at + loop.min), copies);
        return IfThenElse::make(at < loop.extent, shifted);
    }
    Stmt before(const Stmt &copies, const Stmt &after_each) const {
        return before(copies, after_each, ahead());
    }
    Stmt before(const Stmt &copies, const Stmt &after_each, int32_t iterations) const {
        const Symbol p = Symbol::fresh("ahead");
        const Stmt body = Block::make({begin(copies, Variable::make(Int(32), p)), after_each});
        return For::make(p, 0, iterations, LoopKind::Serial, Partition::Never, body);
    }

    // What the machine copies by itself counts its bytes; what threads do has a group each.
    void add(const StagedCopy &copy, const std::unordered_set<Symbol> &of_kernel) {
        if (accumulators.defined()) copy.check_rows_for_wgmma();
        if (!accumulators.defined() || !copy.is_by_tiles(of_kernel)) {
            of_threads.push_back(copy.by_threads(threads_of(parts.rest)));
            return;
        }
        of_machine.push_back(copy.by_tiles(barrier(iteration() % int32_t(slots)), of_kernel));
        bytes += copy.bytes();
    }

    Stmt by_threads() const {
        const Stmt copies = Block::make(of_threads), commit = evaluate(Intrinsic::async_commit);
        const Stmt body = Block::make(
            {evaluate(Intrinsic::async_wait, {ahead() - 1}), evaluate(Intrinsic::gpu_barrier),
             begin(copies, simplify(iteration() + ahead())), commit, parts.rest});
        const Stmt meet = is_repeated ? evaluate(Intrinsic::gpu_barrier) : Stmt();
        return Block::make({meet, before(copies, commit), loop.with<&For::body>(body)});
    }

    Expr barrier(const Expr &slot) const {
        return call(Handle(), Intrinsic::address_of,
                    {Call::make(UInt(64), full, CallKind::Func, 0, {simplify(slot)})});
    }
    Stmt copies_of_machine() const {
        const Expr here = barrier(iteration() % int32_t(slots));
        const Stmt expect = evaluate(Intrinsic::barrier_expect, {here, Expr(int32_t(bytes))});
        return Block::make(expect, Block::make(of_machine));
    }
    Stmt wait_for_machine() const {
        return evaluate(Intrinsic::barrier_wait, {barrier(iteration() % int32_t(slots)),
                                                  simplify(iteration() / int32_t(slots) % 2)});
    }
    Stmt wait_for_sums(int32_t but) const {
        return evaluate(Intrinsic::tensor_wait, {but, accumulators});
    }
    // The loop, if it has iterations: a path around it to the wait would move the sums meanwhile.
    Stmt until_done(const Stmt &body) const {
        const Stmt s = Block::make(loop.with<&For::body>(body), wait_for_sums(0));
        return as_const_int(loop.extent) ? s : IfThenElse::make(0 < loop.extent, s);
    }
    // Around what uses the barriers.
    Stmt with_barriers(const Stmt &s) const {
        StorageFacts facts;
        facts.is_pipelined = true;  // a place of a barrier is one to the end
        return Realize::make(full, {UInt(64)}, MemoryType::GPUShared, {{0, int32_t(slots)}}, {}, s,
                             facts);
    }

    Stmt by_tiles() const {
        const Stmt copies = copies_of_machine();
        const Stmt body = Block::make({wait_for_machine(), parts.rest, wait_for_sums(1),
                                       evaluate(Intrinsic::gpu_barrier),
                                       begin(copies, simplify(iteration() + ahead()))});
        return with_barriers(Block::make({of_all_slots(Intrinsic::barrier_init),
                                          before(copies, Stmt()), evaluate(Intrinsic::gpu_barrier),
                                          until_done(body), is_repeated ? end() : Stmt()}));
    }
    // Threads copy or compute for instructions wgmma, which go on in the next iteration if there
    // are enough slots: what is begun then goes to the slot of the iteration before the last one.
    Stmt by_both() const {
        const bool goes_on = slots > 2;
        const int32_t before_this = goes_on ? ahead() - 1 : ahead();
        const bool has_tiles = !of_machine.empty();
        const Stmt commit = evaluate(Intrinsic::async_commit);
        const Stmt copies =
            Block::make({has_tiles ? copies_of_machine() : Stmt(), Block::make(of_threads)});
        const Stmt body = Block::make({has_tiles ? wait_for_machine() : Stmt(),
                                       evaluate(Intrinsic::async_wait, {before_this - 1}),
                                       evaluate(Intrinsic::gpu_barrier), parts.rest,
                                       wait_for_sums(goes_on ? 1 : 0),
                                       begin(copies, simplify(iteration() + before_this)), commit});
        const Stmt meet = is_repeated ? evaluate(Intrinsic::gpu_barrier) : Stmt();
        const Stmt s = Block::make({has_tiles ? of_all_slots(Intrinsic::barrier_init) : meet,
                                    before(copies, commit, before_this),
                                    has_tiles ? evaluate(Intrinsic::gpu_barrier) : Stmt(),
                                    until_done(body), has_tiles && is_repeated ? end() : Stmt()});
        return has_tiles ? with_barriers(s) : s;
    }
    Stmt end() const {
        return Block::make({evaluate(Intrinsic::gpu_barrier), of_all_slots(Intrinsic::barrier_end),
                            evaluate(Intrinsic::gpu_barrier)});
    }
    Stmt of_all_slots(Intrinsic op) const {
        const Symbol s = Symbol::fresh("slot");
        return For::make(s, 0, int32_t(slots), LoopKind::Serial, Partition::Never,
                         evaluate(op, {barrier(Variable::make(Int(32), s))}));
    }

    const For &loop;
    const LoopParts parts;
    const bool is_repeated;  // the block runs the loop several times
    const Expr accumulators;
    const int64_t slots;
    const Symbol full = Symbol::fresh("full");  // the barriers
    std::vector<Stmt> of_threads, of_machine;
    int64_t bytes = 0;  // that the machine copies
};

// ---- Copies that are waited for where they are made ----

// Has the machine copy, while a thread goes on with other elements, what a production of a Func
// only copies from memory of the device; each thread waits for its own copies at the end.
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

class PipelineCopies final : public Mutator {
    Stmt visit(const Realize &r) override {
        storage[r.func] = &r;
        if (in_kernel) of_kernel.insert(r.func);
        Stmt s;
        if (in_kernel && is_ring(r)) {
            rings[r.func] = &r;
            s = pipelined_storage(r);
            rings.erase(r.func);
        } else {
            s = Mutator::visit(r);
            if (r.memory == MemoryType::GPUSharedAsync) s = without_ring(*s.as<Realize>());
        }
        storage.erase(r.func);
        return s;
    }
    Stmt without_ring(const Realize &r) const {
        return r.with<&Realize::memory, &Realize::body>(
            MemoryType::GPUShared, CopyAsynchronously(r.func, of_kernel)(r.body));
    }
    Stmt pipelined_storage(const Realize &r) {
        const Stmt body = (*this)(r.body);
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
        facts.layout = layout_of_ring(r);
        return r.with<&Realize::memory, &Realize::body, &Realize::storage>(MemoryType::GPUShared,
                                                                           body, facts);
    }
    [[noreturn]] static void refuse(const Realize &r) {
        throw CompileError(r.storage.async_written,
                           str("async of ", r.func,
                               ": within a kernel it is for what is computed directly in a serial "
                               "loop around the loops over threads"));
    }
    Stmt visit(const For &loop) override {
        const bool was_in_kernel = in_kernel;
        const int outer = serial_loops;
        if (traits_of(loop.loop_kind).gpu == GPULevel::Block) in_kernel = true;
        const bool is_loop = !is_const(simplify(loop.extent), 1);
        if (in_kernel && is_loop && traits_of(loop.loop_kind).gpu == GPULevel::None) serial_loops++;
        if (in_kernel) names_of_kernel.insert(loop.name);
        Stmt s = Mutator::visit(loop);
        if (in_kernel && !rings.empty() && loop.loop_kind == LoopKind::Serial)
            s = pipelined(*s.as<For>(), outer > 0);
        in_kernel = was_in_kernel;
        serial_loops = outer;
        return s;
    }
    Stmt pipelined(const For &loop, bool is_repeated) {
        LoopParts parts = SplitBody(rings)(loop.body);
        if (parts.copies.empty()) return Stmt(&loop);
        for (const LoopParts::Copy &c : parts.copies) check_source(c);
        return PipelineLoop(loop, std::move(parts), is_repeated, storage, names_of_kernel)();
    }
    Stmt visit(const LetStmt &let) override {
        if (in_kernel) names_of_kernel.insert(let.name);
        return Mutator::visit(let);
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
    int serial_loops = 0;
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
