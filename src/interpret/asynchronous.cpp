#include "base/error.h"
#include "interpret/statement_run.h"

// Copies that end later than they begin, and the instructions of tensor cores.
namespace tessera::interpret {

using namespace ir;

// Operations of the machine do what their bodies say; those that copy have done it when they are
// waited for.
void StatementRun::run_machine_op(const MachineOp &s) {
    switch (s.op) {
    case MachineOpKind::mma:
    case MachineOpKind::wgmma:
    case MachineOpKind::store_quads: return run(s.body);
    case MachineOpKind::copy_async:
        if (frame.copies.empty()) frame.copies.emplace_back();
        frame.recorded = &frame.copies.back();
        break;
    case MachineOpKind::copy_tile: {
        const Word place =
            run_tape(s, [&] { return std::vector<Expr>{s.operands.at(1)}; }).result().word();
        CopyBarrier &barrier = copy_barrier(place);
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
    shared.coroutines.wait_until([&] { return is_over() || !barrier.pending.empty(); },
                                 "a copy that nobody has begun");
    if (is_over()) return;
    for (const PendingStore &s : barrier.pending.front())
        s.memory->end_copy(s.index, s.word, s.poison);
    barrier.pending.pop_front();
    barrier.phases++;
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
        break;
    case Intrinsic::barrier_expect: copy_barrier(operands[0]->word()).pending.emplace_back(); break;
    case Intrinsic::barrier_wait:
        wait_for_phase(copy_barrier(operands[0]->word()), operands[1]->as_int() != 0);
        break;
    case Intrinsic::barrier_end: {
        const CopyBarrier &barrier = copy_barrier(operands[0]->word());
        if (!barrier.pending.empty()) throw RuntimeError("nobody has waited for a copy");
        frame.block->barriers.erase(operands[0]->word());
        break;
    }
    case Intrinsic::tensor_wait: break;
    default: return false;
    }
    result.assign(0);
    return true;
}

}  // namespace tessera::interpret
