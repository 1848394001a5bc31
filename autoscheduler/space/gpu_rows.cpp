#include "autoscheduler/space/gpu_rows.h"
#include "autoscheduler/mutate.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::autoscheduler {

using namespace program;

namespace {

constexpr int64_t neighbours = 4;  // that a lane takes at once
constexpr int64_t rows_of_block = 4;
constexpr int64_t least_row = 64;

int64_t extent_of(const Graph &graph, const StageNode &stage, size_t v) {
    if (v >= stage.pure) return std::max<int64_t>(1, stage.domain[v - stage.pure].extent());
    return std::max<int64_t>(
        1, graph.functions[size_t(stage.function)].required[stage.dimensions[v]].extent());
}
double results_of(const Graph &graph, const StageNode &stage) {
    double product = 1;
    for (size_t v = 0; v < stage.pure; v++) product *= double(extent_of(graph, stage, v));
    return product;
}
double points_each(const StageNode &stage) {
    double product = 1;
    for (const Span &s : stage.domain) product *= double(std::max<int64_t>(1, s.extent()));
    return product;
}
const StageNode &stage_of(const Graph &graph, int function, size_t number) {
    return graph.stages[size_t(graph.functions[size_t(function)].stages[number])];
}
bool writes_by_data(const StageNode &stage) {
    return std::ranges::any_of(stage.writes, &IndexProgram::reads_data);
}

// Splits the reduction along its first variable and makes partial results in lanes. Returns their
// name and, in `of`, the loop over them that is left.
Symbol factor_into_lanes(const Graph &graph, const FunctionNode &f, LoopWriter &update, Symbol r,
                         Symbol &of, std::vector<Step> &steps) {
    const int64_t at_once = neighbours * GpuLimits::lanes;
    const auto [step, group] = update.split(r, at_once, TailStrategy::GuardWithIf, "_step", "_of");
    const auto [lane_loop, quad] =
        update.split(group, neighbours, TailStrategy::GuardWithIf, "_lane", "_quad");
    const Symbol lane = update.new_name("lane"), partial = name_made_of(graph, f, "_in_lanes");
    update.rfactor(lane_loop, lane, partial);
    of = lane_loop;
    LoopWriter init(partial, 0, steps, {}), sums(partial, 1, steps, {});
    init.set_kind(lane, LoopKind::GPULane);
    sums.add(Reorder{{quad, step, lane}});
    sums.set_kind(quad, LoopKind::Unrolled);
    sums.set_kind(lane, LoopKind::GPULane);
    return partial;
}

// Finds what an output and reductions of its rows are made of.
class RowsOfOutput {
public:
    RowsOfOutput(const Graph &graph, const GpuMachine &machine, int output)
        : graph(graph), machine(machine), output(output) {}

