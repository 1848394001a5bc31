#include "lower/gpu/stripe_lanes.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/allocation.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/kernel_shape.h"
#include "lower/loops/let_scope.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

// The storage cannot be dealt out to lanes.
struct NotStriped {};

// Locates the elements of a buffer: element e of a row is in a register of a lane.
struct Stripes {
    Symbol buffer;
    int64_t lanes;       // of a row
    int64_t neighbours;  // that one lane has
    int64_t elements;

    int64_t period() const { return lanes * neighbours; }
    int64_t registers() const { return (elements + period() - 1) / period() * neighbours; }
    Expr lane_of(const Expr &e) const { return simplify(e / int32_t(neighbours) % int32_t(lanes)); }
    Expr register_of(const Expr &e) const {
        if (elements <= period()) return simplify(e % int32_t(neighbours));
        return simplify(e / int32_t(period()) * int32_t(neighbours) + e % int32_t(neighbours));
    }
};

// The index itself, or the first one of neighbours; undefined for other vectors.
Expr first_of(const Expr &index) {
    if (index.type().is_scalar()) return index;
    const auto *ramp = index.as<Ramp>();
    return ramp && ramp->base.type().is_scalar() && is_const(ramp->stride, 1) ? ramp->base : Expr();
}

// Rewrites the accesses of the buffer by the lanes of one loop, or by a statement of the first
// lane.
class LaneAccesses final : public Mutator {
public:
    LaneAccesses(const Stripes &stripes, const For *lanes, LetScope &lets)
        : Mutator(Visits::PerUse), stripes(stripes), lanes(lanes), lets(lets) {}

    // Returns true if a lane reads what another one has.
    bool reads_others(const Stmt &s) {
        looks_only = true;
        found_others = false;
        (*this)(s);
        looks_only = false;
        return found_others;
    }
    // The expression with shuffles for such reads, to be bound around the statement it is in.
    struct Shuffle {
        Symbol name;
        Expr value;
    };
    std::vector<Shuffle> shuffles;

    // The lane's register of an element that is its own, the first one of a vector; none if it is
    // not known to be.
    std::optional<int64_t> own_register(const Expr &index) const {
        const int64_t vector = index.type().lanes();
        const Expr e = lets.expand(first_of(index));
        const Expr rest = simplify(e - own_number() * int32_t(stripes.neighbours));
        const Expr within = simplify(rest % int32_t(stripes.period()));
        if (!algebra::can_prove(within < int32_t(stripes.neighbours))) return {};
        const auto number = as_const_int(
            simplify(rest / int32_t(stripes.period()) * int32_t(stripes.neighbours) + within));
        if (!number || *number < 0 || *number >= stripes.registers()) return {};
        return *number % stripes.neighbours + vector <= stripes.neighbours ? number : std::nullopt;
    }

private:
    Expr own_number() const {
        if (!lanes || is_const(lanes->extent, 1)) return 0;
        return Variable::make(Int(32), lanes->name) - lets.expand(lanes->min);
    }

    Expr visit(const Load &load) override {
        if (load.buffer != stripes.buffer) return Mutator::visit(load);
        check(load.index, load.predicate);
        if (const auto own = own_register(load.index)) return element(load.type, *own);
        found_others = true;
        return looks_only ? Expr(&load) : read_by_shuffles(load);
    }
    Stmt visit(const Store &store) override {
        if (store.buffer != stripes.buffer) return Mutator::visit(store);
        check(store.index, store.predicate);
        const auto own = own_register(store.index);
        if (!own) throw NotStriped();
        return Store::make(store.buffer, (*this)(store.value), index_of(store.value.type(), *own));
    }
    void check(const Expr &index, const Expr &predicate) const {
        const Expr first = first_of(index);
        if (!first.defined() || first.type() != Int(32) ||
            (predicate.defined() && !is_one(predicate)) || uses_symbol(index, stripes.buffer)) {
            throw NotStriped();
        }
    }
    Expr element(Type type, int64_t number) const {
        return Load::make(type, stripes.buffer, index_of(type, number));
    }
    static Expr index_of(Type type, int64_t number) {
        const Expr first = int32_t(number);
        return type.is_scalar() ? first : Ramp::make(first, 1, type.lanes());
    }

