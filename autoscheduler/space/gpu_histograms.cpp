#include "autoscheduler/space/gpu_histograms.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::autoscheduler {

using namespace program;

namespace {

constexpr int64_t threads_of_histogram = 256;

// Returns true if the stage adds to few places, all of which data decide, much that is a word each.
bool is_histogram(const Graph &graph, const StageNode &update) {
    constexpr double most_bytes = 32 << 10, least_points = 1 << 14;
    const FunctionNode &f = graph.functions[size_t(update.function)];
    if (update.pure > 0 || !is_associative_update(graph, update)) return false;
    if (f.function->types.size() != 1 || f.widest != 4) return false;
    double points = 1;
    for (const Span &s : update.domain) points *= double(s.extent());
    return std::ranges::any_of(update.writes, &IndexProgram::reads_data) &&
           points_in(f.required) * f.bytes <= most_bytes && points >= least_points;
}

// Shares out the loops over bins among the threads of a block.
void share_bins(LoopWriter &loops, const std::vector<Symbol> &dimensions, Symbol strip,
                bool has_blocks) {
    const auto [turn, thread] = loops.split(dimensions[0], threads_of_histogram,
                                            TailStrategy::GuardWithIf, "_turn", "_thread");
    std::vector<Symbol> order = {turn};
    order.insert(order.end(), dimensions.begin() + 1, dimensions.end());
    order.push_back(thread);
    if (has_blocks) order.push_back(strip);
    loops.reorder(order);
    loops.set_kind(thread, LoopKind::GPUThread);
    if (has_blocks) loops.set_kind(strip, LoopKind::GPUBlock);
}

GpuStructure histogram_in_blocks(const Graph &graph, const StageNode &update,
                                 const GpuMachine &machine) {
    const FunctionNode &f = graph.functions[size_t(update.function)];
    GpuStructure s;
    s.rule = "histogram in blocks: " + f.name;
    LoopWriter loops(*f.function, 1, s.steps);
    const size_t last = update.variables.size() - 1;
    const int64_t extent = std::max<int64_t>(1, update.domain[last].extent());
    const int64_t strips = 2 * int64_t(machine.card.multiprocessors);
    const int64_t size = std::max<int64_t>(1, (extent + strips - 1) / strips);
    const auto [outer, within] =
        loops.split(update.variables.name(last), size, TailStrategy::GuardWithIf, "_strip", "_row");
    const Symbol strip = loops.new_name("strip");
    const Symbol part = name_made_of(graph, f, "_in_strips"),
                 stored = name_made_of(graph, f, "_of_strips");
    loops.rfactor(outer, strip, part);
    s.steps.push_back({part, WrapStep{{}, stored, false, {}}});

    const std::vector<Symbol> bins = f.function->args;
    std::set<std::string> taken;
    for (Symbol b : bins) taken.insert(b.text());
    LoopWriter of_stored(stored, 0, s.steps, taken), init(part, 0, s.steps, taken),
        counting(part, 1, s.steps, {});
    // A wrapper has the dimensions of what it wraps.
    add_directive(s.steps, stored, ComputeLevel{LoopLevel::root()});
    share_bins(of_stored, bins, strip, true);
    add_directive(s.steps, part, ComputeLevel{of_stored.at(strip)});
    share_bins(init, bins, strip, false);

    const Symbol across = last == 0 ? within : update.variables.name(0);
    const auto [step, column] =
        counting.split(across, threads_of_histogram, TailStrategy::GuardWithIf, "_step", "_column");
    std::vector<Symbol> order = {step};
    for (size_t v = 1; v < last; v++) order.push_back(update.variables.name(v));
    if (last > 0) order.push_back(within);
    order.push_back(column);
    counting.reorder(order);
    counting.add(AtomicDirective{});
    counting.set_kind(column, LoopKind::GPUThread);
    s.scheduled = {part, stored};
    return s;
}

}  // namespace

GpuStructure histograms_in_blocks(const Graph &graph, const GpuMachine &machine) {
    GpuStructure all;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const FunctionNode &f = graph.functions[n];
        if (graph.is_fixed[n] || f.is_extern || f.stages.size() != 2) continue;
        const StageNode &update = graph.stages[size_t(f.stages[1])];
        if (is_histogram(graph, update)) all.append(histogram_in_blocks(graph, update, machine));
    }
    return all;
}

}  // namespace tessera::autoscheduler
