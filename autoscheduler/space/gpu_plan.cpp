#include "autoscheduler/space/gpu_plan.h"
#include "ir/operators.h"
#include <algorithm>
#include <map>
#include <numeric>

namespace tessera::autoscheduler {

using namespace program;

namespace {

constexpr size_t most_dimensions = 3;  // of grids and of blocks

// Lists where others can be computed in the loops of a stage.
struct GpuLevels {
    LoopLevel block, thread;
};

// Makes the steps of one stage.
class GpuStageSteps {
public:
    GpuStageSteps(const Graph &graph, const StageNode &stage, const GpuFunctionPlan &function_plan,
                  std::vector<Step> &steps)
        : graph(graph), stage(stage), node(graph.functions[size_t(stage.function)]),
          place(function_plan.place), plan(function_plan.stages[size_t(stage.number)]),
          loops(*node.function, stage.number, steps) {}

    GpuLevels operator()() {
        for (size_t v = 0; v < stage.pure; v++) split_variable(v);
        for (size_t r = stage.pure; r < stage.variables.size(); r++) split_reduction(r);
        limit(blocks);
        limit(threads);
        reorder();
        set_kinds();
        if (place == GpuPlace::Root && blocks.empty()) make_one_block();
        if (place == GpuPlace::Thread && !has_steps) loops.add(Unscheduled{});
        GpuLevels levels;
        if (!blocks.empty()) levels.block = loops.at(blocks.front());
        if (!turns.empty())
            levels.thread = loops.at(turns.front());
        else if (!threads.empty())
            levels.thread = loops.at(threads.front());
        else if (!blocks.empty())
            levels.thread = loops.at(blocks.front());
        return levels;
    }

private:
    int64_t extent_of(size_t v) const {
        return std::max<int64_t>(1, node.required[stage.dimensions[v]].extent());
    }
    // A region that is larger than what is needed may be computed where nobody reads beyond an
    // image for that.
    TailStrategy tail_of(size_t v, int64_t factor) const {
        const bool may_run_on = stage.number == 0 && !node.is_output && !node.is_read_by_extern &&
                                place == GpuPlace::Root && factor <= node.room[stage.dimensions[v]];
        return may_run_on ? TailStrategy::RoundUp : TailStrategy::GuardWithIf;
    }

    void split_variable(size_t v) {
        Symbol loop = stage.variables.name(v);
        const GpuAxis &axis = plan.axes[v];
        if (place == GpuPlace::Thread || axis.in_thread) {
            if (int(v) == plan.vector) return vectors.push_back(loop);
            (axis.unrolls ? unrolled : turns_within).push_back(loop);
            return;
        }
        const TailStrategy tail = tail_of(v, axis.points * axis.threads);
        if (axis.points > 1) {
            const auto [outer, point] = loops.split(loop, axis.points, tail, "s", "p");
            (int(v) == plan.vector ? vectors : unrolled).push_back(point);
            loop = outer;
        }
        if (place == GpuPlace::Block) return take_turns(loop, axis.threads);
        if (axis.threads > 1) {
            const auto [block, thread] = loops.split(loop, axis.threads, tail, "b", "t");
            threads.push_back(thread);
            loop = block;
        }
        blocks.push_back(loop);
    }
    // Neighbouring threads have neighbouring points in each turn.
    void take_turns(Symbol loop, int64_t count) {
        if (count <= 1) return turns.push_back(loop);
        const auto [turn, thread] = loops.split(loop, count, TailStrategy::GuardWithIf, "n", "t");
        turns.push_back(turn);
        threads.push_back(thread);
    }
    void split_reduction(size_t r) {
        const Symbol loop = stage.variables.name(r);
        const size_t number = r - stage.pure;
        const int64_t unroll = number < plan.unroll.size() ? plan.unroll[number] : 0;
        const int64_t extent = std::max<int64_t>(1, stage.domain[number].extent());
        if (unroll <= 1) return reduction.push_back(loop);
        if (unroll >= extent) return unrolled_reduction.push_back(loop);
        const auto [outer, inner] = loops.split(loop, unroll, TailStrategy::GuardWithIf, "s", "u");
        unrolled_reduction.push_back(inner);
        reduction.push_back(outer);
    }
    // The outermost loops become one, if there are more than a grid or a block has.
    void limit(std::vector<Symbol> &some) {
        while (some.size() > most_dimensions) {
            const Symbol outer = some.back();
            some.pop_back();
            some.back() = loops.fuse(some.back(), outer);
            has_steps = true;
        }
    }
    void reorder() {
        std::vector<Symbol> order;
        for (const auto *some : {&vectors, &unrolled, &turns_within, &unrolled_reduction,
                                 &reduction, &turns, &threads, &blocks})
            order.insert(order.end(), some->begin(), some->end());
        loops.reorder(order);
        has_steps |= order.size() > 1;
    }
    void set_kinds() {
        const auto set = [&](const std::vector<Symbol> &some, LoopKind kind) {
            for (Symbol loop : some) loops.set_kind(loop, kind);
            has_steps |= !some.empty();
        };
        set(vectors, LoopKind::Vectorized);
        set(unrolled, LoopKind::Unrolled);
        set(unrolled_reduction, LoopKind::Unrolled);
        set(blocks, LoopKind::GPUBlock);
        set(threads, LoopKind::GPUThread);
    }
    // A kernel of one thread.
    void make_one_block() {
        const Symbol thread = loops.around_all("thread"), block = loops.around_all("block");
        loops.set_kind(block, LoopKind::GPUBlock);
        loops.set_kind(thread, LoopKind::GPUThread);
        blocks.push_back(block);
        if (threads.empty()) threads.push_back(thread);
    }

