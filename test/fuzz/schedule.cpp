#include "plan.h"
#include <algorithm>
#include <base/str.h>
#include <map>
#include <optional>
#include <set>

namespace tessera::fuzz {
namespace {

struct LoopModel {
    std::string name;
    bool is_reduction = false;
    LoopKind kind = LoopKind::Serial;
    int extent = 0;        // 0: not a constant
    int dim = -1;          // that it walks over
    bool in_call = false;  // of an extern stage: one call runs it
};

// A stage of a function and its loops, innermost first.
struct StageModel {
    std::vector<LoopModel> loops;
    bool associative = false, atomic = false, is_update = false;
    bool elsewhere = false;  // rfactor has moved what it calls to a function of its own
    size_t hidden = 0;       // innermost loops that some specialization does not have
};

// A loop that something may be computed at.
struct Site {
    int func = -1, stage = -1;  // -1: root
    std::string loop;
    LoopKind kind = LoopKind::Serial;
    int extent = 0;
    int dim = -1;
    friend bool operator==(const Site &a, const Site &b) {
        return a.func == b.func && a.stage == b.stage && a.loop == b.loop;
    }
};

struct FuncModel {
    std::vector<StageModel> stages;
    bool inlined = false, by_readers = false;
    std::vector<Site> enclosing;  // loops around its loops, outermost first
    double cost = 1;              // of a value, with what is inlined into it
};

class Scheduler {
public:
    Scheduler(Plan &plan, Random &random) : plan(plan), random(random) {}

    void draw() {
        int count = int(plan.funcs.size());
        models.resize(size_t(count));
        next_created = count;
        for (int f = 0; f < count; f++) make_model(f);
        choose_inlined();
        is_fusing = random.chance(0.3);
        density = random.pick<double>({0.2, 0.6, 0.9});
        for (int f = count - 1; f >= 0; f--) {
            if (models[size_t(f)].inlined || is_computed_by_readers(f)) continue;
            if (!is_output(f)) place(f);
            for (int s = 0; s < int(models[size_t(f)].stages.size()); s++) schedule_stage(f, s);
            for (int i = 0; i < 2; i++) {
                if (random.chance(0.3 * density)) schedule_storage(f);
            }
            if (!is_output(f) && random.chance(0.3)) align_to_a_split(f);
        }
        if (random.chance(0.3)) copies();
    }

private:
    bool is_output(int f) const {
        return std::find(plan.outputs.begin(), plan.outputs.end(), f) != plan.outputs.end();
    }

    void make_model(int f) {
        const FuncPlan &func = plan.funcs[size_t(f)];
        FuncModel &model = models[size_t(f)];
        static const char *names[] = {"x", "y", "z", "w"};
        StageModel pure;
        for (int d = 0; d < func.dims; d++) {
            pure.loops.push_back({names[d], false, {}, 0, d, func.is_extern});
        }
        model.stages.push_back(pure);
        for (const UpdatePlan &u : func.updates) {
            StageModel stage;
            stage.is_update = true;
            stage.associative = u.associative;
            for (size_t d = 0; u.domain >= 0 && d < plan.domains[size_t(u.domain)].box.size();
                 d++) {
                std::string name = str("r", u.domain, ".", "xyzw"[d]);
                stage.loops.push_back(
                    {name, true, {}, plan.domains[size_t(u.domain)].box[d].second, -1});
            }
            for (size_t d = 0; d < u.args.size(); d++) {
                if (u.args[d].op != Op::Coordinate) continue;
                stage.loops.push_back({names[d], false, {}, 0, int(d)});
            }
            model.stages.push_back(stage);
        }
    }

    // The functions that a stage calls, through the inlined ones.
    std::set<int> callees(int f, int stage) const {
        std::set<int> found;
        const FuncPlan &func = plan.funcs[size_t(f)];
        auto collect = [&](const Term &root) {
            for_each_term(root, [&](const Term &t) {
                if (t.op == Op::Call && t.index != f) found.insert(t.index);
                if (t.op == Op::Sum || t.op == Op::Maximum || t.op == Op::Minimum) {
                    for (const Term &w : plan.domains[size_t(t.index)].where) {
                        for_each_term(w, [&](const Term &in) {
                            if (in.op == Op::Call) found.insert(in.index);
                        });
                    }
                }
            });
        };
        if (stage == 0) {
            for (const Term &v : func.values) collect(v);
            if (func.source >= 0 && !func.source_is_input) found.insert(func.source);
            for (const ExternSource &s : func.reads) {
                if (!s.is_input) found.insert(s.index);
            }
        } else {
            const UpdatePlan &u = func.updates[size_t(stage) - 1];
            for (const Term &a : u.args) collect(a);
            for (const Term &v : u.values) collect(v);
        }
        std::set<int> all;
        for (int callee : found) {
            if (models[size_t(callee)].inlined) {
                all.merge(callees(callee, 0));
            } else {
                all.insert(callee);
            }
        }
        return all;
    }

