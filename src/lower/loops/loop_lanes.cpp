#include "lower/loops/loop_lanes.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/accumulate.h"
#include "lower/loops/lanes.h"
#include "lower/loops/likely.h"
#include "lower/loops/widen.h"
#include "lower/with_lets.h"

namespace tessera::lower {
namespace {

using namespace ir;

bool has_load(const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const Load &) { found = true; });
    return found;
}

// Gives buffers with an innermost dimension `iteration` their place in it.
class PickIteration final : public Mutator {
public:
    PickIteration(const std::unordered_set<Symbol> &buffers, int groups, Expr iteration)
        : buffers(buffers), groups(groups), iteration(std::move(iteration)) {}

private:
    Expr index_of(const Expr &index) {
        Type t = index.type().element_of();
        Expr place = broadcast(cast(t, iteration), index.type().lanes());
        return lanes::add(lanes::mul(index, make_const(index.type(), groups)), place);
    }
    Expr visit(const Load &l) override {
        if (!buffers.count(l.buffer)) return Mutator::visit(l);
        return l.with<&Load::index, &Load::predicate, &Load::alignment>(index_of((*this)(l.index)),
                                                                        (*this)(l.predicate), {});
    }
    Stmt visit(const Store &s) override {
        if (!buffers.count(s.buffer)) return Mutator::visit(s);
        return s.with<&Store::value, &Store::index, &Store::predicate, &Store::alignment>(
            (*this)(s.value), index_of((*this)(s.index)), (*this)(s.predicate), {});
    }

    const std::unordered_set<Symbol> &buffers;
    int groups;
    Expr iteration;
};

class LoopAsLanes final : public Mutator {
public:
    LoopAsLanes(const For &loop, int iterations, bool atomic, bool strict_float)
        : loop(loop), groups(iterations), atomic(atomic), strict_float(strict_float) {
        scope.groups = groups;
        Expr one = make_one(loop.min.type());
        scope.wide[loop.name] = Ramp::make(loop.min, one, groups);
    }
    Stmt run(const Stmt &body);

private:
    struct Mask {
        Expr wide;    // one lane per iteration
        Expr scalar;  // the same for one iteration, in terms of the loop's own names
    };

    Stmt visit(const LetStmt &let) override;
    Stmt visit(const AssertStmt &check) override;
    Stmt visit(const For &inner) override;
    Stmt visit(const Store &store) override;
    Stmt visit(const Allocate &allocate) override;
    Stmt visit(const IfThenElse &branch) override;
    Stmt visit(const Evaluate &evaluate) override;
    Stmt visit(const Atomic &node) override;
    Stmt visit(const Acquire &acquire) override { return one_by_one(Stmt(&acquire)); }
    Stmt visit(const Fork &fork) override { return one_by_one(Stmt(&fork)); }
    Stmt visit(const Provide &provide) override { throw unexpected(provide.func); }
    Stmt visit(const Realize &realize) override { throw unexpected(realize.func); }
    Stmt visit(const HoistedStorage &hoisted) override { throw unexpected(hoisted.func); }
    InternalError unexpected(Symbol func) const {
        return InternalError(str("vectorizing loop ", loop.name, " before ", func, " has storage"));
    }

    Expr widened(const Expr &e) { return widen(e, scope, mask.wide); }
    bool is_wide(const Expr &e, const Expr &before) const {
        return e.type().lanes() != before.type().lanes();
    }
    Expr spread(const Expr &m, int lanes) const { return lanes::repeat_each(m, groups, lanes); }
    bool depends(const Expr &e) const;
    Expr all_masked(const Expr &predicate, const Expr &before, int lanes) const;
    Stmt with_mask(const Expr &wide, const Expr &scalar, const Stmt &s);
    Stmt accumulate(const Store &store, const Accumulation &a, const Expr &index);
    Stmt store_same_place(const Store &store, const Expr &index);
    Stmt trace_of_all(const Evaluate &evaluate);
    Stmt one_by_one(const Stmt &s);
    bool in_a_loop(const std::unordered_set<Symbol> &used) const;
    const std::unordered_set<Symbol> &addressed();

    const For &loop;
    int groups;
    bool atomic, strict_float;
    bool tested = false;  // what an update below Atomic stores decides whether it is done
    bool failed = false;  // an update below Atomic cannot be done for all iterations at once
    WidenScope scope;
    Mask mask;
    bool addressed_known = false;
    std::unordered_set<Symbol> addressed_buffers;
    Stmt whole;
};

