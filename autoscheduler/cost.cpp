#include "autoscheduler/cost.h"
#include "program/loop_transforms.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <ranges>

namespace tessera::autoscheduler {
namespace {

constexpr double line_bytes = 64;

// Bytes of a box in memory, in whole cache lines of its rows.
double bytes_in(const Box &box, int element) {
    if (box.empty()) return element;
    double bytes = std::ceil(double(box[0].extent()) * element / line_bytes + 0.5) * line_bytes;
    if (box[0].extent() <= 0) return 0;
    for (size_t d = 1; d < box.size(); d++) bytes *= double(box[d].extent());
    return bytes;
}

class StageEstimate {
public:
    StageEstimate(LoopTree &tree, const Machine &machine, int stage)
        : tree(tree), graph(tree.graph), machine(machine), node(graph.stages[size_t(stage)]),
          placed(tree.stages[size_t(stage)]), function(graph.functions[size_t(node.function)]),
          stage(stage) {
        find_loops();
    }

    StageCost operator()() {
        StageCost cost;
        cost.compute = compute();
        memory(cost);
        cost.overhead = overhead();
        cost.share = share();
        return cost;
    }

private:
    const TreeLoop &loop(int l) const { return tree.loops[size_t(l)]; }

    // The variable that the loop runs along: that with the same root.
    int variable_of(int l) const {
        const auto &schedule = *tree.schedule(stage);
        const std::vector<Symbol> roots = program::roots_of_loop(schedule, loop(l).var);
        return roots.empty() ? node.variables.find(loop(l).var) : node.variables.find(roots[0]);
    }

    void find_loops() {
        for (int l : placed.loops) {
            const TreeLoop &tl = loop(l);
            points_once *= double(tl.extent);
            if (tl.kind == LoopKind::Vectorized) {
                lanes *= double(tl.extent);
                vector_variable = variable_of(l);
            }
        }
        // Loops inside of the innermost one that is left in the code.
        for (int l : placed.loops | std::views::reverse) {
            const LoopKind kind = loop(l).kind;
            if (kind == LoopKind::Serial || kind == LoopKind::Parallel) {
                innermost = l;
                break;
            }
            auto [inner, is_new] = inner_variables.try_emplace(variable_of(l), 1);
            inner->second *= double(loop(l).extent);
            body_points *= double(loop(l).extent);
        }
        productions = tree.iterations(placed.enclosing.empty() ? -1 : placed.enclosing.back());
        points = points_once * productions;
    }

    // ---- Instructions ----

    double in_vectors(double count, double bytes) const {
        if (lanes <= 1) return count;
        return std::max(bytes / machine.vector_bytes, count / lanes);
    }

    double arithmetic_per_point() const {
        double cycles = 0;
        const Operations &o = placed.operations;
        for (size_t c = 0; c < operation_classes; c++) {
            const bool is_math = c == size_t(OperationClass::FloatMath);
            const double each = lanes <= 1 && is_math ? machine.scalar_math : machine.cycles[c];
            cycles += each * in_vectors(o.count[c], o.bytes[c]);
        }
        return cycles;
    }

    // How many points one load serves, where code around it keeps it in a register.
    double points_served(const std::function<bool(int)> &depends) const {
        double served = 1;
        for (const auto &[variable, extent] : inner_variables) {
            if (variable != vector_variable && variable >= 0 && !depends(variable))
                served *= extent;
        }
        if (innermost >= 0) {
            const int v = variable_of(innermost);
            if (v >= 0 && !depends(v)) served *= double(loop(innermost).extent);
        }
        return served;
    }

    double vectors_per_row() const {
        const double row = double(placed.spans[size_t(vector_variable)].extent());
        return std::max(1.0, row / lanes);
    }