    void choose_inlined() {
        double chance = random.pick<double>({0.1, 0.4, 0.7});
        for (size_t f = 0; f < plan.funcs.size(); f++) {
            FuncPlan &func = plan.funcs[f];
            double cost = 1;
            bool reduces = false;
            auto count = [&](const Term &root) {
                for_each_term(root, [&](const Term &t) {
                    cost += 0.2;
                    reduces |= t.op == Op::Sum || t.op == Op::Maximum || t.op == Op::Minimum;
                    if (t.op != Op::Call || t.index == int(f)) return;
                    const FuncModel &callee = models[size_t(t.index)];
                    cost += callee.inlined ? callee.cost : 1;
                });
            };
            for_each_root(func, count);
            if (func.source >= 0 && !func.source_is_input) cost += models[size_t(func.source)].cost;
            models[f].cost = cost;
            bool may = func.updates.empty() && !func.is_extern && !is_output(int(f)) && cost < 20 &&
                       !feeds_extern(int(f));
            // One call of it for each point: all that lies between several would be computed.
            if (reduces && number_of_calls(int(f)) > 1) may = false;
            models[f].inlined = may && random.chance(chance);
        }
    }

    int number_of_calls(int f) const {
        int calls = 0;
        for (const FuncPlan &caller : plan.funcs) {
            for_each_root(caller, [&](const Term &root) {
                for_each_term(root,
                              [&](const Term &t) { calls += t.op == Op::Call && t.index == f; });
            });
        }
        return calls;
    }

    // With updates, and without a schedule: each function that reads it computes it for itself.
    bool is_computed_by_readers(int f) {
        bool may = !plan.funcs[size_t(f)].updates.empty() && !is_output(f) && !feeds_extern(f) &&
                   number_of_calls(f) == 1;
        if (may && random.chance(0.08)) models[size_t(f)].by_readers = true;
        return models[size_t(f)].by_readers;
    }

    bool feeds_extern(int f) const {
        for (const FuncPlan &func : plan.funcs) {
            if (reads(func, f)) return true;
        }
        return false;
    }

    void add(Directive d) { plan.directives.push_back(std::move(d)); }
    Directive &emit(Verb verb, int f, int stage, std::vector<std::string> names = {}) {
        Directive d;
        d.verb = verb;
        d.func = f;
        d.update = stage - 1;
        d.names = std::move(names);
        plan.directives.push_back(std::move(d));
        return plan.directives.back();
    }

    // ---- Loops ----

    std::string fresh(const char *base) { return base + std::to_string(next_name++); }

    void schedule_stage(int f, int s) {
        if (plan.funcs[size_t(f)].is_extern) return schedule_extern(f);
        bool over_domain = s > 0 && plan.funcs[size_t(f)].updates[size_t(s) - 1].domain >= 0;
        if (over_domain && stage_of(f, s).associative && random.chance(0.4 * density))
            return rfactor(f, s);
        if (is_fusing && random.chance(0.7)) split_and_fuse(f, s);
        int steps = random.range(0, int(5 * density) + 1);
        for (int i = 0; i < steps; i++) one_transform(f, s);
        mark_loops(f, s);
        partition(f, s);
        if (random.chance(0.05 * density)) emit(Verb::AllowRaceConditions, f, s);
        if (random.chance(0.1 * density)) emit(Verb::StreamStores, f, s);
        if (random.chance(0.1 * density)) stream_loads(f, s);
        if (random.chance(0.15 * density)) prefetch(f, s);
        if (random.chance(0.15 * density)) specialize(f, s);
    }

    void partition(int f, int s) {
        for (const LoopModel &loop : stage_of(f, s).loops) {
            if (!random.chance(0.15 * density)) continue;
            emit(Verb::Partition, f, s, {loop.name}).partition =
                random.pick<Partition>({Partition::Never, Partition::Always, Partition::Auto});
        }
    }

