#include "scheduler.h"
#include <algorithm>
#include <base/str.h>

namespace tessera::fuzz {

void Scheduler::one_transform(int f, int s) {
    StageModel &stage = stage_of(f, s);
    if (stage.loops.empty()) return;
    switch (random.range(0, 8)) {
    case 0:
    case 1:
    case 2: split(f, s); return;
    case 6:
    case 7: return split_and_vectorize(f, s);
    case 8: return tile(f, s);
    case 3: return fuse(f, s);
    case 4: return reorder(f, s);
    default: return rename(f, s);
    }
}

void Scheduler::split_and_vectorize(int f, int s) {
    StageModel &stage = stage_of(f, s);
    size_t at = size_t(random.range(0, int(stage.loops.size()) - 1));
    if (random.chance(0.7)) at = 0;
    if (stage.loops[at].is_reduction || !split(f, s, int(at))) return;
    LoopModel &inner = stage.loops[at];
    LoopKind kind = random.chance(0.7) ? LoopKind::Vectorized : LoopKind::Unrolled;
    if (!fits(f, s, inner.extent)) return;
    if (kind == LoopKind::Vectorized && blended.count(inner.name)) return;
    inner.kind = kind;
    emit(inner.kind == LoopKind::Vectorized ? Verb::Vectorize : Verb::Unroll, f, s, {inner.name});
}

bool Scheduler::fits(int f, int s, int copies) {
    auto include = [&](const auto &loop) {
        bool copied = loop.kind == LoopKind::Vectorized || loop.kind == LoopKind::Unrolled;
        if (copied) copies *= std::max(loop.extent, 1);
    };
    for (const LoopModel &loop : stage_of(f, s).loops) include(loop);
    for (const Site &loop : models[size_t(f)].enclosing) include(loop);
    return copies <= 64;
}

bool Scheduler::split(int f, int s, int which) {
    StageModel &stage = stage_of(f, s);
    size_t at = size_t(which >= 0 ? which : random.range(0, int(stage.loops.size()) - 1));
    LoopModel old = stage.loops[at];
    if (old.kind != LoopKind::Serial) return false;
    int factor = random.pick<int>({2, 3, 4, 5, 8, 8, 16});
    std::vector<std::string> names{old.name, fresh("o"), fresh("i")};
    // One of the two loops may keep the name.
    if (random.chance(0.3)) names[random.chance(0.7) ? 1 : 2] = old.name;
    Directive &d = emit(Verb::Split, f, s, names);
    d.factor = factor;
    d.tail = tail(f, s, old, factor);
    LoopModel outer = old, inner = old;
    outer.name = d.names[1];
    bool blends =
        d.tail == TailStrategy::ShiftInwardsAndBlend || d.tail == TailStrategy::RoundUpAndBlend;
    if (blends) blended.insert(outer.name);
    // Beyond the end of a tile, it blends with the next.
    for (const LoopModel &loop : stage.loops) {
        bool of_tiles = loop.name != old.name && split_once.count(loop.name);
        if (blends && split_once.count(old.name) && of_tiles) blended.insert(loop.name);
    }
    outer.extent = old.extent && old.extent % factor == 0 ? old.extent / factor : 0;
    inner.name = d.names[2];
    inner.extent = factor;
    split_once.insert(outer.name);
    split_once.insert(inner.name);
    if (blended.count(old.name)) blended.insert({outer.name, inner.name});
    stage.loops[at] = outer;
    stage.loops.insert(stage.loops.begin() + long(at), inner);
    return true;
}

void Scheduler::tile(int f, int s) {
    StageModel &stage = stage_of(f, s);
    std::vector<LoopModel> chosen;
    for (const LoopModel &loop : stage.loops) {
        bool may = !loop.is_reduction && loop.kind == LoopKind::Serial;
        if (may && random.chance(0.8)) chosen.push_back(loop);
    }
    if (chosen.empty()) return;
    random.shuffle(chosen);
    Directive d;
    d.verb = Verb::Tile;
    d.func = f;
    d.update = s - 1;
    std::vector<std::string> outers, inners;
    std::vector<LoopModel> order;
    bool in_place = random.chance(0.3);  // the outer loops keep the names
    for (const LoopModel &old : chosen) {
        d.names.push_back(old.name);
        outers.push_back(in_place ? old.name : fresh("o"));
        inners.push_back(fresh("i"));
        d.factors.push_back(random.pick<int>({2, 3, 4, 8}));
        LoopModel inner = old;
        inner.name = inners.back();
        inner.extent = d.factors.back();
        order.push_back(inner);
    }
    for (size_t i = 0; i < chosen.size(); i++) {
        LoopModel outer = chosen[i];
        outer.name = outers[i];
        outer.extent = 0;
        order.push_back(outer);
    }
    d.tail = tail_of_tile(f, s, chosen, d.factors);
    d.names.insert(d.names.end(), outers.begin(), outers.end());
    d.names.insert(d.names.end(), inners.begin(), inners.end());
    for (size_t i = 0; i < chosen.size(); i++) {
        split_once.insert({outers[i], inners[i]});
        if (blended.count(chosen[i].name)) blended.insert({outers[i], inners[i]});
    }
    put_tile(stage, chosen, order);
    add(std::move(d));
}

TailStrategy Scheduler::tail_of_tile(int f, int s, const std::vector<LoopModel> &loops,
                                     const std::vector<int> &factors) {
    TailStrategy chosen = random.pick<TailStrategy>(
        {TailStrategy::Auto, TailStrategy::GuardWithIf, TailStrategy::ShiftInwards,
         TailStrategy::RoundUp, TailStrategy::Predicate});
    for (size_t i = 0; i < loops.size(); i++) {
        if (!is_legal(chosen, f, s, loops[i], factors[i])) return TailStrategy::GuardWithIf;
    }
    return chosen;
}

void Scheduler::put_tile(StageModel &stage, const std::vector<LoopModel> &old,
                         const std::vector<LoopModel> &order) {
    std::vector<LoopModel> loops;
    size_t next = 0;
    for (const LoopModel &loop : stage.loops) {
        bool tiled = std::any_of(old.begin(), old.end(),
                                 [&](const LoopModel &l) { return l.name == loop.name; });
        if (!tiled) {
            loops.push_back(loop);
            continue;
        }
        loops.push_back(order[next++]);
        loops.push_back(order[next++]);
    }
    stage.loops = loops;
}

bool Scheduler::any_tile_at_once(int f, int s) {
    return std::ranges::any_of(stage_of(f, s).loops, [&](const LoopModel &loop) {
        bool at_once = loop.kind == LoopKind::Parallel || loop.kind == LoopKind::Vectorized;
        return at_once && split_once.count(loop.name);
    });
}

bool Scheduler::is_legal(TailStrategy t, int f, int s, const LoopModel &loop, int factor) {
    bool again = split_once.count(loop.name), update = stage_of(f, s).is_update;
    bool shifts = t == TailStrategy::ShiftInwards || t == TailStrategy::ShiftInwardsAndBlend ||
                  t == TailStrategy::Auto;
    bool rounds = t == TailStrategy::RoundUp || t == TailStrategy::RoundUpAndBlend;
    // Nobody knows how far it moves back what is stored in turn.
    if (shifts && folded.contains({f, loop.dim})) return false;
    if (update && t == TailStrategy::ShiftInwards) return false;
    if (update && again && t == TailStrategy::RoundUp) return false;
    if (!is_output(f)) return true;
    // The output has to be as large as what is shifted inwards, or rounded up.
    if (update && t == TailStrategy::Auto) return true;
    bool is_multiple = !again && plan.size[dim_of(f, loop.name)] % factor == 0;
    if (t == TailStrategy::RoundUp && is_multiple) return true;
    return !rounds && !(shifts && (again || plan.size[dim_of(f, loop.name)] < factor));
}

TailStrategy Scheduler::tail(int f, int s, const LoopModel &loop, int factor) {
    using T = TailStrategy;
    if (loop.is_reduction) return random.pick<T>({T::Auto, T::GuardWithIf, T::Predicate});
    std::vector<T> choices = {T::Auto,           T::GuardWithIf,     T::Predicate,
                              T::PredicateLoads, T::PredicateStores, T::ShiftInwards,
                              T::ShiftInwards,   T::RoundUp};
    bool again = split_once.count(loop.name);
    if (stage_of(f, s).is_update && !(again && any_tile_at_once(f, s))) {
        choices.push_back(T::ShiftInwardsAndBlend);
        choices.push_back(T::RoundUpAndBlend);
    } else if (is_output(f) && !again) {
        choices.push_back(T::ShiftInwardsAndBlend);
    }
    if (is_fusing && random.chance(0.5)) choices = {T::GuardWithIf, T::RoundUp};
    T chosen = random.pick(choices);
    return is_legal(chosen, f, s, loop, factor) ? chosen : T::GuardWithIf;
}

size_t Scheduler::dim_of(int f, const std::string &name) const {
    std::string names = "xyzw";
    size_t d = name.size() == 1 ? names.find(name) : std::string::npos;
    return d < size_t(plan.funcs[size_t(f)].dims) ? d : 0;
}

void Scheduler::fuse(int f, int s) {
    StageModel &stage = stage_of(f, s);
    if (stage.loops.size() < 2) return;
    size_t at = size_t(random.range(0, int(stage.loops.size()) - 2));
    LoopModel inner = stage.loops[at], outer = stage.loops[at + 1];
    if (inner.is_reduction != outer.is_reduction) return;
    if (inner.kind != LoopKind::Serial || outer.kind != LoopKind::Serial) return;
    Directive &d = emit(Verb::Fuse, f, s, {inner.name, outer.name, fresh("t")});
    LoopModel fused = inner;
    fused.name = d.names[2];
    fused.extent = inner.extent * outer.extent;
    fused.dim = outer.dim;
    split_once.insert(fused.name);
    if (blended.count(inner.name) || blended.count(outer.name)) blended.insert(fused.name);
    fused_loops.insert(fused.name);
    stage.loops[at] = fused;
    stage.loops.erase(stage.loops.begin() + long(at) + 1);
}

void Scheduler::split_and_fuse(int f, int s) {
    StageModel &stage = stage_of(f, s);
    if (stage.loops.empty()) return;
    if (stage.loops.size() < 3 || random.chance(0.7)) split(f, s);
    if (random.chance(0.3)) reorder(f, s);
    fuse(f, s);
    if (random.chance(0.2)) fuse(f, s);
}

void Scheduler::rename(int f, int s) {
    StageModel &stage = stage_of(f, s);
    LoopModel &loop = stage.loops[size_t(random.range(0, int(stage.loops.size()) - 1))];
    Directive &d = emit(Verb::Rename, f, s, {loop.name, fresh("n")});
    if (blended.count(loop.name)) blended.insert(d.names[1]);
    if (fused_loops.count(loop.name)) fused_loops.insert(d.names[1]);
    loop.name = d.names[1];
    split_once.insert(loop.name);
}

void Scheduler::reorder(int f, int s) {
    StageModel &stage = stage_of(f, s);
    std::vector<LoopModel> loops = stage.loops, reductions;
    random.shuffle(loops);
    for (const LoopModel &loop : stage.loops) {
        if (loop.is_reduction) reductions.push_back(loop);
    }
    if (!stage.associative) {
        size_t next = 0;
        for (LoopModel &loop : loops) {
            if (loop.is_reduction) loop = reductions[next++];
        }
    }
    stage.loops = loops;
    std::vector<std::string> names;
    for (const LoopModel &loop : loops) names.push_back(loop.name);
    if (names.size() > 1) emit(Verb::Reorder, f, s, names);
}

void Scheduler::make_atomic(int f, int s) {
    StageModel &stage = stage_of(f, s);
    if (!stage.atomic) emit(Verb::Atomic, f, s);
    stage.atomic = true;
}

void Scheduler::mark_loops(int f, int s) {
    StageModel &stage = stage_of(f, s);
    for (size_t i = 0; i < stage.loops.size(); i++) {
        LoopModel &loop = stage.loops[i];
        if (loop.kind != LoopKind::Serial || !random.chance(0.5 * density)) continue;
        bool reduction = loop.is_reduction;
        if (reduction && !(stage.associative && random.chance(0.5))) {
            if (loop.extent && fits(f, s, loop.extent) && random.chance(0.5)) {
                loop.kind = LoopKind::Unrolled;
                emit(Verb::Unroll, f, s, {loop.name});
            }
            continue;
        }
        bool constant = loop.extent > 0 && fits(f, s, loop.extent);
        int choice = random.range(0, 3);
        if (choice == 0 && constant) {
            loop.kind = LoopKind::Unrolled;
            emit(Verb::Unroll, f, s, {loop.name});
        } else if (choice <= 2 && constant && !blended.count(loop.name)) {
            if (reduction) make_atomic(f, s);
            loop.kind = LoopKind::Vectorized;
            emit(Verb::Vectorize, f, s, {loop.name});
        } else if (choice == 3 && !has_kernel_loops(f, s) && i + 2 >= stage.loops.size() &&
                   !blended.count(loop.name)) {
            if (reduction) make_atomic(f, s);
            loop.kind = LoopKind::Parallel;
            emit(Verb::Parallel, f, s, {loop.name});
        } else if (random.chance(0.1)) {
            emit(Verb::Serial, f, s, {loop.name});
        }
    }
}

void Scheduler::specialize(int f, int s) {
    StageModel &stage = stage_of(f, s);
    int count = random.range(1, 2), than = random.range(-5, 5), lowest = than;
    for (int i = 0; i < count; i++) {
        if (i > 0) than = -than - 1;
        lowest = std::min(lowest, than);
        emit(Verb::Specialize, f, s).factor = than;
        if (stage.loops.empty()) continue;
        if (random.chance(0.6)) schedule_special(f, s, i);
    }
    if (lowest < 3 && random.chance(0.2)) emit(Verb::SpecializeFail, f, s);
}

void Scheduler::schedule_special(int f, int s, int number) {
    StageModel &stage = stage_of(f, s);
    const LoopModel &loop = stage.loops[0];
    if (loop.kind != LoopKind::Serial || loop.is_reduction) return;
    if (loop.in_call && loops_in_call(stage) > 1) return;  // its outer loop would be within one
    stage.hidden = std::max<size_t>(stage.hidden, 1);
    int factor = random.pick<int>({2, 4, 8});
    Directive &d = emit(Verb::Split, f, s, {loop.name, fresh("o"), fresh("i")});
    d.special = number;
    d.factor = factor;
    d.tail = tail(f, s, loop, factor);
    std::string inner = d.names[2];
    bool blends = d.tail == TailStrategy::ShiftInwardsAndBlend ||
                  d.tail == TailStrategy::RoundUpAndBlend || blended.count(loop.name);
    if (blends || !fits(f, s, factor) || plan.funcs[size_t(f)].is_extern) return;
    emit(random.chance(0.7) ? Verb::Vectorize : Verb::Unroll, f, s, {inner}).special = number;
}

void Scheduler::prefetch(int f, int s) {
    std::set<int> what = callees(f, s);
    what.insert(f);  // what it writes
    const StageModel &stage = stage_of(f, s);
    if (stage.loops.empty()) return;
    size_t at = size_t(random.range(0, int(stage.loops.size()) - 1));
    size_t from = size_t(random.range(int(at), int(stage.loops.size()) - 1));
    for (size_t i : {at, from}) {
        LoopKind kind = stage.loops[i].kind;
        if (kind != LoopKind::Serial && kind != LoopKind::Parallel) return;
    }
    Directive &d = emit(Verb::Prefetch, f, s, {stage.loops[at].name, stage.loops[from].name});
    d.other = pick(what);
    d.offset = random.range(0, 3);
    d.strategy = random.pick<PrefetchBoundStrategy>({PrefetchBoundStrategy::Clamp,
                                                     PrefetchBoundStrategy::GuardWithIf,
                                                     PrefetchBoundStrategy::NonFaulting});
}

}  // namespace tessera::fuzz
