#include "base/error.h"
#include "interpret/statement_run.h"
#include "ir/operators.h"
#include "ir/tile_copy.h"
#include <algorithm>

// Copies that end later than they begin, and the instructions of tensor cores.
namespace tessera::interpret {

using namespace ir;

namespace {

void add_tensor_operand(std::vector<PlacedAccess> &all, const TensorOperation::Operand &o) {
    using enum TensorOperation::Source;
    const bool is_by_slots = o.source == Rows || o.source == Panels;
    const char *what = o.source == Panels ? "an instruction reads an operand"
                       : is_by_slots      ? "ldmatrix loads a row"
                                          : "an operand";
    const size_t places = o.all_places().size();
    for (size_t i = 0; i < places; i++) {
        const size_t operand = TensorOperation::first_place + 1 + all.size();
        all.push_back(is_by_slots ? PlacedAccess{operand, slot_bytes, slot_bytes, what}
                                  : PlacedAccess{operand, 1, 0, what});
    }
}

std::vector<PlacedAccess> accesses_of(const MachineOp &s) {
    constexpr int64_t aligned_box = 128;
    const size_t count = s.operands.size();
    std::vector<PlacedAccess> found;
    switch (s.op) {
    case MachineOpKind::tensor: {
        const auto t = TensorOperation::of(s);
        if (t.step != TensorOperation::Step::Multiply) break;
        add_tensor_operand(found, t.a);
        add_tensor_operand(found, t.b);
        break;
    }
    case MachineOpKind::copy_tile:
        if (!TileCopy::is_group(s))
            found.push_back(
                {TileCopy::place_operand, aligned_box, slot_bytes, "a copy of a box is made"});
        break;
    case MachineOpKind::store_quads:
        if (count > 2)
            found.push_back({count - 1, slot_bytes, slot_bytes, "threads store together"});
        break;
    case MachineOpKind::copy_async: break;  // its accesses say how they are aligned
    }
    if (found.empty()) return found;
    const Load *element = placed_element(s.operands[found.front().operand]);
    // Threads store one element after the other where alignment does not let them store together.
    const bool is_wide =
        element && (s.op != MachineOpKind::store_quads ||
                    element->alignment.modulus * element->type.element_of().bytes() >= slot_bytes);
    return is_wide ? found : std::vector<PlacedAccess>();
}

}  // namespace

const Load *placed_element(const Expr &place) {
    const Expr *element = element_of_place(place);
    return element ? element->as<Load>() : nullptr;
}

const TensorMap &StatementRun::map_of(Word handle) const {
    if (handle == 0 || handle > shared.tensor_maps.size())
        throw RuntimeError("a copy of a box by what is no tensor map");
    return shared.tensor_maps[size_t(handle - 1)];
}

// Checks the places that the machine accesses by itself. Returns these places, and behind them, of
// a copy of a box, its other operands.
Tape &StatementRun::places_of(const MachineOp &s) {
    const auto [known, is_new] = shared.placed_accesses.try_emplace(&s);
    if (is_new) known->second = accesses_of(s);
    const std::vector<PlacedAccess> &accesses = known->second;
    Tape &places = run_tape(s, [&] {
        std::vector<Expr> all;
        for (const PlacedAccess &access : accesses) all.push_back(s.operands[access.operand]);
        if (s.op == MachineOpKind::copy_tile && !accesses.empty())
            all.insert(all.end(), s.operands.begin() + TileCopy::place_operand + 1,
                       s.operands.end());
        return all;
    });
    for (size_t i = 0; i < accesses.size(); i++) {
        const PlacedAccess &access = accesses[i];
        const Symbol buffer = placed_element(s.operands[access.operand])->buffer;
        const Memory &m = *frame.memories.at(buffer);  // as address_of sees it
        const auto at = int64_t(places.result(i).word() - Word(uintptr_t(m.address(0))));
        if (at % access.aligned_to != 0)
            throw RuntimeError(str("a misaligned access: ", access.what, " of ", buffer,
                                   " at byte ", at, ", which is no multiple of ",
                                   access.aligned_to));
        if (!memory(buffer).holds(at, access.bytes))  // it may be the device's
            throw RuntimeError(str("out of bounds: ", access.what, " of ", buffer, " at byte ", at,
                                   ", and it has no ", access.bytes, " bytes there"));
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
    case MachineOpKind::copy_tile: return run_copy_tile(s, places);
    }
    run(s.body);
    frame.recorded = nullptr;
}

// A box brings all of its bytes, also those that are outside of what is copied; to each of the
// blocks of a cluster that it is for.
void StatementRun::run_copy_tile(const MachineOp &s, const Tape &places) {
    if (TileCopy::is_group(s)) return run_stores(s);
    const auto t = TileCopy::of(s);
    const bool is_store = t.copy.mode == BoxCopy::Mode::Store;
    // Behind the place are the barrier, the map and the blocks, or the map.
    const size_t of_map = is_store ? 1 : 2, first = is_store ? 2 : 4;
    const TensorMap &map = map_of(places.result(of_map).word());
    const bool is_im2col = t.copy.mode == BoxCopy::Mode::Im2col;
    if (map.is_im2col != is_im2col || map.is_stored != is_store || map.box != t.copy.box)
        throw RuntimeError(str("a copy ", t.copy.name(), " by a map of other boxes"));
    std::vector<int64_t> at, offsets;
    for (size_t i = 0; i < t.coordinates.size(); i++)
        at.push_back(places.result(first + i).as_int());
    for (size_t i = 0; i < t.offsets.size(); i++)
        offsets.push_back(places.result(first + at.size() + i).as_int());
    const Symbol buffer = placed_element(t.place)->buffer;
    const MemoryRef &in_block = frame.memories.at(buffer);
    const auto byte = int64_t(places.result(0).word() - Word(uintptr_t(in_block->address(0))));
    const ElementPlace place{in_block, byte / in_block->type.bytes()};
    const auto by_loops = [&](std::optional<int64_t> swizzle) {
        PendingStores stores;
        frame.recorded = &stores;
        frame.box_swizzle = swizzle;
        run(s.body);
        frame.recorded = nullptr;
        frame.box_swizzle.reset();
        return stores;
    };
    if (is_store) return store_box(map, at, place, by_loops({}));

    const Word barrier = places.result(1).word();
    const std::vector<size_t> ranks = blocks_of(places.result(3).word());
    if (ranks.empty() == t.copy.is_shared)
        throw RuntimeError(str("a copy ", t.copy.name(), " for ", ranks.size(), " blocks"));
    if (ranks.empty() && !copy_barrier(barrier).copies.expected)
        throw RuntimeError("a copy for a barrier that expects nothing");
    const PendingStores loops = by_loops(map.swizzle);
    PendingStores stores = load_box(map, at, offsets, place);
    check_box(stores, loops, str(map.memory->name, " to ", in_block->name));
    if (ranks.empty()) add_copies(copy_barrier(barrier), stores);
    for (size_t rank : ranks) {
        for (PendingStore &store : stores) {
            store.memory = frame.cluster->blocks[rank].memories.at(buffer);
            store.memory->begin_copy(store.index, accessor());
        }
        add_copies(barrier_of(rank, t.barrier, barrier), stores);
    }
}

// The machine reads what a group of stores stores until the thread has waited for it, at the end.
void StatementRun::run_stores(const MachineOp &group) {
    frame.stored_tiles = std::make_shared<MachineReads>();
    run(group.body);
    frame.stored_tiles.reset();
}

void StatementRun::store_box(const TensorMap &map, const std::vector<int64_t> &at,
                             const ElementPlace &from, const PendingStores &by_loops) {
    if (!frame.stored_tiles)
        throw RuntimeError(str("a tile of ", from.memory->name,
                               " is stored, and nobody waits until it may be overwritten"));
    const PendingStores stores = read_box(map, at, from);
    check_box(stores, by_loops, str(from.memory->name, " to ", map.memory->name));
    Memory &to = shared.places_copies ? shared.device.seen_by_kernel(*map.memory) : *map.memory;
    for (const PendingStore &store : stores)
        to.store(store.index, store.word, store.poison, accessor());
}

void StatementRun::add_copies(CopyBarrier &barrier, const PendingStores &stores) {
    CopyPhase &copies = barrier.copies;
    for (const PendingStore &store : stores) copies.begun += store.memory->type.bytes();
    check_bytes(copies);
    copies.stores.insert(copies.stores.end(), stores.begin(), stores.end());
}

void StatementRun::check_bytes(const CopyPhase &copies) {
    if (copies.expected && copies.begun > *copies.expected)
        throw RuntimeError(str("copies bring ", copies.begun, " bytes, and their barrier expects ",
                               *copies.expected));
}

// The elements of a box are where the swizzle of its map has them.
void StatementRun::record(const MemoryRef &memory, int64_t element, Word word, uint8_t poison) {
    const int64_t index = frame.box_swizzle ? memory->place_of(element, *frame.box_swizzle)
                                            : memory->place_of(element);
    if (!frame.stored_tiles) memory->begin_copy(index, accessor());
    frame.recorded->push_back({memory, index, word, poison});
}

// The numbers of the blocks of the cluster that these bits stand for.
std::vector<size_t> StatementRun::blocks_of(Word bits) const {
    std::vector<size_t> all;
    if (bits == 0) return all;
    if (!frame.cluster) throw RuntimeError("blocks of a cluster are named where there is none");
    for (size_t i = 0; i < 64; i++)
        if (bits >> i & 1) all.push_back(i);
    const size_t count = frame.cluster->blocks.size();
    if (all.back() >= count)
        throw RuntimeError(str("block ", all.back(), " is named in a cluster of ", count));
    return all;
}

// The barrier of another block at the place that this block's has.
CopyBarrier &StatementRun::barrier_of(size_t rank, const Expr &place, Word here) {
    const BlockCluster::Block &block = frame.cluster->blocks[rank];
    const Symbol buffer = placed_element(place)->buffer;
    const auto there = block.memories.find(buffer);
    if (!block.threads || there == block.memories.end())
        throw RuntimeError(str("block ", rank,
                               " of a cluster has not begun yet, or has ended, where another one "
                               "uses its barrier"));
    const Word at = here - Word(uintptr_t(memory(buffer).address(0)));
    const auto found =
        block.threads->barriers.find(Word(uintptr_t(there->second->address(0))) + at);
    if (found == block.threads->barriers.end())
        throw RuntimeError("a barrier is used that nobody has initialized");
    return found->second;
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
        for (const PendingStore &s : frame.copies.front()) {
            s.memory->store(s.index, s.word, s.poison, accessor());
            note_write(s.memory, s.index);
        }
        frame.copies.pop_front();
    }
}

