#include "lower/finish/select_accesses.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include <cstdlib>
#include <numeric>

namespace tessera::lower {

using namespace ir;

namespace {

// ---- Indices ----

// The number, if the expression is one; else null.
const int64_t *constant_of(const Expr &e) {
    const auto *i = e.as<IntImm>();
    return i ? &i->value : nullptr;
}

// Sums and products that fold constants.
Expr plus(const Expr &a, const Expr &b) {
    const int64_t *ca = constant_of(a), *cb = constant_of(b);
    if (ca && cb) return IntImm::make(a.type(), *ca + *cb);
    if (ca && *ca == 0) return b;
    return cb && *cb == 0 ? a : Add::make(a, b);
}

Expr plus(const Expr &a, int64_t b) { return plus(a, IntImm::make(a.type(), b)); }

Expr times(const Expr &a, int64_t factor) {
    if (const int64_t *c = constant_of(a)) return IntImm::make(a.type(), *c * factor);
    if (factor == 1 || factor == 0) return factor ? a : IntImm::make(a.type(), 0);
    return Mul::make(a, IntImm::make(a.type(), factor));
}

// The index with a number added to each lane; it stays a Ramp or Broadcast if it is one.
Expr shifted(const Expr &index, const Expr &by) {
    if (index.type().is_scalar()) return plus(index, by);
    if (const auto *ramp = index.as<Ramp>()) {
        return Ramp::make(shifted(ramp->base, by), ramp->stride, ramp->lanes);
    }
    if (const auto *same = index.as<Broadcast>()) {
        return Broadcast::make(shifted(same->value, by), same->lanes);
    }
    return Add::make(index, Broadcast::make(by, index.type().lanes()));
}

// The group `i` of a ramp of vectors: base + step * i.
Expr advance(const Expr &base, const Expr &step, int i) {
    if (i == 0) return base;
    const auto *by = step.as<Broadcast>();
    if (by && by->value.type().is_scalar()) return shifted(base, times(by->value, i));
    const Expr factor =
        Broadcast::make(IntImm::make(step.type().element_of(), i), step.type().lanes());
    return Add::make(base, Mul::make(step, factor));
}

// Returns what is known of the first lane, `offset` further on.
Alignment moved(const Alignment &a, int64_t offset) {
    if (a.modulus == 0) return {0, a.remainder + offset};
    const int64_t remainder = (a.remainder + offset) % a.modulus;
    return {a.modulus, remainder < 0 ? remainder + a.modulus : remainder};
}

// Returns the alignment of the group `i` of a ramp of vectors.
Alignment group_alignment(const Alignment &a, const Expr &step, int i) {
    if (i == 0) return a;
    const auto *by = step.as<Broadcast>();
    const int64_t *constant = by ? constant_of(by->value) : constant_of(step);
    return constant ? moved(a, *constant * i) : Alignment();
}

Expr part_of(const Expr &predicate, int begin, int lanes) {
    return predicate.defined() ? Shuffle::make_slice(predicate, begin, 1, lanes) : Expr();
}

// The group of a ramp of vectors whose lanes are far apart, while those of different groups are
// next to one another: what it names is the transpose of a few dense rows. Else null.
const Ramp *transposed_group(const Ramp &index) {
    const auto *group = index.base.as<Ramp>();
    const auto *step = index.stride.as<Broadcast>();
    if (!group || group->base.type().is_vector() || !step) return nullptr;
    const int64_t *next = constant_of(step->value), *stride = constant_of(group->stride);
    if (!next || *next != 1 || (group->lanes & (group->lanes - 1)) != 0) return nullptr;
    const bool is_near = stride && std::abs(*stride) <= 4;
    return is_near && (*stride == 1 || index.lanes < group->lanes) ? nullptr : group;
}

// Two or four elements for each of many lanes that lie anywhere.
bool is_gather_of_rows(const Load &load, const Ramp &index) {
    const auto *step = index.stride.as<Broadcast>();
    const int64_t *next = step ? constant_of(step->value) : nullptr;
    return next && *next == 1 && (index.lanes == 2 || index.lanes == 4) && !index.base.as<Ramp>() &&
           !index.base.as<Broadcast>() && !load.predicate.defined() && !load.type.is_bool() &&
           index.base.type().lanes() % index.lanes == 0;
}

// The condition that decides on all lanes alike; undefined if there is none.
Expr uniform_condition(const Expr &predicate) {
    const auto *all = predicate.defined() ? predicate.as<Broadcast>() : nullptr;
    const bool is_condition = all && all->value.type().is_scalar() && !all->value.as<UIntImm>();
    return is_condition ? all->value : Expr();
}

// ---- Loads ----

class SelectAccesses final : public Mutator {
public:
    explicit SelectAccesses(const Target &target) : target(target.with_implied_features()) {}

private:
    using Mutator::visit;
    Stmt visit(const Atomic &atomic) override { return Stmt(&atomic); }
    Expr visit(const Load &node) override {
        const Expr load = Mutator::visit(node);
        return load.type().is_scalar() ? load : selected(*load.as<Load>());
    }

