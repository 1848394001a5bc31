#include "scheduler.h"
#include <algorithm>
#include <base/str.h>

namespace tessera::fuzz {

void Scheduler::schedule_extern(int f) {
    StageModel &stage = stage_of(f, 0);
    int steps = random.range(0, 3);
    for (int i = 0; i < steps; i++) {
        switch (random.range(0, 4)) {
        case 0: {
            size_t calls = loops_in_call(stage);
            if (calls > 1 && calls == stage.loops.size()) reorder(f, 0);
            break;
        }
        case 1: loop_around_calls(f); break;
        case 2: tile_extern(f); break;
        default: split_extern(f);
        }
    }
    std::vector<LoopModel *> outer;
    for (LoopModel &loop : stage.loops) {
        if (!loop.in_call && loop.kind == LoopKind::Serial) outer.push_back(&loop);
    }
    if (!outer.empty() && random.chance(0.3)) {
        outer.back()->kind = LoopKind::Parallel;
        emit(Verb::Parallel, f, 0, {outer.back()->name});
    }
    if (random.chance(0.15 * density)) specialize(f, 0);
}

size_t Scheduler::loops_in_call(const StageModel &stage) {
    return size_t(std::ranges::count(stage.loops, true, &LoopModel::in_call));
}

void Scheduler::loop_around_calls(int f) {
    StageModel &stage = stage_of(f, 0);
    const size_t calls = loops_in_call(stage);
    if (calls == 0) return;
    LoopModel &loop = stage.loops[calls - 1];
    loop.in_call = false;
    emit(Verb::Serial, f, 0, {loop.name});
}

void Scheduler::split_extern(int f) {
    StageModel &stage = stage_of(f, 0);
    const size_t calls = loops_in_call(stage);
    if (calls == 0 || !split(f, 0, int(calls - 1))) return;
    stage.loops[calls].in_call = false;
}

void Scheduler::tile_extern(int f) {
    StageModel &stage = stage_of(f, 0);
    if (loops_in_call(stage) != stage.loops.size()) return;
    tile(f, 0);
    // The loops that are not tiled are within the tiles, or another order is asked for.
    std::vector<std::string> order;
    std::vector<LoopModel> calls, outer;
    for (LoopModel &loop : stage.loops) {
        const bool is_outer = loop.extent == 0 && split_once.count(loop.name);
        loop.in_call = !is_outer;
        (is_outer ? outer : calls).push_back(loop);
    }
    stage.loops = calls;
    stage.loops.insert(stage.loops.end(), outer.begin(), outer.end());
    for (const LoopModel &loop : stage.loops) order.push_back(loop.name);
    if (!outer.empty() && order.size() > 1) emit(Verb::Reorder, f, 0, order);
}

}  // namespace tessera::fuzz
