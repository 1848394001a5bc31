#include "autoscheduler/plan_costs.h"
#include "autoscheduler/stopped.h"
#include "program/environment.h"
#include <algorithm>
#include <functional>
#include <unordered_map>

namespace tessera::autoscheduler {

using program::FunctionContents;
using program::FunctionRef;
using program::LoopLevel;

namespace {

void mix(size_t &hash, size_t with) { hash = (hash ^ with) * 0x9e3779b97f4a7c15u + (hash >> 29); }

void mix(size_t &hash, const std::vector<int64_t> &all) {
    mix(hash, all.size());
    for (int64_t one : all) mix(hash, size_t(one));
}

void mix(size_t &hash, const LoopLevel &level) {
    mix(hash, size_t(level.is_at()));
    mix(hash, std::hash<Symbol>()(level.func()));
    mix(hash, std::hash<Symbol>()(level.var()));
}

size_t hash_of(const FunctionDecisions &d) {
    size_t hash = 0;
    mix(hash, size_t(d.plan.place));
    mix(hash, size_t(d.plan.innermost));
    for (const StagePlan &s : d.plan.stages) {
        mix(hash, s.tile);
        mix(hash, s.block);
        mix(hash, s.unroll);
        mix(hash, size_t(s.vector));
        mix(hash, size_t(s.lanes));
        mix(hash, size_t(s.parallel));
    }
    mix(hash, d.compute_level);
    mix(hash, d.store_level);
    mix(hash, d.facts.periods);
    for (const bool is_whole : d.facts.has_whole_piece) mix(hash, size_t(is_whole));
    return hash;
}

// A number for each list of numbers.
struct HashOfKey {
    size_t operator()(const std::vector<int> &key) const {
        size_t hash = 0;
        for (int k : key) mix(hash, size_t(k));
        return hash;
    }
};

// A function with the schedule that some decisions make.
struct ScheduledFunction {
    FunctionDecisions decisions;
    FunctionRef function;
    PlaceLevels levels;
    int id = 0;         // of all of them
    int around = -1;    // the function in whose loops it is; -1: none
    int innermost = 0;  // the dimension whose values lie side by side
    bool is_inlined = false;
    bool is_legal = true;  // else the compiler has refused it
};

// Holds the costs of the stages of a group.
struct Group {
    bool is_legal = true;
    std::vector<int> stages;
    std::vector<StageCost> costs;  // of these, as all others
    std::vector<double> cycles;
    std::vector<std::vector<Span>> spans;  // TreeStage::spans
    std::vector<Features> features;  // empty until they are asked for; without those of the whole
};

}  // namespace

class PlanCosts::Memory {
public:
    Memory(const Graph &graph, const Machine &machine, std::stop_token stop)
        : graph(graph), machine(machine), stop(std::move(stop)), known(graph.functions.size()),
          now(graph.functions.size()), root(graph.functions.size()),
          members(graph.functions.size()), seen(graph.functions.size()) {
        last.functions.resize(graph.functions.size());
        for (const FunctionNode &f : graph.functions) {
            std::vector<int> &of = sources.emplace_back();
            for (int s : f.stages) {
                for (const Access &a : graph.stages[size_t(s)].accesses) {
                    const int from = a.source.function;
                    if (from >= 0 && !std::ranges::count(of, from)) of.push_back(from);
                }
            }
        }
    }

    // Finds the groups of a plan, and estimates those that are new. Returns false if the plan is no
    // schedule.
    bool look_at(const Plan &plan, bool wants_features) {
        groups.clear();
        if (stop.stop_requested()) throw Stopped();
        if (!find_functions(plan) || !find_roots()) return false;
        forget_if_full();
        for (size_t n = 0; n < members.size(); n++) {
            if (members[n].empty()) continue;
            const auto [place, is_new] = memory.try_emplace(key_of(members[n]));
            Group &group = place->second;
            if (is_new) estimate(members[n], group);
            if (!group.is_legal) return false;
            if (wants_features && group.features.empty()) find_features(members[n], group);
            groups.push_back(&group);
        }
        return true;
    }

