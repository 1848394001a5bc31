#include "lower/storage/production_path.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"
#include "lower/nest/sites.h"
#include <numeric>

namespace tessera::lower {

using namespace ir;
using algebra::Monotonic;
using program::FunctionContents;

namespace {

class FindProduction final : public Visitor {
public:
    explicit FindProduction(Symbol func) : func(func) {}
    ProductionPath result;

private:
    void visit(const For &loop) override {
        descend({PathEntry::Kind::Loop, loop.name, loop.min, loop.extent, loop.loop_kind},
                loop.body);
    }
    void visit(const LetStmt &let) override {
        descend({PathEntry::Kind::Let, let.name, let.value, {}}, let.body);
    }
    void visit(const IfThenElse &test) override {
        descend({PathEntry::Kind::Test, {}, test.condition, {}}, test.then_case);
        descend({PathEntry::Kind::Test, {}, !test.condition, {}}, test.else_case);
    }
    void visit(const ProducerConsumer &p) override {
        if (p.func != func || !p.is_producer) return Visitor::visit(p);
        if (result.productions++ == 0) result.entries = path;
    }
    void visit(const Provide &) override {}

    void descend(PathEntry entry, const Stmt &body) {
        path.push_back(std::move(entry));
        (*this)(body);
        path.pop_back();
    }

    Symbol func;
    std::vector<PathEntry> path;
};

}  // namespace

ProductionPath find_production(const Stmt &body, Symbol func) {
    FindProduction find(func);
    find(body);
    return std::move(find.result);
}

void ProductionPath::find_lets() const {
    if (!lets.empty()) return;
    for (const PathEntry &entry : entries) {
        if (entry.kind == PathEntry::Kind::Let) lets.emplace(entry.name, entry.value);
    }
}

Expr ProductionPath::let_value(Symbol name) const {
    find_lets();
    return lets.at(name);
}

Expr ProductionPath::expand(const Expr &e) const {
    find_lets();
    Substitution values;
    for_each_node(e, [&](const Variable &v) {
        if (lets.contains(v.name)) values.try_emplace(v.name, expanded_let(v.name));
    });
    return algebra::simplify(substitute(values, e));
}

bool ProductionPath::asks_within(const Expr &e, size_t loop) const {
    for (size_t i = loop + 1; i < entries.size(); i++) {
        if (entries[i].kind == PathEntry::Kind::Let && uses_symbol(e, entries[i].name)) return true;
    }
    return false;
}

bool ProductionPath::names_loop_within(const Expr &e, size_t loop) const {
    for (size_t i = loop + 1; i < entries.size(); i++) {
        if (entries[i].is_loop() && uses_symbol(e, entries[i].name)) return true;
    }
    return false;
}

bool ProductionPath::depends_on_loop(const Expr &e, size_t loop) const {
    if (uses_symbol(e, entries[loop].name)) return true;
    for (size_t i = loop + 1; i < entries.size(); i++) {
        const PathEntry &inner = entries[i];
        if (!inner.is_loop() || !uses_symbol(e, inner.name)) continue;
        for (const Expr &end : {inner.value, inner.loop_extent}) {
            Expr expanded = expand(end);
            if (asks_within(expanded, loop) || depends_on_loop(expanded, loop)) return true;
        }
    }
    return false;
}

Expr ProductionPath::expanded_let(Symbol name) const {
    auto [known, is_new] = expanded.try_emplace(name);
    if (is_new) {
        Expr value = expand(lets.at(name));
        return expanded[name] = value;
    }
    return known->second;
}

bool is_stored_outside(const FunctionContents &f) {
    return !store_level(f.schedule).matches(f.schedule.compute_level);
}

namespace {

// Follows the loops over one dimension through the directives of a stage.
class ExactLoops {
public:
    // `multiple`: what divides every extent of the dimension.
    ExactLoops(Symbol var, int64_t multiple) { add(var, {multiple, false, 1}); }

    // What the extent has to be a multiple of for the loops to compute just the region; nothing if
    // no multiple will do.
    std::optional<int64_t> run(const program::StageSchedule &s) {
        for (const auto &t : s.transforms) {
            bool exact = std::visit([&](const auto &d) { return apply(d); }, t.directive);
            if (!exact) return std::nullopt;
        }
        for (const program::Loop &l : s.loops) {
            bool needs_constant = l.kind == LoopKind::Vectorized || l.kind == LoopKind::Unrolled;
            auto made = variables.find(l.var);
            if (made != variables.end() && needs_constant && !made->second.is_constant) {
                return std::nullopt;
            }
        }
        return needed;
    }

private:
    struct Made {
        int64_t multiple;  // of this is its extent
        bool is_constant;  // it is just that
        int64_t points;    // of the dimension that an iteration stands for
    };

