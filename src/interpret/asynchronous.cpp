#include "base/error.h"
#include "interpret/statement_run.h"
#include "ir/operators.h"

// Copies that end later than they begin, and the instructions of tensor cores.
namespace tessera::interpret {

using namespace ir;

namespace {

// The operands of an operation, from `first` up to `end`, that are places in memory, and what the
// machine demands of each.
struct MachineAccesses {
    size_t first = 0, end = 0;
    int64_t aligned_to = 1, bytes = 0;
    const char *what = "";
};

MachineAccesses accesses_of(const MachineOp &s) {
    constexpr size_t before_places = TensorOperation::first_place;
    constexpr int64_t chunk = 16, panel = 128;
    const size_t count = s.operands.size();
    MachineAccesses found;
    switch (s.op) {
    case MachineOpKind::tensor:
        found = {before_places, count, chunk, chunk,
                 TensorOperation::of(s).is_wgmma ? "wgmma reads an operand"
                                                 : "ldmatrix loads a row"};
        break;
    case MachineOpKind::copy_tile: found = {0, 1, panel, chunk, "a copy of a box is made"}; break;
    case MachineOpKind::store_quads:
        if (count > 2) found = {count - 1, count, chunk, chunk, "threads store together"};
        break;
    case MachineOpKind::copy_async: break;  // its accesses say how they are aligned
    }
    const Load *element =
        found.first < found.end ? placed_element(s.operands[found.first]) : nullptr;
    // Threads store one element after the other where alignment does not let them store together.
    const bool is_wide =
        element && (s.op != MachineOpKind::store_quads ||
                    element->alignment.modulus * element->type.element_of().bytes() >= chunk);
    return is_wide ? found : MachineAccesses();
}

}  // namespace

const Load *placed_element(const Expr &place) {
    const Expr *e = &place;
    while (const Let *let = e->as<Let>()) e = &let->body;
    const auto *c = e->as<IntrinsicCall>();
    return c && c->op == Intrinsic::address_of ? c->args[0].as<Load>() : nullptr;
}

// Checks the places that the machine accesses by itself. Returns these places, and behind them, of
// a copy of a box, its barrier.
Tape &StatementRun::places_of(const MachineOp &s) {
    const MachineAccesses accesses = accesses_of(s);
    const auto begin = s.operands.begin();
    Tape &places = run_tape(s, [&] {
        std::vector<Expr> all(begin + ptrdiff_t(accesses.first), begin + ptrdiff_t(accesses.end));
        if (s.op == MachineOpKind::copy_tile) all.push_back(s.operands.at(1));
        return all;
    });
    for (size_t i = accesses.first; i < accesses.end; i++) {
        const Symbol buffer = placed_element(s.operands[i])->buffer;
        const Memory &m = *frame.memories.at(buffer);  // as address_of sees it
        const Word word = places.result(i - accesses.first).word();
        const auto at = int64_t(word - Word(uintptr_t(m.address(0))));
        if (at % accesses.aligned_to != 0)
            throw RuntimeError(str("a misaligned access: ", accesses.what, " of ", buffer,
                                   " at byte ", at, ", which is no multiple of ",
                                   accesses.aligned_to));
        if (!m.holds(at, accesses.bytes))
            throw RuntimeError(str("out of bounds: ", accesses.what, " of ", buffer, " at byte ",
                                   at, ", and it has no ", accesses.bytes, " bytes there"));
    }
    return places;
}

// Operations of the machine do what their bodies say, and tensor operations have to do the same by
// their own meaning; those that copy have done it when they are waited for.
void StatementRun::run_machine_op(const MachineOp &s) {
    const Tape &places = places_of(s);
    switch (s.op) {
    case MachineOpKind::tensor: return run_tensor_operation(s, places);
    case MachineOpKind::store_quads: return run(s.body);
    case MachineOpKind::copy_async:
        if (frame.copies.empty()) frame.copies.emplace_back();
        frame.recorded = &frame.copies.back();
        break;
    case MachineOpKind::copy_tile: {
        CopyBarrier &barrier = copy_barrier(places.result(accesses_of(s).end).word());
        if (barrier.pending.empty())
            throw RuntimeError("a copy for a barrier that expects nothing");
        frame.recorded = &barrier.pending.back();
        break;
    }
    }
    run(s.body);
    frame.recorded = nullptr;
}

void StatementRun::record(const MemoryRef &memory, int64_t index, Word word, uint8_t poison) {
    memory->begin_copy(index, accessor());
    frame.recorded->push_back({memory, index, word, poison});
}

CopyBarrier &StatementRun::copy_barrier(Word place) {
    if (!frame.block) throw RuntimeError("a barrier outside of the threads of a block");
    const auto found = frame.block->barriers.find(place);
    if (found == frame.block->barriers.end())
        throw RuntimeError("a barrier is used that nobody has initialized");
    return found->second;
}

// Waits until the groups of this thread are done but the last ones.
void StatementRun::wait_for_copies(size_t but) {
    // The last one is still open.
    while (frame.copies.size() > but + 1) {
        for (const PendingStore &s : frame.copies.front())
            s.memory->store(s.index, s.word, s.poison, accessor());
        frame.copies.pop_front();
    }
}

void StatementRun::wait_for_phase(CopyBarrier &barrier, bool is_odd) {
    const auto is_over = [&] { return barrier.phases % 2 != int64_t(is_odd); };
    const auto has_copies = [&] { return !barrier.pending.empty(); };
    shared.coroutines.wait_until([&] { return is_over() || has_copies(); },
                                 "a copy that nobody has begun, or threads that do not arrive");
    if (is_over()) {
        // What others have done before they arrived is done.
        if (barrier.warps_arrive) frame.task = new_phase_of_thread();
        return;
    }
    for (const PendingStore &s : barrier.pending.front())
        s.memory->end_copy(s.index, s.word, s.poison);
    barrier.pending.pop_front();
    barrier.phases++;
}

// The threads of a warp arrive together. Others go on at once, so that they overwrite what this one
// still reads.
void StatementRun::arrive(CopyBarrier &barrier) {
    constexpr int64_t warp = 32;
    barrier.warps_arrive = true;
    if (++barrier.arrived == warp * barrier.arrivals) {
        barrier.arrived = 0;
        barrier.phases++;
    }
    bool was_asked = false;
    shared.coroutines.wait_until([&] { return std::exchange(was_asked, true); }, "nothing");
}

// A task that comes after all that other threads have done.
int StatementRun::new_phase_of_thread() {
    return shared.tasks.new_task(own_block().task, shared.tasks.new_loop());
}

// Begins a phase of copies that the barrier waits for.
void StatementRun::expect_copies(CopyBarrier &barrier) {
    if (!barrier.pending.empty())
        throw RuntimeError("a barrier expects copies, and those before have not been waited for");
    barrier.pending.emplace_back();
}

// Returns false if it is none.
bool StatementRun::asynchronous_intrinsic(const IntrinsicCall &node, Operands operands,
                                          Value &result) {
    switch (node.op) {
    case Intrinsic::async_commit:
        if (frame.copies.empty()) frame.copies.emplace_back();
        frame.copies.emplace_back();
        break;
    case Intrinsic::async_wait: wait_for_copies(size_t(operands[0]->as_int())); break;
    case Intrinsic::barrier_init:
        if (!frame.block) throw RuntimeError("a barrier outside of the threads of a block");
        if (!frame.block->barriers.try_emplace(operands[0]->word()).second)
            throw RuntimeError("a barrier is initialized twice");
        if (operands.size() > 1) copy_barrier(operands[0]->word()).arrivals = operands[1]->as_int();
        break;
    case Intrinsic::barrier_expect: expect_copies(copy_barrier(operands[0]->word())); break;
    case Intrinsic::barrier_arrive: arrive(copy_barrier(operands[0]->word())); break;
    case Intrinsic::barrier_wait:
        wait_for_phase(copy_barrier(operands[0]->word()), operands[1]->as_int() != 0);
        break;
    case Intrinsic::barrier_end: {
        const CopyBarrier &barrier = copy_barrier(operands[0]->word());
        if (!barrier.pending.empty()) throw RuntimeError("nobody has waited for a copy");
        frame.block->barriers.erase(operands[0]->word());
        break;
    }
    case Intrinsic::tensor_wait: wait_for_sums(size_t(operands[0]->as_int())); break;
    default: return false;
    }
    result.assign(0);
    return true;
}

}  // namespace tessera::interpret
