#include "scheduler.h"
#include <algorithm>

// Kernels: which loops are blocks and which are threads.
namespace tessera::fuzz {
namespace {

bool is_gpu(LoopKind kind) { return traits_of(kind).gpu != GPULevel::None; }

}  // namespace

bool Scheduler::is_in_kernel(int f) const {
    return std::ranges::any_of(models[size_t(f)].enclosing,
                               [](const Site &s) { return s.kind == LoopKind::GPUBlock; });
}

bool Scheduler::is_in_threads(int f) const {
    return std::ranges::any_of(models[size_t(f)].enclosing,
                               [](const Site &s) { return s.kind == LoopKind::GPUThread; });
}

bool Scheduler::is_in_lanes(int f) const {
    return std::ranges::any_of(models[size_t(f)].enclosing,
                               [](const Site &s) { return s.kind == LoopKind::GPULane; });
}

bool Scheduler::has_kernel_loops(int f, int s) const {
    const StageModel &stage = stage_of(f, s);
    return is_in_kernel(f) || stage.is_single_thread ||
           std::ranges::any_of(stage.loops,
                               [](const LoopModel &loop) { return is_gpu(loop.kind); });
}

std::set<bool> Scheduler::sides_of(int f) const {
    std::set<bool> found;
    for (int g = f; g < int(plan.funcs.size()); g++) {
        const FuncModel &model = models[size_t(g)];
        for (int s = 0; !model.inlined && s < int(model.stages.size()); s++) {
            if (g != f && callees(g, s).count(f) == 0) continue;
            if (model.by_readers && g != f) {
                found.merge(sides_of(g));
            } else {
                found.insert(has_kernel_loops(g, s));
            }
        }
    }
    return found;
}

void Scheduler::keep_async_on_one_side(int f) {
    if (sides_of(f).size() < 2) return;
    std::erase_if(plan.directives,
                  [&](const Directive &d) { return d.verb == Verb::Async && d.func == f; });
}

// Loops that run in any order, and as often as the schedule likes.
bool Scheduler::may_be_on_threads(int f, int s, const LoopModel &loop) {
    if (loop.kind != LoopKind::Serial || blended.count(loop.name)) return false;
    if (!loop.is_reduction) return true;
    // Kernels have no mutex, under which several values would be one.
    if (plan.funcs[size_t(f)].values.size() > 1) return false;
    if (!stage_of(f, s).associative || !random.chance(0.4)) return false;
    make_atomic(f, s);
    return true;
}

void Scheduler::mark_gpu(int f, int s, LoopModel &loop, LoopKind kind) {
    loop.kind = kind;
    const Verb verb = kind == LoopKind::GPUBlock    ? Verb::GPUBlocks
                      : kind == LoopKind::GPUThread ? Verb::GPUThreads
                                                    : Verb::GPULanes;
    emit(verb, f, s, {loop.name});
}

// One of the loops whose extent is known, for a row of lanes.
void Scheduler::mark_lanes(int f, int s, size_t below) {
    for (size_t i = below; i-- > 0;) {
        LoopModel &loop = stage_of(f, s).loops[i];
        const bool fits = loop.extent > 0 && loop.extent <= 32;
        if (fits && random.chance(0.6) && may_be_on_threads(f, s, loop))
            return mark_gpu(f, s, loop, LoopKind::GPULane);
    }
}

// A stage that is computed outside of kernels becomes one, of its outermost loops; one within a
// block has threads.
void Scheduler::mark_gpu_loops(int f, int s) {
    StageModel &stage = stage_of(f, s);
    if (is_in_lanes(f)) return;
    if (is_in_threads(f)) {
        if (random.chance(0.4)) mark_lanes(f, s, stage.loops.size());
        return;
    }
    const bool in_kernel = is_in_kernel(f);
    if (!in_kernel && random.chance(0.25)) return;  // it runs on the host
    if (!in_kernel && random.chance(0.06)) {
        emit(Verb::GPUSingleThread, f, s);
        stage.hidden = stage.loops.size();
        stage.is_single_thread = true;
        return;
    }
    size_t at = stage.loops.size();  // of the outermost loop that is left
    if (!in_kernel) {
        at -= size_t(random.range(0, 1)) * (at > 1 && random.chance(0.3));  // a loop of launches
        const size_t before = at;
        for (int n = random.range(1, 3); n > 0 && at > 0; n--) {
            if (!may_be_on_threads(f, s, stage.loops[at - 1])) break;
            mark_gpu(f, s, stage.loops[--at], LoopKind::GPUBlock);
        }
        if (at == before) return;
    }
    int threads = 0;
    const int most = random.range(in_kernel ? 1 : 0, 3);
    while (at > 0 && threads < most) {
        LoopModel &loop = stage.loops[--at];
        const bool is_left_serial = random.chance(0.25);
        if (is_left_serial || !may_be_on_threads(f, s, loop)) continue;
        mark_gpu(f, s, loop, LoopKind::GPUThread);
        threads++;
    }
    if (threads < 3 && random.chance(0.25)) mark_lanes(f, s, at);
}

}  // namespace tessera::fuzz
