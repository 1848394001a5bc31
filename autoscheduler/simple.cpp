#include "autoscheduler/simple.h"
#include "autoscheduler/copies.h"
#include "autoscheduler/groups.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/register_tiles.h"
#include "autoscheduler/vector_reductions.h"
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace tessera::autoscheduler {

namespace {

class SimpleScheduler {
public:
    SimpleScheduler(const Graph &graph, const Machine &machine, PlanCosts &costs)
        : graph(graph), machine(machine), costs(costs) {
        best.functions.resize(graph.functions.size());
        for (size_t n = 0; n < best.functions.size(); n++) begin_with(int(n));
    }

    SimpleResult operator()() {
        SimpleResult result;
        Plan best_of_all;
        result.cycles = std::numeric_limits<double>::infinity();
        const size_t before = costs.plans();
        const auto take = [&] {
            if (!std::ranges::count(result.summits, best)) result.summits.push_back(best);
            if (best_cycles >= result.cycles) return;
            best_of_all = best;
            result.cycles = best_cycles;
        };
        std::vector<Plan> all = beginnings();
        result.by_hand = plan_with_register_tiles(graph, machine, best);
        if (result.by_hand) {
            begin_at(*result.by_hand);  // worth a measurement as it is
            take();
            all.push_back(*result.by_hand);
        }
        for (const Plan &begin : all) {
            climb_from(begin);
            take();
        }
        if (best_of_all.functions.empty()) throw CompileError("no legal schedule was found");
        result.plan = best_of_all;
        result.schedule = to_schedule(graph, best_of_all, machine.least_tasks());
        result.candidates = costs.plans() - before;
        return result;
    }

private:
    static constexpr int64_t most_channels = 16;

    const FunctionNode &node(int n) const { return graph.functions[size_t(n)]; }
    bool is_mine(int n) const { return !graph.is_fixed[size_t(n)]; }

    // A copy that is inlined is none: that is another sketch.
    bool may_be_inlined(int n) const {
        return autoscheduler::may_be_inlined(graph, n) && !is_copy(graph, n);
    }

    // To store an image again as it is is never worth it: a copy for one of its readers may be.
    bool is_image(int n) const { return image_behind(graph, n) >= 0; }

    // Returns how many of its values a point of its readers takes.
    double reads(int n) const {
        double most = 0;
        for (int c : node(n).consumers) {
            double count = 0;
            for (const Access &a : graph.stages[size_t(c)].accesses)
                count += a.source.function == n;
            most = std::max(most, count);
        }
        return most;
    }

    int64_t extent(const StageNode &stage, size_t v) const {
        return node(stage.function).required[stage.dimensions[v]].extent();
    }

    int64_t lanes_for(const StageNode &stage, int64_t extent) const {
        int widest = node(stage.function).widest;
        for (const Access &a : stage.accesses) widest = std::max(widest, a.bytes);
        int64_t lanes = machine.vector_bytes / std::max(1, node(stage.function).widest);
        if (widest > node(stage.function).widest) lanes = machine.vector_bytes / widest;
        while (lanes > extent) lanes /= 2;
        return lanes;
    }

    StagePlan usual_loops(const StageNode &stage) const {
        StagePlan p;
        p.tile.assign(stage.variables.size(), 0);
        p.unroll.assign(stage.variables.size(), 0);
        for (size_t v = 0; v < stage.pure && p.vector < 0; v++) {
            const int64_t lanes = lanes_for(stage, extent(stage, v));
            if (lanes < 4) continue;
            p.vector = int(v);
            p.lanes = lanes;
        }
        return p;
    }

    void begin_at(const Plan &begin) {
        best = begin;
        best_cycles = costs.cycles(begin).value_or(std::numeric_limits<double>::infinity());
    }

    void climb_from(const Plan &begin) {
        begin_at(begin);
        constexpr int most_sweeps = 4;
        for (int sweep = 0; sweep < most_sweeps; sweep++) {
            const double before = best_cycles;
            for (size_t n = graph.functions.size(); n-- > 0;) improve(int(n));
            if (best_cycles > 0.99 * before) break;
        }
    }

    // Returns the plans to climb from: much at the root; much inlined; much in the loops of the
    // output; groups.
    std::vector<Plan> beginnings() {
        std::vector<Plan> all = {best};
        Plan inlined = best, at_root = best;
        int output = -1;
        for (int n = 0; n < int(graph.functions.size()); n++) {
            if (node(n).is_output) output = n;
        }
        for (int n = 0; n < int(graph.functions.size()); n++) {
            if (!is_mine(n) || node(n).is_output || node(n).is_extern) continue;
            if (!is_image(n)) at_root.functions[size_t(n)].place = Place::Root;
            if (may_be_inlined(n)) inlined.functions[size_t(n)].place = Place::Inline;
        }
        const Plan in_rows = in_rows_of(output);
        if (inlined != best) all.push_back(inlined);
        if (in_rows != best) all.push_back(in_rows);
        if (at_root != best) all.push_back(at_root);
        const Plan tiles = in_tiles_of_readers(at_root);
        if (tiles != at_root) all.push_back(tiles);
        const Plan channels = one_channel_at_a_time(tiles, output);
        if (channels != tiles) all.push_back(channels);
        const Plan groups = in_groups(best);
        if (!std::ranges::count(all, groups)) all.push_back(groups);
        return all;
    }

    // All that may be in the output's loops is computed for one of its rows after the other.
    Plan in_rows_of(int output) {
        Plan plan = best;
        if (output < 0 || !is_mine(output) || node(output).is_extern) return plan;
        for (int n = output; n-- > 0;) {
            FunctionPlan &p = plan.functions[size_t(n)];
            if (!is_mine(n) || node(n).is_output || node(n).is_extern || p.place == Place::Inline ||
                !is_read_only_within(plan, n, output) || !fit_in_one_group(plan, n, output))
                continue;
            p.place = Place::Row;
            p.at = output;
            for (StagePlan &s : p.stages) s.parallel = false;
        }
        StagePlan &loops = plan.functions[size_t(output)].stages.back();
        if (graph.stages[size_t(node(output).stages.back())].pure > 1) loops.tile[1] = 32;
        for (int n = 0; n < int(graph.functions.size()); n++) fit_vectors(plan, n);
        return plan;
    }
    // Returns true if all that reads the function is another one, or is in its loops.
    bool is_read_only_within(const Plan &plan, int n, int at) const {
        std::set<int> readers;
        std::vector<int> todo = {n};
        while (!todo.empty()) {
            const int f = todo.back();
            todo.pop_back();
            for (int c : node(f).consumers) {
                const int reader = graph.stages[size_t(c)].function;
                const bool is_inline = plan.functions[size_t(reader)].place == Place::Inline;
                if (readers.insert(reader).second && is_inline) todo.push_back(reader);
            }
        }
        return std::ranges::all_of(readers, [&](int reader) {
            const FunctionPlan &p = plan.functions[size_t(reader)];
            return reader == at || p.place == Place::Inline || (is_within(p.place) && p.at == at);
        });
    }

    // Sums and scans each in tiles of a reader, which would rather have been inlined.
    Plan in_tiles_of_readers(const Plan &plan) {
        const Plan before = best;
        const double cycles_before = best_cycles;
        begin_at(plan);
        for (int n = int(graph.functions.size()); n-- > 0;) {
            if (!is_mine(n) || node(n).is_output || node(n).is_extern || may_be_inlined(n))
                continue;
            const Plan at_root = best;
            for (int at : functions_around_readers(at_root, n)) {
                if (fit_in_one_group(at_root, n, at)) with_tiles(at_root, n, at);
            }
        }
        best_cycles = cycles_before;
        return std::exchange(best, before);
    }

    // Keeps no more of large functions at once than an output's channel needs, on which all cores
    // work: tiles of the output become blocks of its channels.
    Plan one_channel_at_a_time(const Plan &plan, int output) const {
        constexpr double large = 1 << 20;
        if (output < 0 || !is_mine(output)) return plan;
        const StageNode &stage = graph.stages[size_t(node(output).stages.back())];
        Plan changed = plan;
        StagePlan &loops = changed.functions[size_t(output)].stages.back();
        loops.block.assign(stage.pure, 0);
        bool has_channels = false, has_blocks = false;
        for (size_t v = 0; v < stage.pure; v++) {
            const int64_t all = extent(stage, v);
            if (all > 1 && all <= most_channels && int(v) != loops.vector) {
                loops.tile[v] = 1;
                has_channels = true;
            } else if (loops.tile[v] > 0) {
                loops.block[v] = std::exchange(loops.tile[v], 0);
                has_blocks = true;
            }
        }
        if (!has_channels || !has_blocks) return plan;
        loops.serial_tiles = loops.parallel;
        for (int n = 0; n < output; n++) {
            FunctionPlan &p = changed.functions[size_t(n)];
            if (p.place == Place::Tile && p.at == output) p.place = Place::Block;
            const bool is_large = node(n).points() * node(n).bytes > large;
            if (p.place != Place::Root || !is_mine(n) || node(n).is_extern || is_image(n) ||
                !is_large || !functions_around_readers(plan, n).contains(output))
                continue;
            p.place = Place::Tile;  // and on all cores, as it was
            p.at = output;
        }
        return changed;
    }

    Plan in_groups(const Plan &plan) {
        return merge_into_groups(graph, machine, plan,
                                 [&](const Plan &p) { return costs.cycles(p); });
    }

    void begin_with(int n) {
        FunctionPlan &p = best.functions[size_t(n)];
        const FunctionNode &f = node(n);
        for (int s : f.stages) {
            p.stages.push_back(usual_loops(graph.stages[size_t(s)]));
            p.stages.back().parallel = machine.cores > 1 && graph.stages[size_t(s)].pure > 0;
        }
        if (!is_mine(n)) {
            p.place = place_by_hand(graph, n);
            return;
        }
        if (is_copy(graph, n)) {
            p.innermost = dimension_along(graph, n, 0);
        } else if (!f.is_output) {
            p.innermost = dimension_of_partial_results(graph, n);
        }
        if (!may_be_inlined(n)) return;
        const StageNode &pure = graph.stages[size_t(f.stages[0])];
        if (is_image(n) || reads(n) <= 1 || pure.operations.total() <= 3) p.place = Place::Inline;
    }

    // In the loops of others, a vector along a variable of which few points are computed at once
    // becomes one along another, or of the reduction.
    void fit_vectors(Plan &plan, int n) {
        if (!is_within(plan.functions[size_t(n)].place)) return;
        for (size_t s = 0; s < node(n).stages.size(); s++) {
            const int stage = node(n).stages[s];
            const std::optional<std::vector<Span>> spans = costs.spans(plan, stage);
            if (!spans) return;  // a level that is not there: the plan is no schedule
            fit_vector(graph.stages[size_t(stage)], *spans, plan.functions[size_t(n)].stages[s]);
        }
    }
    void fit_vector(const StageNode &stage, const std::vector<Span> &spans, StagePlan &p) const {
        const auto lanes_along = [&](size_t v) { return lanes_for(stage, spans[v].extent()); };
        if (p.vector >= 0 && lanes_along(size_t(p.vector)) >= std::min<int64_t>(4, p.lanes)) return;
        p.vector = -1;
        for (size_t v = 0; v < stage.pure && p.vector < 0; v++) {
            if (lanes_along(v) < 4) continue;
            p.vector = int(v);
            p.lanes = lanes_along(v);
        }
        if (p.vector < 0) p.dot = reduction_lanes(graph, stage, machine);
    }

    void improve(int n) {
        if (!is_mine(n) || node(n).is_extern) return;
        improve_place(n);
        stream_if_large(n);
        const FunctionPlan &p = best.functions[size_t(n)];
        if (p.place == Place::Inline || !may_save_time(n)) return;
        for (size_t s = 0; s < node(n).stages.size(); s++) improve_loops(n, s);
        try_to_turn(n);
        try_side_by_side(n);
        if (p.place == Place::Root) improve_tiles(n);
    }

    // Past the caches goes what would not stay in them until somebody reads it.
    void stream_if_large(int n) {
        constexpr double may_stay = 8 << 20;
        const bool is_large = node(n).points() * node(n).bytes > may_stay;
        if (!node(n).is_output || node(n).stages.size() != 1 || !is_large) return;
        try_loops(n, 0, [](StagePlan &p) { p.streams = true; });
    }

    // Most functions of a pyramid are small.
    bool may_save_time(int n) {
        constexpr double part = 1.0 / 4000;
        const std::optional<double> cycles = costs.cycles_within(best, n);
        return cycles && *cycles > part * best_cycles;
    }

    // The functions in whose loops all that read it may be: those that do, or have it inlined, and
    // what these are computed in.
    std::set<int> functions_around_readers(const Plan &plan, int n) const {
        std::set<int> seen, all;
        std::vector<int> todo = {n};
        while (!todo.empty()) {
            const int f = todo.back();
            todo.pop_back();
            const FunctionPlan &p = plan.functions[size_t(f)];
            const bool has_loops = f != n && p.place != Place::Inline;
            if (has_loops && is_mine(f) && !node(f).is_extern) all.insert(f);
            auto visit = [&](int next) {
                if (seen.insert(next).second) todo.push_back(next);
            };
            if (has_loops && is_within(p.place)) visit(p.at);
            if (has_loops) continue;
            for (int c : node(f).consumers) visit(graph.stages[size_t(c)].function);
        }
        return all;
    }

    void improve_place(int n) {
        if (node(n).is_output || (is_image(n) && may_be_inlined(n))) return;
        const Plan before = best;
        Plan plan;
        auto with = [&](Place place, int at) {
            plan = before;
            move_to(plan, n, place, at, machine);
            fit_vectors(plan, n);
            if (is_better(plan)) best = plan;
        };
        with(Place::Root, -1);
        if (may_be_inlined(n)) with(Place::Inline, -1);
        for (int at : functions_around_readers(before, n)) {
            if (!fit_in_one_group(before, n, at)) continue;
            with(Place::Tile, at);
            with_tiles(before, n, at);
            with(Place::Chunk, at);
            with(Place::Row, at);
            with(Place::Step, at);
        }
    }

    // Together with tiles of the other, where that has none.
    void with_tiles(const Plan &before, int n, int at) {
        const FunctionPlan &other = before.functions[size_t(at)];
        if (other.place != Place::Root || other.stages.empty()) return;
        const StageNode &stage = graph.stages[size_t(node(at).stages.back())];
        const StagePlan &loops = other.stages.back();
        if (std::ranges::any_of(loops.tile, [](int64_t t) { return t > 0; })) return;
        // Channels one by one, if there are few: the other tiles, too.
        std::vector<int64_t> one_by_one(stage.variables.size(), 0);
        bool has_channels = false;
        for (size_t v = 0; v < stage.pure; v++) {
            if (extent(stage, v) < 2 || extent(stage, v) > most_channels) continue;
            one_by_one[v] = 1;
            has_channels = true;
        }
        const auto with = [&](const std::vector<int64_t> &tile) {
            Plan plan = before;
            plan.functions[size_t(at)].stages.back().tile = tile;
            move_to(plan, n, Place::Tile, at, machine);
            fit_vectors(plan, n);
            if (is_better(plan)) best = plan;
        };
        if (has_channels) with(one_by_one);
        for (size_t v = 0; v < stage.pure; v++) {
            if (one_by_one[v] > 0) continue;
            for (int64_t size : {16, 64, 256}) {
                if (2 * size > extent(stage, v)) continue;
                std::vector<int64_t> tile(stage.variables.size(), 0);
                tile[v] = size;
                with(tile);
                tile = one_by_one;
                tile[v] = size;
                if (has_channels) with(tile);
            }
        }
    }

    template<typename Change>
    void try_loops(int n, size_t s, Change change) {
        StagePlan &p = best.functions[size_t(n)].stages[s];
        const StagePlan before = p;
        change(p);
        if (p != before && !is_better(best)) p = before;
    }
    // Then its cost is the least.
    bool is_better(const Plan &plan) {
        const std::optional<double> cycles = costs.cycles(plan);
        if (!cycles || *cycles >= best_cycles) return false;
        best_cycles = *cycles;
        return true;
    }

    void improve_loops(int n, size_t s) {
        const StageNode &stage = graph.stages[size_t(node(n).stages[s])];
        for (size_t v = 0; v < stage.pure; v++) {
            const int64_t lanes = lanes_for(stage, extent(stage, v));
            for (int64_t times : {1, 2, 4}) {
                if (lanes * times > extent(stage, v) || lanes * times <= 1) continue;
                try_loops(n, s, [&](StagePlan &p) {
                    p.vector = int(v);
                    p.lanes = lanes * times;
                });
            }
        }
        try_loops(n, s, [](StagePlan &p) { p.vector = -1; });
        for (size_t v = 0; v < stage.pure; v++) {
            for (int64_t unroll : {1, 2, 3, 4, 6, 8}) {
                if (unroll > extent(stage, v)) continue;
                try_loops(n, s, [&](StagePlan &p) {
                    // One variable is enough to climb; evolution finds what two are good for.
                    std::fill_n(p.unroll.begin(), stage.pure, 0);
                    p.unroll[v] = unroll > 1 ? unroll : 0;
                });
            }
        }
        unroll_choices(n, s, stage);
        improve_reduction(n, s, stage);
        const int64_t group = reduction_lanes(graph, stage, machine);
        if (group > 1) try_loops(n, s, [&](StagePlan &p) { p.dot = group; });
        if (stage.is_reduction() && stage.pure > 0) {
            try_loops(n, s,
                      [](StagePlan &p) { p.rows_within_reduction = !p.rows_within_reduction; });
        }
        try_loops(n, s, [&](StagePlan &p) {
            const bool is_root = best.functions[size_t(n)].place == Place::Root;
            p.parallel = is_root && !p.parallel && machine.cores > 1 && stage.pure > 0;
        });
    }

    // Vectors along another dimension, and all that is read in that order, are one step: each alone
    // would make gathers of loads or stores.
    void try_to_turn(int n) {
        const auto &args = node(n).function->args;
        for (size_t d = 0; d < args.size(); d++) {
            Plan plan = best;
            turn(graph, plan, n, d);
            for (size_t s = 0; s < node(n).stages.size(); s++) {
                const StageNode &stage = graph.stages[size_t(node(n).stages[s])];
                StagePlan &p = plan.functions[size_t(n)].stages[s];
                if (p.vector >= 0) p.lanes = lanes_for(stage, extent(stage, size_t(p.vector)));
            }
            if (plan != best && is_better(plan)) best = plan;
        }
    }

    // Sums and scans wait for their last value: several of them side by side, in larger pieces of
    // the function in whose loops they are.
    void try_side_by_side(int n) {
        constexpr int64_t enough = 4;  // vectors: more of them take cache from the tile
        const FunctionPlan &p = best.functions[size_t(n)];
        const bool is_of_tile = p.place == Place::Tile;
        if (!is_of_tile && p.place != Place::Block) return;
        const bool waits = std::ranges::any_of(
            node(n).stages, [&](int s) { return graph.stages[size_t(s)].is_reduction(); });
        if (!waits) return;
        const size_t at = size_t(p.at);
        const StageNode &around = graph.stages[size_t(node(p.at).stages.back())];
        for (size_t v = 0; v < around.pure; v++) {
            for (int64_t times : {2, 4}) {
                Plan plan = best;
                StagePlan &loops = plan.functions[at].stages.back();
                std::vector<int64_t> &sizes = is_of_tile ? loops.tile : loops.block;
                if (v >= sizes.size() || sizes[v] == 0) break;
                sizes[v] *= times;
                if (2 * sizes[v] > extent(around, v)) break;
                int64_t most = 1;
                for (StagePlan &s : plan.functions[size_t(n)].stages) {
                    if (s.vector < 0) continue;
                    int64_t &unroll = s.unroll[size_t(s.vector)];
                    unroll = std::max<int64_t>(1, unroll) * times;
                    most = std::max(most, unroll);
                }
                if (most <= enough && is_better(plan)) best = plan;
            }
        }
    }

    // Code that has a point for each case of x % 2 side by side, or for each channel, computes no
    // branch that it does not take.
    void unroll_choices(int n, size_t s, const StageNode &stage) {
        constexpr int64_t few = 4;
        const std::vector<int64_t> periods = region_facts(graph, best)[size_t(n)].periods;
        for (const bool takes_channels : {false, true}) {
            try_loops(n, s, [&](StagePlan &p) {
                for (size_t v = 0; v < stage.pure; v++) {
                    if (int(v) == p.vector) continue;
                    const int64_t period = periods[stage.dimensions[v]];
                    const int64_t all = extent(stage, v);
                    if (period > 1 && period <= few) p.unroll[v] = period;
                    if (takes_channels && all > 1 && all <= few) p.unroll[v] = all;
                }
            });
        }
    }

    // A reduction over a small window is unrolled as a whole.
    void improve_reduction(int n, size_t s, const StageNode &stage) {
        constexpr int64_t small = 8;
        int64_t points = 1;
        for (size_t v = stage.pure; v < stage.variables.size(); v++) {
            const int64_t extent = stage.domain[v - stage.pure].extent();
            points *= std::max<int64_t>(1, extent);
            if (extent > small || points > 4 * small) continue;
            try_loops(n, s, [&](StagePlan &p) { p.unroll[v] = extent; });
        }
    }

    void improve_tiles(int n) {
        const size_t last = node(n).stages.size() - 1;
        const StageNode &stage = graph.stages[size_t(node(n).stages[last])];
        for (size_t v = 0; v < stage.pure; v++) {
            const int64_t all = extent(stage, v);
            for (int64_t tile : {0, 4, 8, 16, 32, 64, 128, 256, 512}) {
                if (tile * 2 > all) continue;
                try_loops(n, last, [&](StagePlan &p) { p.tile[v] = tile; });
                if (v + 1 >= stage.pure) continue;
                for (int64_t other : {0, 8, 16, 32, 64, 128}) {
                    if (other * 2 > extent(stage, v + 1)) continue;
                    try_loops(n, last, [&](StagePlan &p) {
                        p.tile[v] = tile;
                        p.tile[v + 1] = other;
                    });
                }
            }
        }
    }

    const Graph &graph;
    const Machine &machine;
    PlanCosts &costs;
    Plan best;
    double best_cycles = 0;
};

}  // namespace

SimpleResult schedule_simply(const Graph &graph, const Machine &machine, PlanCosts &costs) {
    return SimpleScheduler(graph, machine, costs)();
}

SimpleResult schedule_simply(const Graph &graph, const Machine &machine) {
    PlanCosts costs(graph, machine);
    return schedule_simply(graph, machine, costs);
}

}  // namespace tessera::autoscheduler
