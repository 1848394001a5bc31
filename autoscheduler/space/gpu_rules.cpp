#include "autoscheduler/space/gpu_rules.h"
#include "autoscheduler/copies.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/plan.h"
#include "autoscheduler/space/gpu_histograms.h"
#include "autoscheduler/space/gpu_products.h"
#include "autoscheduler/space/gpu_rows.h"
#include "autoscheduler/space/gpu_shares.h"
#include "autoscheduler/space/gpu_tensor_products.h"
#include <algorithm>
#include <set>

namespace tessera::autoscheduler {

namespace {

// Chooses where functions are computed.
class GpuPlacing {
public:
    GpuPlacing(const Graph &graph, const GpuMachine &machine)
        : graph(graph), kernels(graph, machine) {
        best.functions.resize(graph.functions.size());
        for (size_t n = 0; n < graph.functions.size(); n++) begin_with(int(n));
    }

    GpuPlan operator()() {
        constexpr int most_sweeps = 3;
        time = time_of(best);
        for (int sweep = 0; sweep < most_sweeps; sweep++) {
            const double before = time;
            for (int n = int(graph.functions.size()); n-- > 0;) improve(n);
            if (time > 0.99 * before) break;
        }
        share_out(kernels, best);
        return best;
    }

private:
    const FunctionNode &node(int n) const { return graph.functions[size_t(n)]; }
    GpuFunctionPlan &of(GpuPlan &plan, int n) const { return plan.functions[size_t(n)]; }
    bool is_mine(int n) const {
        return !graph.is_fixed[size_t(n)] && !node(n).is_output && !node(n).is_extern &&
               !node(n).is_read_by_extern && !node(n).stages.empty();
    }

    // What costs less to compute than to load is inlined from the beginning.
    void begin_with(int n) {
        GpuFunctionPlan &p = of(best, n);
        if (graph.is_fixed[size_t(n)]) {
            p.place = place_by_hand(graph, n) == Place::Inline ? GpuPlace::Inline : GpuPlace::Root;
            return;
        }
        if (!may_be_inlined(graph, n)) return;
        const StageNode &pure = graph.stages[size_t(node(n).stages[0])];
        const bool is_cheap = pure.operations.total() <= 3 && pure.accesses.size() <= 1;
        if (image_behind(graph, n) >= 0 || reads(n) <= 1 || is_cheap) p.place = GpuPlace::Inline;
    }
    // Returns how many of its values a point of its readers takes.
    double reads(int n) const {
        double most = 0;
        for (int c : node(n).consumers) {
            const auto &accesses = graph.stages[size_t(c)].accesses;
            most = std::max(
                most, double(std::ranges::count(accesses, Source{.function = n}, &Access::source)));
        }
        return most;
    }

    double time_of(GpuPlan &plan) {
        share_out(kernels, plan);
        return kernels.microseconds(plan);
    }

    using Nest = std::pair<int, int>;  // a function and the number of its stage
    // The stages that have loops and read the function, by themselves or through what is inlined.
    std::set<Nest> readers(const GpuPlan &plan, int n) const {
        std::set<Nest> found;
        std::set<int> seen;
        std::vector<int> todo = {n};
        while (!todo.empty()) {
            const int f = todo.back();
            todo.pop_back();
            for (int c : node(f).consumers) {
                const StageNode &stage = graph.stages[size_t(c)];
                if (plan.functions[size_t(stage.function)].place != GpuPlace::Inline) {
                    found.insert({stage.function, stage.number});
                } else if (seen.insert(stage.function).second) {
                    todo.push_back(stage.function);
                }
            }
        }
        return found;
    }
    // The one nest of threads, or of blocks, that all readers are in; nothing if there are several.
    std::optional<Nest> nest_around(const GpuPlan &plan, int n, GpuPlace place) const {
        std::set<Nest> nests;
        for (Nest reader : readers(plan, n)) {
            if (graph.is_fixed[size_t(reader.first)] || node(reader.first).is_extern)
                return std::nullopt;
            const GpuFunctionPlan *p = &plan.functions[size_t(reader.first)];
            while (p->place == GpuPlace::Thread ||
                   (place == GpuPlace::Block && p->place == GpuPlace::Block)) {
                reader = {p->at, p->at_stage};
                p = &plan.functions[size_t(reader.first)];
            }
            nests.insert(reader);
        }
        return nests.size() == 1 ? std::optional(*nests.begin()) : std::nullopt;
    }