    void stream_loads(int f, int s) {
        std::set<int> what = callees(f, s);
        Directive &d = emit(Verb::StreamLoads, f, s);
        if (!what.empty() && random.chance(0.6)) d.other = pick(what);
    }

    int pick(const std::set<int> &from) {
        return random.pick(std::vector<int>(from.begin(), from.end()));
    }

    void rfactor(int f, int s) {
        StageModel &stage = stage_of(f, s);
        const UpdatePlan &u = plan.funcs[size_t(f)].updates[size_t(s) - 1];
        stage.elsewhere = true;
        const Domain &domain = plan.domains[size_t(u.domain)];
        char kept_letter = "xyzw"[random.range(0, int(domain.box.size()) - 1)];
        std::string kept = str("r", u.domain, ".", kept_letter);
        std::string name = fresh("u");
        int created = next_created++;
        emit(Verb::Rfactor, f, s, {kept, name}).creates = created;
        emit(Verb::ComputeRoot, created, 0);
        int extent = domain.box[std::string("xyzw").find(kept_letter)].second;
        int part = random.range(0, 1);
        if (random.chance(0.4)) {
            emit(Verb::Parallel, created, part, {name});
        } else if (extent <= 16 && random.chance(0.5)) {
            emit(random.chance(0.7) ? Verb::Vectorize : Verb::Unroll, created, part, {name});
        }
    }

    StageModel &stage_of(int f, int s) { return models[size_t(f)].stages[size_t(s)]; }

    // ---- Extern stages: loops around calls of their functions ----

