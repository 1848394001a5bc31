#include "lower/storage/split_production.h"
#include "ir/mutator.h"
#include "ir/visitor.h"
#include "lower/nest/extern_stage.h"
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace tessera::lower {

using namespace ir;
namespace {

// The statement without the production of a function, or without what consumes it.
class Half final : public Mutator {
public:
    Half(Symbol func, bool producer) : func(func), producer(producer) {}

private:
    Stmt visit(const ProducerConsumer &p) override {
        if (p.func != func) return Mutator::visit(p);
        return p.is_producer == producer ? Stmt(&p) : no_op();
    }
    Symbol func;
    bool producer;
};

// Functions by what a piece of IR does with them.
struct Roles {
    std::set<Symbol> produced, called, realized, nodes;
    std::map<Symbol, std::set<Symbol>> inputs;  // what the values of a function are computed from

    void include(const Roles &other) {
        produced.insert(other.produced.begin(), other.produced.end());
        called.insert(other.called.begin(), other.called.end());
        realized.insert(other.realized.begin(), other.realized.end());
        nodes.insert(other.nodes.begin(), other.nodes.end());
        for (const auto &[func, read] : other.inputs) inputs[func].insert(read.begin(), read.end());
    }
};

// The function of the only value that is stored here, under lets, checks and conditions of its own.
// `passed`: that of the buffer passed last to a function in C, so that an extern stage, of which
// the result of the call is checked at the end, counts as well.
Symbol sole_target(const Stmt &s, Symbol passed = {}) {
    if (const auto *let = s.as<LetStmt>()) {
        const Call *first = first_of_passed_buffer(let->value);
        return sole_target(let->body, first ? first->callee : passed);
    }
    if (const auto *a = s.as<Atomic>()) return sole_target(a->body);
    const auto *branch = s.as<IfThenElse>();
    if (branch && !branch->else_case.defined()) return sole_target(branch->then_case, passed);
    const auto *block = s.as<Block>();
    if (block && !block->stmts.empty()) {
        const auto is_check = [](const Stmt &check) { return check.as<AssertStmt>() != nullptr; };
        const bool only_checks =
            std::all_of(block->stmts.begin(), block->stmts.end() - 1, is_check);
        return only_checks ? sole_target(block->stmts.back(), passed) : Symbol();
    }
    if (s.as<AssertStmt>()) return passed;
    const auto *p = s.as<Provide>();
    return p ? p->func : Symbol();
}

class FindRoles final : public Visitor {
public:
    explicit FindRoles(const SplitScope &scope, Symbol target = {})
        : scope(scope), target(target) {}
    Roles roles;

private:
    // Visits what is read for the sake of a function. Expressions that several read are shared, and
    // count for each: a visitor of its own has seen nothing.
    void visit_for(Symbol func, const std::function<void(FindRoles &)> &read) {
        if (func == target) return read(*this);
        FindRoles of_func(scope, func);
        read(of_func);
        roles.include(of_func.roles);
    }
    void visit(const Provide &p) override {
        roles.produced.insert(p.func);
        visit_for(p.func, [&](FindRoles &find) { find.Visitor::visit(p); });
    }
    void visit(const LetStmt &let) override {
        Symbol only = sole_target(Stmt(&let));
        if (only.defined()) roles.produced.insert(only);
        visit_for(only.defined() ? only : target,
                  [&](FindRoles &find) { find.Visitor::visit(let); });
    }
    void visit(const IfThenElse &branch) override {
        Symbol only = sole_target(Stmt(&branch));
        visit_for(only.defined() ? only : target,
                  [&](FindRoles &find) { find.Visitor::visit(branch); });
    }
    void visit(const ProducerConsumer &p) override {
        if (p.is_producer) roles.nodes.insert(p.func);
        visit_for(Symbol(), [&](FindRoles &find) { find.Visitor::visit(p); });
    }
    void visit(const Realize &r) override {
        roles.realized.insert(r.func);
        Visitor::visit(r);
    }
    void visit(const Call &c) override {
        add_call(c.callee);
        Visitor::visit(c);
    }
    void visit(const Variable &v) override {  // a buffer that an extern stage reads
        if (!v.type.is_handle()) return;
        auto found = scope.functions.find(v.name);
        if (found != scope.functions.end()) add_call(found->second);
    }
    void add_call(Symbol callee) {
        if (target.defined()) {
            roles.inputs[target].insert(callee);
        } else {
            roles.called.insert(callee);
        }
    }

    const SplitScope &scope;
    Symbol target;
};

Roles roles_in(const Stmt &s, const SplitScope &scope) {
    FindRoles find(scope);
    find(s);
    return std::move(find.roles);
}

// Finds out whether the iterations of the loops around a production are counted with gaps. If they
// are not, those next to each other use different copies of a ring buffer.
class FindGaps final : public Visitor {
public:
    explicit FindGaps(Symbol func) : func(func) {}
    bool found = false;

private:
    bool varies(const Expr &e) const {
        return std::any_of(bound.begin(), bound.end(), [&](Symbol s) { return uses_symbol(e, s); });
    }
    void within(bool gap, const Stmt &body) {
        bool outer = std::exchange(gaps, gaps || gap);
        (*this)(body);
        gaps = outer;
    }
    void visit(const For &loop) override {
        bool gap = varies(loop.extent);
        bound.insert(loop.name);
        within(gap, loop.body);
    }
    void visit(const LetStmt &let) override {
        bound.insert(let.name);
        (*this)(let.body);
    }
    void visit(const IfThenElse &branch) override {
        bool gap = varies(branch.condition);
        within(gap, branch.then_case);
        within(gap, branch.else_case);
    }
    void visit(const ProducerConsumer &p) override {
        if (p.is_producer && p.func == func) {
            found |= gaps;
        } else {
            (*this)(p.body);
        }
    }

    Symbol func;
    std::set<Symbol> bound;
    bool gaps = false;
};

// Drops the production of functions that are not needed in this part.
class DropDead final : public Mutator {
public:
    explicit DropDead(const std::set<Symbol> &live) : live(live) {}

private:
    bool is_dead(Symbol func) const { return !live.contains(func); }

    Stmt visit(const Provide &p) override { return is_dead(p.func) ? no_op() : Stmt(&p); }
    Stmt visit(const LetStmt &let) override { return visit_around(let); }
    Stmt visit(const IfThenElse &branch) override { return visit_around(branch); }
    // Reads for the sake of a dead function alone are dropped with it.
    template<typename Node> Stmt visit_around(const Node &node) {
        Symbol only = sole_target(Stmt(&node));
        return only.defined() && is_dead(only) ? no_op() : Mutator::visit(node);
    }
    Stmt visit(const ProducerConsumer &p) override {
        bool drop_all = p.is_producer && is_dead(p.func) && !produces_live(p.body);
        if (drop_all) return no_op();
        return p.is_producer || !is_dead(p.func) ? Mutator::visit(p) : (*this)(p.body);
    }
    Stmt visit(const Realize &r) override {
        if (!is_dead(r.func)) return Mutator::visit(r);
        dropped.insert(r.func);
        return (*this)(r.body);
    }
    Stmt visit(const Prefetch &p) override {
        return dropped.contains(p.name) ? (*this)(p.body) : Mutator::visit(p);
    }
    // The part that has the storage tests whether that holds what is read of it.
    Stmt visit(const AssertStmt &check) override {
        bool is_of_dropped = false;
        for_each_node(check.condition, [&](const BufferProperty &p) {
            is_of_dropped |= dropped.contains(p.buffer);
        });
        return is_of_dropped ? no_op() : Mutator::visit(check);
    }
    Stmt visit(const HoistedStorage &h) override {
        return is_dead(h.func) ? (*this)(h.body) : Mutator::visit(h);
    }
    bool produces_live(const Stmt &s) const {
        bool any = false;
        for_each_node(
            s, [&](const ProducerConsumer &p) { any |= p.is_producer && live.contains(p.func); });
        return any;
    }

    const std::set<Symbol> &live;
    std::set<Symbol> dropped;  // storage that is no longer there
};

// Returns how many productions may be ahead of what has been consumed; undefined: any number.
Expr slots_of(const Realize &r) {
    bool is_reused = std::ranges::any_of(r.storage.folds, &StorageFold::is_done);
    // Values that later productions compute again pass through those of the first stages, or
    // through any at all where a function in C computes them.
    for_each_node(r.body, [&](const ProducerConsumer &p) {
        if (p.func != r.func || !p.is_producer) return;
        is_reused |= p.produced.in_stages || !p.produced.extern_function.empty();
    });
    const Expr &copies = r.storage.copies;
    if (!copies.defined()) return is_reused ? Expr(1) : Expr();
    FindGaps gaps(r.func);
    gaps(r.body);
    return gaps.found || (is_reused && r.storage.is_copy_shared) ? Expr(1) : copies;
}

// Returns true if any other function is computed from this one here.
bool is_read(Symbol func, const Roles &roles) {
    if (roles.called.contains(func)) return true;
    return std::any_of(roles.inputs.begin(), roles.inputs.end(), [&](const auto &of) {
        return of.first != func && of.second.contains(func);
    });
}

void add_inputs(std::set<Symbol> &live, const Roles &roles) {
    std::vector<Symbol> todo(live.begin(), live.end());
    while (!todo.empty()) {
        auto inputs = roles.inputs.find(todo.back());
        todo.pop_back();
        if (inputs == roles.inputs.end()) continue;
        for (Symbol f : inputs->second) {
            if (live.insert(f).second) todo.push_back(f);
        }
    }
}

class Splitter {
public:
    Splitter(const Stmt &body, Symbol func, const SplitScope &scope)
        : body(body), func(func), scope(scope), whole(roles_in(body, scope)) {
        for_each_node(body, [&](const ProducerConsumer &p) {
            if (p.is_producer && p.func == func) below.merge(roles_in(p.body, scope).produced);
        });
    }

    // One part, with what is needed there: the function itself, or all that is computed there and
    // not an input of the function only.
    Stmt part(bool producer) const {
        Stmt s = Half(func, producer)(body);
        while (true) {
            Stmt less = DropDead(live_in(s, producer))(s);
            if (less.same_as(s)) return s;
            s = less;
        }
    }

private:
    std::set<Symbol> live_in(const Stmt &s, bool producer) const {
        Roles roles = roles_in(s, scope);
        std::set<Symbol> live = roles.called;
        if (producer) live.insert(func);
        for (Symbol f : whole.produced) {
            if (is_wanted_outside(f) && (!producer || below.contains(f))) live.insert(f);
        }
        add_inputs(live, roles);
        return live;
    }
    bool is_wanted_outside(Symbol f) const {
        return !scope.stored.contains(f) || !whole.nodes.contains(f) || !is_read(f, whole);
    }

    const Stmt &body;
    Symbol func;
    const SplitScope &scope;
    Roles whole;
    std::set<Symbol> below;  // what is produced within the production of the function
};

void check_parts(Symbol func, const Roles &producer, const Roles &consumer,
                 const SplitReason &reason) {
    for (Symbol other : producer.produced) {
        if (other == func || !consumer.produced.contains(other) ||
            producer.realized.contains(other)) {
            continue;
        }
        throw CompileError(reason.written,
                           str(reason.directive, " of ", func, ": ", other, " is used both by ",
                               func, " and by its consumers, is computed where ", func,
                               " is, and stored further out, so that both would write it; make ",
                               other, " ", reason.directive,
                               " too, compute it further out, or store it where it is computed"));
    }
}

}  // namespace

SplitScope::SplitScope(const LoweredFunction &pipeline) : functions(functions_by_buffer(pipeline)) {
    for_each_node(pipeline.body, [&](const Realize &r) { stored.insert(r.func); });
}

SplitProduction split_production(const Stmt &body, const Realize &storage, const SplitScope &scope,
                                 const SplitReason &reason) {
    const Symbol f = storage.func;
    const Splitter splitter(body, f, scope);
    const Stmt producer = splitter.part(true), consumer = splitter.part(false);
    const Roles a = roles_in(producer, scope), b = roles_in(consumer, scope);
    check_parts(f, a, b, reason);
    std::set<Symbol> in_both;
    std::ranges::set_intersection(a.realized, b.realized, std::inserter(in_both, in_both.end()));
    const Expr slots = slots_of(storage);
    const auto free = slots.defined() ? std::optional(Signal::Free) : std::nullopt;
    return {{producer, free, Signal::Ready}, {consumer, Signal::Ready, free}, slots, in_both};
}

bool computes(const Stmt &s, Symbol func, const SplitScope &scope) {
    return roles_in(s, scope).produced.contains(func);
}

}  // namespace tessera::lower
