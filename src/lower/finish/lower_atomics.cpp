#include "lower/finish/lower_atomics.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/accumulate.h"
#include "lower/loops/parallel_loops.h"
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

constexpr int mutexes_per_array = 1024;  // elements share them

// Returns true if each store can be done by itself: its value depends on no other element that is
// stored.
bool is_separable(const Stmt &body) {
    std::unordered_set<Symbol> stored;
    const Store *only = nullptr;
    int stores = 0;
    for_each_node(body, [&](const Store &s) {
        stored.insert(s.buffer);
        only = &s;
        stores++;
    });
    Substitution lets;
    for_each_node(body, [&](const LetStmt &let) { lets[let.name] = substitute(lets, let.value); });
    auto reads_stored = [&](const Expr &e, const Store *store) {
        bool found = false;
        for_each_node(e, [&](const Load &l) {
            bool own = store && l.buffer == store->buffer &&
                       (equal(l.index, store->index) ||
                        equal(substitute(lets, l.index), substitute(lets, store->index)));
            found |= stored.count(l.buffer) && !own;
        });
        return found;
    };
    bool separable = true;
    for_each_node(body, [&](const Store &s) {
        separable &= !reads_stored(s.value, &s) && !reads_stored(s.index, nullptr);
        if (s.predicate.defined()) separable &= !reads_stored(s.predicate, nullptr);
    });
    for_each_node(body, [&](const LetStmt &let) {
        separable &= !reads_stored(let.value, stores == 1 ? only : nullptr);
    });
    for_each_node(body,
                  [&](const IfThenElse &n) { separable &= !reads_stored(n.condition, nullptr); });
    return separable;
}

// Returns true if what is stored is also said to somebody, such as who traces it: a value that was
// computed before another thread stored in between would be reported wrongly.
bool is_reported(const Stmt &body) {
    std::unordered_set<Symbol> bound;
    for_each_node(body, [&](const LetStmt &let) { bound.insert(let.name); });
    bool found = false;
    for_each_node(body, [&](const Evaluate &e) {
        for_each_node(e.value, [&](const Variable &v) { found |= bound.count(v.name) != 0; });
    });
    return found;
}

// Goes through the statements below parallel loops, and knows which these are.
class BelowParallelLoops : public Mutator {
protected:
    Stmt visit(const Store &store) override { return Stmt(&store); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const Allocate &a) override {
        parallel.allocate(a.buffer);
        Stmt s = Mutator::visit(a);
        parallel.release(a.buffer);
        return s;
    }
    Stmt visit(const For &loop) override {
        parallel.push(loop);
        Stmt s = Mutator::visit(loop);
        parallel.pop();
        return s;
    }

    ParallelLoops parallel;
};

class AssignMutexes final : public BelowParallelLoops {
private:
    using BelowParallelLoops::visit;
    Stmt visit(const For &loop) override {
        Stmt s = BelowParallelLoops::visit(loop);
        auto wanted = around.find(&loop);
        if (wanted == around.end()) return s;
        for (const auto &[name, count] : wanted->second) s = with_mutexes(name, count, s);
        return s;
    }
    Stmt visit(const Atomic &node) override {
        const For *conflict = parallel.outermost_conflict(node);
        if (!conflict) return Stmt(&node);
        Stmt body = without_lets_of_updates(node.body);
        if (is_separable(body) && !is_reported(node.body))
            return node.with<&Atomic::mutexes, &Atomic::body>({}, body);
        Symbol m = Symbol::fresh(str(node.func, "_mutexes"));
        around[conflict].push_back({m, updates_one_place(body) ? mutexes_per_array : 1});
        return node.with<&Atomic::mutexes>(m);
    }
    static Stmt with_mutexes(Symbol name, int count, const Stmt &body) {
        Expr array = Variable::make(Handle(), name);
        Expr create = call(Handle(), Intrinsic::mutex_array_create,
                           {UIntImm::make(UInt(64), uint64_t(count))});
        Expr made = Reinterpret::make(UInt(64), array) != UIntImm::make(UInt(64), 0);
        Stmt check = AssertStmt::make(made, int(tessera_error_code_out_of_memory));
        return LetStmt::make(name, create, Block::make(check, body));
    }

    // Arrays of mutexes, and how many there are in each: one, if updates also read what others
    // write.
    std::unordered_map<const For *, std::vector<std::pair<Symbol, int>>> around;
};

class RemoveAtomics final : public BelowParallelLoops {
private:
    using BelowParallelLoops::visit;
    Stmt visit(const Atomic &node) override {
        Stmt body = (*this)(node.body);
        if (node.mutexes.defined()) return node.with<&Atomic::body>(body);
        return parallel.outermost_conflict(node) ? Stmt(&node) : body;
    }
};

}  // namespace

Stmt assign_mutexes(const Stmt &s, const Context &) { return AssignMutexes()(s); }

Stmt remove_needless_atomics(const Stmt &s, const Context &) { return RemoveAtomics()(s); }

}  // namespace tessera::lower
