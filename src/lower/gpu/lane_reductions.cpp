#include "lower/gpu/lane_reductions.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/kernel_shape.h"
#include "lower/gpu/lane_copies.h"
#include "lower/loops/accumulate.h"
#include "lower/loops/parallel_loops.h"
#include <unordered_set>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

bool reads_any(const Expr &e, const std::unordered_set<Symbol> &buffers) {
    bool any = false;
    for_each_node(e, [&](const Load &load) { any |= buffers.contains(load.buffer); });
    return any;
}

// Rewrites the body of a loop that has an iteration for each lane of the row.
class ReduceLoop {
public:
    ReduceLoop(const For &loop, int64_t lanes, bool strict_floats, const ParallelLoops &around,
               const std::unordered_set<Symbol> &copies)
        : lane(simplify(Variable::make(Int(32), loop.name) - loop.min)), lanes(int32_t(lanes)),
          strict_floats(strict_floats), around(around), copies(copies), differing({loop.name}) {}
    std::unordered_set<const Atomic *> together, apart;  // what was rewritten, and what not

    // Rewrites what all lanes run.
    Stmt operator()(const Stmt &s) {
        switch (s.kind()) {
        case NodeKind::Block: {
            std::vector<Stmt> all;
            for (const Stmt &one : s.as<Block>()->stmts) all.push_back((*this)(one));
            return Block::make(std::move(all));
        }
        case NodeKind::LetStmt: {
            const auto &let = *s.as<LetStmt>();
            note(let);
            return let.with<&LetStmt::body>((*this)(let.body));
        }
        case NodeKind::ProducerConsumer: {
            const auto &node = *s.as<ProducerConsumer>();
            return node.with<&ProducerConsumer::body>((*this)(node.body));
        }
        case NodeKind::For: {
            const auto &loop = *s.as<For>();
            if (!is_same(loop.min) || !is_same(loop.extent)) return leave(s);
            return loop.with<&For::body>((*this)(loop.body));
        }
        case NodeKind::IfThenElse: {
            const auto &branch = *s.as<IfThenElse>();
            if (!is_same(branch.condition)) return leave(s);
            Stmt otherwise = branch.else_case;
            if (otherwise.defined()) otherwise = (*this)(otherwise);
            return IfThenElse::make(branch.condition, (*this)(branch.then_case), otherwise);
        }
        case NodeKind::Atomic: {
            Stmt reduced = updates(*s.as<Atomic>());
            if (!reduced.defined()) return leave(s);
            together.insert(s.as<Atomic>());
            return reduced;
        }
        default: return leave(s);
        }
    }

    Stmt leave(const Stmt &s) {
        for_each_node(s, [&](const Atomic &atomic) { apart.insert(&atomic); });
        return s;
    }

private:
    // Returns true if it is known to be the same for all lanes.
    bool is_same(const Expr &e) const {
        bool same = is_pure(e);
        for_each_node(e, [&](const Load &) { same = false; });
        for_each_node(e, [&](const Variable &v) { same &= !differing.contains(v.name); });
        return same;
    }
    void note(const LetStmt &let) {
        if (!is_same(let.value)) differing.insert(let.name);
    }

    // The updates of an Atomic by the lanes together; undefined if one of them cannot be done so.
    Stmt updates(const Atomic &node) {
        std::unordered_set<Symbol> stored;
        for_each_node(node.body, [&](const Store &store) { stored.insert(store.buffer); });
        return node.mutexes.defined() ? Stmt() : updates(node.body, node.func, stored);
    }
    Stmt updates(const Stmt &s, Symbol func, const std::unordered_set<Symbol> &stored) {
        if (const auto *block = s.as<Block>()) {
            std::vector<Stmt> all;
            for (const Stmt &one : block->stmts) {
                all.push_back(updates(one, func, stored));
                if (!all.back().defined()) return {};
            }
            return Block::make(std::move(all));
        }
        if (const auto *let = s.as<LetStmt>()) {
            if (!is_pure(let->value) || reads_any(let->value, stored)) return {};
            note(*let);
            const Stmt body = updates(let->body, func, stored);
            return body.defined() ? let->with<&LetStmt::body>(body) : body;
        }
        const auto *store = s.as<Store>();
        if (!store || store->predicate.defined() || !store->value.type().is_scalar() ||
            !is_same(store->index)) {
            return {};
        }
        const auto found = as_accumulation(*store, strict_floats);
        if (!found || !is_pure(found->operand) || reads_any(found->operand, stored)) return {};
        return update(*store, *found, func);
    }
    Stmt update(const Store &store, const Accumulation &found, Symbol func) const {
        const Type type = store.value.type();
        std::vector<std::pair<Symbol, Expr>> lets;
        const auto named = [&](const char *name, const Expr &value) {
            lets.emplace_back(Symbol::fresh(name), value);
            return Variable::make(type, lets.back().first);
        };
        Expr all = named("part", found.operand);
        for (int32_t distance = lanes / 2; distance > 0; distance /= 2) {
            const Expr with = simplify(call(Int(32), Intrinsic::bitwise_xor, {lane, distance}));
            const Expr other =
                named("other", call(type, Intrinsic::shuffle_lanes, {all, with, lanes}));
            // Else one of the two lanes might round its part, and the other one not.
            all = named("part", as_strict_float(combine(found.op, all, other)));
        }
        const bool by_all = copies.contains(store.buffer);
        const Expr before = Load::make(type, store.buffer, store.index);
        Stmt s = Store::make(store.buffer, combine(found.op, before, all), store.index);
        if (!by_all) s = by_first(s, func);
        for (size_t i = lets.size(); i-- > 0;) s = LetStmt::make(lets[i].first, lets[i].second, s);
        return s;
    }
    Stmt by_first(const Stmt &store, Symbol func) const {
        const Stmt atomic = Atomic::make(func, {}, store);
        const bool may_meet = around.outermost_conflict(*atomic.as<Atomic>());
        return IfThenElse::make(lane < 1, may_meet ? atomic : store);
    }

