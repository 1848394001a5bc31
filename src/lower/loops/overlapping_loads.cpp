#include "lower/loops/overlapping_loads.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/loops/straight_code.h"
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

constexpr int register_bits = 512;
// Shifted by half as much, a register takes two shuffles, and loops of such elements add many.
constexpr int least_bits = 32;
// Two places cost as much as the two vectors side by side and a shuffle.
constexpr size_t least_places = 3;

// Where a dense vector begins: `offset` elements after `base`.
struct Place {
    Expr base;
    int64_t offset = 0;
};

Place place_of(const Expr &first) {
    const auto *sum = first.as<Add>();
    auto constant = sum ? as_const_int(sum->b) : std::nullopt;
    return constant ? Place{sum->a, *constant} : Place{first, 0};
}

bool is_dense_register(const Load &load) {
    const auto *ramp = load.index.as<Ramp>();
    return ramp && ramp->base.type().is_scalar() && is_one(ramp->stride) &&
           !load.predicate.defined() && !load.streaming && load.type.bits() >= least_bits &&
           load.type.bits() * load.type.lanes() == register_bits;
}

// Loads of one buffer, one type and one base, in statements that all run if one of them does.
struct Group {
    Type type;
    std::set<int64_t> offsets;
    // After choose(): of each offset that is replaced, where the vector begins that holds its first
    // element. The rest is in the one after it.
    std::map<int64_t, int64_t> replaced;

    void choose(bool may_read_beyond);
};

// The offsets from `first` on that share vectors side by side with those before.
void Group::choose(bool may_read_beyond) {
    const int64_t lanes = type.lanes();
    for (auto first = offsets.begin(); first != offsets.end();) {
        const int64_t origin = *first;
        std::set<int64_t> vectors;
        std::map<int64_t, int64_t> places;
        auto next = first;
        for (; next != offsets.end(); ++next) {
            const int64_t vector = origin + (*next - origin) / lanes * lanes;
            const bool whole = *next == vector;
            if (!vectors.empty() && vector > *vectors.rbegin() + lanes) break;
            if (!whole && !may_read_beyond && vector + lanes > *offsets.rbegin()) break;
            vectors.insert(vector);
            if (!whole) vectors.insert(vector + lanes);
            places[*next] = vector;
        }
        const bool gains = places.size() >= least_places && vectors.size() < places.size();
        if (gains) replaced.merge(places);
        first = next == first ? std::next(first) : next;
    }
}

class Groups {
public:
    void add(const Load &load) {
        Place place = place_of(load.index.as<Ramp>()->base);
        Group &group = groups[load.buffer][place.base];
        if (group.offsets.empty()) group.type = load.type;
        if (group.type == load.type) group.offsets.insert(place.offset);
    }
    void choose(const std::unordered_set<Symbol> &own) {
        for (auto &[buffer, by_base] : groups) {
            for (auto &[base, group] : by_base) group.choose(own.contains(buffer));
        }
    }
    bool any() const {
        for (const auto &[buffer, by_base] : groups) {
            for (const auto &[base, group] : by_base) {
                if (!group.replaced.empty()) return true;
            }
        }
        return false;
    }
    // Undefined: to be left as it is.
    Expr replacement(const Load &load) const {
        auto by_base = groups.find(load.buffer);
        if (by_base == groups.end()) return {};
        const Expr &first = load.index.as<Ramp>()->base;
        Place place = place_of(first);
        auto group = by_base->second.find(place.base);
        if (group == by_base->second.end() || group->second.type != load.type) return {};
        auto found = group->second.replaced.find(place.offset);
        if (found == group->second.replaced.end() || found->second == place.offset) return {};
        const int lanes = load.type.lanes();
        auto vector = [&](int64_t offset) {
            Expr begin =
                offset == 0 ? place.base : place.base + make_const(place.base.type(), offset);
            return Load::make(load.type, load.buffer,
                              Ramp::make(begin, make_one(begin.type()), lanes));
        };
        std::vector<int> indices;
        for (int i = 0; i < lanes; i++) indices.push_back(int(place.offset - found->second) + i);
        return Shuffle::make({vector(found->second), vector(found->second + lanes)},
                             std::move(indices));
    }

private:
    using ByBase = std::unordered_map<Expr, Group, ExprHash, ExprEqual>;
    std::unordered_map<Symbol, ByBase> groups;
};

class Replace final : public Mutator {
public:
    Replace(const Groups &groups, std::unordered_map<Symbol, int> &padding)
        : groups(groups), padding(padding) {}

private:
    Expr visit(const Load &load) override {
        Expr e = Mutator::visit(load);
        if (!is_dense_register(*e.as<Load>())) return e;
        Expr shuffled = groups.replacement(*e.as<Load>());
        if (!shuffled.defined()) return e;
        int &most = padding[load.buffer];
        most = std::max(most, load.type.lanes());
        return shuffled;
    }
    const Groups &groups;
    std::unordered_map<Symbol, int> &padding;
};

class SplitOverlappingLoads final : public StraightCodeMutator {
    Stmt rewrite(const Stmt &s, const std::vector<Expr> &loads) override {
        Groups groups;
        for (const Expr &e : loads) {
            const auto &load = *e.as<Load>();
            if (is_dense_register(load)) groups.add(load);
        }
        groups.choose(own);
        return groups.any() ? Replace(groups, padding)(s) : s;
    }

    Stmt visit(const Allocate &a) override {
        own.insert(a.buffer);
        Stmt s = Mutator::visit(a);
        own.erase(a.buffer);
        auto more = padding.extract(a.buffer);
        if (more.empty()) return s;
        const auto &changed = *s.as<Allocate>();
        return Allocate::make(a.buffer, a.type, a.memory, changed.extents, changed.condition,
                              std::max(a.padding, more.mapped()), changed.body);
    }
    // Of what others write meanwhile, no more is read than before.
    Stmt visit(const For &loop) override {
        if (loop.loop_kind != LoopKind::Parallel) return Mutator::visit(loop);
        return without(written_in(Stmt(loop.body)), [&] { return Mutator::visit(loop); });
    }
    Stmt visit(const Fork &fork) override {
        return without(written_in(Stmt(&fork)), [&] { return Mutator::visit(fork); });
    }
    static std::vector<Symbol> written_in(const Stmt &s) {
        std::vector<Symbol> written;
        for_each_node(s, [&](const Store &store) { written.push_back(store.buffer); });
        return written;
    }
    template<typename Visit>
    Stmt without(const std::vector<Symbol> &buffers, Visit visit) {
        auto before = own;
        for (Symbol buffer : buffers) own.erase(buffer);
        Stmt s = visit();
        own = std::move(before);
        return s;
    }

    std::unordered_set<Symbol> own;           // allocated around, and ours alone
    std::unordered_map<Symbol, int> padding;  // in elements
};

}  // namespace

Stmt split_overlapping_loads(const Stmt &s, const Context &context) {
    if (!context.target.with_implied_features().has_feature(Target::AVX512)) return s;
    return SplitOverlappingLoads()(s);
}

}  // namespace tessera::lower
