#include "scheduler.h"
#include <algorithm>
#include <base/str.h>

namespace tessera::fuzz {

std::vector<Site> Scheduler::path(int f, int s) const {
    std::vector<Site> all = models[size_t(f)].enclosing;
    const StageModel &stage = models[size_t(f)].stages[size_t(s)];
    if (stage.elsewhere || models[size_t(f)].by_readers) return {};
    for (size_t i = stage.loops.size(); i-- > stage.hidden;) {
        const LoopModel &loop = stage.loops[i];
        all.push_back({f, s, loop.name, loop.kind, loop.extent, loop.dim});
    }
    return all;
}

void Scheduler::place(int f) {
    std::optional<std::vector<Site>> common;
    for (int c = f + 1; c < int(plan.funcs.size()); c++) {
        if (models[size_t(c)].inlined) continue;
        size_t stages = std::max<size_t>(1, models[size_t(c)].stages.size());
        for (size_t s = 0; s < stages; s++) {
            if (!callees(c, int(s)).count(f)) continue;
            std::vector<Site> sites = path(c, int(s));
            if (!common) {
                common = sites;
            } else {
                size_t n = 0;
                while (n < common->size() && n < sites.size() && (*common)[n] == sites[n]) n++;
                common->resize(n);
            }
        }
    }
    std::vector<Site> usable;
    // Kernels mostly have no room for a function of which a block needs nobody knows how much.
    const bool fits_in_block = !is_for_gpu(plan) || is_read_nearby(f) || random.chance(0.15);
    for (const Site &site : common.value_or(std::vector<Site>())) {
        if (!fits_in_block && site.kind == LoopKind::GPUBlock) break;
        if (site.kind == LoopKind::Vectorized) break;
        // Kernels call no functions in C.
        if (plan.funcs[size_t(f)].is_extern && site.kind == LoopKind::GPUBlock) break;
        usable.push_back(site);
    }
    if (usable.empty() || random.chance(0.3)) {
        emit(Verb::ComputeRoot, f, 0);
        if (random.chance(0.08)) emit(Verb::Async, f, 0);
        return;
    }
    size_t at = choose_site(usable);
    // Nothing stands between two loops over blocks.
    while (at + 1 < usable.size() && usable[at].kind == LoopKind::GPUBlock &&
           usable[at + 1].kind == LoopKind::GPUBlock)
        at++;
    level(Verb::ComputeAt, f, usable[at]);
    models[size_t(f)].enclosing.assign(usable.begin(), usable.begin() + long(at) + 1);
    store_outside(f, usable, at);
}

// Returns the coordinate that a place is near to, -1 if it is the same for all points; none if that
// is not so simple.
static std::optional<int> coordinate_near(const Term &at) {
    switch (at.op) {
    case Op::Coordinate: return at.index;
    case Op::Number:
    case Op::Reduction: return -1;
    case Op::Add:
    case Op::Sub: {
        const std::optional<int> a = coordinate_near(at.args[0]), b = coordinate_near(at.args[1]);
        const bool is_reversed = at.op == Op::Sub && b != -1;
        if (!a || !b || is_reversed || (*a >= 0 && *b >= 0)) return std::nullopt;
        return std::max(*a, *b);
    }
    default: return std::nullopt;
    }
}

bool Scheduler::is_read_nearby(int f) const {
    std::map<size_t, int> near;
    bool all = true;
    for (int g = f + 1; g < int(plan.funcs.size()); g++) {
        const FuncPlan &func = plan.funcs[size_t(g)];
        all &= func.source_is_input || func.source != f;
        for_each_root(func, [&](const Term &root) {
            for_each_term(root, [&](const Term &t) {
                if (t.op != Op::Call || t.index != f) return;
                for (size_t d = 0; d < t.args.size(); d++) {
                    const std::optional<int> of = coordinate_near(t.args[d]);
                    all &= of && near.try_emplace(d, *of).first->second == *of;
                }
            });
        });
    }
    return all;
}

size_t Scheduler::choose_site(const std::vector<Site> &usable) {
    std::vector<size_t> special;
    bool within = false;
    for (size_t i = 0; i < usable.size(); i++) {
        within |= fused_loops.count(usable[i].loop) > 0;
        bool of_domain = usable[i].loop.find('.') != std::string::npos;
        if (within || of_domain) special.push_back(i);
    }
    if (!special.empty() && random.chance(0.5)) return random.pick(special);
    return size_t(random.range(0, int(usable.size()) - 1));
}

void Scheduler::level(Verb verb, int f, const Site &site) {
    Directive &d = emit(verb, f, 0, {site.loop});
    d.other = site.func;
}

void Scheduler::store_outside(int f, const std::vector<Site> &usable, size_t at) {
    if (!random.chance(is_fusing ? 0.8 : 0.5)) {
        if (!is_in_kernel(f) && random.chance(0.06)) emit(Verb::Async, f, 0);
        return;
    }
    // No loop in between may be parallel.
    size_t lowest = at;
    const auto is_on_threads = [&](size_t i) { return traits_of(usable[i].kind).is_on_threads; };
    while (lowest > 0 && !is_on_threads(lowest)) lowest--;
    bool root = lowest == 0 && !is_on_threads(0) && random.chance(0.4);
    size_t store = size_t(random.range(int(lowest), int(at)));
    if (random.chance(0.3)) store = lowest;
    if (random.chance(0.3)) specialize_around(usable[at]);
    if (random.chance(0.3)) {
        if (root) {
            emit(Verb::HoistStorageRoot, f, 0);
        } else {
            level(Verb::HoistStorage, f, usable[store]);
        }
        size_t stored = at;
        if (store < at && random.chance(0.3)) {
            stored = size_t(random.range(int(store), int(at)));
            level(Verb::StoreAt, f, usable[stored]);
        }
        if ((root || stored > store) && random.chance(0.6)) {
            emit(Verb::RingBuffer, f, 0).factor = random.range(2, 4);
            if (!is_in_kernel(f) && random.chance(0.6)) emit(Verb::Async, f, 0);
        }
        return;
    }
    if (root) {
        emit(Verb::StoreRoot, f, 0);
    } else {
        level(Verb::StoreAt, f, usable[store]);
    }
    if (random.chance(0.3))
        fold(f, {usable.begin() + long(root ? 0 : store + 1), usable.begin() + long(at) + 1});
    if (!is_in_kernel(f) && random.chance(0.25)) emit(Verb::Async, f, 0);
}

void Scheduler::specialize_around(const Site &site) {
    for (const Directive &d : plan.directives) {
        const bool there = d.func == site.func && d.update == site.stage - 1;
        if (there && d.verb == Verb::Specialize) return;
    }
    if (plan.funcs[size_t(site.func)].is_extern) return;
    emit(Verb::Specialize, site.func, site.stage).factor = random.range(2, 4);
}

void Scheduler::fold(int f, const std::vector<Site> &between) {
    static const char *names[] = {"x", "y", "z", "w"};
    std::vector<int> dims;
    for (const Site &site : between) {
        bool walks = site.kind == LoopKind::Serial && site.dim >= 0;
        if (walks && site.dim < plan.funcs[size_t(f)].dims) dims.push_back(site.dim);
    }
    if (dims.empty()) return;
    random.shuffle(dims);
    for (size_t i = 0; i < dims.size() && (i == 0 || random.chance(0.4)); i++) {
        int factor = random.pick<int>({4, 8, 16, 32, 64});
        const bool is_passed_on = plan.funcs[size_t(f)].is_extern || feeds_extern(f);
        if (is_passed_on) factor = random.pick<int>({1, 2, 4, 8, 64});
        emit(Verb::FoldStorage, f, 0, {names[dims[i]]}).factor = factor;
        folded.insert({f, dims[i]});
    }
}

void Scheduler::schedule_storage(int f) {
    static const char *names[] = {"x", "y", "z", "w"};
    int dims = plan.funcs[size_t(f)].dims;
    std::string dim = names[random.range(0, dims - 1)];
    switch (random.range(0, 9)) {
    case 7:
        if (!is_output(f))
            emit(Verb::BoundStorage, f, 0, {dim}).factor = is_in_kernel(f) ? 64 : 512;
        return;
    case 8: return trace(f);
    case 9: emit(Verb::NoProfiling, f, 0); return;
    case 0: {
        if (is_output(f) || dims < 2) return;
        std::vector<std::string> order(names, names + dims);
        random.shuffle(order);
        emit(Verb::ReorderStorage, f, 0, order);
        return;
    }
    case 1:
        if (!is_output(f)) emit(Verb::AlignStorage, f, 0, {dim}).factor = random.range(2, 16);
        return;
    case 2:
        if (!is_output(f)) {
            Directive &d = emit(Verb::AlignBounds, f, 0, {dim});
            d.factor = random.range(2, 8);
            if (random.chance(0.4)) d.offset = random.range(0, d.factor - 1);
        }
        return;
    case 3:
        if (!is_output(f)) emit(Verb::AlignExtent, f, 0, {dim}).factor = random.range(2, 8);
        return;
    case 4:
    case 5: {
        if (!is_output(f)) return;
        size_t d = dim_of(f, dim);
        Directive &b = emit(random.chance(0.5) ? Verb::Bound : Verb::BoundExtent, f, 0, {dim});
        b.offset = plan.min[d] + plan.base[d];
        b.factor = plan.size[d];
        return;
    }
    default:
        if (!is_output(f)) {
            MemoryType memory = random.chance(0.7) ? MemoryType::Heap : MemoryType::Stack;
            if (is_in_kernel(f) && random.chance(0.5)) memory = MemoryType::GPUShared;
            emit(Verb::StoreIn, f, 0).memory = memory;
        }
    }
}

// Kernels cannot say what they do.
void Scheduler::trace(int f) {
    if (sides_of(f).contains(true)) return;
    int what = random.range(0, 7);
    if (what & 1) emit(Verb::TraceLoads, f, 0);
    if (what & 2) emit(Verb::TraceStores, f, 0);
    if (what & 4) emit(Verb::TraceRealizations, f, 0);
}

bool Scheduler::has(int f, const std::set<Verb> &verbs) const {
    return std::ranges::any_of(
        plan.directives, [&](const Directive &d) { return d.func == f && verbs.contains(d.verb); });
}

void Scheduler::align_to_a_split(int f) {
    std::vector<std::pair<std::string, int>> splits;
    for (const Directive &d : plan.directives) {
        if (d.func != f || d.update >= 0) continue;
        if (d.verb == Verb::Split) splits.push_back({d.names[0], d.factor});
        if (d.verb != Verb::Tile) continue;
        for (size_t i = 0; i < d.factors.size(); i++) {
            splits.push_back({d.names[i], d.factors[i]});
        }
    }
    std::erase_if(splits, [](const auto &s) {
        return s.second < 2 || s.second > 16 ||
               std::string("xyzw").find(s.first) == std::string::npos;
    });
    if (splits.empty()) return;
    const auto &[dim, factor] = random.pick(splits);
    Directive &d = emit(Verb::AlignBounds, f, 0, {dim});
    d.factor = factor * random.range(1, 2);
    if (random.chance(0.4)) d.offset = random.range(0, d.factor - 1);
}

void Scheduler::copies() {
    int f = random.range(0, int(plan.funcs.size()) - 1);
    if (is_output(f) || models[size_t(f)].inlined || feeds_extern(f)) return;
    if (!models[size_t(f)].enclosing.empty()) return;
    // Wrappers may read it in kernels.
    const std::set<Verb> of_one_side = {Verb::TraceLoads, Verb::TraceStores,
                                        Verb::TraceRealizations, Verb::Async};
    if (is_for_gpu(plan) && has(f, of_one_side)) return;
    std::vector<int> consumers;
    for (int c = f + 1; c < int(plan.funcs.size()); c++) {
        const FuncPlan &func = plan.funcs[size_t(c)];
        bool calls = false;
        for_each_root(func, [&](const Term &root) {
            for_each_term(root, [&](const Term &t) { calls |= t.op == Op::Call && t.index == f; });
        });
        if (calls && !func.is_extern) consumers.push_back(c);
    }
    if (consumers.empty()) return;
    bool wraps = random.chance(0.6);
    Directive &d = emit(wraps ? Verb::In : Verb::CloneIn, f, 0);
    d.other = wraps && random.chance(0.3) ? -1 : random.pick(consumers);
    d.creates = next_created++;
    int created = d.creates, consumer = d.other;
    std::vector<Site> sites;
    if (consumer >= 0 && plan.outputs[0] == consumer &&
        models[size_t(consumer)].stages.size() == 1) {
        sites = path(consumer, 0);
    }
    size_t usable = 0;
    while (usable < sites.size() && sites[usable].kind != LoopKind::Vectorized) usable++;
    if (usable == 0 || random.chance(0.4)) {
        emit(Verb::ComputeRoot, created, 0);
    } else {
        level(Verb::ComputeAt, created, sites[size_t(random.range(0, int(usable) - 1))]);
    }
    if (!wraps || random.chance(0.5)) return;  // a clone has the loops of the original
    Directive &split = emit(Verb::Split, created, 0, {"x", fresh("o"), fresh("i")});
    split.factor = random.pick<int>({2, 4, 8});
    split.tail = random.pick<TailStrategy>(
        {TailStrategy::Auto, TailStrategy::RoundUp, TailStrategy::GuardWithIf});
    std::string inner = split.names[2];
    emit(Verb::Vectorize, created, 0, {inner});
}

}  // namespace tessera::fuzz
