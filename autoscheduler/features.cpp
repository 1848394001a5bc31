#include "autoscheduler/features.h"
#include <algorithm>
#include <cmath>

namespace tessera::autoscheduler {
namespace {

float log_of(double v) { return float(std::log2(1 + std::max(0.0, v))); }
// The same for numbers that may be below 1, of which sixteenths count.
float log_of_few(double v) { return log_of(16 * v); }

class StageFeatures {
public:
    StageFeatures(const StageView &view, const StageCost &cost) : view(view), cost(cost) {}

    Features operator()() {
        amounts();
        body();
        tasks();
        operations();
        loads();
        stores();
        bytes();
        estimates();
        machine();
        return features;
    }

private:
    float &of(Feature f) { return features[size_t(f)]; }

    void amounts() {
        const double needed = std::max(1.0, points_in(view.function.required)) * reduced();
        const TreeFunction &f = view.tree.functions[size_t(view.node.function)];
        of(Feature::Points) = log_of(view.points);
        of(Feature::PointsNeeded) = log_of(needed);
        of(Feature::Recomputed) = log_of_few(view.points / needed);
        of(Feature::PointsOnce) = log_of(view.points_once);
        of(Feature::Productions) = log_of(view.productions);
        of(Feature::Realizations) = log_of(view.tree.iterations(f.store_level));
        of(Feature::IsUpdate) = view.node.number > 0;
        of(Feature::IsReduction) = view.node.is_reduction();
        of(Feature::IsOutput) = view.function.is_output;
        of(Feature::Loops) = float(view.placed.loops.size());
        of(Feature::EnclosingLoops) = float(view.placed.enclosing.size());
        of(Feature::ReductionExtent) = log_of(reduced());
    }
    double reduced() const {
        double product = 1;
        for (const Span &s : view.node.domain) product *= double(std::max<int64_t>(1, s.extent()));
        return product;
    }

    void body() {
        of(Feature::Lanes) = log_of(view.lanes);
        of(Feature::LanesUsed) = float(view.part_of_lanes_used());
        const double widest = view.function.widest, vector = view.machine.vector_bytes;
        of(Feature::VectorsPerPoint) = log_of_few(widest * view.lanes / vector);
        of(Feature::GuardedLanes) = view.has_guarded_lanes;
        of(Feature::GuardedUnroll) = view.has_guarded_unroll;
        const Box &once = view.tree.functions[size_t(view.node.function)].computed;
        if (!once.empty()) {
            const double row = double(once[0].extent());
            of(Feature::RowBytes) = log_of(row * view.function.bytes);
            of(Feature::RowsOnce) = log_of(points_in(once) / std::max(1.0, row));
        }
        of(Feature::Body) = log_of(view.body_points);
        of(Feature::Unrolled) = log_of(view.body_points / view.lanes);
        of(Feature::RegistersOfBody) =
            float(view.body_values * widest / std::max(vector, widest) / view.machine.registers);
        if (view.innermost < 0) return;
        const TreeLoop &l = view.loop(view.innermost);
        of(Feature::InnermostExtent) = log_of(double(l.extent));
        of(Feature::InnermostIsReduction) = l.is_reduction;
        of(Feature::InnermostIsParallel) = l.kind == LoopKind::Parallel;
    }

    void tasks() {
        const double count = view.tasks(), cores = view.machine.cores;
        of(Feature::Tasks) = log_of(count);
        of(Feature::Cores) = log_of(cores);
        of(Feature::IdleCores) = float(1 - count / (std::ceil(count / cores) * cores));
        of(Feature::PointsPerTask) = log_of(view.points / count);
    }

    void operations() {
        const Operations &o = view.work->operations;
        for (size_t c = 0; c < operation_classes; c++) {
            features[size_t(Feature::FloatAdd) + c] =
                log_of_few(view.lanes <= 1 ? o.count[c]
                                           : std::max(o.bytes[c] / view.machine.vector_bytes,
                                                      o.count[c] / view.lanes));
        }
        of(Feature::Inlined) = log_of(view.work->visits);
    }