    double cycles_of_access(double bytes, const std::vector<std::vector<double>> &slopes) const {
        constexpr double load = 0.5, lane = 1.2;
        if (lanes <= 1 || vector_variable < 0) return load;
        const auto v = size_t(vector_variable);
        bool is_same = true, is_dense = true;
        double stride = 1;
        for (size_t d = 0; d < slopes.size(); d++) {
            const double s = slopes[d][v];
            if (s != 0) is_same = false;
            if (d == 0) stride = std::abs(s);
            if (d > 0 && s != 0) is_dense = false;
        }
        if (is_same) return load / lanes;
        const double whole = load * std::max(bytes / machine.vector_bytes, 1 / lanes);
        if (is_dense && stride <= 1) return whole;
        if (is_dense && stride <= 4) return 2 * stride * whole;
        return lane;
    }

    double loads_per_point() const {
        double cycles = 0;
        for (const Leaf &leaf : placed.leaves) {
            if (leaf.source.function == node.function) continue;  // see accumulator_per_point()
            const double served = points_served([&](int v) { return leaf.depends_on(size_t(v)); });
            double each = cycles_of_access(leaf.bytes, leaf.slopes);
            // The first and the last vector of a row meet the border, and go lane by lane.
            if (leaf.is_limited && lanes > 1 && vector_variable >= 0)
                each += 2 * 1.2 / vectors_per_row();
            cycles += leaf.loads * each / served;
        }
        return cycles;
    }

    double stores_per_point() const {
        std::vector<std::vector<double>> slopes;
        bool knows = true;
        for (const IndexProgram &w : node.writes) {
            std::vector<double> of;
            for (size_t v = 0; v < node.variables.size(); v++) of.push_back(w.slope(v));
            slopes.push_back(std::move(of));
            knows &= !w.reads_data();
        }
        const double each = 2 * cycles_of_access(function.bytes, slopes);  // one store a cycle
        if (!node.is_reduction()) return each;
        if (!knows) return 3 * each;
        // Kept in registers while a reduction loop runs, it is loaded and stored around that.
        auto depends = [&](int v) {
            return std::ranges::any_of(slopes, [&](const auto &of) { return of[size_t(v)] != 0; });
        };
        double served = 1;
        if (innermost >= 0 && variable_of(innermost) >= 0 && !depends(variable_of(innermost))) {
            served = double(loop(innermost).extent);
            for (const auto &[variable, extent] : inner_variables) {
                if (variable >= 0 && !depends(variable)) served *= extent;
            }
        }
        return 1.5 * each / served;
    }

    // A sum waits for its last addition: of so many that go on side by side.
    double waiting_per_point() const {
        constexpr double latency = 4;
        if (!node.is_reduction() || innermost < 0 || !loop(innermost).is_reduction) return 0;
        return latency / body_points;
    }

    // Of accumulators that registers do not hold.
    double spills_per_point() const {
        if (!node.is_reduction() || innermost < 0) return 0;
        const double vectors =
            body_points * function.widest / std::max<double>(machine.vector_bytes, function.widest);
        const double room = machine.registers - 4;
        return vectors <= room ? 0 : 2 * (vectors - room) / body_points;
    }

    double compute() const {
        const double arithmetic = arithmetic_per_point(), loads = loads_per_point(),
                     stores = stores_per_point();
        const double most = std::max({arithmetic, loads, stores});
        const double busy = most + 0.25 * (arithmetic + loads + stores - most);
        return points * (std::max(busy, waiting_per_point()) + spills_per_point());
    }

    // ---- Memory ----

    // All that one iteration of a loop of this nest reads and writes.
    double footprint(int l, bool count_written_near, double cache) const {
        double bytes = 0;
        for (const Leaf &leaf : sources()) {
            if (!count_written_near && is_near(leaf.source.function, cache)) continue;
            bytes += bytes_in(tree.box(leaf.source, l), leaf.bytes);
        }
        return bytes;
    }

    // Returns true if a function's values are still in a cache of this size when they are read.
    bool is_near(int f, double cache) const {
        if (f < 0) return false;
        const FunctionNode &producer = graph.functions[size_t(f)];
        return bytes_in(tree.functions[size_t(f)].stored, producer.bytes) <= cache / 2;
    }

