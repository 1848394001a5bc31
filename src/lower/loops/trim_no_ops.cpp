#include "lower/loops/trim_no_ops.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/loops/certainty.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_ends.h"
#include "lower/loops/store_effect.h"
#include <functional>
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;
using algebra::Interval;

// Finds the iterations of a loop that may do something; everything() as soon as there is nothing to
// gain.
class ActiveIterations {
public:
    ActiveIterations(const For &loop, const StoreEffects &effects) : loop(loop), effects(effects) {
        auto extent = as_const_int(loop.extent);
        is_short = extent && *extent <= most_unrolled;
    }

    Interval of(const Stmt &s) {
        if (is_no_op(s)) return Interval::nothing();
        if (const auto *n = s.as<IfThenElse>()) return of_branch(*n);
        if (const auto *n = s.as<Block>()) return of_block(*n);
        if (const auto *n = s.as<For>()) return of_loop(*n);
        if (const auto *n = s.as<ProducerConsumer>()) return of(n->body);
        if (const auto *n = s.as<Atomic>()) return of(n->body);
        if (const auto *n = s.as<Allocate>()) return of(n->body);
        if (const auto *n = s.as<LetStmt>()) return of_let(*n);
        if (const auto *n = s.as<Store>()) {
            if (!is_short) return where(effects.condition_of(*n));
            return n->predicate.defined() ? where(n->predicate) : Interval::everything();
        }
        return Interval::everything();
    }

private:
    Interval of_branch(const IfThenElse &n) {
        if (!is_pure(n.condition)) return Interval::everything();
        Interval then = make_intersection(where(n.condition), of(n.then_case));
        if (!n.else_case.defined() || then.is_everything()) return then;
        Interval otherwise = make_intersection(where(!n.condition), of(n.else_case));
        return make_union(then, otherwise);
    }
    Interval of_block(const Block &n) {
        Interval all = Interval::nothing();
        for (const Stmt &s : n.stmts) {
            all = make_union(all, of(s));
            if (all.is_everything()) break;
        }
        return all;
    }
    Interval of_let(const LetStmt &n) {
        if (!is_pure(n.value)) return Interval::everything();
        lets.push_let(n.name, remove_likely(n.value));
        inside.insert(n.name);
        Interval i = of(n.body);
        lets.pop_let(n.name);
        return i;
    }
    Interval of_loop(const For &n) {
        if (!is_pure(n.min) || !is_pure(n.extent)) return Interval::everything();
        Expr first = lets.expand(remove_likely(n.min));
        Expr count = lets.expand(remove_likely(n.extent));
        Interval i;
        i.min = bounds_of_expr(first, scope).min;
        i.max = bounds_of_expr(first + count - make_one(count.type()), scope).max;
        scope.bind(n.name, i);
        inside.insert(n.name);
        Interval active = of(n.body);
        scope.unbind(n.name);
        return active;
    }
    // Returns the iterations in which the condition may hold.
    Interval where(const Expr &condition) const {
        if (is_false(condition)) return Interval::nothing();
        Expr possible = possibly(lets.expand(remove_likely(condition)), scope);
        if (!possible.defined()) return Interval::everything();
        possible = algebra::simplify(possible);
        bool known = is_pure(possible);
        for_each_node(possible, [&](const Load &) { known = false; });
        if (!known || uses_any(possible, inside)) return Interval::everything();
        if (is_false(possible)) return Interval::nothing();
        if (!uses_symbol(possible, loop.name)) return Interval::everything();
        return algebra::solve_for_outer_interval(possible, loop.name);
    }

    // Loops that are as short as this are as quick with a test as with ends that have to be found.
    static constexpr int64_t most_unrolled = 8;
    bool is_short = false;
    const For &loop;
    const StoreEffects &effects;
    LetScope lets;
    algebra::IntervalScope scope;
    std::unordered_set<Symbol> inside;
};

// Leaves of selects whose condition holds their true value alone.
class DropSelects final : public Mutator {
public:
    explicit DropSelects(std::function<bool(const Expr &)> holds) : holds(std::move(holds)) {}

private:
    Expr visit(const Select &s) override {
        return holds(s.condition) ? (*this)(s.true_value) : Mutator::visit(s);
    }
    std::function<bool(const Expr &)> holds;
};

