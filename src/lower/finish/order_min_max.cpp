#include "lower/finish/order_min_max.h"
#include "ir/mutator.h"
#include "ir/never_nan.h"
#include "ir/visitor.h"
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

using Symbols = std::unordered_set<Symbol>;

// Returns the names whose values can all be seen in the pipeline: lets, and buffers that hold what
// the pipeline stores and nothing else.
Symbols own_names(const LoweredFunction &pipeline, const Context &context) {
    Symbols own;
    for (const Argument &a : pipeline.args) {
        if (a.is_output() && a.type.is_float()) own.insert(a.name);
    }
    for (Symbol kept : context.kept_outputs) own.erase(kept);
    for_each_node(pipeline.body, [&](const Allocate &a) {
        if (a.type.is_float()) own.insert(a.buffer);
    });
    for_each_node(pipeline.body, [&](const LetStmt &let) {
        if (let.value.type().is_float()) own.insert(let.name);
    });
    for_each_node(pipeline.body, [&](const Let &let) {
        if (let.value.type().is_float()) own.insert(let.name);
    });
    for_each_node(pipeline.body, [&](const IntrinsicCall &c) {
        if (c.op != Intrinsic::address_of) return;
        if (const auto *load = c.args[0].as<Load>()) own.erase(load->buffer);
    });
    return own;
}

NeverNan by_names(const Symbols &numbers) {
    return NeverNan([&numbers](const Expr &leaf) {
        if (const auto *load = leaf.as<Load>()) return numbers.contains(load->buffer);
        const auto *v = leaf.as<Variable>();
        return v && numbers.contains(v->name);
    });
}

// Returns the names to which no NaN is ever bound or stored. It starts with all names and takes out
// those that may hold a NaN although the others hold none, until nothing changes.
Symbols names_of_numbers(const LoweredFunction &pipeline, const Context &context) {
    Symbols numbers = own_names(pipeline, context);
    for (size_t before = numbers.size() + 1; before != numbers.size();) {
        before = numbers.size();
        NeverNan is_number = by_names(numbers);
        const auto look = [&](Symbol name, const Expr &value) {
            if (numbers.contains(name) && !is_number(value)) numbers.erase(name);
        };
        for_each_node(pipeline.body, [&](const LetStmt &let) { look(let.name, let.value); });
        for_each_node(pipeline.body, [&](const Let &let) { look(let.name, let.value); });
        for_each_node(pipeline.body, [&](const Store &store) { look(store.buffer, store.value); });
    }
    return numbers;
}

class OrderMinMax final : public Mutator {
public:
    explicit OrderMinMax(const Symbols &numbers) : is_number(by_names(numbers)) {}

private:
    Stmt visit(const For &loop) override {
        return loop.loop_kind == LoopKind::GPUBlock ? Stmt(&loop) : Mutator::visit(loop);
    }
    Expr visit(const Min &node) override { return ordered<LT>(node); }
    Expr visit(const Max &node) override { return ordered<GT>(node); }

    template<typename Before, typename T>
    Expr ordered(const T &node) {
        const bool is_float = node.type.is_float();
        const bool second = is_float && is_number(node.b);
        const bool first = is_float && !second && is_number(node.a);
        Expr same = Mutator::visit(node);
        if (!first && !second) return same;
        const auto *n = same.as<T>();
        const Expr &number = second ? n->b : n->a, &other = second ? n->a : n->b;
        return Select::make(Before::make(other, number), other, number);
    }

    NeverNan is_number;
};

}  // namespace

Stmt order_min_max(const LoweredFunction &pipeline, const Context &context) {
    if (context.target.arch != Target::X86) return pipeline.body;
    bool any = false;
    for_each_node(pipeline.body, [&](const Min &n) { any |= n.type.is_float(); });
    for_each_node(pipeline.body, [&](const Max &n) { any |= n.type.is_float(); });
    if (!any) return pipeline.body;
    const Symbols numbers = names_of_numbers(pipeline, context);
    return OrderMinMax(numbers)(pipeline.body);
}

}  // namespace tessera::lower