    const Graph &graph;
    const StageNode &stage;
    const FunctionNode &node;
    const GpuPlace place;
    const GpuStagePlan &plan;
    LoopWriter loops;
    bool has_steps = false;
    // Innermost first.
    std::vector<Symbol> vectors, unrolled, turns_within, unrolled_reduction, reduction, turns,
        threads, blocks;
};

}  // namespace

bool may_be_shared_out(const Graph &graph, const StageNode &stage, size_t variable) {
    if (variable >= stage.pure) return false;
    const size_t dimension = stage.dimensions[variable];
    const Span here = {7, 7};
    std::vector<Span> spans = graph.spans_of(stage);
    spans[variable] = here;
    return std::ranges::all_of(stage.accesses, [&](const Access &a) {
        if (a.source.function != stage.function) return true;
        const IndexProgram &index = a.index[dimension];
        return index.slope(variable) == 1 && index.run(spans) == here;
    });
}

Schedule to_schedule(const Graph &graph, const GpuPlan &plan) {
    Schedule schedule = graph.by_hand;
    for (const auto *steps : {&graph.places, &graph.structure})
        schedule.steps.insert(schedule.steps.end(), steps->begin(), steps->end());
    std::map<std::pair<int, int>, GpuLevels> levels;  // by function and number of the stage
    // Consumers first: the loops that others are computed at are made before these are.
    for (size_t n = graph.functions.size(); n-- > 0;) {
        const FunctionNode &f = graph.functions[n];
        const GpuFunctionPlan &p = plan.functions[n];
        if (graph.is_fixed[n] || p.place == GpuPlace::Inline) continue;
        LoopLevel level = LoopLevel::root();
        if (p.place != GpuPlace::Root) {
            const GpuLevels &around = levels[{p.at, p.at_stage}];
            level = p.place == GpuPlace::Block ? around.block : around.thread;
        }
        if (!f.is_output || p.place != GpuPlace::Root)
            schedule.steps.push_back({f.function->name, FuncStep{{ComputeLevel{level}, {}}}});
        if (f.is_extern) continue;
        for (size_t s = 0; s < f.stages.size(); s++) {
            const StageNode &stage = graph.stages[size_t(f.stages[s])];
            levels[{int(n), int(s)}] = GpuStageSteps(graph, stage, p, schedule.steps)();
        }
    }
    return schedule;
}

}  // namespace tessera::autoscheduler
