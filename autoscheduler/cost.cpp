#include "autoscheduler/cost.h"
#include "autoscheduler/stage_view.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::autoscheduler {
namespace {

class StageEstimate {
public:
    StageEstimate(const StageView &view, const Machine &machine) : view(view), machine(machine) {}

    StageCost operator()() {
        StageCost cost;
        cost.share = share();
        if (view.node.stores_nothing) {  // its loops are none
            cost.overhead = cost.share * storage();
            return cost;
        }
        cost.compute = compute();
        cost.operations = view.points * view.work->operations.total();
        memory(cost);
        cost.code = code();
        cost.overhead = cost.share * (loops() + storage()) + tasks() + code_per_run * cost.code;
        return cost;
    }

private:
    // ---- Instructions ----

    double in_vectors(double count, double bytes) const {
        if (view.lanes <= 1) return count;
        return std::max(bytes / machine.vector_bytes, count / view.lanes) / view.dot_lanes;
    }

    double arithmetic_per_point() const {
        double cycles = 0;
        const Operations &o = view.work->operations;
        for (size_t c = 0; c < operation_classes; c++) {
            const bool is_math = c == size_t(OperationClass::FloatMath);
            const double each =
                view.lanes <= 1 && is_math ? machine.scalar_math : machine.cycles[c];
            cycles += each * in_vectors(o.count[c], o.bytes[c]);
        }
        const double of_sum = machine.cycles[size_t(OperationClass::FloatAdd)];
        return cycles - of_sum * in_vectors(o.fused_count, o.fused_bytes);
    }

    // Lanes whose lines go to the same few places of the first cache push one another out: where
    // rows have a power of two of bytes, each lane comes from the second cache every time.
    bool are_in_few_sets(const Growths &growths, const Source &source, int element) const {
        constexpr int64_t bytes_of_way = 4096, ways = 8;
        const int64_t distance = view.lane_distance(growths, source, element);
        if (distance == 0) return false;
        const int64_t lines = ways * (bytes_of_way / std::gcd(distance, bytes_of_way));
        return view.lanes > double(lines);
    }

    double cycles_of_access(int element, const Growths &growths, const Source &source) const {
        constexpr double load = 0.5, one_by_one = 1.2, far_lane = 5;
        const double bytes = element;
        if (view.lanes <= 1 || view.vector_variable < 0) return load;
        const double whole =
            load * std::max(bytes / machine.vector_bytes, 1 / (view.lanes * view.dot_lanes));
        switch (view.pattern(growths, source, element)) {
        case AccessPattern::Same: return load / (view.lanes * view.dot_lanes);
        case AccessPattern::Dense: return whole;
        case AccessPattern::Strided: return 2 * view.stride(growths, source.function) * whole;
        case AccessPattern::Gathered: break;
        }
        // Lanes that lie equally far apart are loaded one by one.
        const bool is_regular = view.lane_distance(growths, source, element) > 0;
        const double lane =
            is_regular ? std::min(one_by_one, machine.gathered_lane) : machine.gathered_lane;
        return are_in_few_sets(growths, source, element) ? std::max(far_lane, lane) : lane;
    }

    double loads_per_point() const {
        double cycles = 0;
        for (const Leaf &leaf : view.work->leaves) {
            if (leaf.source.function == view.node.function) continue;  // see stores_per_point()
            const double served = view.points_served(leaf);
            double each = cycles_of_access(leaf.bytes, leaf.growths, leaf.source);
            // The first and the last vector of a row meet the border, and go lane by lane.
            const bool is_cut_off = view.lanes > 1 && view.vector_variable >= 0 &&
                                    leaf.is_limited_along(size_t(view.vector_variable));
            if (is_cut_off) each += 2 * machine.gathered_lane / view.vectors_per_row();
            cycles += leaf.loads * each / served;
        }
        return cycles;
    }

    double stores_per_point() const {
        bool is_known = true;
        const Growths writes = view.write_growths(is_known);
        const double each = 2 * cycles_of_access(view.function.bytes, writes,
                                                 {.function = view.node.function});  // one a cycle
        if (!view.node.is_reduction()) return each;
        // Lanes that go where data says are read and written one by one.
        if (!is_known) return 3 * (view.lanes > 1 ? machine.gathered_lane : each);
        // Kept in registers while a reduction loop runs, it is loaded and stored around that.
        return 1.5 * each / view.points_stored_together(writes);
    }

