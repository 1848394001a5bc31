#include "lower/loops/interleave.h"
#include "algebra/simple_stores.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/lane_offsets.h"
#include "lower/loops/let_scope.h"
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

// A dense access of more lanes than this many times those wanted costs more than it saves.
constexpr int64_t most_waste = 4;
// More loads than this instead of one are not better than loading lane by lane.
constexpr int64_t most_parts = 4;
// Elements that more lanes than this want under a predicate each are not better found than
// gathered.
constexpr size_t most_wanting = 4;

Expr offset_by(const Expr &base, int64_t offset) {
    return offset == 0 ? base : base + make_const(base.type(), offset);
}

Expr dense_index(const LaneOffsets &l, int lanes) {
    Expr first = offset_by(l.base, l.least());
    return lanes == 1 ? first : Ramp::make(first, make_one(first.type()), lanes);
}

// A store and where its lanes go.
struct PlacedStore : algebra::SimpleStore {
    LaneOffsets place;
};

// Rewrites the loads of one expression.
class DenseLoads final : public Mutator {
public:
    // `shared`: buffers of which another thread may be writing what lies in between.
    DenseLoads(const LetScope &scope, const std::multiset<Symbol> &shared)
        : scope(scope), shared(shared) {}

private:
    Expr visit(const Load &load) override;
    Expr by_remainder(const Load &load) const;
    const LetScope &scope;
    const std::multiset<Symbol> &shared;
};

Expr lanes_of(const Expr &vector, std::vector<int> lanes) {
    return vector.defined() ? Shuffle::make({vector}, std::move(lanes)) : Expr();
}

// Returns the predicate of a dense load: it lets an element pass if it does so for some lane that
// wants the element; undefined if too many lanes want one.
// `indices`: of the element that each lane wants; all are wanted by some.
Expr predicate_of_elements(const Expr &predicate, const std::vector<int> &indices, int64_t span) {
    if (const auto *all = predicate.as<Broadcast>(); all && all->value.type().is_scalar())
        return Broadcast::make(all->value, int(span));
    std::vector<std::vector<int>> lanes_of_element;
    lanes_of_element.resize(size_t(span));
    for (size_t i = 0; i < indices.size(); i++)
        lanes_of_element[size_t(indices[i])].push_back(int(i));
    size_t most = 0;
    for (const auto &lanes : lanes_of_element) most = std::max(most, lanes.size());
    if (most > most_wanting) return {};
    Expr any;
    for (size_t k = 0; k < most; k++) {
        std::vector<int> some;
        for (const auto &lanes : lanes_of_element)
            some.push_back(lanes[std::min(k, lanes.size() - 1)]);
        const Expr passes = lanes_of(predicate, std::move(some));
        any = any.defined() ? any || passes : passes;
    }
    return any;
}

// Undefined if that is no better.
Expr dense_load(const Load &load, const LaneOffsets &place) {
    int64_t span = place.greatest() - place.least() + 1;
    if (span == 1 && load.predicate.defined())
        return load.with<&Load::index>(Broadcast::make(dense_index(place, 1), load.type.lanes()));
    std::vector<int> indices;
    for (int64_t o : place.offsets) indices.push_back(int(o - place.least()));
    Expr predicate;
    if (load.predicate.defined()) {
        predicate = predicate_of_elements(load.predicate, indices, span);
        if (!predicate.defined()) return {};
    }
    Expr all = load.with<&Load::type, &Load::index, &Load::predicate, &Load::alignment>(
        load.type.with_lanes(int(span)), dense_index(place, int(span)), predicate, {});
    if (span == 1) return Broadcast::make(all, load.type.lanes());
    return Shuffle::make({all}, std::move(indices));
}

// The least number that all constants divide by which the index divides its lanes; or one that is
// more than most_parts.
class CommonDivisor {
public:
    explicit CommonDivisor(const LetScope &scope) : scope(scope) {}
    int64_t common = 1;

