#include "autoscheduler/space/gpu_shares.h"
#include "ir/operators.h"
#include <algorithm>
#include <bit>
#include <numeric>

namespace tessera::autoscheduler {

namespace {

int64_t power_of_two_within(int64_t number) {
    return number < 1 ? 1 : int64_t(std::bit_floor(uint64_t(number)));
}
int64_t pieces(int64_t all, int64_t of) { return (all + of - 1) / of; }

// Shares out the loops of one stage at the root.
class RootSharing {
public:
    RootSharing(GpuKernels &kernels, const GpuPlan &plan, const StageNode &stage)
        : kernels(kernels), graph(kernels.graph), plan(plan), stage(stage),
          node(graph.functions[size_t(stage.function)]), loops{} {
        loops.axes.resize(stage.pure);
        for (const FunctionNode &f : graph.functions) {
            const GpuFunctionPlan &p = plan.functions[size_t(&f - graph.functions.data())];
            has_shared |=
                p.place == GpuPlace::Block && p.at == stage.function && p.at_stage == stage.number;
        }
    }

    GpuStagePlan operator()() {
        choose_variables();
        if (x >= 0) choose_points();
        if (x >= 0) choose_threads();
        unroll_reduction();
        return loops;
    }

private:
    int64_t extent(size_t v) const {
        return std::max<int64_t>(1, node.required[stage.dimensions[v]].extent());
    }
    GpuAxis &axis(int v) { return loops.axes[size_t(v)]; }

    // Along x neighbouring threads go, along y a thread has several rows.
    void choose_variables() {
        constexpr int64_t few = 4, wide = 16;
        double all = 1;
        for (size_t v = 0; v < stage.pure; v++) all *= double(extent(v));
        is_scan = reads_other_values_of_its_own();
        for (size_t v = 0; v < stage.pure; v++)
            loops.axes[v].in_thread = !may_be_shared_out(graph, stage, v);
        for (size_t v = 0; v < stage.pure && x < 0; v++) {
            if (!loops.axes[v].in_thread && extent(v) >= wide) x = int(v);
        }
        for (size_t v = 0; v < stage.pure && x < 0; v++) {
            if (!loops.axes[v].in_thread) x = int(v);
        }
        const double enough = 1024.0 * kernels.machine.card.multiprocessors;
        for (size_t v = 0; v < stage.pure; v++) {
            GpuAxis &a = loops.axes[v];
            if (int(v) == x || a.in_thread) continue;
            const size_t d = stage.dimensions[v];
            if (extent(v) <= few && node.is_constant[d] && all / double(extent(v)) >= enough) {
                a.in_thread = true;
                a.unrolls = node.is_output && stage.number == 0;
            } else if (y < 0 && extent(v) > 1) {
                y = int(v);
            }
        }
    }

    // Each step of a scan waits for the one before it.
    bool reads_other_values_of_its_own() const {
        std::vector<Span> spans(stage.variables.size(), Span{7, 7});
        return std::ranges::any_of(stage.accesses, [&](const Access &a) {
            if (a.source.function != stage.function) return false;
            for (size_t d = 0; d < a.index.size(); d++) {
                if (a.index[d].run(spans) != stage.writes[d].run(spans)) return true;
            }
            return false;
        });
    }
    // A sum of much, whose values share what they read along two variables: as large a tile of it
    // as registers hold is in a thread.
    bool is_product() const {
        constexpr double many = 32;
        const auto has_many = [&](const StageNode &s) {
            double points = 1;
            for (const Span &d : s.domain) points *= double(std::max<int64_t>(1, d.extent()));
            return points >= many;
        };
        if (has_many(stage)) return true;
        for (size_t n = 0; n < graph.functions.size(); n++) {
            const GpuFunctionPlan &p = plan.functions[n];
            if (p.place != GpuPlace::Thread || p.at != stage.function) continue;
            for (int s : graph.functions[n].stages) {
                if (has_many(graph.stages[size_t(s)])) return true;
            }
        }
        return false;
    }

