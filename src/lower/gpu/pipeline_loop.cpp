#include "lower/gpu/pipeline_loop.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/tensor_operation.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/warp_roles.h"
#include "lower/loops/loop_name.h"
#include <algorithm>
#include <optional>
#include <set>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

Stmt evaluate(Intrinsic op, std::vector<Expr> args) {
    return Evaluate::make(call(Int(32), op, std::move(args)));
}

namespace {

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
        if (const auto *other = s.as<Realize>())
            return other->with<&Realize::body>(split(other->body));
        return s;
    }
    const std::unordered_map<Symbol, const Realize *> &rings;
    std::vector<const LetStmt *> lets;
    LoopParts parts;
};

bool is_asynchronous(const MachineOp &op) {
    return is_tensor_operation(op.op) && TensorOperation::of(op).instruction.is_asynchronous;
}

Symbol tile_of(const Expr &place) { return place.as<IntrinsicCall>()->args[0].as<Call>()->callee; }

// The Tile whose instructions wgmma a statement waits for to the end.
std::optional<Symbol> waited_for(const Stmt &s) {
    const auto *e = s.as<Evaluate>();
    const auto *c = e ? e->value.as<IntrinsicCall>() : nullptr;
    if (!c || c->op != Intrinsic::tensor_wait || !is_zero(c->args[0])) return std::nullopt;
    return tile_of(c->args[1]);
}

// Adds the Tiles that statements of a block wait for, from one on.
void add_waits(const Block &block, size_t first, std::vector<Symbol> &tiles) {
    for (size_t i = first; i < block.stmts.size(); i++) {
        if (const auto tile = waited_for(block.stmts[i])) tiles.push_back(*tile);
    }
}

// Visits instructions wgmma, but for those that a wait stands behind, of the loops around or of
// their own.
class UnwaitedOperations : public Visitor {
protected:
    virtual void unwaited(const TensorOperation &t, Symbol tile) = 0;
    void visit(const MachineOp &op) override {
        if (!is_asynchronous(op)) return Visitor::visit(op);
        const auto t = TensorOperation::of(op);
        const Symbol tile = tile_of(t.accumulators);
        if (std::ranges::find(waits, tile) == waits.end()) unwaited(t, tile);
    }
    void visit(const Block &block) override {
        for (size_t i = 0; i < block.stmts.size(); i++) {
            const size_t before = waits.size();
            add_waits(block, i + 1, waits);
            (*this)(block.stmts[i]);
            waits.resize(before);
        }
    }

private:
    std::vector<Symbol> waits;  // behind what is visited
};

// The place of the accumulators of the instructions wgmma in a statement that nothing there waits
// for; undefined if there are none.
class FindAccumulators final : public UnwaitedOperations {
public:
    explicit FindAccumulators(const Stmt &s) { (*this)(s); }
    Expr place;

private:
    void unwaited(const TensorOperation &t, Symbol) override { place = t.accumulators; }
};

bool has_wgmma(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const MachineOp &op) { any |= is_asynchronous(op); });
    return any;
}

// The wait before them keeps the first sums, such as zeros, from being written behind their fence.
class WaitBehind final : public Mutator {
    Stmt visit(const Block &block) override {
        std::vector<Stmt> all;
        for (size_t i = 0; i < block.stmts.size(); i++) {
            const size_t before = waits.size();
            add_waits(block, i + 1, waits);
            all.push_back((*this)(block.stmts[i]));
            waits.resize(before);
        }
        return Block::make(all);
    }
    Stmt visit(const For &loop) override {
        if (!is_over_threads(loop)) return Mutator::visit(loop);
        const Expr place = FindAccumulators(Stmt(&loop)).place;
        if (!place.defined() || std::ranges::find(waits, tile_of(place)) != waits.end())
            return Stmt(&loop);
        const Stmt wait = evaluate(Intrinsic::tensor_wait, {0, place});
        return Block::make({wait, Stmt(&loop), wait});
    }
    std::vector<Symbol> waits;  // behind what is visited
};