    void add(Symbol var, Made made) { variables[var] = made; }

    bool apply(const program::Split &split) {
        auto old = variables.find(split.old);
        if (old == variables.end()) return true;
        auto [multiple, is_constant, points] = old->second;
        auto factor = as_const_int(split.factor);
        if (!factor || *factor <= 0) return false;
        variables.erase(old);
        add(split.inner, {*factor, true, points});
        if (multiple % *factor == 0) {
            add(split.outer, {multiple / *factor, is_constant, points * *factor});
            return true;
        }
        if (is_constant || points > most_points / *factor) return false;
        add(split.outer, {1, false, points * *factor});
        switch (split.tail) {
        case TailStrategy::GuardWithIf:
        case TailStrategy::Predicate:
        case TailStrategy::PredicateLoads:
        case TailStrategy::PredicateStores: return true;
        case TailStrategy::RoundUp:
        case TailStrategy::ShiftInwards: needed = std::lcm(needed, points * *factor); return true;
        default: return false;
        }
    }
    bool apply(const program::Fuse &fuse) {
        return !variables.contains(fuse.inner) && !variables.contains(fuse.outer);
    }
    bool apply(const program::Rename &rename) {
        auto old = variables.find(rename.old);
        if (old == variables.end()) return true;
        Made made = old->second;
        variables.erase(old);
        add(rename.new_name, made);
        return true;
    }

    static constexpr int64_t most_points = 1 << 16;
    std::unordered_map<Symbol, Made> variables;
    int64_t needed = 1;
};

}  // namespace

std::optional<int64_t> granularity(const FunctionContents &f, int d) {
    // What earlier stages compute is enlarged by what later ones read of it.
    int64_t multiple = f.stages.size() == 1 ? aligned_extent(f, d) : 1;
    int64_t all = 1;
    for (const program::DefinitionRef &stage : f.stages) {
        for (const program::Definition *version : versions_of(*stage)) {
            ExactLoops loops(f.args[size_t(d)], multiple);
            std::optional<int64_t> needed = loops.run(version->schedule);
            if (!needed) return std::nullopt;
            all = std::lcm(all, *needed);
        }
    }
    if (all > 1 && f.stages.size() > 1) return std::nullopt;
    // A version that has no tail thanks to align_bounds needs its multiples, too.
    return all > 1 ? std::lcm(all, multiple) : 1;
}

bool is_computed_exactly(const FunctionContents &f, int d) { return granularity(f, d) == 1; }

bool is_pure_in_all_stages(const FunctionContents &f, int d) {
    auto is_var = [&](const Expr &e) {
        const auto *v = e.as<Variable>();
        return v && v->name == f.args[size_t(d)];
    };
    bool pure = true;
    auto check = [&](const Expr &e) {
        for_each_node(e, [&](const Call &c) {
            if (c.callee == f.name) pure &= is_var(c.args[size_t(d)]);
        });
    };
    for (size_t s = 1; s < f.stages.size(); s++) {
        const program::Definition &def = *f.stages[s];
        pure &= is_var(def.args[size_t(d)]);
        for (const Expr &e : def.values) check(e);
        for (const Expr &e : def.args) check(e);
        if (def.predicate.defined()) check(def.predicate);
    }
    return pure;
}

namespace {

// Whether a test is that of the loop's tail, which is left out at its end. That of one further in,
// which ends elsewhere from one iteration to the next, leaves out some anywhere, and so does one of
// a loop that was fused with this one.
bool is_own_tail(const Expr &marked, const Expr &test, const ProductionPath &path, size_t loop) {
    if (!likely_marker(marked, false) || path.names_loop_within(test, loop)) return false;
    auto change = algebra::is_monotonic(remove_likely(test), path.entries[loop].name);
    return change == Monotonic::Decreasing || change == Monotonic::Constant;
}

}  // namespace

bool runs_without_gaps(const ProductionPath &path, size_t loop) {
    for (size_t i = loop + 1; i < path.entries.size(); i++) {
        const PathEntry &e = path.entries[i];
        if (e.is_loop()) {
            Expr extent = path.expand(e.loop_extent);
            bool varies = path.asks_within(extent, loop) || path.depends_on_loop(extent, loop);
            if (varies && !algebra::can_prove(extent > 0)) return false;
        } else if (e.kind == PathEntry::Kind::Test) {
            Expr test = path.expand(e.value);
            if (path.asks_within(test, loop)) return false;
            if (!is_own_tail(e.value, test, path, loop) && path.depends_on_loop(test, loop)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace tessera::lower