    // Returns true if some reader's time is known.
    bool has_readers_with_times(int n) const {
        return std::ranges::any_of(readers(best, n), [&](const Nest &reader) {
            return !graph.is_fixed[size_t(reader.first)];
        });
    }

    void improve(int n) {
        if (!is_mine(n) || !has_readers_with_times(n)) return;
        const GpuPlan before = best;
        std::vector<GpuFunctionPlan> choices = {{.place = GpuPlace::Root}};
        if (may_be_inlined(graph, n)) choices.push_back({.place = GpuPlace::Inline});
        if (image_behind(graph, n) >= 0 && choices.size() > 1) return;
        for (GpuPlace place : {GpuPlace::Thread, GpuPlace::Block}) {
            const auto at = nest_around(before, n, place);
            if (at) choices.push_back({.place = place, .at = at->first, .at_stage = at->second});
        }
        const int copied = is_copy(graph, n) ? copied_by(n) : -1;
        for (const GpuFunctionPlan &choice : choices) {
            GpuPlan plan = before;
            of(plan, n) = choice;
            take_if_faster(plan);
            // What a copy is made of is formed by the same threads.
            if (copied < 0 || choice.place == GpuPlace::Inline) continue;
            of(plan, copied) = {.place = GpuPlace::Thread, .at = n};
            take_if_faster(plan);
        }
    }
    void take_if_faster(GpuPlan plan) {
        move_dependents(plan);
        const double t = time_of(plan);
        if (t >= time) return;
        best = std::move(plan);
        time = t;
    }
    // The function of several stages that a copy is of; -1: it is of another one.
    int copied_by(int n) const {
        for (const Access &a : graph.stages[size_t(node(n).stages[0])].accesses) {
            const int f = a.source.function;
            if (f >= 0 && is_mine(f) && node(f).stages.size() > 1) return f;
        }
        return -1;
    }
    // What was computed in loops that are no longer there goes to the root, or to where its readers
    // are now.
    void move_dependents(GpuPlan &plan) const {
        for (int m = int(graph.functions.size()); m-- > 0;) {
            GpuFunctionPlan &p = of(plan, m);
            if (p.place != GpuPlace::Thread && p.place != GpuPlace::Block) continue;
            const auto at = nest_around(plan, m, p.place);
            if (at) {
                p.at = at->first;
                p.at_stage = at->second;
            } else {
                p = {.place = GpuPlace::Root};
            }
        }
    }

    const Graph &graph;
    GpuKernels kernels;
    GpuPlan best;
    double time = 0;
};

// Everything at the root, but for what is the same image by another name.
GpuPlan plain_gpu_plan(const Graph &graph) {
    GpuPlan plan;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const bool is_inline =
            graph.is_fixed[n] ? place_by_hand(graph, int(n)) == Place::Inline
                              : may_be_inlined(graph, int(n)) && image_behind(graph, int(n)) >= 0;
        plan.functions.push_back({.place = is_inline ? GpuPlace::Inline : GpuPlace::Root});
    }
    return plan;
}

// Functions that rules have scheduled stay as they are.
void fix(Graph &graph, const GpuStructure &structure) {
    for (size_t n = 0; n < graph.functions.size(); n++) {
        if (structure.scheduled.contains(graph.functions[n].function->name))
            graph.is_fixed[n] = true;
    }
}

// Holds an algorithm with what rules for one kind of kernel have made of it.
struct Structured {
    GpuStructure structure;
    std::shared_ptr<const Graph> graph;

    // Adds what a rule does with the graph as it is now.
    void apply(GpuStructure (*rule)(const Graph &, const GpuMachine &),
               const program::Algorithm &algorithm, const GpuMachine &machine) {
        GpuStructure more = rule(*graph, machine);
        if (more.is_empty()) return;
        structure.append(std::move(more));
        auto next = std::make_shared<Graph>(algorithm, graph->by_hand, structure.steps);
        fix(*next, structure);
        graph = next;
    }
};

// Tries ways to schedule what is left, the best first, until one is legal.
class Attempts {
public:
    Attempts(const Workload &workload, const GpuMachine &machine)
        : workload(workload), machine(machine) {}

