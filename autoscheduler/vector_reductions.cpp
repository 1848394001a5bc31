#include "autoscheduler/vector_reductions.h"
#include "ir/nodes.h"
#include "program/associativity.h"
#include <algorithm>

namespace tessera::autoscheduler {

using namespace ir;

namespace {

Type before_cast(const Expr &e) {
    const auto *cast = e.as<Cast>();
    return cast ? cast->value.type() : e.type();
}

// The product that a definition adds to what was there; null if it does something else.
const Mul *added_product(const StageNode &stage, const program::FunctionContents &f) {
    const std::vector<Expr> &values = stage.definition->values;
    const auto *sum = values.size() == 1 ? values[0].as<Add>() : nullptr;
    if (!sum) return nullptr;
    const auto is_own = [&](const Expr &e) {
        const auto *call = e.as<Call>();
        return call && call->callee == f.name;
    };
    if (is_own(sum->a)) return sum->b.as<Mul>();
    return is_own(sum->b) ? sum->a.as<Mul>() : nullptr;
}

int64_t dot_group(const Graph &graph, const StageNode &stage, const Machine &machine) {
    const Mul *product = added_product(stage, *graph.functions[size_t(stage.function)].function);
    if (!product) return 1;
    const Type a = before_cast(product->a), b = before_cast(product->b), sum = product->type;
    int64_t group = 1;
    for (const Machine::DotProduct &d : machine.dot_products) {
        const bool fits = d.sum == sum && ((d.a == a && d.b == b) || (d.a == b && d.b == a));
        const bool is_whole = stage.domain[0].extent() % d.group == 0;
        if (fits && is_whole) group = std::max<int64_t>(group, d.group);
    }
    return group;
}

// Returns true if the lanes of the reduction's first variable lie side by side in memory, as rows
// and partial results do.
bool reads_side_by_side(const Graph &graph, const StageNode &stage) {
    if (reads_along_reduction(stage)) return true;
    bool any = false;
    for (const Access &a : stage.accesses) {
        if (a.source.function == stage.function) continue;
        const int d =
            a.source.function < 0 ? -1 : dimension_of_partial_results(graph, a.source.function);
        if (d < 0 || a.index[size_t(d)].slope(stage.pure) != 1) return false;
        any = true;
    }
    return any;
}

// A few vectors whose lanes lie side by side.
int64_t lanes_of_tree(const Graph &graph, const StageNode &stage, const Machine &machine) {
    constexpr int64_t most_vectors = 4;
    const FunctionNode &f = graph.functions[size_t(stage.function)];
    const int64_t extent = stage.domain[0].extent();
    const bool is_few = extent >= 4 && extent * f.widest <= most_vectors * machine.vector_bytes;
    if (!is_few || stage.domain.size() != 1 || stage.definition->values.size() != 1) return 1;
    if (!reads_side_by_side(graph, stage)) return 1;
    const auto update = program::prove_associativity(*f.function, *stage.definition);
    return update && update->commutative ? extent : 1;
}

}  // namespace

bool reads_along_reduction(const StageNode &stage) {
    bool any = false;
    for (const Access &a : stage.accesses) {
        const auto depends_on = [&](size_t v) {
            return std::ranges::any_of(
                a.index, [&](const IndexProgram &index) { return index.slope(v) != 0; });
        };
        if (a.source.function == stage.function || !depends_on(stage.pure)) continue;
        const IndexProgram &along = a.index[0];
        if (along.slope(stage.pure) != 1) return false;
        for (size_t v = 0; v < stage.pure; v++) {
            if (along.slope(v) != 0) return false;
        }
        any = true;
    }
    return any;
}

int dimension_of_partial_results(const Graph &graph, int function) {
    const FunctionNode &f = graph.functions[size_t(function)];
    if (f.stages.size() < 2) return -1;
    const StageNode &stage = graph.stages[size_t(f.stages.back())];
    if (!stage.is_reduction()) return -1;
    for (const Access &a : stage.accesses) {
        if (a.source.function == function || a.index.empty()) continue;
        for (size_t v = 0; v < stage.pure; v++) {
            if (a.index[0].slope(v) == 1) return int(stage.dimensions[v]);
        }
    }
    return -1;
}

int64_t reduction_lanes(const Graph &graph, const StageNode &stage, const Machine &machine) {
    if (!stage.is_reduction() || stage.number == 0) return 1;
    return std::max(dot_group(graph, stage, machine), lanes_of_tree(graph, stage, machine));
}

}  // namespace tessera::autoscheduler