    void add_of(const Expr &index) {
        for_each_node(index, [&](const Div &n) { add(n.b); });
        for_each_node(index, [&](const Mod &n) { add(n.b); });
        for_each_node(index, [&](const Variable &v) {
            if (v.type.is_scalar() || common > most_parts || !seen.insert(v.name).second) return;
            Expr value = scope.value_of(v.name);
            if (value.defined()) add_of(value);
        });
    }

private:
    void add(const Expr &by) {
        if (by.type().is_scalar() || common > most_parts) return;
        int64_t divisor = as_const_int(by).value_or(0);
        if (divisor > 0) common = std::lcm(common, divisor);
    }
    const LetScope &scope;
    std::unordered_set<Symbol> seen;  // lets
};

// Lanes with the same remainder by what the index divides them by, in a load of their own; none if
// these are not evenly spaced. No lane is read that was not wanted.
Expr DenseLoads::by_remainder(const Load &load) const {
    CommonDivisor divisor(scope);
    divisor.add_of(load.index);
    int64_t parts = divisor.common, lanes = load.type.lanes() / parts;
    if (parts < 2 || parts > most_parts || lanes < 2 || load.type.lanes() % parts != 0) return {};
    std::vector<Expr> loads;
    for (int part = 0; part < parts; part++) {
        auto place = lane_offsets(load.index, scope, {part, int(parts)});
        int64_t stride;
        if (!place || !place->is_ramp(stride)) return {};
        Expr first = algebra::simplify(offset_by(place->base, place->offsets[0]));
        std::vector<int> lanes_of_part;
        for (int i = 0; i < int(lanes); i++) lanes_of_part.push_back(part + i * int(parts));
        Expr predicate = lanes_of(load.predicate, std::move(lanes_of_part));
        const bool is_same = stride == 0, one = is_same && !predicate.defined();
        Expr index = one       ? first
                     : is_same ? Broadcast::make(first, int(lanes))
                               : Ramp::make(first, make_const(first.type(), stride), int(lanes));
        Expr part_of = load.with<&Load::type, &Load::index, &Load::predicate, &Load::alignment>(
            load.type.with_lanes(one ? 1 : int(lanes)), index, predicate, {});
        loads.push_back(broadcast(part_of, one ? int(lanes) : 1));
    }
    return Shuffle::make_interleave(std::move(loads));
}

Expr DenseLoads::visit(const Load &node) {
    Expr e = Mutator::visit(node);
    const auto *load = e.as<Load>();
    if (!load || load->type.is_scalar()) return e;
    const auto *ramp = load->index.as<Ramp>();
    bool plain = load->index.as<Broadcast>() || (ramp && ramp->base.type().is_scalar());
    if (plain) return e;
    auto place = lane_offsets(load->index, scope);
    auto in_parts = [&] {
        Expr interleaved = by_remainder(*load);
        return interleaved.defined() ? interleaved : e;
    };
    if (!place) return in_parts();
    int64_t stride, lanes = load->type.lanes();
    if (place->is_ramp(stride) && stride != 0) {
        Expr first = offset_by(place->base, place->offsets[0]);
        Expr index = Ramp::make(first, make_const(first.type(), stride), int(lanes));
        return load->with<&Load::index>(index);
    }
    int64_t span = place->greatest() - place->least() + 1;
    std::set<int64_t> wanted(place->offsets.begin(), place->offsets.end());
    bool reads_more = span > int64_t(wanted.size());
    const bool may_not = shared.contains(load->buffer) || load->predicate.defined();
    if (span > most_waste * lanes || (reads_more && may_not)) return e;
    Expr dense = dense_load(*load, *place);
    return dense.defined() ? dense : in_parts();
}

// Buffers that a loop's iterations write and do not have to themselves.
std::set<Symbol> written_together(const For &loop) {
    std::set<Symbol> written;
    for_each_node(loop.body, [&](const Store &s) { written.insert(s.buffer); });
    for_each_node(loop.body, [&](const Allocate &a) { written.erase(a.buffer); });
    return written;
}