    // Returns how many values a thread reads for so many points along a variable.
    double reads(int v, int64_t points) const {
        GpuStagePlan of_points = loops;
        of_points.axes[size_t(v)].points = points;
        const auto passes = computed_by_thread(graph, plan);
        const NeededBoxes boxes =
            boxes_needed(graph, stage, tile_of_thread(graph, stage, of_points), passes);
        double sum = 0;
        const auto add = [&](const Box &box) {
            if (!box.empty()) sum += points_in(box);
        };
        for (size_t n = 0; n < boxes.functions.size(); n++) {
            if (!passes(int(n))) add(boxes.functions[n]);
        }
        for (const Box &box : boxes.images) add(box);
        return sum;
    }
    // Neighbours along the variable read much of the same.
    bool shares_along(int v) const {
        constexpr double part = 0.65;
        const double one = reads(v, 1);
        return one > 1.5 && reads(v, 4) < part * 4 * one;
    }

    void choose_points() {
        constexpr double most_operations = 500;
        if (is_scan) return;
        const PointWorkRef work = kernels.work_of(plan, stage);
        int widest = std::max(1, node.widest);
        for (const Leaf &leaf : work->leaves) widest = std::max(widest, leaf.bytes);
        const double operations = work->operations.total() + 2 * double(work->leaves.size());
        const bool is_dense = stage.dimensions[size_t(x)] == 0;
        shares_x = shares_along(x);
        shares_y = y >= 0 && shares_along(y);
        int64_t columns = 1, rows = 1;
        is_of_product = shares_x && shares_y && is_dense && is_product();
        if (is_of_product) {
            columns = std::clamp(16 / widest, 1, 4);
            rows = 8;
        } else if (has_shared) {
            columns = rows = 2;
        } else if (shares_y) {
            columns = 2;
            rows = 4;
        } else if (is_dense) {
            columns = std::clamp(16 / widest, 1, 4);
        }
        const auto period = [&](int v) {
            return v < 0 ? 1 : node.periods[stage.dimensions[size_t(v)]];
        };
        if (period(x) == 2) columns = std::max<int64_t>(columns, 2);
        if (period(y) == 2) rows = std::max<int64_t>(rows, 2);
        while (rows > 1 && operations * double(columns * rows) > most_operations) rows /= 2;
        while (columns > 1 && operations * double(columns * rows) > most_operations) columns /= 2;
        while (columns > 1 && extent(size_t(x)) < 32 * columns) columns /= 2;
        if (y < 0) rows = 1;
        while (rows > 1 && extent(size_t(y)) < 4 * rows) rows /= 2;
        while (rows > 1 && threads_at_all(columns, rows) < enough_threads()) rows /= 2;
        while (columns > 1 && threads_at_all(columns, rows) < enough_threads()) columns /= 2;
        axis(x).points = columns;
        if (y >= 0) axis(y).points = rows;
        const bool fits = columns > 1 && columns * node.widest <= 16;
        if (is_dense && fits) loops.vector = x;
    }
    double threads_at_all(int64_t columns, int64_t rows) const {
        double all = double(pieces(extent(size_t(x)), columns));
        for (size_t v = 0; v < stage.pure; v++) {
            if (int(v) == x || loops.axes[v].in_thread) continue;
            all *= double(pieces(extent(v), int(v) == y ? rows : 1));
        }
        return all;
    }
    double enough_threads() const {
        return (is_of_product ? 160.0 : 512.0) * kernels.machine.card.multiprocessors;
    }

    void choose_threads() {
        constexpr int64_t lanes = GpuLimits::lanes;
        const int64_t wanted = is_scan ? lanes : has_shared ? 256 : shares_y ? 128 : 256;
        const int64_t across = pieces(extent(size_t(x)), axis(x).points);
        int64_t columns = std::min(lanes, power_of_two_within(2 * across - 1));
        int64_t rows = 1;
        if (y >= 0) {
            const int64_t down = pieces(extent(size_t(y)), axis(y).points);
            rows = std::min(wanted / columns, power_of_two_within(2 * down - 1));
        }
        while (columns * rows < wanted && columns < across) columns *= 2;
        axis(x).threads = columns;
        if (y >= 0) axis(y).threads = std::max<int64_t>(1, rows);
        if (has_shared) leave_room();
    }