    Expr selected(const Load &load) const {
        const Expr condition = uniform_condition(load.predicate);
        if (!condition.defined()) return of_this_form(load);
        const Expr plain = load.with<&Load::predicate>(Expr());
        const Expr result = of_this_form(*plain.as<Load>());
        if (result.same_as(plain)) return Expr(&load);
        return call(load.type, Intrinsic::if_then_else, {condition, result, zero(load.type)});
    }
    static Expr zero(Type t) {
        const Type element = t.element_of();
        const Expr one = element.is_float()  ? FloatImm::make(element, 0)
                         : element.is_uint() ? UIntImm::make(element, 0)
                                             : IntImm::make(element, 0);
        return Broadcast::make(one, t.lanes());
    }

    Expr of_this_form(const Load &load) const {
        const auto *same = load.index.as<Broadcast>();
        if (same && !load.predicate.defined()) {
            const Type part = load.type.with_lanes(same->value.type().lanes());
            return Broadcast::make(part_load(load, part.lanes(), same->value, {}, load.alignment),
                                   same->lanes);
        }
        const auto *ramp = load.index.as<Ramp>();
        if (!ramp) return Expr(&load);
        if (ramp->base.type().is_vector()) {
            if (const Ramp *group = transposed_group(*ramp)) return transposed(load, *ramp, *group);
            return is_gather_of_rows(load, *ramp) ? rows(load, *ramp) : groups(load, *ramp);
        }
        const int64_t *stride = constant_of(ramp->stride);
        const bool is_near = stride && *stride != 0 && *stride != 1 && std::abs(*stride) <= 4;
        return is_near && !load.predicate.defined() ? strided(load, *ramp, *stride) : Expr(&load);
    }

    // A load of other lanes of the same buffer.
    Expr part_load(const Load &load, int lanes, const Expr &index, const Expr &predicate,
                   const Alignment &alignment) const {
        const Expr part = load.with<&Load::type, &Load::index, &Load::predicate, &Load::alignment>(
            load.type.with_lanes(lanes), index, predicate, alignment);
        return lanes == 1 ? part : selected(*part.as<Load>());
    }

    // A ramp of vectors: one load for each.
    Expr groups(const Load &load, const Ramp &index) const {
        const int lanes = index.base.type().lanes();
        std::vector<Expr> parts;
        for (int i = 0; i < index.lanes; i++) {
            parts.push_back(part_load(load, lanes, advance(index.base, index.stride, i),
                                      part_of(load.predicate, i * lanes, lanes),
                                      group_alignment(load.alignment, index.stride, i)));
        }
        return Shuffle::make_concat(std::move(parts));
    }