    // In the plan that was looked at.
    bool is_within_loops_of(int n, int function) const {
        while (n >= 0 && n != function) n = now[size_t(n)]->around;
        return n == function;
    }

    const Graph &graph;
    const Machine &machine;
    const std::stop_token stop;
    std::vector<const Group *> groups;  // of the plan that was looked at
    size_t plans = 0, estimated_stages = 0;

private:
    // ---- The functions as they are scheduled ----

    bool find_functions(const Plan &plan) {
        facts = region_facts(graph, plan);
        std::vector<bool> is_changed(now.size());
        bool is_legal = true;
        for (size_t n = now.size(); n-- > 0;) {
            const FunctionPlan &p = plan.functions[n];
            const bool is_around = is_within(p.place) && p.at > int(n);
            is_changed[n] =
                !now[n] || p != last.functions[n] || fetches(p) ||
                (is_around && is_changed[size_t(p.at)]) ||
                (!now[n]->decisions.plan.stages.empty() && facts[n] != now[n]->decisions.facts);
            if (!is_changed[n]) continue;
            const ScheduledFunction *before = now[n];
            const bool is_as_it_was = graph.is_fixed[n] || p.place == Place::Inline;
            now[n] = is_as_it_was ? &unscheduled(int(n)) : &scheduled(int(n), plan);
            is_changed[n] = now[n] != before;
            last.functions[n] = p;
        }
        for (const ScheduledFunction *f : now) is_legal &= f->is_legal;
        return is_legal;
    }
    static bool fetches(const FunctionPlan &p) {
        return std::ranges::any_of(p.stages, [](const StagePlan &s) { return s.prefetch > 0; });
    }
    const ScheduledFunction &scheduled(int n, const Plan &plan) {
        const int at = plan.functions[size_t(n)].at;
        FunctionDecisions d = decisions_of(
            graph, plan, n, at > n ? now[size_t(at)]->levels : PlaceLevels(), facts[size_t(n)]);
        const size_t hash = hash_of(d);
        auto &all = known[size_t(n)];
        const auto [begin, end] = all.equal_range(hash);
        for (auto i = begin; i != end; ++i) {
            if (i->second.decisions == d) return i->second;
        }
        return all.emplace(hash, make(n, std::move(d)))->second;
    }
    // Returns the function as the user and the structure leave it.
    const ScheduledFunction &unscheduled(int n) {
        constexpr size_t hash = 0;
        auto &all = known[size_t(n)];
        const auto [begin, end] = all.equal_range(hash);
        for (auto i = begin; i != end; ++i) {
            if (i->second.decisions.plan.stages.empty()) return i->second;
        }
        ScheduledFunction f;
        f.function = graph.functions[size_t(n)].function;
        f.is_inlined = is_computed_inline(graph.functions[size_t(n)], *f.function);
        complete(n, f);
        return all.emplace(hash, std::move(f))->second;
    }
    ScheduledFunction make(int n, FunctionDecisions &&decisions) {
        ScheduledFunction f;
        f.function = program::FunctionRef(program::copy(*graph.functions[size_t(n)].function));
        std::vector<program::Step> steps;
        f.levels = add_steps(graph, n, decisions, machine.least_tasks(), steps);
        f.decisions = std::move(decisions);
        program::Functions functions = {{f.function->name, f.function}};
        try {
            for (const program::Step &s : steps) program::perform(s, functions);
        } catch (const CompileError &) {
            f.is_legal = false;
        }
        complete(n, f);
        return f;
    }
    void complete(int n, ScheduledFunction &f) {
        f.id = next_id++;
        const LoopLevel &level = f.function->schedule.compute_level;
        if (level.is_at()) f.around = graph.find(level.func());
        if (f.around <= n) f.around = -1;
        f.is_legal &= !level.is_at() || f.around > n || graph.is_fixed[size_t(n)];
        f.innermost = int(innermost_of(*f.function));
    }

