#include "lower/loops/accumulate.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;

namespace {

bool reads(const Expr &e, Symbol buffer) {
    bool found = false;
    for_each_node(e, [&](const Load &l) { found |= l.buffer == buffer; });
    return found;
}

// Takes the element itself out of a chain of one operation.
class Chain {
public:
    Chain(const Store &store, ReduceOp op) : store(store), op(op) {}
    Expr rest;  // what is combined with the element; undefined: nothing so far
    int elements = 0;
    bool valid = true;

    void take(const Expr &e) {
        if (is_element(e)) {
            elements++;
            return;
        }
        auto operands = reads(e, store.buffer) ? operands_of(e) : std::nullopt;
        if (operands) {
            take(operands->first);
            take(operands->second);
            return;
        }
        valid &= !reads(e, store.buffer);
        rest = rest.defined() ? combine(op, rest, e) : e;
    }

private:
    bool is_element(const Expr &e) const {
        const auto *load = e.as<Load>();
        return load && load->buffer == store.buffer && equal(load->index, store.index);
    }
    template<typename T>
    static std::optional<std::pair<Expr, Expr>> both(const Expr &e) {
        const T *node = e.as<T>();
        if (!node) return {};
        return std::pair(node->a, node->b);
    }
    std::optional<std::pair<Expr, Expr>> operands_of(const Expr &e) const {
        switch (op) {
        case ReduceOp::Add:
            if (const auto *sub = e.as<Sub>()) {
                // Only what is taken away from may hold the element.
                if (reads(sub->b, store.buffer)) return {};
                return std::pair(sub->a, make_zero(e.type()) - sub->b);
            }
            return both<Add>(e);
        case ReduceOp::Mul: return both<Mul>(e);
        case ReduceOp::Min: return both<Min>(e);
        case ReduceOp::Max: return both<Max>(e);
        case ReduceOp::And: return both<And>(e);
        case ReduceOp::Or: return both<Or>(e);
        case ReduceOp::SaturatingAdd: {
            const auto *c = e.as<IntrinsicCall>();
            if (!c || c->op != Intrinsic::saturating_add) return {};
            return std::pair(c->args[0], c->args[1]);
        }
        }
        return {};
    }

    const Store &store;
    ReduceOp op;
};

std::optional<ReduceOp> operation_of(const Expr &e) {
    switch (e.kind()) {
    case NodeKind::Add:
    case NodeKind::Sub: return ReduceOp::Add;
    case NodeKind::Mul: return ReduceOp::Mul;
    case NodeKind::Min: return ReduceOp::Min;
    case NodeKind::Max: return ReduceOp::Max;
    case NodeKind::And: return ReduceOp::And;
    case NodeKind::Or: return ReduceOp::Or;
    default: break;
    }
    const auto *c = e.as<IntrinsicCall>();
    // Of signed numbers it is not associative.
    if (c && c->op == Intrinsic::saturating_add && e.type().is_uint()) {
        return ReduceOp::SaturatingAdd;
    }
    return {};
}

}  // namespace

std::optional<Accumulation> as_accumulation(const Store &store, bool strict_float) {
    auto op = operation_of(store.value);
    if (!op) return {};
    bool sums = *op == ReduceOp::Add || *op == ReduceOp::Mul;
    if (strict_float && sums && store.value.type().is_any_float()) return {};
    Chain chain(store, *op);
    chain.take(store.value);
    if (!chain.valid || chain.elements != 1 || !chain.rest.defined()) return {};
    if (reads(store.index, store.buffer)) return {};
    return Accumulation{*op, chain.rest};
}

Expr identity_of(ReduceOp op, Type t) {
    switch (op) {
    case ReduceOp::Add:
    case ReduceOp::SaturatingAdd: return make_zero(t);
    case ReduceOp::Mul: return make_one(t);
    case ReduceOp::Min: return t.max();
    case ReduceOp::Max: return t.min();
    case ReduceOp::And: return const_true(t.lanes());
    case ReduceOp::Or: return const_false(t.lanes());
    }
    throw InternalError("an unknown reduction");
}

Expr combine(ReduceOp op, const Expr &a, const Expr &b) {
    switch (op) {
    case ReduceOp::Add: return Add::make(a, b);
    case ReduceOp::SaturatingAdd: return call(a.type(), Intrinsic::saturating_add, {a, b});
    case ReduceOp::Mul: return Mul::make(a, b);
    case ReduceOp::Min: return Min::make(a, b);
    case ReduceOp::Max: return Max::make(a, b);
    case ReduceOp::And: return And::make(a, b);
    case ReduceOp::Or: return Or::make(a, b);
    }
    throw InternalError("an unknown reduction");
}

Stmt without_lets_of_updates(const Stmt &body) {
    std::unordered_map<Symbol, int> stored;
    for_each_node(body, [&](const Store &s) { stored[s.buffer]++; });
    Substitution values;
    Stmt rest = body;
    while (const auto *let = rest.as<LetStmt>()) {
        bool reads_stored = false;
        for_each_node(let->value,
                      [&](const Load &l) { reads_stored |= stored.count(l.buffer) != 0; });
        if (!reads_stored || !is_pure(let->value)) break;
        values[let->name] = substitute(values, let->value);
        rest = let->body;
    }
    if (values.empty()) return body;
    Stmt inlined = substitute(values, rest);
    // Each store may read its own buffer only, and be the only one to it: it no longer sees what
    // the others were before.
    bool separate = true;
    for_each_node(inlined, [&](const Store &s) {
        auto look = [&](const Load &l) {
            auto found = stored.find(l.buffer);
            separate &= found == stored.end() || (l.buffer == s.buffer && found->second == 1);
        };
        for_each_node(s.value, look);
        for_each_node(s.index, look);
    });
    return separate ? inlined : body;
}

static Substitution lets_in(const Stmt &body) {
    Substitution lets;
    for_each_node(body, [&](const LetStmt &let) { lets[let.name] = substitute(lets, let.value); });
    return lets;
}

bool updates_one_place(const Stmt &body) {
    const Substitution lets = lets_in(body);
    std::unordered_map<Symbol, Expr> places;
    bool one = true;
    for_each_node(body, [&](const Store &store) {
        one &= places.emplace(store.buffer, substitute(lets, store.index)).second;
    });
    for_each_node(body, [&](const Load &load) {
        auto place = places.find(load.buffer);
        one = one && (place == places.end() || equal(substitute(lets, load.index), place->second));
    });
    return one;
}

bool tests_what_it_stores(const Stmt &body) {
    const Substitution lets = lets_in(body);
    std::unordered_set<Symbol> stored;
    for_each_node(body, [&](const Store &store) { stored.insert(store.buffer); });
    bool found = false;
    auto test = [&](const Expr &condition) {
        if (!condition.defined()) return;
        for_each_node(substitute(lets, condition),
                      [&](const Load &load) { found |= stored.contains(load.buffer); });
    };
    for_each_node(body, [&](const IfThenElse &branch) { test(branch.condition); });
    for_each_node(body, [&](const Store &store) { test(store.predicate); });
    return found;
}

}  // namespace tessera::lower