    // Shuffles each of the registers that it may be.
    Expr read_by_shuffles(const Load &load) {
        if (!load.type.is_scalar() || has_loads(lets.expand(load.index)) || !is_pure(load.index))
            throw NotStriped();
        const Expr lane = stripes.lane_of(load.index), number = stripes.register_of(load.index);
        if (const auto known = as_const_int(simplify(lets.expand(number))))
            return shuffled(load.type, *known, lane);
        const auto [first, last] = registers_of(load.index);
        constexpr int64_t most = 4;
        if (last - first >= most) throw NotStriped();
        Expr value = shuffled(load.type, last, lane);
        for (int64_t r = last; r-- > first;)
            value = Select::make(number == int32_t(r), shuffled(load.type, r, lane), value);
        return value;
    }
    // The first and the last register in question.
    std::pair<int64_t, int64_t> registers_of(const Expr &index) const {
        const Expr turn = simplify(lets.expand(index) / int32_t(stripes.period()));
        const int64_t most = stripes.registers() / stripes.neighbours - 1;
        const auto low = algebra::constant_lower_bound(turn, lets.known());
        const auto high = algebra::constant_upper_bound(turn, lets.known());
        const int64_t first = std::clamp<int64_t>(low.value_or(0), 0, most);
        const int64_t last = std::clamp<int64_t>(high.value_or(most), first, most);
        return {first * stripes.neighbours, (last + 1) * stripes.neighbours - 1};
    }
    Expr shuffled(Type type, int64_t number, const Expr &lane) {
        if (number < 0 || number >= stripes.registers()) throw NotStriped();
        const Expr value = call(type, Intrinsic::shuffle_lanes,
                                {element(type, number), lane, int32_t(stripes.lanes)});
        for (const Shuffle &known : shuffles) {
            if (equal(known.value, value)) return Variable::make(type, known.name);
        }
        shuffles.push_back({Symbol::fresh("other"), value});
        return Variable::make(type, shuffles.back().name);
    }
    static bool has_loads(const Expr &e) {
        bool any = false;
        for_each_node(e, [&](const Load &) { any = true; });
        return any;
    }

    Expr visit(const IntrinsicCall &c) override {
        if (c.op == Intrinsic::address_of && uses_symbol(Expr(&c), stripes.buffer))
            throw NotStriped();
        return Mutator::visit(c);
    }
    // Its name is not known around the statement.
    Expr visit(const Let &let) override {
        if (uses_symbol(Expr(&let), stripes.buffer)) throw NotStriped();
        return Expr(&let);
    }
    Stmt visit(const Atomic &atomic) override {
        if (uses_symbol(Stmt(&atomic), stripes.buffer)) throw NotStriped();
        return Stmt(&atomic);
    }
    Stmt visit(const MachineOp &op) override {
        if (uses_symbol(Stmt(&op), stripes.buffer)) throw NotStriped();
        return Stmt(&op);
    }
    Stmt visit(const LetStmt &let) override {
        const Expr value = (*this)(let.value);
        const Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    Stmt visit(const For &loop) override {
        const Expr min = (*this)(loop.min), extent = (*this)(loop.extent);
        const Stmt body = lets.within(loop, [&] { return (*this)(loop.body); });
        return loop.with<&For::min, &For::extent, &For::body>(min, extent, body);
    }

    const Stripes &stripes;
    const For *lanes;  // null: the first lane alone
    LetScope &lets;
    bool looks_only = false, found_others = false;
};

// Rewrites what a row does with a buffer. Throws NotStriped.
class StripeRow {
public:
    StripeRow(const Stripes &stripes, LetScope &lets) : stripes(stripes), lets(lets) {}