    // One dense load for each lane of a group; then pairs of rows are interleaved until there is
    // one.
    Expr transposed(const Load &load, const Ramp &index, const Ramp &group) const {
        const int count = group.lanes, columns = index.lanes;
        const Expr one = IntImm::make(index.type.element_of(), 1);
        std::vector<std::vector<Expr>> rows;
        for (int i = 0; i < count; i++) {
            const Expr first = plus(group.base, times(group.stride, i));
            Expr wanted = load.predicate;
            if (wanted.defined()) wanted = Shuffle::make_slice(wanted, i, count, columns);
            const Expr at = columns == 1 ? first : Ramp::make(first, one, columns);
            rows.push_back({part_load(load, columns, at, wanted,
                                      group_alignment(load.alignment, group.stride, i))});
        }
        for (size_t half = rows.size() / 2; half > 0; half /= 2) {
            for (size_t i = 0; i < half; i++) rows[i] = interleaved(rows[i], rows[i + half]);
        }
        return Shuffle::make_concat(rows[0]);
    }

    // The lanes of two vectors in turns, each vector in parts of no more than the machine's width.
    std::vector<Expr> interleaved(const std::vector<Expr> &first,
                                  const std::vector<Expr> &second) const {
        std::vector<Expr> result;
        for (size_t part = 0; part < first.size(); part++) {
            const Type t = first[part].type();
            const int lanes = t.lanes();
            std::vector<int> indices;
            for (int i = 0; i < lanes; i++) indices.insert(indices.end(), {i, lanes + i});
            const bool fits = 2 * lanes <= target.natural_vector_size(t.element_of());
            const int step = fits || lanes == 1 ? 2 * lanes : lanes;
            for (auto at = indices.begin(); at != indices.end(); at += step) {
                result.push_back(Shuffle::make({first[part], second[part]}, {at, at + step}));
            }
        }
        return result;
    }

    // One dense load for each lane of the index. Rows that are as many apart as a row has elements
    // stand side by side, so that squares of them are transposed within parts of a register.
    static Expr rows(const Load &load, const Ramp &index) {
        const int count = index.lanes, lanes = index.base.type().lanes();
        // All lanes at once become as wide as an address.
        const Type wide = Int(64, lanes);
        const Symbol name = Symbol::fresh("rows");
        const Expr places = Variable::make(wide, name);
        const Expr one = IntImm::make(Int(64), 1);
        std::vector<Expr> columns;
        for (int first = 0; first < count; first++) {
            std::vector<Expr> all;
            for (int lane = first; lane < lanes; lane += count) {
                const Expr at = Shuffle::make_slice(places, lane, 1, 1);
                all.push_back(load.with<&Load::type, &Load::index, &Load::alignment>(
                    load.type.with_lanes(count), Ramp::make(at, one, count), Alignment()));
            }
            columns.push_back(Shuffle::make_concat(std::move(all)));
        }
        return Let::make(name, Cast::make(wide, index.base), transposed_squares(columns, lanes));
    }

    // Transposes two columns, or four, in squares of as many rows.
    static Expr transposed_squares(const std::vector<Expr> &columns, int lanes) {
        const int count = int(columns.size());
        // Takes groups of so many elements from the first half and the second, one of each in turn.
        auto zip = [&](const Expr &x, const Expr &y, int size, bool high) {
            std::vector<int> places;
            for (int square = 0; square < lanes; square += count) {
                for (int i = 0; i < count; i += 2 * size) {
                    const int from = square + i / 2 + (high ? count / 2 : 0);
                    for (int k = 0; k < size; k++) places.push_back(from + k);
                    for (int k = 0; k < size; k++) places.push_back(lanes + from + k);
                }
            }
            return Shuffle::make({x, y}, std::move(places));
        };
        auto low = [&](const Expr &x, const Expr &y, int size) { return zip(x, y, size, false); };
        auto high = [&](const Expr &x, const Expr &y, int size) { return zip(x, y, size, true); };
        if (count == 2) {
            return Shuffle::make_concat(
                {low(columns[0], columns[1], 1), high(columns[0], columns[1], 1)});
        }
        const Expr low01 = low(columns[0], columns[1], 1), high01 = high(columns[0], columns[1], 1),
                   low23 = low(columns[2], columns[3], 1), high23 = high(columns[2], columns[3], 1);
        return Shuffle::make_concat({low(low01, low23, 2), high(low01, low23, 2),
                                     low(high01, high23, 2), high(high01, high23, 2)});
    }

