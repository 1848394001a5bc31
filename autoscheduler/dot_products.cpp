#include "autoscheduler/dot_products.h"
#include "ir/nodes.h"
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

}  // namespace

int64_t dot_group(const Graph &graph, const StageNode &stage, const Machine &machine) {
    if (!stage.is_reduction()) return 1;
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

}  // namespace tessera::autoscheduler