    // With what is around it, the tile is as wide as two values for each of 32 threads.
    void leave_room() {
        constexpr int64_t most = 8;
        const NeededBoxes boxes = boxes_needed(graph, stage, tile_of_block(graph, stage, loops),
                                               computed_by_block(graph, plan));
        for (int v : {x, y}) {
            if (v < 0) continue;
            const int64_t tile = axis(v).threads * axis(v).points;
            int64_t beside = 0;
            for (size_t n = 0; n < graph.functions.size(); n++) {
                const Box &box = boxes.functions[n];
                if (plan.functions[n].place != GpuPlace::Block || box.empty()) continue;
                const size_t d = stage.dimensions[size_t(v)];
                if (d < box.size()) beside = std::max(beside, box[d].extent() - tile);
            }
            const int64_t threads = pieces(beside, axis(v).points);
            if (beside > 0 && beside <= most && axis(v).threads >= 8)
                axis(v).threads -= std::min(threads, axis(v).threads / 2);
        }
    }

    void unroll_reduction() {
        constexpr int64_t whole = 8, steps = 4;
        const size_t count = stage.variables.size() - stage.pure;
        loops.unroll.assign(count, 0);
        int64_t unrolled = 1;
        for (size_t r = 0; r < count; r++) {
            const auto extent = ir::as_const_int(stage.definition->reduction[r].extent);
            if (!extent) continue;
            if (*extent <= whole && unrolled * *extent <= 32) {
                loops.unroll[r] = *extent;
                unrolled *= *extent;
            } else if (r == 0 && *extent % steps == 0) {
                loops.unroll[r] = unrolled = steps;
            }
        }
        if (is_scan && count == 1 && stage.domain[0].extent() >= 64) loops.unroll[0] = whole;
    }

    GpuKernels &kernels;
    const Graph &graph;
    const GpuPlan &plan;
    const StageNode &stage;
    const FunctionNode &node;
    GpuStagePlan loops;
    int x = -1, y = -1;
    bool has_shared = false, is_scan = false, shares_x = false, shares_y = false;
    bool is_of_product = false;
};

// The loops of a stage that a block computes for itself, with so many threads.
GpuStagePlan in_block(const Graph &graph, const StageNode &stage, const Box &box, int64_t threads) {
    constexpr int64_t few = 4;
    GpuStagePlan loops;
    loops.axes.resize(stage.pure);
    int64_t left = threads;
    bool is_first = true;
    for (size_t v = 0; v < stage.pure; v++) {
        GpuAxis &a = loops.axes[v];
        const int64_t extent = box[stage.dimensions[v]].extent();
        if (extent <= 1 || !may_be_shared_out(graph, stage, v)) continue;
        if (extent <= few && stage.pure > 2) continue;  // a turn each
        const int64_t most = is_first && stage.pure > 1 ? GpuLimits::lanes : left;
        a.threads = std::min({left, most, power_of_two_within(2 * extent - 1)});
        left /= a.threads;
        is_first = false;
    }
    return loops;
}

// The loops of a stage that a thread computes for itself.
GpuStagePlan in_thread(const Graph &graph, const StageNode &stage, const Box &box,
                       int64_t vector_of_reader, const GpuSharing &sharing) {
    constexpr double most = 64;
    GpuStagePlan loops;
    loops.axes.resize(stage.pure);
    const FunctionNode &node = graph.functions[size_t(stage.function)];
    const bool is_small = points_in(box) <= most && !sharing.is_careful;
    for (size_t v = 0; v < stage.pure; v++) {
        loops.axes[v].in_thread = true;
        loops.axes[v].unrolls = is_small;
    }
    if (is_small && sharing.has_vectors && stage.pure > 0 && vector_of_reader > 1 &&
        stage.dimensions[0] == 0 && box[0].extent() == vector_of_reader &&
        box[0].extent() * node.widest <= 16)
        loops.vector = 0;
    const size_t count = stage.variables.size() - stage.pure;
    loops.unroll.assign(count, 0);
    int64_t unrolled = 1;
    for (size_t r = 0; r < count && is_small; r++) {
        const auto extent = ir::as_const_int(stage.definition->reduction[r].extent);
        if (!extent || *extent > 8 || unrolled * *extent * int64_t(points_in(box)) > 256) continue;
        loops.unroll[r] = *extent;
        unrolled *= *extent;
    }
    return loops;
}

// Shares out what is computed in the loops of a stage.
class MemberSharing {
public:
    MemberSharing(GpuKernels &kernels, GpuPlan &plan, const GpuSharing &sharing)
        : graph(kernels.graph), plan(plan), sharing(sharing) {}