Stmt LoopAsLanes::run(const Stmt &body) {
    whole = body;
    Stmt result = (*this)(body);
    if (!failed) return result;
    return loop.with<&For::extent, &For::loop_kind, &For::body>(make_const(loop.min.type(), groups),
                                                                LoopKind::Serial, body);
}

bool LoopAsLanes::depends(const Expr &e) const {
    bool any = false;
    for_each_node(e, [&](const Variable &v) { any |= scope.wide.count(v.name) != 0; });
    for_each_node(e, [&](const Load &l) { any |= scope.per_iteration.count(l.buffer) != 0; });
    return any;
}

// The buffers whose address is taken, which have to keep their layout.
const std::unordered_set<Symbol> &LoopAsLanes::addressed() {
    if (addressed_known) return addressed_buffers;
    addressed_known = true;
    for_each_node(whole, [&](const IntrinsicCall &c) {
        if (c.op != Intrinsic::address_of) return;
        if (const auto *load = c.args[0].as<Load>()) addressed_buffers.insert(load->buffer);
    });
    for_each_node(whole, [&](const Variable &v) {
        if (v.type.is_handle()) addressed_buffers.insert(v.name);
    });
    return addressed_buffers;
}

Stmt LoopAsLanes::visit(const LetStmt &let) {
    if (!can_widen(let.value, scope)) return one_by_one(Stmt(&let));
    Expr value = widened(let.value);
    if (!is_wide(value, let.value)) {
        Stmt body = (*this)(let.body);
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    Lets lets;
    scope.wide[let.name] = name_parts(value, let.name, lets);
    Stmt body = (*this)(let.body);
    scope.wide.erase(let.name);
    return with_lets(lets, body);
}

Stmt LoopAsLanes::visit(const AssertStmt &check) {
    if (mask.wide.defined() || depends(check.condition) || depends(check.message)) {
        return one_by_one(Stmt(&check));
    }
    return Stmt(&check);
}

// A store that is traced: one event of all iterations, lanes of the value and coordinates of one
// iteration after those of another. Undefined if it is another call, or not one for every lane.
Stmt LoopAsLanes::trace_of_all(const Evaluate &evaluate) {
    const auto *c = evaluate.value.as<IntrinsicCall>();
    if (!c || mask.wide.defined() || !can_widen_trace(*c, scope)) return {};
    Expr wide = widen_trace(*c, scope, {});
    return wide.same_as(evaluate.value) ? Stmt() : Evaluate::make(wide);
}

Stmt LoopAsLanes::visit(const Evaluate &evaluate) {
    if (is_pure(evaluate.value)) return no_op();
    if (Stmt trace = trace_of_all(evaluate); trace.defined()) return trace;
    const auto *c = evaluate.value.as<IntrinsicCall>();
    bool hint = c && c->op == Intrinsic::prefetch;
    if (hint && !mask.wide.defined() && !depends(evaluate.value)) return Stmt(&evaluate);
    return one_by_one(Stmt(&evaluate));
}

Stmt LoopAsLanes::visit(const For &inner) {
    if (!can_widen(inner.min, scope) || !can_widen(inner.extent, scope)) {
        return one_by_one(Stmt(&inner));
    }
    Expr min = widened(inner.min), extent = widened(inner.extent);
    bool wide_min = is_wide(min, inner.min), wide_extent = is_wide(extent, inner.extent);
    if (!wide_min && !wide_extent) {
        Stmt body = (*this)(inner.body);
        return inner.with<&For::min, &For::extent, &For::body>(min, extent, body);
    }
    min = all_groups(min, inner.min, groups);
    Lets lets;
    min = name_parts(min, inner.name, lets);
    Symbol step = Symbol::fresh(inner.name.text());
    Expr i = Variable::make(inner.min.type(), step);
    scope.wide[inner.name] = lanes::add(min, Broadcast::make(i, groups));
    Expr longest = wide_extent ? lanes::greatest(extent) : extent;
    Stmt body;
    if (wide_extent) {
        Expr name = Variable::make(inner.min.type(), inner.name);
        Expr scalar = name - inner.min < inner.extent;
        body = with_mask(LT::make(Broadcast::make(i, groups), extent), scalar, inner.body);
    } else {
        body = (*this)(inner.body);
    }
    scope.wide.erase(inner.name);
    body = inner.with<&For::name, &For::min, &For::extent, &For::body>(
        step, make_zero(inner.min.type()), longest, body);
    return with_lets(lets, body);
}

Stmt LoopAsLanes::with_mask(const Expr &wide, const Expr &scalar, const Stmt &s) {
    Mask outer = mask;
    mask.wide = outer.wide.defined() ? And::make(outer.wide, wide) : wide;
    mask.scalar = outer.scalar.defined() ? And::make(outer.scalar, scalar) : scalar;
    const bool outer_traces = std::exchange(scope.traces, false);
    Stmt result = (*this)(s);
    scope.traces = outer_traces;
    mask = outer;
    return result;
}

Stmt LoopAsLanes::visit(const IfThenElse &branch) {
    if (!can_widen(branch.condition, scope)) return one_by_one(Stmt(&branch));
    Expr condition = widened(branch.condition), scalar = branch.condition;
    if (!is_wide(condition, branch.condition)) {
        Stmt then_case = (*this)(branch.then_case);
        return IfThenElse::make(condition, then_case, (*this)(branch.else_case));
    }
    Symbol let, scalar_name;
    Expr wide = condition;
    if (has_load(condition)) {  // which is done once, whatever the branches store
        let = Symbol::fresh("mask");
        scalar_name = Symbol::fresh("mask");
        wide = Variable::make(condition.type(), let);
        scope.wide[scalar_name] = wide;
        scalar = Variable::make(Bool(), scalar_name);
    }
    Stmt body = with_mask(wide, scalar, branch.then_case);
    if (branch.else_case.defined()) {
        Stmt otherwise = with_mask(Not::make(wide), Not::make(scalar), branch.else_case);
        body = Block::make(body, otherwise);
    }
    if (!let.defined()) return body;
    scope.wide.erase(scalar_name);
    return LetStmt::make(let, condition, body);
}

Stmt LoopAsLanes::visit(const Allocate &a) {
    if (addressed().count(a.buffer)) return one_by_one(Stmt(&a));
    std::vector<Expr> extents = {groups};
    for (const Expr &e : a.extents) {
        if (!can_widen(e, scope)) return one_by_one(Stmt(&a));
        Expr extent = widened(e);
        extents.push_back(is_wide(extent, e) ? lanes::greatest(extent) : extent);
    }
    Expr condition = widened(a.condition);
    if (condition.defined() && is_wide(condition, a.condition)) {
        condition = VectorReduce::make(ReduceOp::Or, condition, 1);
    }
    scope.per_iteration.insert(a.buffer);
    Stmt body = (*this)(a.body);
    scope.per_iteration.erase(a.buffer);
    return a.with<&Allocate::extents, &Allocate::condition, &Allocate::padding, &Allocate::body>(
        std::move(extents), condition, a.padding * groups, body);
}

Stmt LoopAsLanes::visit(const Atomic &node) {
    if (node.mutexes.defined() || !updates_one_place(node.body)) return one_by_one(Stmt(&node));
    bool outer_atomic = atomic, outer_failed = failed;
    bool outer_tests = std::exchange(tested, tests_what_it_stores(node.body));
    atomic = true;
    failed = false;
    Stmt body = (*this)(node.body);
    if (failed) {
        failed = false;
        body = one_by_one(node.body);
    }
    failed = outer_failed;
    atomic = outer_atomic;
    tested = outer_tests;
    return node.with<&Atomic::body>(body);
}

// A predicate and the mask together, for all iterations; undefined if there is neither.
Expr LoopAsLanes::all_masked(const Expr &predicate, const Expr &before, int lanes) const {
    Expr own = predicate.defined() ? all_groups(predicate, before, groups) : Expr();
    if (!mask.wide.defined()) return own;
    Expr m = spread(mask.wide, lanes);
    return own.defined() ? And::make(m, own) : m;
}

Stmt LoopAsLanes::visit(const Store &store) {
    if (!can_widen(store.value, scope) || !can_widen(store.index, scope) ||
        !can_widen(store.predicate, scope)) {
        failed |= atomic;
        return one_by_one(Stmt(&store));
    }
    Expr index = widen_index(store.index, scope, mask.wide);
    bool separate = scope.per_iteration.count(store.buffer) != 0;
    if (!is_wide(index, store.index) && !separate) return store_same_place(store, index);
    if (atomic && !separate && !lanes::all_different(index)) {
        failed = true;
        return Stmt(&store);
    }
    Expr predicate =
        all_masked(widened(store.predicate), store.predicate, store.value.type().lanes());
    Alignment alignment = store.alignment;
    index = all_groups(index, store.index, groups);
    if (separate) {
        index = index_per_iteration(index, groups);
        alignment = {};
    }
    Expr value = all_groups(widened(store.value), store.value, groups);
    return store.with<&Store::value, &Store::index, &Store::predicate, &Store::alignment>(
        value, index, predicate, alignment);
}

// All iterations write the same elements.
Stmt LoopAsLanes::store_same_place(const Store &store, const Expr &index) {
    auto accumulation = as_accumulation(store, strict_float);
    if (atomic) {
        if (accumulation && !tested) return accumulate(store, *accumulation, index);
        failed = true;
        return Stmt(&store);
    }
    bool reads_itself = false;
    for_each_node(store.value, [&](const Load &l) { reads_itself |= l.buffer == store.buffer; });
    Expr value = widened(store.value), predicate = widened(store.predicate);
    bool differs = mask.wide.defined() || is_wide(value, store.value) ||
                   (predicate.defined() && is_wide(predicate, store.predicate));
    if (differs || reads_itself) return one_by_one(Stmt(&store));
    return store.with<&Store::value, &Store::index, &Store::predicate>(value, index, predicate);
}

Stmt LoopAsLanes::accumulate(const Store &store, const Accumulation &a, const Expr &index) {
    Type t = a.operand.type();
    Expr predicate = widened(store.predicate);
    bool wide_predicate = predicate.defined() && is_wide(predicate, store.predicate);
    Expr operand = all_groups(widened(a.operand), a.operand, groups);
    Expr active = all_masked(wide_predicate ? predicate : Expr(), store.predicate, t.lanes());
    if (active.defined()) {
        operand = Select::make(active, operand, identity_of(a.op, operand.type()));
    }
    Expr reduced =
        VectorReduce::make(a.op, lanes::transpose(operand, groups, t.lanes()), t.lanes());
    Expr kept = wide_predicate ? Expr() : predicate;
    Expr old = Load::make(t, store.buffer, index, kept, store.alignment);
    Stmt result = store.with<&Store::value, &Store::index, &Store::predicate>(
        combine(a.op, old, reduced), index, kept);
    // If no iteration exists, the element may not exist, or another thread may write it.
    if (!active.defined()) return result;
    return IfThenElse::make(VectorReduce::make(ReduceOp::Or, active, 1), result);
}

// Returns true if the names can be computed from the number of the iteration.
bool LoopAsLanes::in_a_loop(const std::unordered_set<Symbol> &used) const {
    for (Symbol s : used) {
        const Expr &wide = scope.wide.at(s);
        auto affine = lanes::as_affine(wide, groups);
        if (!affine || affine->base.type().is_vector()) return false;
    }
    return true;
}

Stmt LoopAsLanes::one_by_one(const Stmt &s) {
    Stmt guarded = mask.scalar.defined() ? IfThenElse::make(mask.scalar, s) : s;
    std::unordered_set<Symbol> used;
    for_each_node(guarded, [&](const Variable &v) {
        if (scope.wide.count(v.name)) used.insert(v.name);
    });
    auto iteration = [&](const Expr &i, auto value_of) {
        Substitution values;
        for (Symbol name : used) values[name] = value_of(scope.wide.at(name));
        Stmt copy = substitute(values, guarded);
        return scope.per_iteration.empty() ? copy
                                           : PickIteration(scope.per_iteration, groups, i)(copy);
    };
    if (in_a_loop(used)) {
        Symbol name = Symbol::fresh(loop.name.text());
        Expr i = Variable::make(loop.min.type(), name);
        Stmt body = iteration(i, [&](const Expr &wide) {
            auto affine = lanes::as_affine(wide, groups);
            return affine->base + affine->stride * cast(affine->base.type(), i);
        });
        return For::make(name, make_zero(loop.min.type()), make_const(loop.min.type(), groups),
                         LoopKind::Serial, Partition::Auto, body);
    }
    std::vector<Stmt> copies;
    for (int i = 0; i < groups; i++) {
        copies.push_back(
            iteration(i, [&](const Expr &wide) { return lanes::group_of(wide, groups, i); }));
    }
    return Block::make(std::move(copies));
}

}  // namespace

Stmt loop_as_lanes(const For &loop, const Stmt &body, int iterations, bool atomic,
                   bool strict_float) {
    return LoopAsLanes(loop, iterations, atomic, strict_float).run(body);
}

}  // namespace tessera::lower