class Interleave final : public Mutator {
    Expr rewrite(const Expr &e) const { return DenseLoads(scope, shared)(e); }
    Stmt visit(const LetStmt &let) override {
        Expr value = rewrite(let.value);
        scope.push_let(let.name, value);
        Stmt body = (*this)(let.body);
        scope.pop_let(let.name);
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    Stmt visit(const For &loop) override {
        scope.push_loop(loop.name, loop.min, loop.extent);
        std::set<Symbol> together;
        if (!traits_of(loop.loop_kind).is_in_order) together = written_together(loop);
        shared.insert(together.begin(), together.end());
        Stmt body = (*this)(loop.body);
        for (Symbol buffer : together) shared.extract(buffer);
        scope.pop_loop(loop.name);
        return loop.with<&For::body>(body);
    }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const Store &store) override;
    Stmt visit(const Block &block) override;

    std::optional<PlacedStore> as_placed_store(const Stmt &s) const;
    std::vector<PlacedStore> group_from(const std::vector<Stmt> &parts, size_t i) const;
    static bool continues(const std::vector<PlacedStore> &group, const PlacedStore &next);
    static bool is_family(const std::vector<PlacedStore> &group, std::vector<size_t> &order);
    static Stmt merge(const std::vector<PlacedStore> &group, const std::vector<size_t> &order);

    LetScope scope;
    std::multiset<Symbol> shared;
};

// A store whose lanes fill a range, in any order, is one of the lanes in order.
Stmt Interleave::visit(const Store &node) {
    Expr value = rewrite(node.value), index = rewrite(node.index);
    Stmt s = node.with<&Store::value, &Store::index>(value, index);
    const auto *store = s.as<Store>();
    if (store->value.type().is_scalar() || store->predicate.defined()) return s;
    const auto *ramp = store->index.as<Ramp>();
    if (store->index.as<Broadcast>() || (ramp && ramp->base.type().is_scalar())) return s;
    auto place = lane_offsets(store->index, scope);
    if (!place) return s;
    int lanes = store->value.type().lanes();
    std::vector<int> lane_at(size_t(lanes), -1);
    if (place->greatest() - place->least() + 1 != lanes) return s;
    for (int i = 0; i < lanes; i++) {
        int &lane = lane_at[size_t(place->offsets[size_t(i)] - place->least())];
        if (lane >= 0) return s;
        lane = i;
    }
    if (!std::is_sorted(lane_at.begin(), lane_at.end())) value = Shuffle::make({value}, lane_at);
    return store->with<&Store::value, &Store::index, &Store::predicate, &Store::alignment>(
        value, dense_index(*place, lanes), {}, {});
}

std::optional<PlacedStore> Interleave::as_placed_store(const Stmt &s) const {
    algebra::SimpleStore simple(s);
    const Store *store = simple.store;
    if (!store || store->value.type().is_scalar()) return {};
    auto may_move = [&](const Expr &e) { return is_pure(e) && !loads_from(e, store->buffer); };
    Substitution values;
    for (const LetStmt *let : simple.lets) {
        if (!may_move(let->value)) return {};
        values[let->name] = substitute(values, let->value);
    }
    if (!may_move(store->value) || !may_move(store->index)) return {};
    if (store->predicate.defined() && !may_move(store->predicate)) return {};
    auto place = lane_offsets(substitute(values, store->index), scope);
    if (!place) return {};
    return PlacedStore{std::move(simple), std::move(*place)};
}

// Returns true if the store has the same stride and base as the ones before.
bool Interleave::continues(const std::vector<PlacedStore> &group, const PlacedStore &next) {
    const PlacedStore &first = group[0];
    if (next.store->buffer != first.store->buffer ||
        next.store->value.type() != first.store->value.type() ||
        next.store->streaming != first.store->streaming) {
        return false;
    }
    bool predicated = first.store->predicate.defined();
    if (next.store->predicate.defined() != predicated) return false;
    if (predicated && !equal(first.store->predicate, next.store->predicate)) return false;
    int64_t stride, next_stride;
    if (!first.place.is_ramp(stride) || !next.place.is_ramp(next_stride)) return false;
    if (stride != next_stride || stride < 2 || stride > 16) return false;
    return as_const_int(algebra::simplify(next.place.base - first.place.base)).has_value();
}