    // Rewrites what all lanes of the row run.
    Stmt at_row(const Stmt &s) {
        if (!uses_symbol(s, stripes.buffer)) return s;
        if (thread_depth(s) == 0 && !s.as<LetStmt>() && !s.as<Allocate>()) return alone(s);
        switch (s.kind()) {
        case NodeKind::Block:
            return each(*s.as<Block>(), [&](const Stmt &one) { return at_row(one); });
        case NodeKind::For: {
            const auto &loop = *s.as<For>();
            if (is_over_lanes(loop)) return over_lanes(loop);
            if (is_over_threads(loop)) throw NotStriped();
            refuse_uses(loop.min + loop.extent);
            const Stmt body = lets.within(loop, [&] { return at_row(loop.body); });
            return loop.with<&For::body>(body);
        }
        case NodeKind::LetStmt: {
            const auto &let = *s.as<LetStmt>();
            refuse_uses(let.value);
            const Stmt body = lets.within(let, [&] { return at_row(let.body); });
            return let.with<&LetStmt::body>(body);
        }
        case NodeKind::IfThenElse: {
            const auto &branch = *s.as<IfThenElse>();
            refuse_uses(branch.condition);
            const Stmt otherwise =
                branch.else_case.defined() ? at_row(branch.else_case) : branch.else_case;
            return IfThenElse::make(branch.condition, at_row(branch.then_case), otherwise);
        }
        case NodeKind::ProducerConsumer: {
            const auto &node = *s.as<ProducerConsumer>();
            return node.with<&ProducerConsumer::body>(at_row(node.body));
        }
        case NodeKind::Allocate: {
            const auto &a = *s.as<Allocate>();
            for (const Expr &e : a.extents) refuse_uses(e);
            return a.with<&Allocate::body>(at_row(a.body));
        }
        default: throw NotStriped();
        }
    }

private:
    template<typename F> static Stmt each(const Block &block, F f) {
        std::vector<Stmt> all;
        for (const Stmt &one : block.stmts) all.push_back(f(one));
        return Block::make(std::move(all));
    }
    void refuse_uses(const Expr &e) const {
        if (uses_symbol(e, stripes.buffer)) throw NotStriped();
    }

    // A statement of the first lane; others come along to show it what they have.
    Stmt alone(const Stmt &s) {
        LaneAccesses accesses(stripes, nullptr, lets);
        if (!accesses.reads_others(s)) return accesses(s);
        const Stmt loop =
            For::make(Symbol::fresh("lane"), 0, 1, LoopKind::GPULane, Partition::Never, s);
        return over_lanes(*loop.as<For>());
    }
    Stmt over_lanes(const For &loop) {
        refuse_uses(loop.min + loop.extent);
        if (thread_depth(loop.body) > 0) throw NotStriped();
        lets.push_loop(loop.name, loop.min, loop.extent);
        LaneAccesses accesses(stripes, &loop, lets);
        Stmt s;
        if (!accesses.reads_others(loop.body)) {
            s = loop.with<&For::body>(accesses(loop.body));
        } else {
            const auto all = int32_t(stripes.lanes);
            const Expr lane = Variable::make(Int(32), loop.name);
            if (!is_const(simplify(lets.expand(loop.extent)), all))
                takes_part = lane < loop.min + loop.extent;
            s = loop.with<&For::extent, &For::body>(Expr(all), together(loop.body, accesses, loop));
            takes_part = Expr();
        }
        lets.pop_loop(loop.name);
        return s;
    }

    // ---- What all lanes run, those without an iteration, too ----