void StatementRun::wait_for_phase(CopyBarrier &barrier, bool is_odd) {
    const auto is_over = [&] { return barrier.phases % 2 != int64_t(is_odd); };
    const auto has_copies = [&] { return barrier.copies.is_complete(); };
    shared.coroutines.wait_until([&] { return is_over() || has_copies(); },
                                 "a copy that nobody has begun, bytes that a barrier expects and "
                                 "no copy brings, or threads that do not arrive");
    if (is_over()) {
        // All that others have done before they arrived is done.
        if (barrier.blocks_arrive) {
            frame.task = shared.tasks.new_task(frame.cluster->all.task, shared.tasks.new_loop());
        } else if (barrier.warps_arrive) {
            frame.task = new_phase_of_thread();
        }
        return;
    }
    for (const PendingStore &s : barrier.copies.stores)
        s.memory->end_copy(s.index, s.word, s.poison);
    barrier.copies = {};
    barrier.phases++;
}

// The threads of a warp arrive together. Others go on at once, so that they overwrite what this one
// still reads.
void StatementRun::arrive(const std::vector<CopyBarrier *> &barriers) {
    constexpr int64_t warp = 32;
    for (CopyBarrier *barrier : barriers) {
        barrier->warps_arrive = true;
        barrier->blocks_arrive |= barriers.size() > 1;
        if (++barrier->arrived < warp * barrier->arrivals) continue;
        barrier->arrived = 0;
        barrier->phases++;
    }
    bool was_asked = false;
    shared.coroutines.wait_until([&] { return std::exchange(was_asked, true); }, "nothing");
}

