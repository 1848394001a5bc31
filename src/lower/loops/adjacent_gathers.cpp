#include "lower/loops/adjacent_gathers.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

constexpr int element_bits = 32, least_lanes = 4;

// An index without the constant that is added to it.
struct Place {
    Expr base;
    int64_t offset = 0;
};

Place place_of(const Expr &index) {
    if (const auto *sum = index.as<Add>()) {
        const Place a = place_of(sum->a), b = place_of(sum->b);
        if (a.offset == 0 && b.offset == 0) return {index, 0};
        auto is_nothing = [](const Expr &e) { return is_const(e, 0); };
        Expr base = is_nothing(a.base) ? b.base : is_nothing(b.base) ? a.base : a.base + b.base;
        return {base, a.offset + b.offset};
    }
    if (const auto *same = index.as<Broadcast>()) {
        const Place once = place_of(same->value);
        if (once.offset == 0) return {index, 0};
        return {Broadcast::make(once.base, same->lanes), once.offset};
    }
    if (auto constant = as_const_int(index); constant && index.type().is_scalar()) {
        return {make_zero(index.type()), *constant};
    }
    return {index, 0};
}

bool is_gather(const Load &load) {
    return load.type.lanes() >= least_lanes && load.type.bits() == element_bits &&
           !load.predicate.defined() && !load.streaming && !load.index.as<Ramp>() &&
           !load.index.as<Broadcast>();
}

// Gathers of one buffer at one base, in code that all runs if some of it does.
struct Group {
    Type type;
    std::set<int64_t> offsets;
    struct Part {
        int64_t first;
        int count;
    };
    std::map<int64_t, Part> parts;  // of the offsets that are read together

    void choose() {
        for (auto at = offsets.begin(); at != offsets.end();) {
            int next = 1;  // how many follow one another
            while (next < 4 && offsets.contains(*at + next)) next++;
            const int count = next == 4 ? 4 : next >= 2 ? 2 : 1;
            for (int i = 0; i < count && count > 1; i++) parts[*at + i] = {*at, count};
            std::advance(at, count);
        }
    }
};

class Groups {
public:
    void add(const Load &load) {
        const Place place = place_of(load.index);
        Group &group = groups[load.buffer][place.base];
        if (group.offsets.empty()) group.type = load.type;
        if (group.type == load.type) group.offsets.insert(place.offset);
    }
    // Returns true if there is anything to merge.
    bool choose() {
        bool any = false;
        for (auto &[buffer, by_base] : groups) {
            for (auto &[base, group] : by_base) {
                group.choose();
                any |= !group.parts.empty();
            }
        }
        return any;
    }
    // Undefined: to be left as it is.
    Expr replacement(const Load &load) const {
        auto by_base = groups.find(load.buffer);
        if (by_base == groups.end()) return {};
        const Place place = place_of(load.index);
        auto group = by_base->second.find(place.base);
        if (group == by_base->second.end() || group->second.type != load.type) return {};
        auto found = group->second.parts.find(place.offset);
        if (found == group->second.parts.end()) return {};
        const auto [first, count] = found->second;
        const int lanes = load.type.lanes();
        const Type t = place.base.type().element_of();
        Expr begin =
            first == 0 ? place.base : place.base + Broadcast::make(make_const(t, first), lanes);
        Expr all = Load::make(load.type.with_lanes(lanes * count), load.buffer,
                              Ramp::make(begin, Broadcast::make(make_one(t), lanes), count));
        return Shuffle::make_slice(all, int(place.offset - first) * lanes, 1, lanes);
    }

private:
    using ByBase = std::unordered_map<Expr, Group, ExprHash, ExprEqual>;
    std::unordered_map<Symbol, ByBase> groups;
};

class Replace final : public Mutator {
public:
    explicit Replace(const Groups &groups) : groups(groups) {}

private:
    Expr visit(const Load &node) override {
        Expr e = Mutator::visit(node);
        const auto *load = e.as<Load>();
        Expr merged = load && is_gather(*load) ? groups.replacement(*load) : Expr();
        return merged.defined() ? merged : e;
    }
    const Groups &groups;
};

// The loads of a statement without loops, conditions, checks and values of which only one is
// evaluated: each runs if one of them does. It says so if it is not such a statement, or if a
// symbol means two things in it.
class StraightCode final : public Visitor {
public:
    std::vector<Expr> loads;
    bool straight = true;

private:
    void visit(const Load &load) override {
        Visitor::visit(load);
        loads.emplace_back(&load);
    }
    void visit(const IntrinsicCall &call) override {
        straight &= call.op != Intrinsic::if_then_else && call.op != Intrinsic::require;
        Visitor::visit(call);
    }
    void bind(Symbol name) {
        if (!bound.insert(name).second) straight = false;
    }
    void visit(const Let &let) override {
        bind(let.name);
        Visitor::visit(let);
    }
    void visit(const LetStmt &let) override {
        bind(let.name);
        if (straight) Visitor::visit(let);
    }
    void visit(const Block &block) override {
        for (const Stmt &part : block.stmts) {
            if (straight) (*this)(part);
        }
    }
    void visit(const AssertStmt &) override { straight = false; }
    void visit(const For &) override { straight = false; }
    void visit(const IfThenElse &) override { straight = false; }
    void visit(const Allocate &) override { straight = false; }
    void visit(const Fork &) override { straight = false; }
    void visit(const Acquire &) override { straight = false; }

    std::unordered_set<Symbol> bound;
};

class MergeAdjacentGathers final : public Mutator {
    // The widest statements that are straight code.
    template<typename T> Stmt within(const T &node) {
        Stmt s(&node);
        StraightCode code;
        code(s);
        if (!code.straight) return parts(node);
        Groups groups;
        for (const Expr &e : code.loads) {
            const auto &load = *e.as<Load>();
            if (is_gather(load)) groups.add(load);
        }
        return groups.choose() ? Replace(groups)(s) : s;
    }
    template<typename T> Stmt parts(const T &node) { return Mutator::visit(node); }
    // Lets around what is no straight code are no straight code either. All of them are passed over
    // at once, since looking through the code for each of them would take quadratic time.
    Stmt parts(const LetStmt &let) {
        std::vector<const LetStmt *> lets = {&let};
        while (const auto *next = lets.back()->body.as<LetStmt>()) lets.push_back(next);
        StraightCode rest;
        rest(lets.back()->body);
        if (rest.straight) return Mutator::visit(let);
        Stmt body = (*this)(lets.back()->body);
        for (size_t i = lets.size(); i-- > 0;) body = lets[i]->with<&LetStmt::body>(body);
        return body;
    }
    Stmt visit(const Block &s) override { return within(s); }
    Stmt visit(const LetStmt &s) override { return within(s); }
    Stmt visit(const Store &s) override { return within(s); }
};

}  // namespace

Stmt merge_adjacent_gathers(const Stmt &s, const Context &context) {
    if (context.target.arch != Target::X86) return s;
    return MergeAdjacentGathers()(s);
}

}  // namespace tessera::lower
