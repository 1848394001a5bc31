#include "autoscheduler/groups.h"
#include "autoscheduler/mutate.h"
#include <algorithm>
#include <map>
#include <set>

namespace tessera::autoscheduler {

namespace {

// Returns the last function of the group that a function is in.
int group_of(const Plan &plan, int n) {
    while (is_within(plan.functions[size_t(n)].place)) n = plan.functions[size_t(n)].at;
    return n;
}

}  // namespace

bool fit_in_one_group(const Plan &plan, int a, int b) {
    // An estimate takes longer the more functions a group has. Longer groups saved a chain 0.2 % of
    // its cycles.
    constexpr int most = 16;
    const int group_of_a = group_of(plan, a), group_of_b = group_of(plan, b);
    int size = 0;
    for (int n = 0; n < int(plan.functions.size()); n++) {
        if (plan.functions[size_t(n)].place == Place::Inline) continue;
        const int group = group_of(plan, n);
        size += n == a || n == b || group == group_of_a || group == group_of_b;
    }
    return size <= most;
}

namespace {

class Grouping {
public:
    using CostOf = std::function<std::optional<double>(const Plan &)>;

    Grouping(const Graph &graph, const Machine &machine, Plan plan, const CostOf &cost_of)
        : graph(graph), machine(machine), plan(std::move(plan)), cost_of(cost_of) {}

    Plan operator()() {
        const std::optional<double> cost = cost_of(plan);
        if (!cost) return plan;
        current = *cost;
        while (const auto m = best_merge()) {
            // The saving that was found before other merges is that of now, or nearly so.
            Plan next = merged(*m);
            const std::optional<double> after = cost_of(next);
            tried[m->group].saved = 0;
            if (!after || *after >= current) continue;
            plan = std::move(next);
            current = *after;
            std::erase_if(tried, [&](const auto &t) {
                return t.second.into == m->group || t.second.into == m->into ||
                       t.first == m->into || t.first == m->group;
            });
        }
        return plan;
    }

private:
    // Names a group, by its last function, and the one that reads it, into which it may be merged.
    struct Merge {
        int group = -1, into = -1;
        int64_t columns = 0, rows = 0;  // of a tile
        double saved = 0;               // cycles, when it was tried
    };

    bool is_inline(int n) const { return plan.functions[size_t(n)].place == Place::Inline; }

    // Adds the functions with loops that read a function, through those that are inlined.
    void add_readers(int n, std::set<int> &readers) const {
        for (int c : graph.functions[size_t(n)].consumers) {
            const int reader = graph.stages[size_t(c)].function;
            if (is_inline(reader)) {
                add_readers(reader, readers);
            } else {
                readers.insert(reader);
            }
        }
    }
    // The group that reads all of this one; -1 if there is none.
    int reader_of(int group) const {
        std::set<int> readers, groups;
        add_readers(group, readers);
        for (int r : readers) groups.insert(group_of(plan, r));
        return groups.size() == 1 ? *groups.begin() : -1;
    }
    bool may_merge(int n) const {
        const FunctionNode &f = graph.functions[size_t(n)];
        return plan.functions[size_t(n)].place == Place::Root && !f.is_output && !f.is_extern &&
               !graph.is_fixed[size_t(n)];
    }
    bool may_have_tiles(int n) const {
        const FunctionNode &f = graph.functions[size_t(n)];
        return !f.is_extern && !graph.is_fixed[size_t(n)] &&
               graph.stages[size_t(f.stages.back())].pure > 0;
    }

    // The plan in which both are one group.
    Plan merged(const Merge &m) const {
        Plan result = plan;
        for (int n = 0; n < int(plan.functions.size()); n++) {
            if (!is_inline(n) && group_of(plan, n) == m.group)
                move_to(result, n, Place::Tile, m.into, machine);
        }
        const FunctionNode &f = graph.functions[size_t(m.into)];
        const StageNode &stage = graph.stages[size_t(f.stages.back())];
        StagePlan &last = result.functions[size_t(m.into)].stages.back();
        last.tile.assign(stage.variables.size(), 0);
        last.tile[0] = stage.pure > 1 ? m.columns : std::max(m.columns, m.rows);
        if (stage.pure > 1) last.tile[1] = m.rows;
        last.parallel = machine.cores > 1;
        return result;
    }

    // Merges with the tiles that save the most.
    Merge try_merge(int group, int into) const {
        constexpr int64_t sizes[][2] = {{0, 8}, {0, 32}, {64, 16}, {128, 32}, {256, 64}, {256, 8}};
        Merge best = {group, into};
        for (const auto &[columns, rows] : sizes) {
            Merge m = {group, into, columns, rows};
            const std::optional<double> cost = cost_of(merged(m));
            m.saved = cost ? current - *cost : 0;
            if (m.saved > best.saved) best = m;
        }
        return best;
    }

    std::optional<Merge> best_merge() {
        std::optional<Merge> best;
        for (int n = 0; n < int(plan.functions.size()); n++) {
            if (!may_merge(n)) continue;
            const int into = reader_of(n);
            if (into < 0 || !may_have_tiles(into) || !fit_in_one_group(plan, n, into)) continue;
            auto found = tried.find(n);
            if (found == tried.end()) found = tried.emplace(n, try_merge(n, into)).first;
            const Merge &m = found->second;
            if (m.saved > 0 && (!best || m.saved > best->saved)) best = m;
        }
        return best;
    }

    const Graph &graph;
    const Machine &machine;
    Plan plan;
    const CostOf &cost_of;
    double current = 0;
    std::map<int, Merge> tried;  // per group
};

}  // namespace

Plan merge_into_groups(const Graph &graph, const Machine &machine, Plan plan,
                       const std::function<std::optional<double>(const Plan &)> &cost_of) {
    return Grouping(graph, machine, std::move(plan), cost_of)();
}

}  // namespace tessera::autoscheduler