    // A sum waits for its last addition, of so many that go on side by side; a scan for what it has
    // just stored as well, which it loads again.
    double waiting_per_point() const {
        constexpr double of_addition = 4, of_memory = 10;
        if (!view.node.is_reduction() || view.innermost < 0) return 0;
        if (!view.loop(view.innermost).is_reduction) return 0;
        const double latency = of_addition + (view.is_scan() ? of_memory : 0);
        return latency / (view.body_values * view.part_of_lanes_used());
    }

    // Returns what it costs that registers do not hold all accumulators.
    double spills_per_point() const {
        if (!view.node.is_reduction() || view.innermost < 0) return 0;
        const double widest = view.function.widest;
        const double vectors =
            view.body_values * widest / std::max<double>(machine.vector_bytes, widest);
        const double room = machine.registers - 4;
        return vectors <= room ? 0 : 2 * (vectors - room) / view.body_points;
    }

    double compute() const {
        const double arithmetic = arithmetic_per_point(), loads = loads_per_point(),
                     stores = stores_per_point();
        const double most = std::max({arithmetic, loads, stores});
        const double busy = most + 0.25 * (arithmetic + loads + stores - most);
        return view.points * (std::max(busy, waiting_per_point()) + spills_per_point());
    }

    // Each instruction comes from far away once a run: unrolling has to save as much.
    static constexpr double code_per_run = 50;

    // Returns the instructions of the innermost body that are left in the code: what is unrolled
    // and in vectors stands there once for each piece, and once more behind guards, and at borders.
    double code() const {
        constexpr double of_math = 20, of_gathered_lane = 2;
        double instructions = 2;  // a store, and the loop
        for (size_t c = 0; c < operation_classes; c++) {
            const double each = c == size_t(OperationClass::FloatMath) ? of_math : 1;
            instructions +=
                view.body_points * each *
                in_vectors(view.work->operations.count[c], view.work->operations.bytes[c]);
        }
        bool is_limited = false;
        for (const Leaf &leaf : view.work->leaves) {
            const double vectors = in_vectors(1, leaf.bytes);
            const bool is_gathered =
                view.lanes > 1 && view.vector_variable >= 0 &&
                view.pattern(leaf.growths, leaf.source, leaf.bytes) == AccessPattern::Gathered;
            instructions +=
                leaf.loads * view.body_points * (is_gathered ? of_gathered_lane : vectors);
            is_limited |= leaf.limited != 0;
        }
        const bool has_guards = view.has_guarded_lanes || view.has_guarded_unroll;
        return instructions * (has_guards ? 8 : 1) * (is_limited ? 2 : 1);
    }

    // ---- Memory ----

    void memory(StageCost &cost) const {
        const std::vector<int> around = view.loops_in_code();
        std::vector<double> sets;  // what an iteration needs
        for (int l : around) sets.push_back(view.room(l));
        for (const Machine::Cache &cache : machine.caches) {
            size_t fits = 0;
            while (fits + 1 < sets.size() && sets[fits] > 0.8 * cache.bytes) fits++;
            // Elements that stay in the cache during an iteration are brought there once a run of
            // the loop.
            const int outer = fits == 0 ? -1 : around[fits - 1];
            const double traffic = view.footprint(outer, cache.bytes) * view.tree.iterations(outer);
            const size_t level = size_t(&cache - machine.caches.data());
            const bool is_last = level + 1 == machine.caches.size();
            cost.bytes[level] = traffic;
            (is_last ? cost.far : cost.memory) += traffic / cache.bytes_per_cycle;
        }
        cost.far_share = 1 / machine.memory_sharing;
    }

    // ---- Loops, memory of its own, tasks ----

