#include "scheduler.h"
#include <algorithm>
#include <base/str.h>

namespace tessera::fuzz {

void Scheduler::draw() {
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
        keep_async_on_one_side(f);
        for (int i = 0; i < 2; i++) {
            if (random.chance(0.3 * density)) schedule_storage(f);
        }
        if (!is_output(f) && random.chance(0.3)) align_to_a_split(f);
    }
    if (random.chance(0.3)) copies();
}

bool Scheduler::is_output(int f) const {
    return std::find(plan.outputs.begin(), plan.outputs.end(), f) != plan.outputs.end();
}

void Scheduler::make_model(int f) {
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
        for (size_t d = 0; u.domain >= 0 && d < plan.domains[size_t(u.domain)].box.size(); d++) {
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

std::set<int> Scheduler::callees(int f, int stage) const {
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

void Scheduler::choose_inlined() {
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

int Scheduler::number_of_calls(int f) const {
    int calls = 0;
    for (const FuncPlan &caller : plan.funcs) {
        for_each_root(caller, [&](const Term &root) {
            for_each_term(root, [&](const Term &t) { calls += t.op == Op::Call && t.index == f; });
        });
    }
    return calls;
}

bool Scheduler::is_computed_by_readers(int f) {
    bool may = !plan.funcs[size_t(f)].updates.empty() && !is_output(f) && !feeds_extern(f) &&
               number_of_calls(f) == 1;
    if (may && random.chance(0.08)) models[size_t(f)].by_readers = true;
    return models[size_t(f)].by_readers;
}

bool Scheduler::feeds_extern(int f) const {
    for (const FuncPlan &func : plan.funcs) {
        if (reads(func, f)) return true;
    }
    return false;
}

Directive &Scheduler::emit(Verb verb, int f, int stage, std::vector<std::string> names) {
    Directive d;
    d.verb = verb;
    d.func = f;
    d.update = stage - 1;
    d.names = std::move(names);
    plan.directives.push_back(std::move(d));
    return plan.directives.back();
}

void Scheduler::schedule_stage(int f, int s) {
    if (plan.funcs[size_t(f)].is_extern) return schedule_extern(f);
    bool over_domain = s > 0 && plan.funcs[size_t(f)].updates[size_t(s) - 1].domain >= 0;
    if (over_domain && stage_of(f, s).associative && random.chance(0.4 * density))
        return rfactor(f, s);
    if (is_fusing && random.chance(0.7)) split_and_fuse(f, s);
    int steps = random.range(0, int(5 * density) + 1);
    for (int i = 0; i < steps; i++) one_transform(f, s);
    if (is_for_gpu(plan)) mark_gpu_loops(f, s);
    mark_loops(f, s);
    partition(f, s);
    if (random.chance(0.05 * density)) emit(Verb::AllowRaceConditions, f, s);
    if (random.chance(0.1 * density)) emit(Verb::StreamStores, f, s);
    if (random.chance(0.1 * density)) stream_loads(f, s);
    if (random.chance(0.15 * density)) prefetch(f, s);
    if (random.chance(0.15 * density)) specialize(f, s);
}

void Scheduler::partition(int f, int s) {
    for (const LoopModel &loop : stage_of(f, s).loops) {
        if (!random.chance(0.15 * density)) continue;
        emit(Verb::Partition, f, s, {loop.name}).partition =
            random.pick<Partition>({Partition::Never, Partition::Always, Partition::Auto});
    }
}

void Scheduler::stream_loads(int f, int s) {
    std::set<int> what = callees(f, s);
    Directive &d = emit(Verb::StreamLoads, f, s);
    if (!what.empty() && random.chance(0.6)) d.other = pick(what);
}

int Scheduler::pick(const std::set<int> &from) {
    return random.pick(std::vector<int>(from.begin(), from.end()));
}

void Scheduler::rfactor(int f, int s) {
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

void draw_schedule(Plan &plan, Random &random) { Scheduler(plan, random).draw(); }

}  // namespace tessera::fuzz
