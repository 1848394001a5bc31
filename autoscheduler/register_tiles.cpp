#include "autoscheduler/register_tiles.h"
#include "autoscheduler/copies.h"
#include "autoscheduler/mutate.h"
#include <algorithm>

namespace tessera::autoscheduler {

using namespace program;

namespace {

// Sums, and the stage of an output that reads or adds them up; -1: there are none.
struct Sums {
    int function = -1, stage = -1;
};

// Returns true if the stage reads one value of the function for each of its points, at the same
// place.
bool reads_beside(const StageNode &stage, int function) {
    int reads = 0;
    for (const Access &a : stage.accesses) {
        if (a.source.function != function) continue;
        reads++;
        for (size_t d = 0; d < std::min(a.index.size(), stage.pure); d++) {
            for (size_t v = 0; v < stage.pure; v++) {
                if (a.index[d].slope(v) != double(d == v)) return false;
            }
        }
    }
    return reads == 1;
}

Sums find_sums(const Graph &graph) {
    for (int n = int(graph.functions.size()) - 1; n >= 0; n--) {
        const FunctionNode &f = graph.functions[size_t(n)];
        if (f.consumers.size() != 1 || f.is_output || f.stages.size() < 2) continue;
        const StageNode &sum = graph.stages[size_t(f.stages.back())];
        if (!sum.is_reduction() || sum.pure < 2) continue;  // a block has vectors and rows
        const StageNode &stage = graph.stages[size_t(f.consumers[0])];
        const auto reader = size_t(stage.function);
        const bool is_mine = !graph.is_fixed[size_t(n)] && !graph.is_fixed[reader];
        const bool is_last = graph.functions[reader].stages.back() == f.consumers[0];
        if (is_mine && is_last && graph.functions[reader].is_output && stage.pure > 1 &&
            reads_beside(stage, n))
            return {n, f.consumers[0]};
    }
    return {};
}

// Sums that are kept in registers: so many vectors in each of so many rows.
struct Block {
    int64_t vectors = 1, rows = 1;
    // Products for each value that is loaded.
    double reuse() const { return double(vectors * rows) / double(vectors + rows); }
};

// Returns the block with the most reuse of those that fit as whole ones: where a block is cut off,
// each of its sums has a guard.
Block largest_block(int64_t vectors, int64_t rows, int registers) {
    constexpr int64_t most = 12;
    Block best;
    for (int64_t v = 1; v <= most; v++) {
        for (int64_t r = 1; r <= most; r++) {
            const Block b = {v, r};
            const bool is_whole = vectors % v == 0 && rows % r == 0;
            if (is_whole && 4 * v * r <= 3 * int64_t(registers) && b.reuse() > best.reuse())
                best = b;
        }
    }
    return best;
}

class RegisterTiles {
public:
    RegisterTiles(const Graph &graph, const Machine &machine, Sums sums)
        : graph(graph), machine(machine), sums(sums), adding(graph.stages[size_t(sums.stage)]) {
        spans = graph.spans_of(adding);
    }

