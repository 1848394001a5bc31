#include "lower/storage/fork_async.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <set>

namespace tessera::lower {

using namespace ir;
using program::FunctionContents;

namespace {

Expr semaphore_call(const char *function, std::vector<Expr> args) {
    return ExternCall::make(Int(32), function, std::move(args), false);
}

Stmt release(const Expr &semaphore) {
    return Evaluate::make(semaphore_call("tessera_semaphore_release", {semaphore, 1}));
}

// One of the two halves: the body with only the producer, or only the consumer, of a function,
// between acquiring one semaphore and releasing another.
class Half final : public Mutator {
public:
    Half(Symbol func, bool producer, Expr acquired, Expr released)
        : func(func), producer(producer), acquired(std::move(acquired)),
          released(std::move(released)) {}

private:
    Stmt visit(const ProducerConsumer &p) override {
        if (p.func != func) return Mutator::visit(p);
        if (p.is_producer != producer) return no_op();
        Stmt body(&p);
        if (released.defined()) body = Block::make(body, release(released));
        return acquired.defined() ? Acquire::make(acquired, 1, body) : body;
    }
    Symbol func;
    bool producer;
    Expr acquired, released;
};

// Functions by what a piece of IR does with them. One half's loops may stand in the production of
// a function that is written in the other half only.
struct Roles {
    std::set<Symbol> written, produced, called, realized;  // produced: from beginning to end
};

Roles roles_in(const Stmt &s, const lower::Context &context) {
    Roles roles;
    for_each_node(s, [&](const Provide &p) { roles.written.insert(p.func); });
    for_each_node(s, [&](const ProducerConsumer &p) {
        if (p.is_producer) roles.produced.insert(p.func);
    });
    for_each_node(s, [&](const Call &c) { roles.called.insert(c.callee); });
    for_each_node(s, [&](const Realize &r) { roles.realized.insert(r.func); });
    for_each_node(s, [&](const Variable &v) {  // a buffer that an extern stage reads
        for (const program::FunctionRef &f : context.order) {
            for (size_t k = 0; v.type.is_handle() && k < f->types.size(); k++) {
                if (context.buffer_of(f->name, int(k)) == v.name) roles.called.insert(f->name);
            }
        }
    });
    return roles;
}

// Drops the production of functions that are not read in this half.
class DropUnread final : public Mutator {
public:
    explicit DropUnread(const std::set<Symbol> &unread) : unread(unread) {}

private:
    Stmt visit(const ProducerConsumer &p) override {
        if (!unread.contains(p.func)) return Mutator::visit(p);
        return p.is_producer ? no_op() : (*this)(p.body);
    }
    Stmt visit(const Realize &r) override {
        return unread.contains(r.func) ? (*this)(r.body) : Mutator::visit(r);
    }
    const std::set<Symbol> &unread;
};

Stmt drop_unread(Stmt s, Symbol async_func, const lower::Context &context) {
    while (true) {
        Roles roles = roles_in(s, context);
        std::set<Symbol> unread;
        for (Symbol f : roles.produced) {
            if (f != async_func && !roles.called.contains(f) && !context.is_output(f)) {
                unread.insert(f);
            }
        }
        if (unread.empty()) return s;
        s = DropUnread(unread)(s);
    }
}

class ForkAsync final : public Mutator {
public:
    explicit ForkAsync(const lower::Context &lowering) : lowering(lowering) {}

private:
    Stmt visit(const Realize &realize) override {
        Stmt mutated = Mutator::visit(realize);
        const Realize &r = *mutated.as<Realize>();
        const FunctionContents *f = lowering.function(r.func);
        if (!f || !f->schedule.async) return mutated;
        return Realize::make(r.func, r.types, r.memory, r.bounds, r.condition, fork(*f, r));
    }

    // How many productions may be ahead of what has been consumed; undefined: any number.
    Expr slots(const FunctionContents &f, const Realize &r) const {
        if (f.schedule.ring_buffer.defined()) return cast(Int(32), f.schedule.ring_buffer);
        bool reused = false;
        for_each_node(r.body, [&](const Provide &p) {
            if (p.func != r.func) return;
            for (const Expr &arg : p.args) reused |= arg.as<Mod>() != nullptr;
        });
        return reused ? Expr(1) : Expr();
    }

    Stmt fork(const FunctionContents &f, const Realize &r) {
        Symbol ready_symbol = Symbol::fresh(str(f.name, ".ready"));
        Symbol free_symbol = Symbol::fresh(str(f.name, ".free"));
        Expr ready = Variable::make(Handle(), ready_symbol), free;
        Expr count = slots(f, r);
        if (count.defined()) free = Variable::make(Handle(), free_symbol);
        Stmt producer = drop_unread(Half(f.name, true, free, ready)(r.body), f.name, lowering);
        Stmt consumer = drop_unread(Half(f.name, false, ready, free)(r.body), f.name, lowering);
        check_halves(f, producer, consumer);
        Stmt s = Fork::make({producer, consumer});
        s = with_semaphore(ready_symbol, 0, s);
        return count.defined() ? with_semaphore(free_symbol, count, s) : s;
    }

    static Stmt with_semaphore(Symbol name, const Expr &count, const Stmt &body) {
        Expr semaphore = Variable::make(Handle(), name);
        Expr init = semaphore_call("tessera_semaphore_init", {semaphore, count});
        return LetStmt::make(name, call(Handle(), Intrinsic::alloca, {16}),
                             Block::make(Evaluate::make(init), body));
    }

    void check_halves(const FunctionContents &f, const Stmt &producer, const Stmt &consumer) {
        Roles a = roles_in(producer, lowering), b = roles_in(consumer, lowering);
        for (Symbol other : a.written) {
            if (other == f.name || !b.written.contains(other) || a.realized.contains(other)) {
                continue;
            }
            Location at;
            for (const auto &d : f.schedule.directives) {
                if (std::holds_alternative<program::AsyncDirective>(d.directive)) at = d.at;
            }
            throw CompileError(
                at, str("async of ", f.name, ": ", other, " is used both by ", f.name,
                        " and by its consumers, is computed where ", f.name,
                        " is, and stored further out, so that both threads would write it; make ",
                        other, " async too, compute it further out, or store it where it is "
                        "computed"));
        }
    }

    const lower::Context &lowering;
};

}  // namespace

Stmt fork_async(const Stmt &s, const lower::Context &context) { return ForkAsync(context)(s); }

}  // namespace tessera::lower