    // ---- Groups ----

    bool is_inlined(int n) const { return now[size_t(n)]->is_inlined; }

    // False if a function is in the loops of one that has none.
    bool find_roots() {
        for (std::vector<int> &m : members) m.clear();
        for (int n = int(now.size()); n-- > 0;) {
            if (is_inlined(n)) continue;
            int around = now[size_t(n)]->around;
            if (around >= 0 && is_inlined(around)) {
                if (!graph.is_fixed[size_t(n)]) return false;
                around = -1;  // in the loops of sums that the user wants inlined
            }
            root[size_t(n)] = around < 0 ? n : root[size_t(around)];
            members[size_t(root[size_t(n)])].push_back(n);
        }
        return true;
    }

    // All that the cost of a group depends on.
    std::vector<int> key_of(const std::vector<int> &group) {
        std::vector<int> key;
        key.reserve(group.size() + 8);
        for (int n : group) key.push_back(now[size_t(n)]->id);
        stamp++;
        for (int n : group) add_sources(n, group[0], key);
        return key;
    }
    void add_sources(int n, int of_root, std::vector<int> &key) {
        for (int from : sources[size_t(n)]) {
            if (seen[size_t(from)] == stamp) continue;
            seen[size_t(from)] = stamp;
            if (is_inlined(from)) {
                key.push_back(-1 - from);
                add_sources(from, of_root, key);
            } else if (root[size_t(from)] != of_root && now[size_t(from)]->innermost != 0) {
                key.push_back(-1 - from);
                key.push_back(now[size_t(from)]->innermost);
            }
        }
    }

    void estimate(const std::vector<int> &functions, Group &group) {
        try {
            LoopTree tree = tree_of(functions);
            for (int s : tree.computed) {
                group.stages.push_back(s);
                group.costs.push_back(estimate_cost(StageView(tree, machine, s), machine));
                group.cycles.push_back(group.costs.back().cycles());
                group.spans.push_back(tree.stages[size_t(s)].spans);
                estimated_stages++;
            }
        } catch (const CompileError &) {
            group = Group();
            group.is_legal = false;
        }
    }
    void find_features(const std::vector<int> &functions, Group &group) {
        LoopTree tree = tree_of(functions);
        for (size_t i = 0; i < group.stages.size(); i++) {
            const StageView view(tree, machine, group.stages[i]);
            group.features.push_back(features_of(view, group.costs[i]));
        }
    }
    LoopTree tree_of(const std::vector<int> &functions) {
        std::vector<const FunctionContents *> contents;
        for (const ScheduledFunction *f : now) contents.push_back(f->function.get());
        return LoopTree(graph, contents, functions,
                        [&](int s, const std::vector<bool> &) { return point_work(s); });
    }
    PointWorkRef point_work(int stage) {
        std::vector<int> key = {stage};
        stamp++;
        add_inlined(graph.stages[size_t(stage)].function, key);
        constexpr size_t most_leaves = 200'000;
        if (leaves > most_leaves) {
            works.clear();
            leaves = 0;
        }
        PointWorkRef &work = works[std::move(key)];
        if (!work) {
            std::vector<bool> inlined;
            for (const ScheduledFunction *f : now) inlined.push_back(f->is_inlined);
            work = std::make_shared<PointWork>(graph, graph.stages[size_t(stage)], inlined);
            leaves += work->leaves.size();
        }
        return work;
    }
    void add_inlined(int n, std::vector<int> &key) {
        for (int from : sources[size_t(n)]) {
            if (seen[size_t(from)] == stamp || !is_inlined(from)) continue;
            seen[size_t(from)] = stamp;
            key.push_back(from);
            add_inlined(from, key);
        }
    }