    void schedule_extern(int f) {
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

    static size_t loops_in_call(const StageModel &stage) {
        return size_t(std::ranges::count(stage.loops, true, &LoopModel::in_call));
    }

    void loop_around_calls(int f) {
        StageModel &stage = stage_of(f, 0);
        const size_t calls = loops_in_call(stage);
        if (calls == 0) return;
        LoopModel &loop = stage.loops[calls - 1];
        loop.in_call = false;
        emit(Verb::Serial, f, 0, {loop.name});
    }

    // The outermost of the loops that a call runs, so that what is left to it stays within.
    void split_extern(int f) {
        StageModel &stage = stage_of(f, 0);
        const size_t calls = loops_in_call(stage);
        if (calls == 0 || !split(f, 0, int(calls - 1))) return;
        stage.loops[calls].in_call = false;
    }

    void tile_extern(int f) {
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

    void one_transform(int f, int s) {
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

    void split_and_vectorize(int f, int s) {
        StageModel &stage = stage_of(f, s);
        size_t at = size_t(random.range(0, int(stage.loops.size()) - 1));
        if (random.chance(0.7)) at = 0;
        if (stage.loops[at].is_reduction || !split(f, s, int(at))) return;
        LoopModel &inner = stage.loops[at];
        LoopKind kind = random.chance(0.7) ? LoopKind::Vectorized : LoopKind::Unrolled;
        if (!fits(f, s, inner.extent)) return;
        if (kind == LoopKind::Vectorized && blended.count(inner.name)) return;
        inner.kind = kind;
        emit(inner.kind == LoopKind::Vectorized ? Verb::Vectorize : Verb::Unroll, f, s,
             {inner.name});
    }

    // Whether the body, repeated so many times more, is still what somebody might ask for.
    bool fits(int f, int s, int copies) {
        auto include = [&](const auto &loop) {
            bool copied = loop.kind == LoopKind::Vectorized || loop.kind == LoopKind::Unrolled;
            if (copied) copies *= std::max(loop.extent, 1);
        };
        for (const LoopModel &loop : stage_of(f, s).loops) include(loop);
        for (const Site &loop : models[size_t(f)].enclosing) include(loop);
        return copies <= 64;
    }

    bool split(int f, int s, int which = -1) {
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

    // Some of the pure loops; not of outputs, of which a tile may be larger.
    void tile(int f, int s) {
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

    TailStrategy tail_of_tile(int f, int s, const std::vector<LoopModel> &loops,
                              const std::vector<int> &factors) {
        TailStrategy chosen = random.pick<TailStrategy>(
            {TailStrategy::Auto, TailStrategy::GuardWithIf, TailStrategy::ShiftInwards,
             TailStrategy::RoundUp, TailStrategy::Predicate});
        for (size_t i = 0; i < loops.size(); i++) {
            if (!is_legal(chosen, f, s, loops[i], factors[i])) return TailStrategy::GuardWithIf;
        }
        return chosen;
    }

    // The loops of the tile, in the places where its old loops are and what they are split into.
    static void put_tile(StageModel &stage, const std::vector<LoopModel> &old,
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

    // Whether a loop that comes from a transformation is parallel or vectorized.
    bool any_tile_at_once(int f, int s) {
        return std::ranges::any_of(stage_of(f, s).loops, [&](const LoopModel &loop) {
            bool at_once = loop.kind == LoopKind::Parallel || loop.kind == LoopKind::Vectorized;
            return at_once && split_once.count(loop.name);
        });
    }

    // Whether the tail strategy, of a split of a pure loop, computes only what may be computed.
    bool is_legal(TailStrategy t, int f, int s, const LoopModel &loop, int factor) {
        bool again = split_once.count(loop.name), update = stage_of(f, s).is_update;
        bool shifts = t == TailStrategy::ShiftInwards || t == TailStrategy::ShiftInwardsAndBlend ||
                      t == TailStrategy::Auto;
        bool rounds = t == TailStrategy::RoundUp || t == TailStrategy::RoundUpAndBlend;
        if (update && t == TailStrategy::ShiftInwards) return false;
        if (update && again && t == TailStrategy::RoundUp) return false;
        if (!is_output(f)) return true;
        // The output has to be as large as what is shifted inwards, or rounded up.
        if (update && t == TailStrategy::Auto) return true;
        bool is_multiple = !again && plan.size[dim_of(f, loop.name)] % factor == 0;
        if (t == TailStrategy::RoundUp && is_multiple) return true;
        return !rounds && !(shifts && (again || plan.size[dim_of(f, loop.name)] < factor));
    }

    TailStrategy tail(int f, int s, const LoopModel &loop, int factor) {
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

    size_t dim_of(int f, const std::string &name) const {
        std::string names = "xyzw";
        size_t d = name.size() == 1 ? names.find(name) : std::string::npos;
        return d < size_t(plan.funcs[size_t(f)].dims) ? d : 0;
    }

    void fuse(int f, int s) {
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

    // For others to be computed in, and stored around.
    void split_and_fuse(int f, int s) {
        StageModel &stage = stage_of(f, s);
        if (stage.loops.empty()) return;
        if (stage.loops.size() < 3 || random.chance(0.7)) split(f, s);
        if (random.chance(0.3)) reorder(f, s);
        fuse(f, s);
        if (random.chance(0.2)) fuse(f, s);
    }

    void rename(int f, int s) {
        StageModel &stage = stage_of(f, s);
        LoopModel &loop = stage.loops[size_t(random.range(0, int(stage.loops.size()) - 1))];
        Directive &d = emit(Verb::Rename, f, s, {loop.name, fresh("n")});
        if (blended.count(loop.name)) blended.insert(d.names[1]);
        if (fused_loops.count(loop.name)) fused_loops.insert(d.names[1]);
        loop.name = d.names[1];
        split_once.insert(loop.name);
    }

    // Loops of a domain keep their order among themselves, unless any order will do.
    void reorder(int f, int s) {
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

    void make_atomic(int f, int s) {
        StageModel &stage = stage_of(f, s);
        if (!stage.atomic) emit(Verb::Atomic, f, s);
        stage.atomic = true;
    }

    void mark_loops(int f, int s) {
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
            } else if (choice == 3 && i + 2 >= stage.loops.size() && !blended.count(loop.name)) {
                if (reduction) make_atomic(f, s);
                loop.kind = LoopKind::Parallel;
                emit(Verb::Parallel, f, s, {loop.name});
            } else if (random.chance(0.1)) {
                emit(Verb::Serial, f, s, {loop.name});
            }
        }
    }

    // Copies for some values of the parameter, which is 3, with inner loops of their own.
    void specialize(int f, int s) {
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

    void schedule_special(int f, int s, int number) {
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

    void prefetch(int f, int s) {
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

    // ---- Placement ----

    // The loops around a stage's body, outermost first.
    std::vector<Site> path(int f, int s) const {
        std::vector<Site> all = models[size_t(f)].enclosing;
        const StageModel &stage = models[size_t(f)].stages[size_t(s)];
        if (stage.elsewhere || models[size_t(f)].by_readers) return {};
        for (size_t i = stage.loops.size(); i-- > stage.hidden;) {
            const LoopModel &loop = stage.loops[i];
            all.push_back({f, s, loop.name, loop.kind, loop.extent, loop.dim});
        }
        return all;
    }

    void place(int f) {
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
        for (const Site &site : common.value_or(std::vector<Site>())) {
            if (site.kind == LoopKind::Vectorized) break;
            usable.push_back(site);
        }
        if (usable.empty() || random.chance(0.3)) {
            emit(Verb::ComputeRoot, f, 0);
            if (random.chance(0.08)) emit(Verb::Async, f, 0);
            return;
        }
        size_t at = choose_site(usable);
        level(Verb::ComputeAt, f, usable[at]);
        models[size_t(f)].enclosing.assign(usable.begin(), usable.begin() + long(at) + 1);
        store_outside(f, usable, at);
    }

    // Any; of a domain or within a fused loop rather than one of many others.
    size_t choose_site(const std::vector<Site> &usable) {
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

    void level(Verb verb, int f, const Site &site) {
        Directive &d = emit(verb, f, 0, {site.loop});
        d.other = site.func;
    }

    void store_outside(int f, const std::vector<Site> &usable, size_t at) {
        if (!random.chance(is_fusing ? 0.8 : 0.5)) {
            if (random.chance(0.06)) emit(Verb::Async, f, 0);
            return;
        }
        // No loop in between may be parallel.
        size_t lowest = at;
        while (lowest > 0 && usable[lowest].kind != LoopKind::Parallel) lowest--;
        bool root = lowest == 0 && (usable[0].kind != LoopKind::Parallel) && random.chance(0.4);
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
                if (random.chance(0.6)) emit(Verb::Async, f, 0);
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
        if (random.chance(0.25)) emit(Verb::Async, f, 0);
    }

    // A copy of the stage that something is computed in, with the same loops.
    void specialize_around(const Site &site) {
        for (const Directive &d : plan.directives) {
            const bool there = d.func == site.func && d.update == site.stage - 1;
            if (there && d.verb == Verb::Specialize) return;
        }
        if (plan.funcs[size_t(site.func)].is_extern) return;
        emit(Verb::Specialize, site.func, site.stage).factor = random.range(2, 4);
    }

    // Along dimensions that the loops between where it is stored and computed may walk over.
    void fold(int f, const std::vector<Site> &between) {
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
        }
    }

    // ---- Storage and regions ----

    void schedule_storage(int f) {
        static const char *names[] = {"x", "y", "z", "w"};
        int dims = plan.funcs[size_t(f)].dims;
        std::string dim = names[random.range(0, dims - 1)];
        switch (random.range(0, 9)) {
        case 7:
            if (!is_output(f)) emit(Verb::BoundStorage, f, 0, {dim}).factor = 512;
            return;
        case 8: {
            int what = random.range(0, 7);
            if (what & 1) emit(Verb::TraceLoads, f, 0);
            if (what & 2) emit(Verb::TraceStores, f, 0);
            if (what & 4) emit(Verb::TraceRealizations, f, 0);
            return;
        }
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
                emit(Verb::StoreIn, f, 0).memory =
                    random.chance(0.7) ? MemoryType::Heap : MemoryType::Stack;
            }
        }
    }

    // Regions that a split divides need no tail, and may slide although they are split.
    void align_to_a_split(int f) {
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

    // ---- Copies: last, so that nothing else names what they make ----

    void copies() {
        int f = random.range(0, int(plan.funcs.size()) - 1);
        if (is_output(f) || models[size_t(f)].inlined || feeds_extern(f)) return;
        if (!models[size_t(f)].enclosing.empty()) return;
        std::vector<int> consumers;
        for (int c = f + 1; c < int(plan.funcs.size()); c++) {
            const FuncPlan &func = plan.funcs[size_t(c)];
            bool calls = false;
            for_each_root(func, [&](const Term &root) {
                for_each_term(root,
                              [&](const Term &t) { calls |= t.op == Op::Call && t.index == f; });
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

    Plan &plan;
    Random &random;
    std::vector<FuncModel> models;
    std::set<std::string> blended;     // their iterations read what others write
    std::set<std::string> split_once;  // loops that come from a transformation
    std::set<std::string> fused_loops;
    bool is_fusing = false;
    double density = 0.5;
    int next_name = 0, next_created = 0;
};

}  // namespace

void draw_schedule(Plan &plan, Random &random) { Scheduler(plan, random).draw(); }

}  // namespace tessera::fuzz