// Returns true if the stores fill every element from first to last; `order` is the one in which
// they do.
bool Interleave::is_family(const std::vector<PlacedStore> &group, std::vector<size_t> &order) {
    int64_t stride;
    if (!group[0].place.is_ramp(stride) || size_t(stride) != group.size()) return false;
    std::vector<int64_t> starts;
    for (const PlacedStore &s : group) {
        Expr distance = algebra::simplify(s.place.base - group[0].place.base);
        starts.push_back(as_const_int(distance).value() + s.place.offsets[0]);
    }
    order.resize(group.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return starts[a] < starts[b]; });
    for (size_t i = 1; i < order.size(); i++) {
        if (starts[order[i]] != starts[order[0]] + int64_t(i)) return false;
    }
    return true;
}

// The lets get new names: copies of an unrolled loop bind the same ones to different values, and
// within one expression a name has to mean one thing.
Expr within_lets(const PlacedStore &s, Expr e) {
    for (size_t i = s.lets.size(); i-- > 0;) {
        const LetStmt &let = *s.lets[i];
        if (!uses_symbol(e, let.name)) continue;
        Symbol own = Symbol::fresh(let.name.text());
        const Expr named = Variable::make(let.value.type(), own);
        e = Let::make(own, let.value, substitute(let.name, named, e));
    }
    return e;
}

Stmt Interleave::merge(const std::vector<PlacedStore> &group, const std::vector<size_t> &order) {
    std::vector<Expr> values, predicates;
    for (size_t i : order) {
        values.push_back(within_lets(group[i], group[i].store->value));
        if (group[i].store->predicate.defined()) {
            predicates.push_back(within_lets(group[i], group[i].store->predicate));
        }
    }
    const PlacedStore &first = group[order[0]];
    Expr base = offset_by(first.place.base, first.place.offsets[0]);
    int lanes = values[0].type().lanes() * int(values.size());
    Expr predicate = predicates.empty() ? Expr() : Shuffle::make_interleave(predicates);
    return Store::make(first.store->buffer, Shuffle::make_interleave(values),
                       Ramp::make(base, make_one(base.type()), lanes), predicate,
                       first.store->alignment, first.store->streaming);
}

// The stores from the i-th on that may fill what the first one leaves out.
std::vector<PlacedStore> Interleave::group_from(const std::vector<Stmt> &parts, size_t i) const {
    std::vector<PlacedStore> group;
    int64_t stride = 0;
    for (; i < parts.size(); i++) {
        auto next = as_placed_store(parts[i]);
        if (!next || (!group.empty() && !continues(group, *next))) break;
        group.push_back(std::move(*next));
        if (!group[0].place.is_ramp(stride) || group.size() >= size_t(stride)) break;
    }
    return group;
}

Stmt Interleave::visit(const Block &block) {
    std::vector<Stmt> parts, result;
    bool changed = false;
    for (const Stmt &s : block.stmts) {
        parts.push_back((*this)(s));
        changed |= !parts.back().same_as(s);
    }
    for (size_t i = 0; i < parts.size();) {
        const std::vector<PlacedStore> group = group_from(parts, i);
        std::vector<size_t> order;
        if (group.size() > 1 && is_family(group, order)) {
            result.push_back(merge(group, order));
            i += group.size();
            changed = true;
        } else {
            result.push_back(parts[i++]);
        }
    }
    return changed ? Block::make(std::move(result)) : Stmt(&block);
}

}  // namespace

Stmt interleave(const Stmt &s, const Context &) { return Interleave()(s); }

}  // namespace tessera::lower