    // A plan that was seen long ago does not come again.
    void forget_if_full() {
        constexpr size_t most = 200'000;
        if (estimated_stages - forgotten < most) return;
        forgotten = estimated_stages;
        memory.clear();
    }

    std::vector<std::vector<int>> sources;  // functions that each one reads
    std::vector<std::unordered_multimap<size_t, ScheduledFunction>> known;
    std::vector<const ScheduledFunction *> now;  // of the plan that is looked at
    Plan last;                                   // that one
    std::vector<RegionFacts> facts;              // of its functions
    std::vector<int> root;
    std::vector<std::vector<int>> members;  // of each group, consumers first, by its root
    std::vector<int> seen;
    int stamp = 0, next_id = 0;
    std::unordered_map<std::vector<int>, Group, HashOfKey> memory;
    // The keys are the stage and what it has inlined.
    std::unordered_map<std::vector<int>, PointWorkRef, HashOfKey> works;
    size_t forgotten = 0, leaves = 0;
};

PlanCosts::PlanCosts(const Graph &graph, const Machine &machine, std::stop_token stop)
    : memory(std::make_unique<Memory>(graph, machine, std::move(stop))) {}

PlanCosts::~PlanCosts() = default;

std::optional<double> PlanCosts::cycles(const Plan &plan) {
    memory->plans++;
    if (!memory->look_at(plan, false)) return std::nullopt;
    // In the order of the stages, so that it is the same sum in whatever groups they are.
    std::vector<double> cycles(memory->graph.stages.size(), 0);
    for (const Group *g : memory->groups) {
        for (size_t i = 0; i < g->stages.size(); i++) cycles[size_t(g->stages[i])] = g->cycles[i];
    }
    double sum = 0;
    for (double c : cycles) sum += c;
    return sum;
}

std::optional<Cost> PlanCosts::cost(const Plan &plan) {
    memory->plans++;
    if (!memory->look_at(plan, false)) return std::nullopt;
    Cost cost;
    cost.stages.resize(memory->graph.stages.size());
    for (const Group *g : memory->groups) {
        for (size_t i = 0; i < g->stages.size(); i++) {
            cost.stages[size_t(g->stages[i])] = g->costs[i];
        }
    }
    for (const StageCost &s : cost.stages) {
        cost.cycles += s.cycles();
        cost.code += s.code;
    }
    return cost;
}

ProgramFeatures PlanCosts::features(const Plan &plan, const Cost &cost) {
    memory->look_at(plan, true);
    std::vector<const Features *> of_stages(cost.stages.size(), nullptr);
    for (const Group *g : memory->groups) {
        for (size_t i = 0; i < g->stages.size(); i++)
            of_stages[size_t(g->stages[i])] = &g->features[i];
    }
    ProgramFeatures all;
    for (size_t s = 0; s < of_stages.size(); s++) {
        if (of_stages[s]) all.add(*of_stages[s], cost.stages[s], cost);
    }
    return all;
}

std::optional<double> PlanCosts::cycles_within(const Plan &plan, int function) {
    if (!memory->look_at(plan, false)) return std::nullopt;
    double sum = 0;
    for (const Group *g : memory->groups) {
        for (size_t i = 0; i < g->stages.size(); i++) {
            const int n = memory->graph.stages[size_t(g->stages[i])].function;
            if (memory->is_within_loops_of(n, function)) sum += g->cycles[i];
        }
    }
    return sum;
}

std::optional<std::vector<Span>> PlanCosts::spans(const Plan &plan, int stage) {
    if (!memory->look_at(plan, false)) return std::nullopt;
    for (const Group *g : memory->groups) {
        const auto at = std::ranges::find(g->stages, stage);
        if (at != g->stages.end()) return g->spans[size_t(at - g->stages.begin())];
    }
    return std::nullopt;
}

size_t PlanCosts::plans() const { return memory->plans; }
size_t PlanCosts::estimated_stages() const { return memory->estimated_stages; }

}  // namespace tessera::autoscheduler