    GpuStructure operator()() {
        const FunctionNode &f = graph.functions[size_t(output)];
        if (f.stages.size() != 1 || f.is_extern || graph.is_fixed[size_t(output)]) return {};
        const StageNode &stage = stage_of(graph, output, 0);
        if (stage.pure < 2 || extent_of(graph, stage, 0) < least_row) return {};
        if (results_of(graph, stage) / double(extent_of(graph, stage, 0)) <
            machine.card.multiprocessors)
            return {};
        if (!read_by_rows(stage, 0) || reductions.empty()) return {};
        return write(stage);
    }

private:
    // Looks at what a stage reads whose variable `along` goes along rows. False: this is no
    // pipeline of rows.
    bool read_by_rows(const StageNode &stage, size_t along) {
        for (const Access &a : stage.accesses) {
            const int f = a.source.function;
            if (f < 0 || f == stage.function) continue;
            if (!seen.insert(f).second) continue;
            const FunctionNode &node = graph.functions[size_t(f)];
            if (graph.is_fixed[size_t(f)] || node.is_extern) continue;
            const auto goes_along = [&](const IndexProgram &i) {
                return !i.growth(along).is_none();
            };
            const auto dimension = std::ranges::find_if(a.index, goes_along);
            const bool is_of_row = dimension == a.index.end();
            if (is_of_row && node.stages.size() == 2) {
                if (!add_reduction(f, a, stage)) return false;
            } else if (node.stages.size() == 1 && may_be_inlined(graph, f)) {
                const StageNode &pure = stage_of(graph, f, 0);
                const size_t d = size_t(dimension - a.index.begin());
                const size_t next = is_of_row ? pure.variables.size() : variable_of(pure, d);
                const size_t before = reductions.size();
                if (is_of_row ? !read_of_row(pure) : !read_by_rows(pure, next)) return false;
                if (is_of_row && reductions.size() + known_reductions(pure) > before)
                    values_of_rows.push_back(f);
            }
        }
        return true;
    }
    static size_t variable_of(const StageNode &stage, size_t dimension) {
        for (size_t v = 0; v < stage.pure; v++) {
            if (stage.dimensions[v] == dimension) return v;
        }
        return 0;
    }
    // A value of a row as a whole.
    bool read_of_row(const StageNode &stage) {
        for (const Access &a : stage.accesses) {
            const int f = a.source.function;
            if (f < 0 || !seen.insert(f).second || graph.is_fixed[size_t(f)]) continue;
            const FunctionNode &node = graph.functions[size_t(f)];
            if (node.stages.size() == 2 && !add_reduction(f, a, stage)) return false;
            if (node.stages.size() == 1 && may_be_inlined(graph, f)) {
                const StageNode &pure = stage_of(graph, f, 0);
                if (!read_of_row(pure)) return false;
                if (known_reductions(pure) > 0) values_of_rows.push_back(f);
            }
        }
        return true;
    }
    size_t known_reductions(const StageNode &stage) const {
        size_t count = 0;
        for (const Access &a : stage.accesses)
            count += size_t(std::ranges::count(reductions, a.source.function));
        return count;
    }
    bool add_reduction(int f, const Access &a, const StageNode &reader) {
        const StageNode &update = stage_of(graph, f, 1);
        const bool has_one = update.variables.size() == update.pure + 1;
        if (!has_one || !is_associative_update(graph, update) || writes_by_data(update) ||
            extent_of(graph, update, update.pure) < least_row)
            return false;
        // It is computed for the row that it is read for.
        const std::vector<Span> spans(reader.variables.size(), Span{5, 5});
        for (const IndexProgram &i : a.index) {
            if (i.run(spans) != Span{5, 5}) return false;
        }
        if (!reads_side_by_side(graph, update, update.pure)) return false;
        reductions.push_back(f);
        return read_by_rows(update, update.pure);
    }

    GpuStructure write(const StageNode &stage) {
        GpuStructure s;
        const FunctionNode &f = graph.functions[size_t(output)];
        s.rule = "rows by warps: " + f.name;
        LoopWriter loops(*f.function, 0, s.steps);
        const TailStrategy guard = TailStrategy::GuardWithIf;
        const auto [step, group] = loops.split(
            stage.variables.name(0), neighbours * GpuLimits::lanes, guard, "_step", "_of");
        const auto [lane, quad] = loops.split(group, neighbours, guard, "_lane", "_quad");
        const auto [block, row] =
            loops.split(stage.variables.name(1), rows_of_block, guard, "_block", "_row");
        std::vector<Symbol> blocks = {block};
        for (size_t v = 2; v < stage.pure; v++) blocks.push_back(stage.variables.name(v));
        loops.fuse_to_grid(blocks);
        std::vector<Symbol> order = {quad, step, lane, row};
        order.insert(order.end(), blocks.begin(), blocks.end());
        loops.reorder(order);
        loops.set_kind(quad, LoopKind::Vectorized);
        for (Symbol b : blocks) loops.set_kind(b, LoopKind::GPUBlock);
        loops.set_kind(row, LoopKind::GPUThread);
        loops.set_kind(lane, LoopKind::GPULane);
        s.scheduled.insert(f.function->name);
        compute_for_rows(s, loops.at(row));
        return s;
    }
    void compute_for_rows(GpuStructure &s, const LoopLevel &level) const {
        for (int n : values_of_rows) {
            const Symbol name = graph.functions[size_t(n)].function->name;
            add_directive(s.steps, name, ComputeLevel{level});
            s.scheduled.insert(name);
        }
        for (int n : reductions) {
            const FunctionNode &f = graph.functions[size_t(n)];
            const Symbol name = f.function->name;
            add_directive(s.steps, name, ComputeLevel{level});
            LoopWriter update(*f.function, 1, s.steps);
            Symbol of;
            const StageNode &stage = stage_of(graph, n, 1);
            const Symbol partial =
                factor_into_lanes(graph, f, update, stage.variables.name(stage.pure), of, s.steps);
            add_directive(s.steps, partial, ComputeLevel{level});
            update.add(AtomicDirective{});
            update.set_kind(of, LoopKind::GPULane);
            s.scheduled.insert({name, partial});
        }
    }

