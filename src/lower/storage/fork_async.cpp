#include "lower/storage/fork_async.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/nest/extern_stage.h"
#include "runtime/tessera_runtime.h"
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace tessera::lower {

using namespace ir;
namespace {

Expr semaphore_memory() {
    return call(Handle(), Intrinsic::alloca, {int(sizeof(tessera_semaphore_t))});
}

Stmt release(const Expr &semaphore) {
    return Evaluate::make(call(Int(32), Intrinsic::semaphore_release, {semaphore, 1}));
}

// What the two sides of a function signal each other with. Several threads that read it have a pair
// each. `free` is undefined where the producer never has to wait.
struct Semaphores {
    Expr ready, free;
};

// One of the two sides: the body with only the producer, or only the consumer, of a function,
// between acquiring semaphores and releasing others.
class Half final : public Mutator {
public:
    Half(Symbol func, bool producer, const std::vector<Semaphores> &pairs)
        : func(func), producer(producer), pairs(pairs) {}

private:
    Stmt visit(const ProducerConsumer &p) override {
        if (p.func != func) return Mutator::visit(p);
        if (p.is_producer != producer) return no_op();
        std::vector<Stmt> body{Stmt(&p)};
        for (const Semaphores &pair : pairs) {
            const Expr &released = producer ? pair.ready : pair.free;
            if (released.defined()) body.push_back(release(released));
        }
        Stmt s = Block::make(std::move(body));
        for (const Semaphores &pair : pairs) {
            const Expr &acquired = producer ? pair.free : pair.ready;
            if (acquired.defined()) s = Acquire::make(acquired, 1, s);
        }
        return s;
    }
    Symbol func;
    bool producer;
    const std::vector<Semaphores> &pairs;
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

// Which function each buffer holds.
using Buffers = std::unordered_map<Symbol, Symbol>;

class FindRoles final : public Visitor {
public:
    explicit FindRoles(const Buffers &buffers, Symbol target = {})
        : buffers(buffers), target(target) {}
    Roles roles;

private:
    // Visits what is read for the sake of a function. What several read is shared, and counts for
    // each: a visitor of its own has seen nothing.
    void visit_for(Symbol func, const std::function<void(FindRoles &)> &read) {
        if (func == target) return read(*this);
        FindRoles of_func(buffers, func);
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
        auto found = buffers.find(v.name);
        if (found != buffers.end()) add_call(found->second);
    }
    void add_call(Symbol callee) {
        if (target.defined()) {
            roles.inputs[target].insert(callee);
        } else {
            roles.called.insert(callee);
        }
    }

    const Buffers &buffers;
    Symbol target;
};

Roles roles_in(const Stmt &s, const Buffers &buffers) {
    FindRoles find(buffers);
    find(s);
    return std::move(find.roles);
}

// Whether the iterations of the loops around a production are counted without a gap: then those
// next to each other use different copies of a ring buffer.
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

// Drops the production of functions that are not needed in this side, and what waits for it.
class DropDead final : public Mutator {
public:
    DropDead(const std::set<Symbol> &live, const std::unordered_map<Symbol, Symbol> &semaphores)
        : live(live), semaphores(semaphores) {}

private:
    bool is_dead(Symbol func) const { return !live.contains(func); }
    bool waits_for_dead(const Expr &semaphore) const {
        const auto *v = semaphore.as<Variable>();
        auto found = v ? semaphores.find(v->name) : semaphores.end();
        return found != semaphores.end() && is_dead(found->second);
    }

    Stmt visit(const Provide &p) override { return is_dead(p.func) ? no_op() : Stmt(&p); }
    Stmt visit(const LetStmt &let) override { return visit_around(let); }
    Stmt visit(const IfThenElse &branch) override { return visit_around(branch); }
    // What is read for the sake of a dead function alone is dropped with it.
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
    // Whether storage holds what is read of it is tested in the side that has it.
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
    Stmt visit(const Acquire &a) override {
        return waits_for_dead(a.semaphore) ? (*this)(a.body) : Mutator::visit(a);
    }
    Stmt visit(const Evaluate &e) override {
        const auto *c = e.value.as<IntrinsicCall>();
        bool dead = c && c->op == Intrinsic::semaphore_release && waits_for_dead(c->args[0]);
        return dead ? no_op() : Stmt(&e);
    }
    bool produces_live(const Stmt &s) const {
        bool any = false;
        for_each_node(
            s, [&](const ProducerConsumer &p) { any |= p.is_producer && live.contains(p.func); });
        return any;
    }

    const std::set<Symbol> &live;
    const std::unordered_map<Symbol, Symbol> &semaphores;
    std::set<Symbol> dropped;  // storage that is no longer there
};

class ForkAsync final : public Mutator {
public:
    ForkAsync(const Stmt &s, const lower::Context &context)
        : buffers(context.functions_by_buffer()) {
        for_each_node(s, [&](const Realize &r) {
            stored.insert(r.func);
            buffers.try_emplace(r.func, r.func);
        });
    }

private:
    // From the outside in: what is forked later finds itself in one of the sides.
    Stmt visit(const Realize &r) override {
        if (!r.storage.is_async) return Mutator::visit(r);
        StorageFacts storage = r.storage;
        storage.is_async = false;
        return r.with<&Realize::body, &Realize::storage>(fork(r), storage);
    }
    Stmt visit(const HoistedStorage &h) override {
        hoisted.insert(h.func);
        Stmt s = Mutator::visit(h);
        hoisted.erase(h.func);
        return s;
    }

    // How many productions may be ahead of what has been consumed; undefined: any number.
    static Expr slots(const Realize &r) {
        bool is_reused = std::ranges::any_of(r.storage.folds, &StorageFold::is_done);
        // What later productions compute again passes through the values of the first stages, or
        // through any at all where a function in C computes it.
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

    Expr new_semaphore(Symbol func, const char *what) {
        Symbol name = Symbol::fresh(str(func, ".", what));
        funcs[name] = func;
        return Variable::make(Handle(), name);
    }
    Semaphores new_pair(Symbol func, bool limited) {
        return {new_semaphore(func, "ready"), limited ? new_semaphore(func, "free") : Expr()};
    }

    Stmt fork(const Realize &r) {
        const Symbol f = r.func;
        const Expr count = slots(r);
        pairs[f] = {new_pair(f, count.defined())};
        Stmt consumer = side_of(f, false, r.body);
        check_sides(r, side_of(f, true, r.body), consumer);
        give_own_semaphores(f, side_of(f, true, r.body), consumer);
        consumer = (*this)(consumer);  // which may add pairs
        Stmt producer = (*this)(side_of(f, true, r.body));
        give_own_allocations(producer, consumer);
        Stmt s = Fork::make({producer, consumer});
        for (const Semaphores &pair : pairs.at(f)) {
            s = with_semaphore(pair.ready, 0, s);
            if (count.defined()) s = with_semaphore(pair.free, count, s);
        }
        return s;
    }

    // One side, with what is needed there: the function itself, or all that is computed there and
    // not an input of the function only.
    Stmt side_of(Symbol func, bool producer, const Stmt &body) {
        Stmt s = Half(func, producer, pairs.at(func))(body);
        Roles whole = roles_in(body, buffers);
        std::set<Symbol> below = produced_for(func, body);
        while (true) {
            Roles roles = roles_in(s, buffers);
            std::set<Symbol> live = roles.called;
            if (producer) live.insert(func);
            for (Symbol f : whole.produced) {
                bool wanted_outside =
                    !stored.contains(f) || !whole.nodes.contains(f) || !is_read(f, whole);
                if (wanted_outside && (!producer || below.contains(f))) live.insert(f);
            }
            add_inputs(live, roles);
            Stmt less = DropDead(live, funcs)(s);
            if (less.same_as(s)) return s;
            s = less;
        }
    }

    // What is produced within the production of a function.
    std::set<Symbol> produced_for(Symbol func, const Stmt &body) const {
        std::set<Symbol> found;
        for_each_node(body, [&](const ProducerConsumer &p) {
            if (p.is_producer && p.func == func) found.merge(roles_in(p.body, buffers).produced);
        });
        return found;
    }

    // Whether any other function is computed from this one here.
    static bool is_read(Symbol func, const Roles &roles) {
        if (roles.called.contains(func)) return true;
        return std::any_of(roles.inputs.begin(), roles.inputs.end(), [&](const auto &of) {
            return of.first != func && of.second.contains(func);
        });
    }

    static void add_inputs(std::set<Symbol> &live, const Roles &roles) {
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

    static std::set<Symbol> acquired_in(const Stmt &s) {
        std::set<Symbol> all;
        for_each_node(s, [&](const Acquire &a) {
            if (const auto *v = a.semaphore.as<Variable>()) all.insert(v->name);
        });
        return all;
    }

    // A function further out whose values both sides read signals each of them.
    void give_own_semaphores(Symbol func, const Stmt &producer, Stmt &consumer) {
        std::set<Symbol> in_producer = acquired_in(producer);
        for (Symbol name : acquired_in(consumer)) {
            auto of = funcs.find(name);
            if (!in_producer.contains(name) || of == funcs.end() || of->second == func) continue;
            std::vector<Semaphores> &all = pairs.at(of->second);
            auto shared = std::find_if(all.begin(), all.end(), [&](const Semaphores &pair) {
                return pair.ready.as<Variable>()->name == name;
            });
            if (shared == all.end()) continue;
            // Of the places where the function is computed, each production meets one.
            auto [known, is_new] = own_pairs.try_emplace({func, name});
            const Semaphores own =
                is_new ? new_pair(of->second, shared->free.defined()) : known->second;
            Substitution to_own{{name, own.ready}};
            if (own.free.defined()) to_own[shared->free.as<Variable>()->name] = own.free;
            consumer = substitute(to_own, consumer);
            if (is_new) all.push_back(known->second = own);
        }
    }

    // A function that both sides compute has storage in each; allocated further out than both, it
    // would be one for the two threads.
    void give_own_allocations(Stmt &producer, Stmt &consumer) const {
        Roles a = roles_in(producer, buffers), b = roles_in(consumer, buffers);
        std::set<Symbol> within;
        for_each_node(producer, [&](const HoistedStorage &h) { within.insert(h.func); });
        for (Symbol func : a.realized) {
            const bool is_hoisted = hoisted.contains(func) && !within.contains(func);
            if (!is_hoisted || !b.realized.contains(func)) continue;
            producer = HoistedStorage::make(func, producer);
            consumer = HoistedStorage::make(func, consumer);
        }
    }

    static Stmt with_semaphore(const Expr &semaphore, const Expr &count, const Stmt &body) {
        Expr init = call(Int(32), Intrinsic::semaphore_init, {semaphore, count});
        return LetStmt::make(semaphore.as<Variable>()->name, semaphore_memory(),
                             Block::make(Evaluate::make(init), body));
    }

    void check_sides(const Realize &r, const Stmt &producer, const Stmt &consumer) {
        Roles a = roles_in(producer, buffers), b = roles_in(consumer, buffers);
        for (Symbol other : a.produced) {
            if (other == r.func || !b.produced.contains(other) || a.realized.contains(other)) {
                continue;
            }
            throw CompileError(
                r.storage.async_written,
                str("async of ", r.func, ": ", other, " is used both by ", r.func,
                    " and by its consumers, is computed where ", r.func,
                    " is, and stored further out, so that both threads would write it; make ",
                    other,
                    " async too, compute it further out, or store it where it is "
                    "computed"));
        }
    }

    Buffers buffers;
    std::set<Symbol> stored;                   // in the pipeline; others are outputs
    std::set<Symbol> hoisted;                  // around what is being visited
    std::unordered_map<Symbol, Symbol> funcs;  // which function's a semaphore is
    std::unordered_map<Symbol, std::vector<Semaphores>> pairs;
    // By the function whose consumer has it, and the semaphore in place of which it stands.
    std::map<std::pair<Symbol, Symbol>, Semaphores> own_pairs;
};

}  // namespace

Stmt fork_async(const Stmt &s, const lower::Context &context) { return ForkAsync(s, context)(s); }

}  // namespace tessera::lower
