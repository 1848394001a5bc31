#include "lower/storage/fork_async.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/storage/split_production.h"
#include "runtime/tessera_runtime.h"
#include <algorithm>
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

Stmt with_semaphore(const Expr &semaphore, const Expr &count, const Stmt &body) {
    Expr init = call(Int(32), Intrinsic::semaphore_init, {semaphore, count});
    return LetStmt::make(semaphore.as<Variable>()->name, semaphore_memory(),
                         Block::make(Evaluate::make(init), body));
}

// The signals between a producer and one thread that consumes.
struct Semaphores {
    explicit Semaphores(Symbol func) : ready(make(func, "ready")), free(make(func, "free")) {}
    const Expr &of(Signal s) const { return s == Signal::Ready ? ready : free; }
    Expr ready, free;

private:
    static Expr make(Symbol func, const char *what) {
        return Variable::make(Handle(), Symbol::fresh(str(func, ".", what)));
    }
};

// A `produce` or `consume`, between acquiring semaphores and releasing others.
Stmt between(const ProducerConsumer &p, const ProductionPart &part,
             const std::vector<Semaphores> &pairs) {
    std::vector<Stmt> body{Stmt(&p)};
    if (part.released) {
        for (const Semaphores &pair : pairs) body.push_back(release(pair.of(*part.released)));
    }
    Stmt s = Block::make(std::move(body));
    if (!part.acquired) return s;
    for (const Semaphores &pair : pairs) s = Acquire::make(pair.of(*part.acquired), 1, s);
    return s;
}

// Has the producer signal to all who consume. One side of a fork further in computes the function;
// in the other its `produce` may be around what it is computed from.
class SignalAll final : public Mutator {
public:
    SignalAll(Symbol func, const ProductionPart &part, const std::vector<Semaphores> &pairs,
              const SplitScope &scope)
        : func(func), part(part), pairs(pairs), scope(scope) {}

private:
    Stmt visit(const Fork &fork) override {
        std::vector<Stmt> sides;
        for (const Stmt &side : fork.stmts) {
            sides.push_back(computes(side, func, scope) ? (*this)(side) : side);
        }
        return Fork::make(std::move(sides));
    }
    Stmt visit(const ProducerConsumer &p) override {
        return p.func == func ? between(p, part, pairs) : Mutator::visit(p);
    }
    Symbol func;
    const ProductionPart &part;
    const std::vector<Semaphores> &pairs;
    const SplitScope &scope;
};

// Has those who consume a function signal to the producer. If both sides of a fork further in do,
// each has a pair of semaphores: the side that consumes there, one of its own.
class SignalFromEach final : public Mutator {
public:
    SignalFromEach(Symbol func, const ProductionPart &part)
        : func(func), part(part), pairs{Semaphores(func)} {}
    const std::vector<Semaphores> &all_pairs() const { return pairs; }

private:
    Stmt visit(const Realize &r) override {
        const Symbol outer = std::exchange(forked, r.func);
        Stmt s = Mutator::visit(r);
        forked = outer;
        return s;
    }
    Stmt visit(const Fork &fork) override {
        const bool is_shared = std::ranges::all_of(fork.stmts, [&](const Stmt &s) {
            bool any = false;
            for_each_node(s, [&](const ProducerConsumer &p) { any |= p.func == func; });
            return any;
        });
        const size_t producers = current;
        if (is_shared) current = own_pair(forked, producers);
        Stmt consumer = (*this)(fork.stmts.at(1));
        current = producers;
        Stmt producer = (*this)(fork.stmts.at(0));
        return Fork::make({producer, consumer});
    }
    Stmt visit(const ProducerConsumer &p) override {
        return p.func == func ? between(p, part, {pairs[current]}) : Mutator::visit(p);
    }
    // Each production meets one of the places where a function is forked.
    size_t own_pair(Symbol forked, size_t in_place_of) {
        auto [known, is_new] = own_pairs.try_emplace({forked, in_place_of}, pairs.size());
        if (is_new) pairs.emplace_back(func);
        return known->second;
    }

    Symbol func;
    const ProductionPart &part;
    std::vector<Semaphores> pairs;
    size_t current = 0;
    Symbol forked;  // whose storage is around: a fork in it is that function's
    std::map<std::pair<Symbol, size_t>, size_t> own_pairs;
};

class ForkAsync final : public Mutator {
public:
    explicit ForkAsync(const LoweredFunction &pipeline) : scope(pipeline) {}

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

    Stmt fork(const Realize &r) {
        const SplitProduction split =
            split_production(r.body, r, scope, {"async", r.storage.async_written});
        Stmt consumer = (*this)(split.consumer.stmt), producer = (*this)(split.producer.stmt);
        SignalFromEach consumers(r.func, split.consumer);
        consumer = consumers(consumer);
        producer = SignalAll(r.func, split.producer, consumers.all_pairs(), scope)(producer);
        give_own_allocations(split.in_both, producer, consumer);
        Stmt s = Fork::make({producer, consumer});
        for (const Semaphores &pair : consumers.all_pairs()) {
            s = with_semaphore(pair.ready, 0, s);
            if (split.slots.defined()) s = with_semaphore(pair.free, split.slots, s);
        }
        return s;
    }

    // A function that both sides compute has storage in each; allocated further out than both, it
    // would be one for the two threads.
    void give_own_allocations(const std::set<Symbol> &in_both, Stmt &producer,
                              Stmt &consumer) const {
        std::set<Symbol> within;
        for_each_node(producer, [&](const HoistedStorage &h) { within.insert(h.func); });
        for (Symbol func : in_both) {
            if (!hoisted.contains(func) || within.contains(func)) continue;
            producer = HoistedStorage::make(func, producer);
            consumer = HoistedStorage::make(func, consumer);
        }
    }

    SplitScope scope;
    std::set<Symbol> hoisted;  // around what is being visited
};

}  // namespace

Stmt fork_async(const LoweredFunction &pipeline, const lower::Context &) {
    return ForkAsync(pipeline)(pipeline.body);
}

}  // namespace tessera::lower