// A task that comes after all that other threads have done.
int StatementRun::new_phase_of_thread() {
    return shared.tasks.new_task(own_block().task, shared.tasks.new_loop());
}

// Begins a phase of copies that the barrier waits for.
void StatementRun::expect_copies(CopyBarrier &barrier, int64_t bytes) {
    if (barrier.copies.expected)
        throw RuntimeError("a barrier expects copies, and those before have not been waited for");
    barrier.copies.expected = bytes;
    check_bytes(barrier.copies);
}

// Other units of the machine see what a thread has written after a fence of this thread.
void StatementRun::note_write(const MemoryRef &memory, int64_t index) {
    if (!frame.block || !frame.block->has_machine_readers || !memory->is_of_block) return;
    memory->note_unfenced(index);
    frame.unfenced.emplace_back(memory, index);
}

void StatementRun::fence() {
    for (const auto &[memory, index] : frame.unfenced) memory->fence(index);
    frame.unfenced.clear();
}

// Returns false if it is none.
bool StatementRun::asynchronous_intrinsic(const IntrinsicCall &node, Operands operands,
                                          Value &result) {
    switch (node.op) {
    case Intrinsic::async_commit:
        if (frame.copies.empty()) frame.copies.emplace_back();
        frame.copies.emplace_back();
        break;
    case Intrinsic::async_wait:
        wait_for_copies(size_t(operands[0]->as_int()));
        fence();  // if the machine reads what is copied, a wait is a fence, too
        break;
    case Intrinsic::barrier_init:
        if (!frame.block) throw RuntimeError("a barrier outside of the threads of a block");
        if (!frame.block->barriers.try_emplace(operands[0]->word()).second)
            throw RuntimeError("a barrier is initialized twice");
        if (operands.size() > 1) copy_barrier(operands[0]->word()).arrivals = operands[1]->as_int();
        break;
    case Intrinsic::barrier_expect:
        expect_copies(copy_barrier(operands[0]->word()), operands[1]->as_int());
        break;
    case Intrinsic::barrier_arrive: {
        std::vector<CopyBarrier *> all;
        for (size_t rank : blocks_of(operands.size() > 1 ? operands[1]->word() : 0))
            all.push_back(&barrier_of(rank, node.args[0], operands[0]->word()));
        if (all.empty()) all.push_back(&copy_barrier(operands[0]->word()));
        arrive(all);
        break;
    }
    case Intrinsic::barrier_wait:
        wait_for_phase(copy_barrier(operands[0]->word()), operands[1]->as_int() != 0);
        break;
    case Intrinsic::barrier_end: {
        const CopyBarrier &barrier = copy_barrier(operands[0]->word());
        if (!barrier.copies.is_empty()) throw RuntimeError("nobody has waited for a copy");
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