// Finds what instructions wgmma of a statement write that nothing there waits for, and what else
// uses Funcs there.
class UsesOutside final : public UnwaitedOperations {
public:
    explicit UsesOutside(const Stmt &s) { (*this)(s); }
    std::unordered_set<Symbol> tiles, others;
    bool realizes = false;  // a Tile

private:
    using UnwaitedOperations::visit;
    void unwaited(const TensorOperation &, Symbol tile) override { tiles.insert(tile); }
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

// Returns true if the instructions of an iteration may go on in the next one: they add to one Tile,
// which is stored and used outside of the loop.
bool may_go_on(const Stmt &iteration) {
    const UsesOutside uses(iteration);
    return uses.tiles.size() == 1 && !uses.others.contains(*uses.tiles.begin()) && !uses.realizes;
}

// Returns the parts of a loop. Where what comes behind the instructions may use what they write, in
// the iteration itself or in the only one, each stage waits for its own.
LoopParts with_waits(const For &loop, LoopParts parts) {
    if (is_const(loop.extent, 1) || !may_go_on(parts.rest))
        parts.rest = wait_behind_tensors(parts.rest);
    return parts;
}

// Has all accesses of a ring buffer in one slot.
class InSlot final : public Mutator {
public:
    InSlot(Symbol ring, Expr slot) : ring(ring), slot(std::move(slot)) {}

private:
    std::vector<Expr> moved(std::vector<Expr> args) const {
        args.back() = slot;
        return args;
    }
    Expr visit(const Call &c) override {
        const Expr e = Mutator::visit(c);
        const Call &mutated = *e.as<Call>();
        return c.callee == ring ? mutated.with<&Call::args>(moved(mutated.args)) : e;
    }
    Stmt visit(const Provide &p) override {
        const Stmt s = Mutator::visit(p);
        const Provide &mutated = *s.as<Provide>();
        return p.func == ring ? mutated.with<&Provide::args>(moved(mutated.args)) : s;
    }
    const Symbol ring;
    const Expr slot;
};

}  // namespace

Stmt wait_behind_tensors(const Stmt &s) { return WaitBehind()(s); }

LoopParts split_copies(const Stmt &body, const std::unordered_map<Symbol, const Realize *> &rings) {
    return SplitBody(rings)(body);
}

// ---- Barriers ----

Expr SlotBarriers::of(const Expr &slot) const {
    return call(Handle(), Intrinsic::address_of,
                {Call::make(UInt(64), name, CallKind::Func, 0, {simplify(slot)})});
}

Stmt SlotBarriers::each(Intrinsic op, const std::vector<Expr> &operands) const {
    const Symbol s = Symbol::fresh("slot");
    std::vector<Expr> all = {of(int32_variable(s))};
    all.insert(all.end(), operands.begin(), operands.end());
    return For::make(s, 0, int32_t(slots), LoopKind::Serial, Partition::Never,
                     evaluate(op, std::move(all)));
}

Stmt SlotBarriers::around(const Stmt &s) const {
    StorageFacts facts;
    facts.is_pipelined = true;  // a place of a barrier is one to the end
    return Realize::make(name, {UInt(64)}, MemoryType::GPUShared, {{0, int32_t(slots)}}, {}, s,
                         facts);
}

Stmt ConsumerTurns::begin() const {
    const Expr before = turn - 1;
    return IfThenElse::make(turn > 0, evaluate(Intrinsic::barrier_wait,
                                               {order.of(before % 2), simplify(before / 2 % 2)}));
}

Stmt ConsumerTurns::end() const {
    return evaluate(Intrinsic::barrier_arrive, {order.of(turn % 2)});
}

// ---- What is asked of a loop ----

PipelineLoop::PipelineLoop(const For &loop, LoopParts parts, const PlaceInKernel &place)
    : loop(loop), parts(with_waits(loop, std::move(parts))),
      is_repeated(!place.repeated_by.empty()), place(place),
      is_for_wgmma(has_wgmma(this->parts.rest)),
      accumulators(FindAccumulators(this->parts.rest).place),
      slots(as_const_int(this->parts.copies.front().ring->storage.copies).value_or(0)) {
    check();
}