    const Graph &graph;
    const GpuMachine &machine;
    const int output;
    std::set<int> seen;
    std::vector<int> reductions, values_of_rows;  // functions
};

// A reduction of its own, by warps.
GpuStructure row_sums(const Graph &graph, int n) {
    const FunctionNode &f = graph.functions[size_t(n)];
    const StageNode &stage = stage_of(graph, n, 1), &pure = stage_of(graph, n, 0);
    GpuStructure s;
    s.rule = "rows by warps: " + f.name;
    const Symbol name = f.function->name;
    s.scheduled.insert(name);
    if (!f.is_output) add_directive(s.steps, name, ComputeLevel{LoopLevel::root()});
    LoopWriter init(*f.function, 0, s.steps);
    if (pure.pure == 0) {
        const Symbol thread = init.around_all("thread"), block = init.around_all("block");
        init.set_kind(block, LoopKind::GPUBlock);
        init.set_kind(thread, LoopKind::GPUThread);
    } else {
        const auto [block, thread] =
            init.split(pure.variables.name(0), 64, TailStrategy::GuardWithIf, "_block", "_thread");
        init.set_kind(block, LoopKind::GPUBlock);
        init.set_kind(thread, LoopKind::GPUThread);
    }
    LoopWriter update(*f.function, 1, s.steps);
    Symbol of;
    const Symbol partial =
        factor_into_lanes(graph, f, update, stage.variables.name(stage.pure), of, s.steps);
    LoopLevel level;
    if (stage.pure == 0) {
        const Symbol block = update.around_all("block");
        update.set_kind(block, LoopKind::GPUBlock);
        level = update.at(block);
    } else {
        const auto [block, row] = update.split(stage.variables.name(0), rows_of_block,
                                               TailStrategy::GuardWithIf, "_block", "_row");
        update.add(Reorder{{of, row, block}});
        update.set_kind(block, LoopKind::GPUBlock);
        update.set_kind(row, LoopKind::GPUThread);
        level = update.at(row);
    }
    update.add(AtomicDirective{});
    update.set_kind(of, LoopKind::GPULane);
    add_directive(s.steps, partial, ComputeLevel{level});
    s.scheduled.insert(partial);
    return s;
}

}  // namespace

GpuStructure rows_by_warps(const Graph &graph, const GpuMachine &machine) {
    GpuStructure all;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        if (graph.functions[n].is_output) all.append(RowsOfOutput(graph, machine, int(n))());
    }
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const FunctionNode &f = graph.functions[n];
        if (graph.is_fixed[n] || f.is_extern || f.stages.size() != 2) continue;
        if (all.scheduled.contains(f.function->name)) continue;
        const StageNode &update = stage_of(graph, int(n), 1);
        // Where there are results enough, and few values for each, threads have them.
        const bool is_row = is_associative_update(graph, update) && !writes_by_data(update) &&
                            update.pure <= 3 &&
                            extent_of(graph, update, update.pure) >= least_row &&
                            reads_side_by_side(graph, update, update.pure);
        if (is_row && update.pure < 2) all.append(row_sums(graph, int(n)));
    }
    return all;
}

GpuStructure partial_results_on_blocks(const Graph &graph, const GpuMachine &machine) {
    constexpr double few = 64, least_points = 1 << 16;
    constexpr int64_t of_multiprocessor = 32, least_part = 1024;
    GpuStructure all;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const FunctionNode &f = graph.functions[n];
        if (graph.is_fixed[n] || f.is_extern || f.stages.size() != 2) continue;
        const StageNode &update = stage_of(graph, int(n), 1);
        if (!is_associative_update(graph, update) || writes_by_data(update) ||
            results_of(graph, update) > few || points_each(update) < least_points)
            continue;
        const size_t last = update.variables.size() - 1;
        const int64_t extent = extent_of(graph, update, last);
        const double inner = points_each(update) / double(extent);
        int64_t parts = of_multiprocessor * machine.card.multiprocessors;
        parts = std::min<int64_t>(parts, int64_t(points_each(update)) / least_part);
        const int64_t size = std::max<int64_t>(1, (extent + parts - 1) / parts);
        if (extent / size < 8 || double(size) * inner < 256) continue;
        GpuStructure s;
        s.rule = "partial results on blocks: " + f.name;
        LoopWriter loops(*f.function, 1, s.steps);
        const Symbol r = update.variables.name(last);
        const auto [outer, within] =
            loops.split(r, size, TailStrategy::GuardWithIf, "_part", "_in");
        loops.rfactor(outer, loops.new_name("part"), name_made_of(graph, f, "_part"));
        all.append(std::move(s));
    }
    return all;
}

}  // namespace tessera::autoscheduler
