#include "lower/storage/hoist_storage.h"
#include "algebra/bounds.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/loop_name.h"
#include <algorithm>
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

class HoistStorage final : public Mutator {
    // A let or loop on the way down.
    struct Binding {
        Symbol name;
        Expr value;       // of a let
        const For *loop;  // null: it is a let
    };
    struct Hoist {
        const HoistedStorage &storage;
        size_t depth;  // how many bindings are around it
        std::vector<Stmt> allocations;
    };

    Stmt visit(const LetStmt &let) override {
        path.push_back({let.name, let.value, nullptr});
        Stmt body = (*this)(let.body);
        path.pop_back();
        return let.with<&LetStmt::body>(body);
    }
    Stmt visit(const For &loop) override {
        path.push_back({loop.name, {}, &loop});
        Stmt body = (*this)(loop.body);
        path.pop_back();
        return loop.with<&For::body>(body);
    }
    Stmt visit(const Store &store) override { return Stmt(&store); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const HoistedStorage &hoisted) override;
    Stmt visit(const Allocate &allocate) override;

    Stmt hoisted_allocation(const Allocate &allocate, const Hoist &hoist) const;
    Expr most(const Expr &extent, const Allocate &allocate, const Hoist &hoist) const;

    bool is_let(Symbol name) const {
        return std::ranges::any_of(path,
                                   [&](const Binding &b) { return b.name == name && !b.loop; });
    }

    std::vector<Binding> path;
    std::vector<Hoist> hoists;
    std::unordered_map<Symbol, size_t> hoisted_funcs;  // which hoist
};

Stmt HoistStorage::visit(const HoistedStorage &hoisted) {
    const auto further_out = hoisted_funcs;  // the same one, where another thread has its own
    hoisted_funcs[hoisted.func] = hoists.size();
    hoists.push_back({hoisted, path.size(), {}});
    Stmt body = (*this)(hoisted.body);
    std::vector<Stmt> allocations = std::move(hoists.back().allocations);
    hoists.pop_back();
    hoisted_funcs = further_out;
    for (size_t i = allocations.size(); i-- > 0;) {
        const auto &a = *allocations[i].as<Allocate>();
        body = a.with<&Allocate::condition, &Allocate::body>({}, body);
    }
    return body;
}

Stmt HoistStorage::visit(const Allocate &allocate) {
    auto found = hoisted_funcs.find(allocate.facts.func);
    if (found == hoisted_funcs.end()) return Mutator::visit(allocate);
    Hoist &hoist = hoists[found->second];
    Stmt outer = hoisted_allocation(allocate, hoist);
    bool merged = false;
    for (Stmt &known : hoist.allocations) {
        const auto &a = *known.as<Allocate>();
        if (a.buffer != allocate.buffer) continue;
        std::vector<Expr> extents = a.extents;
        for (size_t d = 0; d < extents.size(); d++) {
            extents[d] = algebra::simplify(max(extents[d], outer.as<Allocate>()->extents[d]));
        }
        known = a.with<&Allocate::extents, &Allocate::condition>(extents, {});
        merged = true;
    }
    if (!merged) hoist.allocations.push_back(outer);
    return (*this)(allocate.body);
}

// The allocation, of extents that are known at the place it is hoisted to; without a body.
Stmt HoistStorage::hoisted_allocation(const Allocate &a, const Hoist &hoist) const {
    for (size_t i = hoist.depth; i < path.size(); i++) {
        if (path[i].loop) refuse_shared_storage(hoist.storage, *path[i].loop);
    }
    std::vector<Expr> extents;
    for (const Expr &e : a.extents) extents.push_back(most(e, a, hoist));
    return a.with<&Allocate::extents, &Allocate::condition, &Allocate::body>(extents, {}, no_op());
}

Expr HoistStorage::most(const Expr &extent, const Allocate &a, const Hoist &hoist) const {
    LetScope lets;
    algebra::IntervalScope scope;
    std::unordered_set<Symbol> inside;
    for (size_t i = hoist.depth; i < path.size(); i++) {
        const Binding &b = path[i];
        inside.insert(b.name);
        if (b.value.defined()) {
            lets.push_let(b.name, b.value);
            continue;
        }
        Expr first = lets.expand(b.loop->min), last = first + lets.expand(b.loop->extent) - 1;
        scope.bind(b.name, {bounds_of_expr(first, scope).min, bounds_of_expr(last, scope).max});
    }
    Expr bound = bounds_of_expr(lets.expand(extent), scope).max;
    bool known = bound.defined();
    if (known) {
        for (Symbol s : symbols_in(bound)) known &= !inside.count(s);
        for_each_node(bound, [&](const Load &) { known = false; });
    }
    if (!known) {
        Expr size = algebra::simplify(lets.expand(extent));
        bool asked_for = false;  // by an extern stage, of a buffer without memory
        for_each_node(size, [&](const BufferProperty &p) { asked_for |= is_let(p.buffer); });
        std::string which = asked_for ? "what an extern stage asks for" : brief(size);
        throw CompileError(hoist.storage.facts.hoist_written,
                           str("the storage of ", hoist.storage.func,
                               " cannot be hoisted: no bound is known for ", which,
                               ", its size in ", a.buffer,
                               "; give it one with bound_extent() or "
                               "bound_storage()"));
    }
    return algebra::simplify(bound);
}

}  // namespace

void refuse_idle_ring(Symbol func, const Location &written) {
    throw CompileError(written, str("ring_buffer of ", func,
                                    ": its storage is allocated anew where it is stored, so there "
                                    "is nothing to use in turn; allocate it further out with "
                                    "hoist_storage()"));
}

void refuse_shared_storage(const HoistedStorage &hoisted, const For &loop) {
    if (traits_of(loop.loop_kind).is_in_order) return;
    throw CompileError(hoisted.facts.hoist_written,
                       str("the storage of ", hoisted.func, " cannot be hoisted out of the ",
                           name_of(loop.loop_kind), " ", loop_name(loop),
                           ": its iterations would share it; hoist it to a place inside"));
}

Stmt hoist_storage(const Stmt &s, const Context &) { return HoistStorage()(s); }

}  // namespace tessera::lower