    std::optional<Plan> operator()(Plan plan) {
        const FunctionNode &f = graph.functions[size_t(sums.function)];
        lanes = machine.vector_bytes / std::max(1, f.widest);
        const int64_t width = extent(0);
        if (lanes < 2 || width < lanes) return std::nullopt;
        block = largest_block((width + lanes - 1) / lanes, extent(1), machine.registers);
        FunctionPlan &output = plan.functions[size_t(adding.function)];
        output.stages[size_t(adding.number)] = tiles();
        move_to(plan, sums.function, Place::Step, adding.function, machine);
        for (StagePlan &s : plan.functions[size_t(sums.function)].stages) in_block(s);
        for (const Access &a : graph.stages[size_t(f.stages.back())].accesses) {
            if (is_operand(plan, a.source.function)) put_beside(plan, a.source.function);
        }
        return plan;
    }

private:
    // Returns true if the function is worth computing for all of a chunk: it is a copy, or would be
    // computed again for each block.
    bool is_operand(const Plan &plan, int n) const {
        if (n < 0 || n == sums.function || graph.is_fixed[size_t(n)]) return false;
        const FunctionNode &f = graph.functions[size_t(n)];
        const bool is_read_here = std::ranges::all_of(
            f.consumers, [&](int c) { return graph.stages[size_t(c)].function == sums.function; });
        if (!is_read_here || f.is_extern || f.is_output) return false;
        const bool is_inline = plan.functions[size_t(n)].place == Place::Inline;
        return is_copy(graph, n) ||
               (is_inline && graph.stages[size_t(f.stages[0])].operations.total() > 0);
    }
    // A function that meets the border of an image is computed before: tiles at the border would be
    // no whole ones, and all of each would have guards.
    void put_beside(Plan &plan, int n) const {
        if (meets_border(plan, n)) return move_to(plan, n, Place::Root, -1, machine);
        const Place place = adding.is_reduction() ? Place::Chunk : Place::Tile;
        move_to(plan, n, place, adding.function, machine);
        if (is_copy(graph, n)) plan.functions[size_t(n)].innermost = dimension_along(graph, n, 0);
        StagePlan &s = plan.functions[size_t(n)].stages[0];
        if (!s.unroll.empty()) s.unroll[0] = block.vectors;
    }
    bool meets_border(const Plan &plan, int n) const {
        const StageNode &stage = graph.stages[size_t(graph.functions[size_t(n)].stages[0])];
        return std::ranges::any_of(stage.accesses, [&](const Access &a) {
            const int from = a.source.function;
            const bool is_inline = from >= 0 && plan.functions[size_t(from)].place == Place::Inline;
            return std::ranges::any_of(a.index, &IndexProgram::is_limited) ||
                   (is_inline && meets_border(plan, from));
        });
    }
    int64_t extent(size_t v) const { return std::max<int64_t>(1, spans[v].extent()); }

    void in_block(StagePlan &s) const {
        s.vector = 0;
        s.lanes = lanes;
        s.unroll.resize(std::max<size_t>(2, s.unroll.size()));
        std::ranges::fill(s.unroll, 0);
        s.unroll[0] = block.vectors > 1 ? block.vectors : 0;
        if (block.rows > 1) s.unroll[1] = block.rows;
    }

    // Returns tiles as narrow as a block, since what a tile reads is to stay in a cache, and of as
    // many rows as leave tasks enough.
    StagePlan tiles() const {
        StagePlan s;
        s.unroll.assign(adding.variables.size(), 0);
        in_block(s);
        s.tile.assign(adding.variables.size(), 0);
        for (size_t v = adding.pure; v < adding.variables.size(); v++) s.tile[v] = 1;  // chunks
        s.tile[0] = block.vectors * lanes;
        s.parallel = machine.cores > 1;
        int64_t tasks = (extent(0) + s.tile[0] - 1) / s.tile[0];
        for (size_t v = adding.pure; v-- > 2 && tasks < machine.least_tasks();) {
            s.tile[v] = 1;
            tasks *= extent(v);
        }
        int64_t rows = extent(1);
        for (; tasks < machine.least_tasks() && rows % (2 * block.rows) == 0; tasks *= 2) rows /= 2;
        s.tile[1] = rows < extent(1) ? rows : 0;
        return s;
    }

    const Graph &graph;
    const Machine &machine;
    const Sums sums;
    const StageNode &adding;
    std::vector<Span> spans;
    int64_t lanes = 1;
    Block block;
};

}  // namespace

std::optional<Plan> plan_with_register_tiles(const Graph &graph, const Machine &machine,
                                             const Plan &begin) {
    const Sums sums = find_sums(graph);
    if (sums.function < 0) return std::nullopt;
    return RegisterTiles(graph, machine, sums)(begin);
}

}  // namespace tessera::autoscheduler