    void loads() {
        double by_pattern[4] = {}, limited = 0, all = 0, issued = 0;
        for (const Leaf &leaf : view.work->leaves) {
            const double served = view.points_served(leaf);
            by_pattern[size_t(view.pattern(leaf.growths, leaf.source, leaf.bytes))] +=
                leaf.loads / served;
            if (view.vector_variable >= 0 && leaf.is_limited_along(size_t(view.vector_variable)))
                limited += leaf.loads;
            all += leaf.loads;
            issued += leaf.loads / served;
        }
        of(Feature::LoadsSame) = log_of_few(by_pattern[size_t(AccessPattern::Same)]);
        of(Feature::LoadsDense) = log_of_few(by_pattern[size_t(AccessPattern::Dense)]);
        of(Feature::LoadsStrided) = log_of_few(by_pattern[size_t(AccessPattern::Strided)]);
        of(Feature::LoadsGathered) = log_of_few(by_pattern[size_t(AccessPattern::Gathered)]);
        of(Feature::LoadsLimited) = log_of_few(limited);
        of(Feature::LoadsServed) = log_of(all / std::max(1e-9, issued));
        of(Feature::Sources) = float(view.work->leaves.size());
    }

    void stores() {
        bool is_known = true;
        const auto writes = view.write_growths(is_known);
        of(Feature::StorePattern) =
            float(view.pattern(writes, {.function = view.node.function}, view.function.bytes));
        of(Feature::StoreIsScattered) = !is_known;
        of(Feature::Streams) = view.tree.schedule(view.stage)->stream_stores;
        of(Feature::StoredTogether) = log_of(view.points_stored_together(writes));
        of(Feature::ElementBytes) = log_of(view.function.bytes);
    }

    void bytes() {
        const std::vector<int> around = view.loops_in_code();
        auto inside = [&](size_t back) {
            return around.size() > back ? log_of(view.footprint(around[around.size() - 1 - back]))
                                        : of(Feature::BytesAll);
        };
        of(Feature::BytesAll) = log_of(view.footprint(-1));
        of(Feature::BytesInnermost) = inside(0);
        of(Feature::BytesSecond) = inside(1);
        of(Feature::BytesThird) = inside(2);
        int task = -1;
        for (int l : around) {
            if (l >= 0 && view.loop(l).kind == LoopKind::Parallel) task = l;
        }
        of(Feature::BytesTask) = log_of(view.footprint(task));
        const int production = view.placed.enclosing.empty() ? -1 : view.placed.enclosing.back();
        of(Feature::BytesProduction) = log_of(view.footprint(production));
        const TreeFunction &f = view.tree.functions[size_t(view.node.function)];
        of(Feature::BytesStored) = log_of(bytes_in(f.stored, view.function.bytes));
        double producers = 0;
        for (const Leaf &leaf : view.work->leaves) {
            if (leaf.source.function < 0) continue;
            const auto p = size_t(leaf.source.function);
            producers = std::max(
                producers, bytes_in(view.tree.functions[p].stored, view.graph.functions[p].bytes));
        }
        of(Feature::ProducersStored) = log_of(producers);
    }

    void estimates() {
        of(Feature::Compute) = log_of(cost.share * cost.compute);
        of(Feature::Memory) = log_of(cost.share * cost.memory);
        of(Feature::Far) = log_of(std::max(cost.share, cost.far_share) * cost.far);
        of(Feature::Overhead) = log_of(cost.overhead);
        of(Feature::Cycles) = log_of(cost.cycles());
    }

    void machine() {
        const Machine &m = view.machine;
        of(Feature::VectorBytes) = log_of(m.vector_bytes);
        of(Feature::Registers) = log_of(m.registers);
        of(Feature::NearCache) = log_of(m.caches[0].bytes);
        of(Feature::MiddleCache) = log_of(m.caches[1].bytes);
        of(Feature::FarCache) = log_of(m.caches[2].bytes);
    }

    const StageView &view;
    const StageCost &cost;
    Features features = {};
};

}  // namespace

std::span<const std::string_view> feature_names() {
    static constexpr std::string_view names[] = {
#define NAME(name) #name,
        TESSERA_FEATURES(NAME)
#undef NAME
    };
    return names;
}

Features features_of(const StageView &stage, const StageCost &cost) {
    return StageFeatures(stage, cost)();
}

void ProgramFeatures::add(const Features &stage, const StageCost &cost, const Cost &of_all) {
    stages.push_back(stage);
    stages.back()[size_t(Feature::PartOfAll)] = float(cost.cycles() / std::max(1.0, of_all.cycles));
    milliseconds.push_back(std::max(1e-6, cost.cycles() / cycles_per_millisecond));
}

ProgramFeatures features_of(LoopTree &tree, const Cost &cost, const Machine &machine) {
    ProgramFeatures program;
    for (size_t s = 0; s < tree.stages.size(); s++) {
        if (tree.stages[s].is_inlined) continue;
        const StageView view(tree, machine, int(s));
        program.add(features_of(view, cost.stages[s]), cost.stages[s], cost);
    }
    return program;
}

}  // namespace tessera::autoscheduler