    std::optional<GpuRulesResult> operator()(const Graph &graph, const std::string &rule) {
        GpuPlan plan = places_by_estimate(graph, machine);
        for (const GpuSharing &sharing : {GpuSharing{}, {.has_vectors = false}, careful}) {
            if (auto found = attempt(graph, plan, sharing, rule, "tiles")) return found;
        }
        for (GpuFunctionPlan &p : plan.functions) {
            if (p.place == GpuPlace::Block || p.place == GpuPlace::Thread)
                p = {.place = GpuPlace::Root};
        }
        return attempt(graph, plan, careful, rule, "kernels");
    }
    std::optional<GpuRulesResult> plain(const Graph &graph) {
        GpuPlan plan = plain_gpu_plan(graph);
        return attempt(graph, plan, careful, "", "a kernel a stage");
    }

    std::string why;  // the first refusal

private:
    static constexpr GpuSharing careful = {.has_vectors = false, .is_careful = true};

    std::optional<GpuRulesResult> attempt(const Graph &graph, GpuPlan &plan,
                                          const GpuSharing &sharing, const std::string &rule,
                                          const char *others) {
        GpuKernels kernels(graph, machine);
        share_out(kernels, plan, sharing);
        const program::Schedule schedule = to_schedule(graph, plan);
        const std::string refusal = workload.why_refused(schedule);
        if (!refusal.empty()) {
            if (why.empty()) why = refusal;
            return std::nullopt;
        }
        GpuRulesResult found;
        found.schedule = schedule;
        found.rule = rule.empty() ? others : rule + ", " + others;
        found.kernels = kernels.kernels_of(plan);
        for (const GpuKernel &k : found.kernels) found.microseconds += k.microseconds(machine);
        found.refusal = why;
        return found;
    }

    const Workload &workload;
    const GpuMachine &machine;
};

// The workload's own graph, which it has to refer to.
std::shared_ptr<const Graph> not_owned(const Graph &graph) {
    return {std::shared_ptr<const Graph>(), &graph};
}

// The rules for one kind of kernel, in their order, and whether they are for products.
struct Rule {
    GpuStructure (*apply)(const Graph &, const GpuMachine &);
    bool is_for_products = false;
};
constexpr Rule rules[] = {{histograms_in_blocks},
                          {partial_results_on_blocks},
                          {rows_by_warps},
                          {readers_of_products, true},
                          {products_by_tensor_cores, true},
                          {products_in_blocks, true},
                          {copies_of_sums}};

std::optional<GpuRulesResult> with_rules(const Workload &workload, const GpuMachine &machine,
                                         bool has_products, Attempts &attempts) {
    try {
        Structured structured = {{}, not_owned(workload.graph())};
        for (const Rule &rule : rules) {
            if (rule.is_for_products && !has_products) continue;
            structured.apply(rule.apply, workload.algorithm(), machine);
        }
        if (structured.structure.is_empty()) return {};
        auto found = attempts(*structured.graph, structured.structure.rule);
        if (!found) return {};
        for (const GpuKernel &k : structured.structure.kernels) {
            found->kernels.push_back(k);
            found->microseconds += k.microseconds(machine);
        }
        return found;
    } catch (const CompileError &e) {
        attempts.why = e.what();
        return {};
    }
}

}  // namespace

GpuPlan places_by_estimate(const Graph &graph, const GpuMachine &machine) {
    return GpuPlacing(graph, machine)();
}

GpuRulesResult schedule_for_gpu(const Workload &workload, const GpuMachine &machine) {
    const Graph &graph = workload.graph();
    Attempts attempts(workload, machine);
    // A stage that reads rows by warps may be no operand of a product in the same loops.
    for (bool has_products : {true, false}) {
        if (auto found = with_rules(workload, machine, has_products, attempts)) return *found;
    }
    if (auto found = attempts(graph, "")) return *found;
    if (auto found = attempts.plain(graph)) return *found;
    const program::Schedule on_host = to_schedule(graph, plain_plan(graph), 1);
    const std::string refusal = workload.why_refused(on_host);
    if (!refusal.empty()) throw CompileError(refusal);
    return {on_host, "on the CPU", 0, {}, attempts.why, true};
}

std::optional<program::Schedule> schedule_for_run(const program::Program &program,
                                                  const Target &target) {
    const program::Algorithm algorithm(program.outputs);
    const Graph graph(algorithm, program::schedule_of(program.outputs));
    const Workload workload(program, algorithm, graph, target);
    const GpuRulesResult found = schedule_for_gpu(workload, GpuMachine::usual(target));
    if (found.is_on_cpu) throw CompileError(found.refusal);
    return found.schedule;
}

}  // namespace tessera::autoscheduler