void PipelineLoop::check() const {
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

void PipelineLoop::refuse_role(const std::string &why) const {
    const StorageFacts &ring = parts.copies.front().ring->storage;
    throw CompileError(
        place.roles.written,
        str("warp_specialize: a producer copies what is async() with ring_buffer(n) in the same "
            "kernel; async of ",
            parts.copies.front().ring->func,
            ring.async_written.known() ? str(" (", to_string(ring.async_written), ")") : "", ": ",
            why));
}

void PipelineLoop::check_constant(const For &of) const {
    const Expr extent = substitute(place.lets, of.extent);
    for (const For *outer : place.repeated_by) {
        if (uses_symbol(extent, outer->name))
            refuse_role(str("the number of iterations of the ", loop_name(of),
                            " is not the same in all iterations of the ", loop_name(*outer)));
    }
}

// ---- Copies ----

Expr PipelineLoop::iteration() const { return simplify(k() - loop.min); }

// The number of an iteration among all of the block: it says which slot, and in
// which turn.
Expr PipelineLoop::number() const {
    Expr all = 0;
    for (size_t i = 0; i < place.repeated_by.size(); i++) {
        const For &outer = *place.repeated_by[i];
        if (i > 0) check_constant(outer);
        all = all * outer.extent + (Variable::make(Int(32), outer.name) - outer.min);
    }
    if (is_repeated) check_constant(loop);
    return simplify(all * loop.extent + iteration());
}

// Returns what is begun for an iteration, if there is one.
Stmt PipelineLoop::begin(const Stmt &copies, const Expr &at) const {
    const Stmt shifted = substitute(loop.name, simplify(at + loop.min), copies);
    return IfThenElse::make(at < loop.extent, shifted);
}

Stmt PipelineLoop::before(const Stmt &copies, const Stmt &after_each, int32_t iterations) const {
    const Symbol p = Symbol::fresh("ahead");
    const Stmt body = Block::make({begin(copies, Variable::make(Int(32), p)), after_each});
    return For::make(p, 0, iterations, LoopKind::Serial, Partition::Never, body);
}

// With the ring buffers in the slot of the iteration of a number; undefined:
// where they are.
Stmt PipelineLoop::in_slots(Stmt s, const Expr &number) const {
    if (!number.defined() || !is_repeated) return s;
    for (const LoopParts::Copy &c : parts.copies)
        s = InSlot(c.ring->func, simplify(number % int32_t(slots)))(s);
    return s;
}

StagedCopy PipelineLoop::copy_of(const LoopParts::Copy &c, const Expr &number) const {
    StagedCopy copy(*c.ring, in_slots(c.stmt, number), place.storage);
    if (is_for_wgmma) copy.check_rows_for_wgmma();
    return copy;
}

// Returns the facts that hold around the copies.
AroundCopy PipelineLoop::around() const {
    algebra::Facts facts;
    const auto add = [&](const For &l) {
        const Expr min = simplify(substitute(place.lets, l.min)),
                   extent = simplify(substitute(place.lets, l.extent));
        facts.between(l.name, min, simplify(min + extent - 1));
    };
    for (const For *outer : place.repeated_by) add(*outer);
    add(loop);
    return {place.names, facts, place.lets};
}

// The copies of an iteration that the machine makes, and what the barrier that counts them is told.
Stmt PipelineLoop::boxes(const Expr &full, const std::vector<StagedCopy> &copies,
                         const std::vector<SharedCopy> &shared) const {
    std::vector<Stmt> all;
    int64_t bytes = 0;
    for (size_t i = 0; i < copies.size(); i++) {
        all.push_back(
            copies[i].by_tiles(full, around(), shared.empty() ? SharedCopy() : shared[i]));
        bytes += copies[i].bytes();
    }
    return Block::make(evaluate(Intrinsic::barrier_expect, {full, Expr(int32_t(bytes))}),
                       Block::make(all));
}

// ---- Copies that blocks of a cluster make together ----

// Returns true if the blocks of the cluster run as many iterations.
bool PipelineLoop::runs_in_step() const {
    std::vector<const For *> loops = place.repeated_by;
    loops.push_back(&loop);
    for (const For *l : loops) {
        const Expr extent = substitute(place.lets, l->extent);
        for (const BlockOfCluster &b : place.cluster)
            if (uses_symbol(extent, b.loop)) return false;
    }
    return true;
}

namespace {

// The numbers of blocks that differ from that of the first one, or from any, in these loops alone.
std::vector<int64_t> numbers_along(const std::vector<const BlockOfCluster *> &loops) {
    std::vector<int64_t> all = {0};
    for (const BlockOfCluster *b : loops) {
        std::vector<int64_t> more;
        for (int64_t n : all)
            for (int64_t i = 0; i < b->extent; i++) more.push_back(n + i * b->step);
        all = std::move(more);
    }
    return all;
}

Expr iteration_of(const BlockOfCluster &b) { return int32_variable(b.loop) - b.min; }

}  // namespace

// What is the same for several blocks of a cluster is copied once: each of them copies a part for
// all. Sets how many blocks, and which, use what this one copies or copy what this one uses.
std::vector<SharedCopy> PipelineLoop::shared_copies(const std::vector<StagedCopy> &copies,
                                                    RoleBarriers &barriers,
                                                    Expr &all_blocks) const {
    std::vector<SharedCopy> all(copies.size());
    if (place.cluster.empty() || !runs_in_step()) return all;
    std::set<int64_t> numbers = {0};
    for (size_t i = 0; i < copies.size(); i++) {
        std::vector<const BlockOfCluster *> along;
        Expr first = 0,
             part = 0;  // the first of the blocks that share it; which part is this one's
        int64_t parts = 1;
        for (const BlockOfCluster &b : place.cluster) {
            if (copies[i].depends_on(b.loop, place.lets)) {
                first = first + iteration_of(b) * int32_t(b.step);
                continue;
            }
            along.push_back(&b);
            part = part * int32_t(b.extent) + iteration_of(b);
            parts *= b.extent;
        }
        if (parts == 1 || !copies[i].has_parts(parts)) continue;
        int32_t bits = 0;
        for (int64_t n : numbers_along(along)) {
            bits |= 1 << n;
            numbers.insert(n);
        }
        const Expr blocks = simplify(call(Int(32), Intrinsic::shift_left, {bits, first}));
        all[i] = {parts, simplify(part), blocks};
        all_blocks = all_blocks.defined()
                         ? call(Int(32), Intrinsic::bitwise_or, {all_blocks, blocks})
                         : blocks;
    }
    barriers.blocks = int64_t(numbers.size());
    return all;
}

// ---- The loop ----

Stmt PipelineLoop::operator()() const {
    std::vector<StagedCopy> of_threads, of_machine;
    for (const LoopParts::Copy &c : parts.copies) {
        StagedCopy copy = copy_of(c, {});
        const bool is_of_machine = is_for_wgmma && copy.is_by_tiles(around());
        (is_of_machine ? of_machine : of_threads).push_back(std::move(copy));
    }
    if (!is_for_wgmma) return by_threads(of_threads);
    return of_threads.empty() ? by_tiles(of_machine) : by_both(of_threads, of_machine);
}

Stmt PipelineLoop::of_all_threads(const std::vector<StagedCopy> &copies) const {
    std::vector<Stmt> all;
    const ThreadLoops threads = threads_of(parts.rest);
    for (const StagedCopy &copy : copies) all.push_back(copy.by_threads(threads));
    return Block::make(all);
}

// Waits until at most so many iterations' instructions are not done.
Stmt PipelineLoop::wait_for_sums(int32_t but) const {
    if (!accumulators.defined()) return Stmt();
    return evaluate(Intrinsic::tensor_wait, {but, accumulators});
}

// The loop, if it has iterations: a path around it to the wait would move the sums meanwhile.
Stmt PipelineLoop::until_done(const Stmt &body) const {
    const Stmt s = Block::make(loop.with<&For::body>(body), wait_for_sums(0));
    return as_const_int(loop.extent) ? s : IfThenElse::make(0 < loop.extent, s);
}

Stmt PipelineLoop::end_of(const SlotBarriers &full) const {
    if (!is_repeated) return Stmt();
    return Block::make({evaluate(Intrinsic::gpu_barrier), full.each(Intrinsic::barrier_end),
                        evaluate(Intrinsic::gpu_barrier)});
}

Stmt PipelineLoop::by_threads(const std::vector<StagedCopy> &of_threads) const {
    const Stmt copies = of_all_threads(of_threads), commit = evaluate(Intrinsic::async_commit);
    const Stmt body = Block::make(
        {evaluate(Intrinsic::async_wait, {ahead() - 1}), evaluate(Intrinsic::gpu_barrier),
         begin(copies, simplify(iteration() + ahead())), commit, parts.rest});
    const Stmt meet = is_repeated ? evaluate(Intrinsic::gpu_barrier) : Stmt();
    return Block::make({meet, before(copies, commit, ahead()), loop.with<&For::body>(body)});
}

Stmt PipelineLoop::by_tiles(const std::vector<StagedCopy> &of_machine) const {
    const SlotBarriers full("full", slots);
    const Expr barrier = full.of(iteration() % int32_t(slots));
    const Stmt copies = boxes(barrier, of_machine);
    const Stmt body = Block::make(
        {evaluate(Intrinsic::barrier_wait, {barrier, simplify(iteration() / int32_t(slots) % 2)}),
         parts.rest, wait_for_sums(1), evaluate(Intrinsic::gpu_barrier),
         begin(copies, simplify(iteration() + ahead()))});
    return full.around(
        Block::make({full.each(Intrinsic::barrier_init), before(copies, Stmt(), ahead()),
                     evaluate(Intrinsic::gpu_barrier), until_done(body), end_of(full)}));
}

// Threads copy or compute for instructions wgmma, which go on in the next iteration if there are
// enough slots: what is begun then goes to the slot of the iteration before the last one.
Stmt PipelineLoop::by_both(const std::vector<StagedCopy> &of_threads,
                           const std::vector<StagedCopy> &of_machine) const {
    const bool goes_on = slots > 2, has_tiles = !of_machine.empty();
    const int32_t before_this = goes_on ? ahead() - 1 : ahead();
    const SlotBarriers full("full", slots);
    const Expr barrier = full.of(iteration() % int32_t(slots));
    const Stmt commit = evaluate(Intrinsic::async_commit);
    const Stmt copies =
        Block::make({has_tiles ? boxes(barrier, of_machine) : Stmt(), of_all_threads(of_threads)});
    const Stmt wait_for_machine =
        evaluate(Intrinsic::barrier_wait, {barrier, simplify(iteration() / int32_t(slots) % 2)});
    const Stmt body = Block::make(
        {has_tiles ? wait_for_machine : Stmt(), evaluate(Intrinsic::async_wait, {before_this - 1}),
         evaluate(Intrinsic::gpu_barrier), parts.rest, wait_for_sums(goes_on ? 1 : 0),
         begin(copies, simplify(iteration() + before_this)), commit});
    const Stmt meet = is_repeated ? evaluate(Intrinsic::gpu_barrier) : Stmt();
    const Stmt s = Block::make({has_tiles ? full.each(Intrinsic::barrier_init) : meet,
                                before(copies, commit, before_this),
                                has_tiles ? evaluate(Intrinsic::gpu_barrier) : Stmt(),
                                until_done(body), has_tiles ? end_of(full) : Stmt()});
    return has_tiles ? full.around(s) : s;
}

// The copies of a producer's threads.
Stmt PipelineLoop::of_producers(const std::vector<StagedCopy> &copies) const {
    const Stmt threads = For::make(Symbol::fresh("producer"), 0, int32_t(place.roles.producers),
                                   LoopKind::GPUThread, Partition::Never, Evaluate::make(0));
    std::vector<Stmt> all;
    for (const StagedCopy &copy : copies) all.push_back(copy.by_threads({threads.as<For>()}));
    return Block::make(all);
}

// The threads of a producer begin the copies of an iteration, and say that those of an earlier one
// are done: they have waited for them, each behind a fence. Consumers are done with the slot that
// comes next only when they have begun with the one behind it, so that `behind` leaves them two.
Stmt PipelineLoop::copied_by_producers(const std::vector<StagedCopy> &copies,
                                       const SlotBarriers &copied, const Expr &n) const {
    const Stmt arrive = Block::make(
        evaluate(Intrinsic::async_wait, {behind()}),
        evaluate(Intrinsic::barrier_arrive, {copied.of((n - behind()) % int32_t(slots))}));
    return Block::make(
        {of_producers(copies), evaluate(Intrinsic::async_commit),
         behind() == 0 ? arrive : IfThenElse::make(iteration() >= behind(), arrive)});
}

// Behind the loop those of the last iterations are done.
Stmt PipelineLoop::last_of_producers(const SlotBarriers &copied, const Expr &n) const {
    std::vector<Stmt> all = {evaluate(Intrinsic::async_wait, {0})};
    for (int32_t i = behind(); i > 0; i--) {
        const Expr at = simplify(loop.min + loop.extent - i);
        const Expr slot = substitute(loop.name, at, n) % int32_t(slots);
        all.push_back(IfThenElse::make(
            loop.extent >= i, evaluate(Intrinsic::barrier_arrive, {copied.of(simplify(slot))})));
    }
    return of_producer(Block::make(all));
}

// The same for a kernel whose warps have roles: the barriers are initialized
// before.
Stmt PipelineLoop::by_roles(std::vector<RoleBarriers> &all_barriers,
                            const ConsumerTurns *turns) const {
    if (!is_for_wgmma) refuse_role("threads copy it, since no wgmma uses it");
    const Expr n = number();
    std::vector<StagedCopy> of_machine, of_threads;
    for (const LoopParts::Copy &c : parts.copies) {
        StagedCopy copy = copy_of(c, n);
        (copy.is_by_tiles(around()) ? of_machine : of_threads).push_back(std::move(copy));
    }
    const bool has_boxes = !of_machine.empty(), has_threads = !of_threads.empty();
    all_barriers.push_back({{}, {}, SlotBarriers("empty", slots)});
    RoleBarriers &barriers = all_barriers.back();
    if (has_boxes) barriers.full.emplace("full", slots);
    if (has_threads) barriers.copied.emplace("copied", slots);
    const Expr slot = n % int32_t(slots), turn = n / int32_t(slots);
    const Expr previous = (n - 1) % int32_t(slots);
    const Expr last = substitute(loop.name, simplify(loop.min + loop.extent - 1), slot);
    Expr blocks;
    const std::vector<SharedCopy> shared = shared_copies(of_machine, barriers, blocks);
    const auto is_empty = [&](const Expr &which) {
        std::vector<Expr> operands = {barriers.empty.of(which)};
        if (blocks.defined()) operands.push_back(blocks);
        return evaluate(Intrinsic::barrier_arrive, operands);
    };
    const auto wait_for = [&](const std::optional<SlotBarriers> &b) {
        return b ? evaluate(Intrinsic::barrier_wait, {b->of(slot), simplify(turn % 2)}) : Stmt();
    };
    const Stmt produce = Block::make(
        {evaluate(Intrinsic::barrier_wait, {barriers.empty.of(slot), simplify((turn + 1) % 2)}),
         has_boxes ? boxes(barriers.full->of(slot), of_machine, shared) : Stmt(),
         has_threads ? copied_by_producers(of_threads, *barriers.copied, n) : Stmt()});
    const Stmt use =
        Block::make({wait_for(barriers.full), wait_for(barriers.copied), in_slots(parts.rest, n)});
    const Stmt last_copies = has_threads ? last_of_producers(*barriers.copied, n) : Stmt(),
               begin_turn = turns ? turns->begin() : Stmt(),
               end_turn = turns ? turns->end() : Stmt();
    // If the instructions of an iteration are done at its end, its slot is empty then.
    if (!accumulators.defined()) {
        const Stmt body = Block::make({of_producer(produce), use, is_empty(slot)});
        return Block::make({begin_turn, loop.with<&For::body>(body), last_copies, end_turn});
    }
    const Stmt body = Block::make({of_producer(produce), use, wait_for_sums(1),
                                   IfThenElse::make(k() > loop.min, is_empty(previous))});
    return Block::make({begin_turn, loop.with<&For::body>(body), last_copies, end_turn,
                        wait_for_sums(0), IfThenElse::make(loop.extent > 0, is_empty(last))});
}

}  // namespace tessera::lower
