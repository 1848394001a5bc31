#include "autoscheduler/space/gpu_structure.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/point_work.h"
#include "program/associativity.h"
#include <algorithm>
#include <cmath>

namespace tessera::autoscheduler {

void GpuStructure::append(GpuStructure &&more) {
    if (more.is_empty()) return;
    if (!rule.empty()) rule += ", ";
    rule += more.rule;
    steps.insert(steps.end(), more.steps.begin(), more.steps.end());
    scheduled.merge(more.scheduled);
    kernels.insert(kernels.end(), more.kernels.begin(), more.kernels.end());
}

Symbol name_made_of(const Graph &graph, const FunctionNode &f, const char *suffix) {
    std::string name = f.name + suffix;
    if (std::ranges::count(graph.functions, f.name, &FunctionNode::name) > 1)
        name = str(f.name, "_", &f - graph.functions.data(), suffix);
    while (std::ranges::count(graph.functions, name, &FunctionNode::name) > 0) name += "_";
    return Symbol::interned(name);
}

bool is_associative_update(const Graph &graph, const StageNode &stage) {
    const FunctionNode &f = graph.functions[size_t(stage.function)];
    if (stage.number != 1 || f.stages.size() != 2 || !stage.is_reduction()) return false;
    const auto update = program::prove_associativity(*f.function, *stage.definition);
    return update && update->commutative && update->has_identities();
}

bool reads_side_by_side(const Graph &graph, const StageNode &stage, size_t variable) {
    std::vector<bool> is_inlined(graph.functions.size());
    for (int n = 0; n < stage.function; n++)
        is_inlined[size_t(n)] = may_be_inlined(graph, n) && !graph.is_fixed[size_t(n)];
    const PointWork work(graph, stage, is_inlined);
    bool any = false;
    for (const Leaf &leaf : work.leaves) {
        if (leaf.source.function == stage.function) continue;
        for (size_t d = 0; d < leaf.growths.size(); d++) {
            const Growth &g = leaf.growths[d][variable];
            if (g.is_none()) continue;
            if (d > 0 || std::isnan(g.mean) || g.mean != 1) return false;
            any = true;
        }
    }
    return any;
}

namespace {

void add_copy(const Graph &graph, GpuStructure &s, const FunctionNode &f,
              const std::vector<Symbol> &readers, const char *suffix) {
    const Symbol made = name_made_of(graph, f, suffix);
    s.steps.push_back({f.function->name, program::WrapStep{readers, made, false, {}}});
}

// Threads form each of its values by themselves.
bool is_sum_for_threads(const Graph &graph, const FunctionNode &f) {
    constexpr double many = 4;
    if (f.is_output || f.is_extern || f.is_read_by_extern || f.stages.size() != 2) return false;
    if (f.consumers.empty() || f.function->args.empty()) return false;
    const StageNode &update = graph.stages[size_t(f.stages[1])];
    double points = 1;
    for (const Span &d : update.domain) points *= double(std::max<int64_t>(1, d.extent()));
    const std::vector<Span> spans(update.variables.size(), Span{7, 7});
    const bool reads_itself_elsewhere = std::ranges::any_of(update.accesses, [&](const Access &a) {
        if (a.source.function != update.function) return false;
        for (size_t d = 0; d < a.index.size(); d++) {
            if (a.index[d].run(spans) != update.writes[d].run(spans)) return true;
        }
        return false;
    });
    return points >= many && update.pure == f.function->args.size() && !reads_itself_elsewhere;
}

}  // namespace

GpuStructure copies_of_sums(const Graph &graph, const GpuMachine &) {
    GpuStructure all;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const FunctionNode &f = graph.functions[n];
        if (graph.is_fixed[n] || !is_sum_for_threads(graph, f)) continue;
        add_copy(graph, all, f, {}, "_stored");
    }
    return all;
}

}  // namespace tessera::autoscheduler