    Stmt guarded(const Stmt &s) const {
        return takes_part.defined() ? IfThenElse::make(takes_part, s) : s;
    }
    Stmt together(const Stmt &s, LaneAccesses &accesses, const For &loop) {
        if (!accesses.reads_others(s)) return guarded(accesses(s));
        switch (s.kind()) {
        case NodeKind::Block:
            return each(*s.as<Block>(),
                        [&](const Stmt &one) { return together(one, accesses, loop); });
        case NodeKind::For: {
            const auto &inner = *s.as<For>();
            require_same(inner.min + inner.extent, loop);
            const Stmt body =
                lets.within(inner, [&] { return together(inner.body, accesses, loop); });
            return inner.with<&For::body>(body);
        }
        case NodeKind::IfThenElse: return branch(*s.as<IfThenElse>(), accesses, loop);
        case NodeKind::ProducerConsumer: {
            const auto &node = *s.as<ProducerConsumer>();
            return node.with<&ProducerConsumer::body>(together(node.body, accesses, loop));
        }
        case NodeKind::Allocate: {
            const auto &a = *s.as<Allocate>();
            for (const Expr &e : a.extents) require_same(e, loop);
            return a.with<&Allocate::body>(together(a.body, accesses, loop));
        }
        case NodeKind::LetStmt: return let(*s.as<LetStmt>(), accesses, loop);
        case NodeKind::Store: {
            const Stmt store = accesses(s);
            return with_shuffles(accesses, guarded(store));
        }
        default: throw NotStriped();
        }
    }
    // Those for which a condition does not hold come along, too.
    Stmt branch(const IfThenElse &branch, LaneAccesses &accesses, const For &loop) {
        const Expr condition = lets.expand(branch.condition);
        bool loads = uses_symbol(branch.condition, stripes.buffer);
        for_each_node(condition, [&](const Load &) { loads = true; });
        if (loads || !is_pure(condition)) throw NotStriped();
        if (!uses_symbol(condition, loop.name)) {
            Stmt otherwise = branch.else_case;
            if (otherwise.defined()) otherwise = together(otherwise, accesses, loop);
            return IfThenElse::make(branch.condition, together(branch.then_case, accesses, loop),
                                    otherwise);
        }
        const auto where = [&](const Expr &holds, const Stmt &s) {
            const Expr around = takes_part;
            takes_part = around.defined() ? around && holds : holds;
            const Stmt result = together(s, accesses, loop);
            takes_part = around;
            return result;
        };
        Stmt then_case = where(branch.condition, branch.then_case);
        if (!branch.else_case.defined()) return then_case;
        return Block::make(then_case, where(!branch.condition, branch.else_case));
    }
    // Lanes that have no iteration must not load for it, nor fail.
    Stmt let(const LetStmt &let, LaneAccesses &accesses, const For &loop) {
        if (takes_part.defined()) {
            if (!is_pure(let.value)) throw NotStriped();
            for_each_node(let.value, [&](const Load &load) {
                if (load.buffer != stripes.buffer) throw NotStriped();
            });
        }
        const Expr value = accesses(let.value);
        std::vector<LaneAccesses::Shuffle> before = std::move(accesses.shuffles);
        accesses.shuffles.clear();
        const Stmt body = lets.within(let, [&] { return together(let.body, accesses, loop); });
        accesses.shuffles = std::move(before);
        return with_shuffles(accesses, let.with<&LetStmt::value, &LetStmt::body>(value, body));
    }
    static Stmt with_shuffles(LaneAccesses &accesses, Stmt s) {
        for (size_t i = accesses.shuffles.size(); i-- > 0;)
            s = LetStmt::make(accesses.shuffles[i].name, accesses.shuffles[i].value, s);
        accesses.shuffles.clear();
        return s;
    }
    void require_same(const Expr &e, const For &loop) const {
        const Expr all = lets.expand(e);
        bool loads = false;
        for_each_node(all, [&](const Load &) { loads = true; });
        if (loads || uses_symbol(all, loop.name) || !is_pure(all)) throw NotStriped();
    }