    const Expr lane;
    const int32_t lanes;
    const bool strict_floats;
    const ParallelLoops &around;               // without this one
    const std::unordered_set<Symbol> &copies;  // buffers that each lane has
    std::unordered_set<Symbol> differing;      // names of what may be another value in each lane
};

class ReduceLanes final : public Mutator {
public:
    explicit ReduceLanes(bool strict_floats)
        : Mutator(Visits::PerUse), strict_floats(strict_floats) {}

private:
    Stmt visit(const For &loop) override {
        const bool is_kernel = loop.loop_kind == LoopKind::GPUBlock && lanes == 0;
        if (is_kernel) lanes = lanes_of_rows(loop);
        if (is_kernel && lanes == 0) return Stmt(&loop);
        const Stmt s = within(loop);
        if (is_kernel) lanes = 0;
        return s;
    }
    Stmt within(const For &loop) {
        if (is_over_lanes(loop)) {
            if (!is_by_all(loop)) return Stmt(&loop);
            return loop.with<&For::body>(reduce(loop)(loop.body));
        }
        const bool was_in_row = in_row;
        in_row |= is_over_threads(loop);
        parallel.push(loop);
        const Stmt body = (*this)(loop.body);
        parallel.pop();
        in_row = was_in_row;
        return loop.with<&For::body>(body);
    }
    bool is_by_all(const For &loop) const {
        return lanes > 0 && in_row && as_const_int(simplify(loop.extent)) == lanes;
    }
    ReduceLoop reduce(const For &loop) const {
        return {loop, lanes, strict_floats, parallel, copies};
    }

    Stmt visit(const Allocate &a) override {
        parallel.allocate(a.buffer);
        const bool is_row = lanes > 0 && in_row && thread_depth(a.body) == 1;
        const bool has_copies = is_row && may_be_copies_of_lanes(a, together(a.body), privates);
        if (has_copies) copies.insert(a.buffer);
        const bool is_private = !has_copies && is_of_thread(a);
        if (is_private) privates.insert(a.buffer);
        const Stmt body = (*this)(a.body);
        copies.erase(a.buffer), privates.erase(a.buffer);
        parallel.release(a.buffer);
        if (!has_copies) return a.with<&Allocate::body>(body);
        return a.with<&Allocate::memory, &Allocate::padding, &Allocate::body>(MemoryType::Tile, 0,
                                                                              body);
    }
    // Storage of which each lane may have its own, with other values than those of others.
    bool is_of_thread(const Allocate &a) const {
        if (a.memory == MemoryType::Tile) return true;
        return !in_row && traits_of(a.memory).space == AddressSpace::Private;
    }
    // The updates that lanes do together, wherever they are.
    std::unordered_set<const Atomic *> together(const Stmt &body) const {
        std::unordered_set<const Atomic *> all, apart;
        for_each_node(body, [&](const For &loop) {
            if (!is_over_lanes(loop)) return;
            ReduceLoop look = reduce(loop);
            is_by_all(loop) ? look(loop.body) : look.leave(loop.body);
            all.merge(look.together);
            apart.merge(look.apart);
        });
        std::erase_if(all, [&](const Atomic *atomic) { return apart.contains(atomic); });
        return all;
    }
    // All lanes store what all of them have.
    Stmt visit(const Store &store) override {
        if (!copies.contains(store.buffer)) return Stmt(&store);
        return For::make(Symbol::fresh("lane"), 0, int32_t(lanes), LoopKind::GPULane,
                         Partition::Never, Stmt(&store));
    }

    const bool strict_floats;
    int64_t lanes = 0;  // of the rows of the kernel around; 0: none
    bool in_row = false;
    ParallelLoops parallel;
    std::unordered_set<Symbol> copies, privates;
};

}  // namespace

Stmt reduce_lanes(const Stmt &s, const lower::Context &context) {
    bool any = false;  // else shared expressions would be walked once for each use
    for_each_node(s, [&](const For &loop) { any |= loop.loop_kind == LoopKind::GPULane; });
    return any ? ReduceLanes(context.target.has_feature(Target::StrictFloat))(s) : s;
}

}  // namespace tessera::lower