    // Dense loads that cover the elements from first to last and none beyond, then a shuffle.
    Expr strided(const Load &load, const Ramp &index, int64_t stride) const {
        const int lanes = index.lanes, step = int(std::abs(stride)), span = step * (lanes - 1) + 1;
        const bool is_backwards = stride < 0;
        const Expr first = is_backwards ? plus(index.base, 1 - span) : index.base;
        const Alignment alignment = is_backwards ? moved(load.alignment, 1 - span) : load.alignment;
        Expr result;
        int done = 0;  // lanes of the result so far
        for (int begin = 0; done < lanes; begin += lanes) {
            const int at = std::max(0, std::min(begin, span - lanes));  // the last one steps back
            const int size = std::min(lanes, span), before = done;
            const Expr chunk = part_load(
                load, size, Ramp::make(plus(first, at), IntImm::make(first.type(), 1), size), {},
                moved(alignment, at));
            std::vector<int> lanes_taken(static_cast<size_t>(done));
            std::iota(lanes_taken.begin(), lanes_taken.end(), 0);
            while (done < lanes && done * step < at + size) {
                lanes_taken.push_back(before + done++ * step - at);
            }
            std::vector<Expr> operands = {chunk};
            if (result.defined()) operands.insert(operands.begin(), result);
            result = Shuffle::make(std::move(operands), std::move(lanes_taken));
        }
        return is_backwards ? Shuffle::make_slice(result, lanes - 1, -1, lanes) : result;
    }

    // ---- Stores ----

    Stmt visit(const Store &node) override {
        Stmt store = Mutator::visit(node);
        const Store &s = *store.as<Store>();
        const auto *ramp = s.index.as<Ramp>();
        if (!ramp || ramp->base.type().is_scalar()) return store;
        const Expr condition = uniform_condition(s.predicate);
        if (!condition.defined()) return groups(s, *ramp);
        const Stmt plain = s.with<&Store::predicate>(Expr());
        return IfThenElse::make(condition, groups(*plain.as<Store>(), *ramp), {});
    }

    // A ramp of vectors: one store for each, of the value's lanes.
    static Stmt groups(const Store &store, const Ramp &index) {
        const Symbol name = Symbol::fresh("stored");
        const Expr value = Variable::make(store.value.type(), name);
        return LetStmt::make(name, store.value, groups_of(store, index, value));
    }
    static Stmt groups_of(const Store &store, const Ramp &index, const Expr &value) {
        const int lanes = index.base.type().lanes();
        std::vector<Stmt> parts;
        for (int i = 0; i < index.lanes; i++) {
            const Stmt part =
                store.with<&Store::value, &Store::index, &Store::predicate, &Store::alignment>(
                    Shuffle::make_slice(value, i * lanes, 1, lanes),
                    advance(index.base, index.stride, i),
                    part_of(store.predicate, i * lanes, lanes),
                    group_alignment(store.alignment, index.stride, i));
            const Store &s = *part.as<Store>();
            const auto *inner = s.index.as<Ramp>();
            const bool is_dense = !inner || inner->base.type().is_scalar();
            parts.push_back(is_dense ? part : groups_of(s, *inner, s.value));
        }
        return Block::make(std::move(parts));
    }

    const Target target;
};

}  // namespace

Module select_accesses(const Module &module, const Target &target) {
    Module result = module;
    for (LoweredFunction &f : result.functions) {
        if (f.kind == FunctionKind::Kernel) continue;  // each thread has accesses of its own
        const SymbolScope scope(f.symbols);
        f.body = SelectAccesses(target)(f.body);
    }
    return result;
}

}  // namespace tessera::lower