// Drops selects whose condition holds in all iterations that are left of a loop. The stores go on
// changing what they changed.
class DropCertain final : public Mutator {
public:
    DropCertain(const For &loop, const Interval &active, StoreEffects &effects)
        : loop(loop), effects(effects) {
        first = active.min.defined() ? active.min : loop.min;
        last = active.max.defined() ? active.max : loop.min + loop.extent - 1;
    }

private:
    Stmt visit(const Store &store) override {
        Stmt s = store.with<&Store::value>(without_certain(store.value));
        if (s.as<Store>()->value.same_as(store.value)) return Stmt(&store);
        effects.replace(store, *s.as<Store>());
        return s;
    }
    Stmt visit(const LetStmt &let) override {
        const Expr value = without_certain(let.value);
        Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    Stmt visit(const For &inner) override {
        inside.insert(inner.name);
        Stmt body = (*this)(inner.body);
        return inner.with<&For::body>(body);
    }
    Stmt visit(const Evaluate &e) override { return Stmt(&e); }

    Expr without_certain(const Expr &e) const {
        return DropSelects([this](const Expr &c) { return holds(c); })(e);
    }
    bool holds(const Expr &raw) const {
        if (!raw.type().is_scalar()) return false;
        const Expr condition = lets.expand(raw);
        if (!is_pure(condition) || uses_any(condition, inside)) return false;
        if (!uses_symbol(condition, loop.name)) return false;
        const Interval certain = algebra::solve_for_inner_interval(condition, loop.name);
        if (certain.is_nothing()) return false;
        return (!certain.min.defined() || algebra::can_prove(certain.min <= first)) &&
               (!certain.max.defined() || algebra::can_prove(last <= certain.max));
    }
    const For &loop;
    StoreEffects &effects;
    Expr first, last;
    LetScope lets;
    std::unordered_set<Symbol> inside;
};

// Returns true if the statement reads, writes or passes on this storage.
bool touches(const Stmt &s, Symbol buffer) {
    bool any = false;
    auto look_at = [&](Symbol name) { any |= name == buffer; };
    for_each_node(s, [&](const Load &n) { look_at(n.buffer); });
    for_each_node(s, [&](const Store &n) { look_at(n.buffer); });
    for_each_node(s, [&](const Variable &n) { look_at(n.name); });
    for_each_node(s, [&](const BufferProperty &n) { look_at(n.buffer); });
    for_each_node(s, [&](const Atomic &n) { look_at(n.mutexes); });
    return any;
}

class TrimNoOps final : public Mutator {
public:
    explicit TrimNoOps(const Stmt &s) : effects(s) {}

private:
    Stmt visit(const Store &store) override { return Stmt(&store); }
    Stmt visit(const Evaluate &e) override { return is_pure(e.value) ? no_op() : Stmt(&e); }
    Stmt visit(const LetStmt &let) override {
        Stmt body = (*this)(let.body);
        if (is_no_op(body) && is_pure(let.value)) return body;
        return let.with<&LetStmt::body>(body);
    }
    Stmt visit(const ProducerConsumer &node) override {
        Stmt s = Mutator::visit(node);
        const auto *n = s.as<ProducerConsumer>();
        if (n && is_no_op(n->body)) return n->body;
        if (node.is_producer) produced.insert(node.func);
        return s;
    }
    // A stage that is not computed leaves nothing but, maybe, its storage.
    Stmt visit(const Allocate &node) override {
        produced.erase(node.buffer);
        Stmt s = Mutator::visit(node);
        const Stmt &body = s.as<Allocate>()->body;
        return produced.count(node.buffer) || touches(body, node.buffer) ? s : body;
    }
    Stmt visit(const IfThenElse &node) override {
        Stmt then_case = (*this)(node.then_case), else_case = (*this)(node.else_case);
        bool nothing = is_no_op(then_case) && is_no_op(else_case);
        if (nothing && is_pure(node.condition)) return no_op();
        return node.with<&IfThenElse::then_case, &IfThenElse::else_case>(then_case, else_case);
    }
    Stmt visit(const Block &node) override {
        std::vector<Stmt> parts;
        bool changed = false;
        for (const Stmt &s : node.stmts) {
            parts.push_back((*this)(s));
            changed |= !parts.back().same_as(s) || is_no_op(parts.back());
            if (is_no_op(parts.back())) parts.pop_back();
        }
        return changed ? Block::make(std::move(parts)) : Stmt(&node);
    }
    Stmt visit(const For &loop) override {
        Stmt body = (*this)(loop.body);
        if (is_no_op(body)) return body;
        Stmt s = loop.with<&For::body>(body);
        return traits_of(loop.loop_kind).has_code ? shrink(*s.as<For>()) : s;
    }
    Stmt shrink(const For &loop);

    StoreEffects effects;
    std::unordered_set<Symbol> produced;  // so far; storage of these is not looked for again
};

Stmt TrimNoOps::shrink(const For &loop) {
    Interval active = ActiveIterations(loop, effects).of(loop.body);
    if (active.is_everything()) return Stmt(&loop);
    if (active.is_nothing()) return no_op();
    const Stmt body = DropCertain(loop, active, effects)(loop.body);
    Type t = loop.min.type();
    const Expr after = loop.min + loop.extent;
    Expr first = loop.min, end = after;
    if (active.min.defined()) first = max(first, place_in_loop(active.min, 0, loop.min, after));
    if (active.max.defined()) end = min(end, place_in_loop(active.max, 1, loop.min, after));
    Expr extent = algebra::simplify(max(end - first, make_zero(t)));
    return loop.with<&For::min, &For::extent, &For::body>(algebra::simplify(first), extent, body);
}

}  // namespace

Stmt trim_no_ops(const Stmt &s, const Context &) { return TrimNoOps(s)(s); }

}  // namespace tessera::lower