    const Stripes &stripes;
    LetScope &lets;
    Expr takes_part;  // undefined: all lanes do
};

// Finds by how many elements the lanes' stores to a buffer are apart; 0 if that is not known.
class FindNeighbours final : public Visitor {
public:
    FindNeighbours(Symbol buffer, LetScope lets)
        : Visitor(Visits::PerUse), buffer(buffer), lets(std::move(lets)) {}
    int64_t neighbours = 0;
    bool agrees = true;

private:
    void visit(const For &loop) override {
        const For *around = std::exchange(lanes, is_over_lanes(loop) ? &loop : lanes);
        lets.within(loop, [&] { Visitor::visit(loop); });
        lanes = around;
    }
    void visit(const LetStmt &let) override {
        (*this)(let.value);
        lets.within(let, [&] { (*this)(let.body); });
    }
    void visit(const Store &store) override {
        Visitor::visit(store);
        if (store.buffer != buffer || !lanes || is_const(lanes->extent, 1)) return;
        const Expr first = first_of(store.index);
        const auto step = first.defined() ? step_of(lets.expand(first), *lanes) : std::nullopt;
        agrees &= step && *step > 0 && (neighbours == 0 || neighbours == *step);
        if (step) neighbours = *step;
    }
    Symbol buffer;
    LetScope lets;
    const For *lanes = nullptr;
};

class StripeLanes final : public Mutator {
public:
    StripeLanes() : Mutator(Visits::PerUse) {}

private:
    Stmt visit(const For &loop) override {
        const bool is_kernel = loop.loop_kind == LoopKind::GPUBlock && lanes == 0;
        if (is_kernel) lanes = lanes_of_rows(loop);
        if (lanes == 0) return is_kernel ? Stmt(&loop) : Mutator::visit(loop);
        const bool was_in_row = in_row, was_in_lane = in_lane;
        in_row |= is_over_threads(loop);
        in_lane |= is_over_lanes(loop);
        const Stmt body = lets.within(loop, [&] { return (*this)(loop.body); });
        in_row = was_in_row, in_lane = was_in_lane;
        if (is_kernel) lanes = 0;
        return loop.with<&For::body>(body);
    }
    Stmt visit(const LetStmt &let) override {
        if (lanes == 0) return Mutator::visit(let);
        const Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::body>(body);
    }
    Stmt visit(const Allocate &a) override {
        const bool has_lanes = in_row && !in_lane && thread_depth(a.body) == 1;
        const Stmt s = has_lanes ? striped(a) : Stmt(&a);
        const auto &now = *s.as<Allocate>();
        return now.with<&Allocate::body>((*this)(now.body));
    }
    // Puts the allocation into registers of the lanes, if that can be.
    Stmt striped(const Allocate &a) {
        const bool is_free = a.memory == MemoryType::Auto || a.memory == MemoryType::Register ||
                             a.memory == MemoryType::Stack;
        const auto bytes = constant_bytes(a);
        if (!is_free || !bytes || *bytes == 0 || a.condition.defined() || a.type.is_handle() ||
            !a.type.is_scalar()) {
            return Stmt(&a);
        }
        FindNeighbours find(a.buffer, lets);
        find(a.body);
        if (!find.agrees || find.neighbours == 0) return Stmt(&a);
        const Stripes stripes{a.buffer, lanes, find.neighbours, *bytes / a.type.bytes()};
        const int64_t most_registers = a.memory == MemoryType::Register ? 128 : 32;
        if (stripes.registers() > most_registers) return Stmt(&a);
        try {
            LetScope own = lets;
            const Stmt body = StripeRow(stripes, own).at_row(a.body);
            return a
                .with<&Allocate::memory, &Allocate::extents, &Allocate::padding, &Allocate::body>(
                    MemoryType::Tile, {Expr(int32_t(stripes.registers()))}, 0, body);
        } catch (const NotStriped &) {
            return Stmt(&a);
        }
    }

    int64_t lanes = 0;  // of the rows of the kernel around; 0: none
    bool in_row = false, in_lane = false;
    LetScope lets;
};

}  // namespace

Stmt stripe_lanes(const Stmt &s, const lower::Context &) {
    bool any = false;  // else shared expressions would be walked once for each use
    for_each_node(s, [&](const For &loop) { any |= loop.loop_kind == LoopKind::GPULane; });
    return any ? StripeLanes()(s) : s;
}

}  // namespace tessera::lower
