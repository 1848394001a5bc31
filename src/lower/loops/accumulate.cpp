#include "lower/loops/accumulate.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/unify.h"
#include "ir/visitor.h"
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;

namespace {

// The value that is stored, with the element that it goes to as a variable.
class NameElement final : public Mutator {
public:
    NameElement(const Store &store, const Expr &name) : store(store), name(name) {}

private:
    Expr visit(const Load &load) override {
        const bool is_element = load.buffer == store.buffer && equal(load.index, store.index);
        return is_element ? name : Mutator::visit(load);
    }
    const Store &store;
    const Expr &name;
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
    // For signed numbers it is not associative.
    if (c && c->op == Intrinsic::saturating_add && e.type().is_uint()) {
        return ReduceOp::SaturatingAdd;
    }
    return {};
}

}  // namespace

// Asks about a store to flat memory instead, where the element has one place and all other elements
// of the Func have another.
std::optional<Accumulation> as_accumulation(const Provide &update) {
    if (update.values.size() != 1 || update.predicate.defined()) return {};
    class Flat final : public Mutator {
    public:
        explicit Flat(const Provide &update) : update(update) {}

    private:
        Expr visit(const Call &c) override {
            if (c.callee != update.func) return Mutator::visit(c);
            bool same = true;
            for (size_t d = 0; d < c.args.size(); d++) same &= equal(c.args[d], update.args[d]);
            return Load::make(c.type, c.callee, same ? 0 : 1);
        }
        const Provide &update;
    };
    const Stmt store = Store::make(update.func, Flat(update)(update.values[0]), 0);
    return as_accumulation(*store.as<Store>(), false);
}

std::optional<Accumulation> as_accumulation(const Store &store, bool strict_float) {
    auto op = operation_of(store.value);
    if (!op) return {};
    bool sums = *op == ReduceOp::Add || *op == ReduceOp::Mul;
    if (strict_float && sums && store.value.type().is_float()) return {};
    const Symbol hole = Symbol::fresh("operand");
    const Expr element = Variable::make(store.value.type(), Symbol::fresh("element"));
    const Expr operand = Variable::make(store.value.type(), hole);
    const Expr value = NameElement(store, element)(store.value);
    const auto found = unify(combine(*op, element, operand), value, std::span(&hole, 1));
    if (!found || loads_from(store.index, store.buffer)) return {};
    const Expr &rest = found->at(hole);
    if (loads_from(rest, store.buffer) || uses_symbol(rest, element.as<Variable>()->name))
        return {};
    return Accumulation{*op, rest};
}

Expr identity_of(ReduceOp op, Type t) {
    switch (op) {
    case ReduceOp::Add:
    case ReduceOp::SaturatingAdd: return make_zero(t);
    case ReduceOp::Mul: return make_one(t);
    case ReduceOp::Min: return t.is_float() ? make_float_const(t, NAN) : t.max();
    case ReduceOp::Max: return t.is_float() ? make_float_const(t, NAN) : t.min();
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