    double loops() const {
        constexpr double per_iteration = 1, per_loop = 25;
        const double iterations = view.innermost < 0 ? 1 : double(view.loop(view.innermost).extent);
        if (iterations <= 1) return 0;
        const double bodies = view.points / view.body_points;
        return per_iteration * bodies + per_loop * bodies / iterations;
    }
    double storage() const {
        // Larger blocks come from the system each time, and their pages are not there yet.
        constexpr double kept_by_heap = 32 << 20, kept_in_cache = 256e3, cold_per_byte = 0.1;
        constexpr double large = 16e3, in_registers = 512;
        const TreeFunction &f = view.tree.functions[size_t(view.node.function)];
        if (view.node.number > 0 || view.function.is_output) return 0;
        const double bytes = bytes_in(f.stored, view.function.bytes);
        const double times = view.tree.iterations(f.store_level);
        double cycles = 0;
        if (bytes > in_registers) cycles += times * machine.allocation * (bytes > large ? 1 : 0.05);
        if (bytes > kept_in_cache) cycles += times * bytes * cold_per_byte;
        if (bytes > kept_by_heap) cycles += times * bytes * machine.fault_per_byte;
        return cycles;
    }
    double tasks() const {
        double cycles = 0;
        for (int l : view.placed.loops) {
            const TreeLoop &loop = view.loop(l);
            if (loop.kind != LoopKind::Parallel) continue;
            cycles += view.productions * (machine.parallel_launch +
                                          machine.task * double(loop.extent) / machine.cores);
        }
        return cycles;
    }

    // Returns the part of the time of one core that all cores take.
    double share() const {
        const double tasks = view.tasks();
        return std::ceil(tasks / machine.cores) / tasks;
    }

    const StageView &view;
    const Machine &machine;
};

}  // namespace

double StageCost::cycles() const {
    // Prefetched elements cost little, but not nothing.
    auto beside = [](double a, double b) { return std::max(a, b) + 0.3 * std::min(a, b); };
    const double near = share * beside(compute, memory);
    return beside(near, std::max(share, far_share) * far) + overhead;
}

namespace {

// Returns what a point takes at least: a product and a sum are one operation, and those of integers
// may be done in numbers half as wide, three at once.
double least_cycles(const Operations &o, const Machine &machine) {
    auto vectors = [&](OperationClass c) {
        return o.bytes[size_t(c)] / double(machine.vector_bytes);
    };
    double cycles =
        0.5 * std::max(vectors(OperationClass::FloatAdd), vectors(OperationClass::FloatMul));
    for (OperationClass c : {OperationClass::FloatDiv, OperationClass::FloatMath})
        cycles += machine.cycles[size_t(c)] * vectors(c) / 2;
    for (OperationClass c : {OperationClass::IntAdd, OperationClass::IntMul, OperationClass::Choice,
                             OperationClass::Bits})
        cycles += vectors(c) / 6;
    return cycles;
}

}  // namespace

namespace {

// Returns what all cores together get of the level that holds so many bytes from one run to the
// next.
double bytes_per_cycle_of(double bytes, const Machine &machine) {
    const double cores = machine.cores;
    const auto &[near, middle, far] = machine.caches;
    if (bytes <= cores * middle.bytes) return cores * near.bytes_per_cycle;
    if (bytes <= far.bytes) return cores * middle.bytes_per_cycle;
    return std::min(cores, machine.memory_sharing) * far.bytes_per_cycle;
}

}  // namespace

double milliseconds_at_least(const Graph &graph, const Machine &machine) {
    double compute = 0, bytes = 0;
    for (const StageNode &stage : graph.stages) {
        const double points = points_in(graph.spans_of(stage));
        compute += points * least_cycles(stage.operations, machine);
    }
    for (const ImageNode &image : graph.images) bytes += bytes_in(image.box, image.bytes);
    for (const FunctionNode &f : graph.functions) {
        if (f.is_output) bytes += bytes_in(f.required, f.bytes);
    }
    const double far = bytes / bytes_per_cycle_of(bytes, machine);
    return std::max(compute / machine.cores, far) / cycles_per_millisecond;
}

StageCost estimate_cost(const StageView &view, const Machine &machine) {
    return StageEstimate(view, machine)();
}

Cost estimate_cost(LoopTree &tree, const Machine &machine) {
    Cost cost;
    cost.stages.resize(tree.stages.size());
    for (int s : tree.computed) {
        cost.stages[size_t(s)] = estimate_cost(StageView(tree, machine, s), machine);
        cost.cycles += cost.stages[size_t(s)].cycles();
        cost.code += cost.stages[size_t(s)].code;
    }
    return cost;
}

}  // namespace tessera::autoscheduler