    std::vector<Leaf> sources() const {
        std::vector<Leaf> all;
        for (const Leaf &leaf : placed.leaves) {
            const bool is_known =
                std::ranges::any_of(all, [&](const Leaf &l) { return l.source == leaf.source; });
            if (!is_known) all.push_back({leaf.source, leaf.bytes, 1, {}});
        }
        if (std::ranges::none_of(
                all, [&](const Leaf &l) { return l.source.function == node.function; })) {
            all.push_back({{.function = node.function}, function.bytes, 1, {}});
        }
        return all;
    }

    void memory(StageCost &cost) const {
        // All loops around that are left in the code, outermost first; -1: around them all.
        std::vector<int> around = {-1};
        for (const auto *some : {&placed.enclosing, &placed.loops}) {
            for (int l : *some) {
                const LoopKind kind = loop(l).kind;
                if (kind == LoopKind::Serial || kind == LoopKind::Parallel) around.push_back(l);
            }
        }
        std::vector<double> sets;  // what an iteration needs
        for (int l : around) sets.push_back(footprint(l, true, 0));
        for (const Machine::Cache &cache : machine.caches) {
            size_t fits = 0;
            while (fits + 1 < sets.size() && sets[fits] > 0.8 * cache.bytes) fits++;
            // What is in the cache while an iteration runs is brought there once a run of the loop.
            const int outer = fits == 0 ? -1 : around[fits - 1];
            const double traffic = footprint(outer, false, cache.bytes) * tree.iterations(outer);
            const bool is_last = &cache == &machine.caches.back();
            (is_last ? cost.far : cost.memory) += traffic / cache.bytes_per_cycle;
        }
        cost.far_share = 1 / machine.memory_sharing;
    }

    // ---- Loops, tasks, memory of its own ----

    double overhead() const {
        constexpr double per_iteration = 1, per_loop = 4;
        double cycles = 0;
        if (innermost >= 0) {
            const double bodies = points / body_points;
            cycles += per_iteration * bodies + per_loop * bodies / double(loop(innermost).extent);
        }
        const double around = productions;
        for (int l : placed.loops) {
            if (loop(l).kind != LoopKind::Parallel) continue;
            cycles += around * (machine.parallel_launch + machine.task * double(loop(l).extent));
        }
        const TreeFunction &f = tree.functions[size_t(node.function)];
        if (node.number == 0 && !function.is_output) {
            const double bytes = bytes_in(f.stored, function.bytes);
            const double times = tree.iterations(f.store_level);
            cycles += times * machine.allocation * (bytes > 16e3 ? 1 : 0.05);
            if (bytes > 256e3) cycles += times * bytes * machine.fault_per_byte;
        }
        return cycles;
    }

    // Of the time that one core would take.
    double share() const {
        double tasks = 1;
        for (const auto *some : {&placed.enclosing, &placed.loops}) {
            for (int l : *some) {
                if (loop(l).kind == LoopKind::Parallel) tasks *= double(loop(l).extent);
            }
        }
        const double rounds = std::ceil(tasks / machine.cores);
        return rounds / tasks;
    }

    LoopTree &tree;
    const Graph &graph;
    const Machine &machine;
    const StageNode &node;
    const TreeStage &placed;
    const FunctionNode &function;
    const int stage;
    double lanes = 1, points_once = 1, points = 1, productions = 1;
    int vector_variable = -1;
    int innermost = -1;      // of the loops that are left in the code
    double body_points = 1;  // that an iteration of it computes
    std::map<int, double> inner_variables;
};

}  // namespace

double StageCost::cycles() const {
    const double near = share * (compute + memory), waiting = std::max(share, far_share) * far;
    return std::max(near, waiting) + 0.3 * std::min(near, waiting) + overhead;
}

Cost estimate_cost(LoopTree &tree, const Machine &machine) {
    Cost cost;
    for (size_t s = 0; s < tree.stages.size(); s++) {
        StageCost of_stage;
        if (!tree.stages[s].is_inlined) of_stage = StageEstimate(tree, machine, int(s))();
        cost.cycles += of_stage.cycles();
        cost.stages.push_back(of_stage);
    }
    return cost;
}

}  // namespace tessera::autoscheduler