    void operator()(const StageNode &owner) {
        const GpuStagePlan &loops =
            plan.functions[size_t(owner.function)].stages[size_t(owner.number)];
        int64_t threads = 1;
        for (const GpuAxis &a : loops.axes) threads *= a.threads;
        threads = std::min<int64_t>(512, int64_t(std::bit_ceil(uint64_t(threads))));
        const NeededBoxes boxes = boxes_needed(graph, owner, tile_of_block(graph, owner, loops),
                                               computed_by_block(graph, plan));
        of_threads(owner, loops);
        for (size_t n = graph.functions.size(); n-- > 0;) {
            GpuFunctionPlan &p = plan.functions[n];
            if (p.place != GpuPlace::Block || p.at != owner.function ||
                p.at_stage != owner.number || boxes.functions[n].empty())
                continue;
            for (size_t s = 0; s < p.stages.size(); s++) {
                const StageNode &stage = graph.stages[size_t(graph.functions[n].stages[s])];
                p.stages[s] = in_block(graph, stage, boxes.functions[n], threads);
                of_threads(stage, p.stages[s]);
            }
        }
    }

private:
    // Says what each thread of the stage's loops computes.
    void of_threads(const StageNode &reader, const GpuStagePlan &loops) {
        const NeededBoxes boxes = boxes_needed(graph, reader, tile_of_thread(graph, reader, loops),
                                               computed_by_thread(graph, plan));
        const int64_t vector = loops.vector < 0 ? 1 : loops.axes[size_t(loops.vector)].points;
        for (size_t n = graph.functions.size(); n-- > 0;) {
            GpuFunctionPlan &p = plan.functions[n];
            if (p.place != GpuPlace::Thread || p.at != reader.function ||
                p.at_stage != reader.number || boxes.functions[n].empty())
                continue;
            for (size_t s = 0; s < p.stages.size(); s++) {
                const StageNode &stage = graph.stages[size_t(graph.functions[n].stages[s])];
                p.stages[s] = in_thread(graph, stage, boxes.functions[n], vector, sharing);
            }
        }
    }

    const Graph &graph;
    GpuPlan &plan;
    const GpuSharing &sharing;
};

}  // namespace

void share_out(GpuKernels &kernels, GpuPlan &plan, const GpuSharing &sharing) {
    const Graph &graph = kernels.graph;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        GpuFunctionPlan &p = plan.functions[n];
        p.stages.resize(graph.functions[n].stages.size());
        for (size_t s = 0; s < p.stages.size(); s++) {
            const size_t pure = graph.stages[size_t(graph.functions[n].stages[s])].pure;
            p.stages[s] = {};
            p.stages[s].axes.assign(pure, {.in_thread = p.place == GpuPlace::Thread});
        }
    }
    for (size_t n = 0; n < graph.functions.size(); n++) {
        GpuFunctionPlan &p = plan.functions[n];
        if (p.place != GpuPlace::Root || graph.is_fixed[n] || graph.functions[n].is_extern)
            continue;
        for (size_t s = 0; s < p.stages.size(); s++) {
            const StageNode &stage = graph.stages[size_t(graph.functions[n].stages[s])];
            p.stages[s] = RootSharing(kernels, plan, stage)();
            MemberSharing(kernels, plan, sharing)(stage);
        }
    }
}

}  // namespace tessera::autoscheduler
