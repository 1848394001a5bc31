#include "lower/storage/production_path.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/nest/insertion_points.h"
#include "program/transform_model.h"
#include <map>
#include <numeric>
#include <utility>

namespace tessera::lower {

using namespace ir;
using algebra::Monotonic;
using program::FunctionContents;

void PathValues::add(const PathEntry &entry) {
    entries++;
    if (entry.kind == PathEntry::Kind::Let) values[entry.name] = entry.value;
    if (entry.is_loop() && is_one(expand(entry.loop_extent))) values[entry.name] = entry.value;
}

void PathValues::remove_last(const PathEntry &entry) {
    entries--;
    values.erase(entry.name);
    expanded.erase(entry.name);
}

Expr PathValues::expand(const Expr &e) {
    if (const auto *v = e.as<Variable>()) return has(v->name) ? expanded_value(v->name) : e;
    Substitution known;
    for_each_node(e, [&](const Variable &v) {
        if (has(v.name)) known.try_emplace(v.name, expanded_value(v.name));
    });
    return algebra::simplify(substitute(known, e));
}

Expr PathValues::expanded_value(Symbol name) {
    auto known = expanded.find(name);
    if (known != expanded.end()) return known->second;
    Expr value = expand(values.at(name));
    return expanded[name] = value;
}

namespace {

// A statement around a production, and which of its branches leads there.
struct Around {
    const StmtNode *node;
    bool in_else_case;
    Symbol bound;
    friend bool operator==(const Around &a, const Around &b) {
        return a.node == b.node && a.in_else_case == b.in_else_case;
    }
};

// Finds what is around each production of the functions that have several under one storage.
class FindSeveral final : public Visitor {
public:
    using Paths = std::vector<std::pair<const ProducerConsumer *, std::vector<Around>>>;
    std::unordered_map<const Realize *, Paths> found;

    explicit FindSeveral(const Stmt &s) {
        (*this)(s);  // counts
        std::erase_if(counts, [](const auto &of) { return of.second < 2; });
        if (!counts.empty()) is_counting = false, (*this)(s);
    }

private:
    void visit(const Realize &r) override {
        const StoredAt outer = std::exchange(storage[r.func], {&r, around.size()});
        (*this)(r.body);
        storage[r.func] = outer;
    }
    void visit(const ProducerConsumer &p) override {
        auto stored = p.is_producer ? storage.find(p.func) : storage.end();
        if (stored != storage.end() && stored->second.realize) note(p, stored->second);
        (*this)(p.body);
    }
    void visit(const For &loop) override { within({&loop, false, loop.name}, loop.body); }
    void visit(const LetStmt &let) override { within({&let, false, let.name}, let.body); }
    void visit(const IfThenElse &test) override {
        within({&test, false, {}}, test.then_case);
        within({&test, true, {}}, test.else_case);
    }
    void visit(const Provide &) override {}
    void visit(const Evaluate &) override {}
    void visit(const AssertStmt &) override {}

    struct StoredAt {
        const Realize *realize = nullptr;
        size_t depth = 0;
    };
    void note(const ProducerConsumer &p, const StoredAt &at) {
        if (is_counting) {
            counts[at.realize]++;
        } else if (counts.contains(at.realize)) {
            found[at.realize].emplace_back(
                &p, std::vector<Around>(around.begin() + long(at.depth), around.end()));
        }
    }
    void within(const Around &a, const Stmt &body) {
        if (!body.defined()) return;
        around.push_back(a);
        (*this)(body);
        around.pop_back();
    }

    bool is_counting = true;
    std::unordered_map<const Realize *, int> counts;
    std::unordered_map<Symbol, StoredAt> storage;
    std::vector<Around> around;
};

// Adds the loops that two productions share, unless only one of them is ever run: they are in the
// two branches of a test that nothing around it changes.
void add_shared(std::unordered_set<Symbol> &loops, const std::vector<Around> &a,
                const std::vector<Around> &b) {
    std::unordered_set<Symbol> bound, shared;
    size_t i = 0;
    for (; i < a.size() && i < b.size() && a[i] == b[i]; i++) {
        if (a[i].bound.defined()) bound.insert(a[i].bound);
        if (a[i].node->kind == NodeKind::For) shared.insert(a[i].bound);
    }
    const bool branches = i < a.size() && i < b.size() && a[i].node == b[i].node;
    if (branches && !uses_any(static_cast<const IfThenElse *>(a[i].node)->condition, bound)) return;
    loops.merge(shared);
}

class VisitProductions final : public Visitor {
public:
    using Function = std::function<void(const Production &)>;
    VisitProductions(const Stmt &s, const Function &f) : several(s), f(f) {}

private:
    void visit(const For &loop) override {
        const bool was_in_kernel =
            std::exchange(in_kernel, in_kernel || traits_of(loop.loop_kind).gpu == GPULevel::Block);
        within({PathEntry::Kind::Loop, loop.name, loop.min, extent_of(loop), loop.loop_kind},
               loop.body);
        in_kernel = was_in_kernel;
    }
    void visit(const LetStmt &let) override {
        lets.within(let,
                    [&] { within({PathEntry::Kind::Let, let.name, let.value, {}}, let.body); });
    }
    // In a kernel, whose blocks have regions of known extents, a loop may have one iteration by
    // lets outside of the storage.
    Expr extent_of(const For &loop) const {
        if (!in_kernel || is_const(loop.extent)) return loop.extent;
        return is_one(algebra::simplify(lets.expand(loop.extent))) ? Expr(1) : loop.extent;
    }
    void visit(const IfThenElse &test) override {
        within({PathEntry::Kind::Test, {}, test.condition, {}}, test.then_case);
        within({PathEntry::Kind::Test, {}, !test.condition, {}}, test.else_case);
    }
    void visit(const Realize &r) override {
        const StoredAt outer = std::exchange(storage[r.func], {&r, path.size()});
        (*this)(r.body);
        storage[r.func] = outer;
    }
    void visit(const ProducerConsumer &p) override {
        auto stored = p.is_producer ? storage.find(p.func) : storage.end();
        if (stored != storage.end() && stored->second.realize) call(p, stored->second);
        (*this)(p.body);
    }
    void visit(const Provide &) override {}
    void visit(const Evaluate &) override {}
    void visit(const AssertStmt &) override {}

    struct StoredAt {
        const Realize *realize = nullptr;
        size_t depth = 0;
    };

    void call(const ProducerConsumer &p, const StoredAt &at) {
        ProductionPath to_p;
        to_p.entries = std::span(path).subspan(at.depth);
        const bool is_region_known = p.produced.ranges.size() == at.realize->bounds.size();
        if (!is_region_known || std::ranges::none_of(to_p.entries, &PathEntry::is_loop)) return;
        to_p.values = &values_from(at.depth);
        for (const auto &[other, around] : several.found[at.realize]) {
            if (other == &p) add_shared_loops(to_p, p, around, at);
        }
        f({*at.realize, p, to_p});
    }

    void add_shared_loops(ProductionPath &to_p, const ProducerConsumer &p,
                          const std::vector<Around> &around, const StoredAt &at) {
        for (const auto &[other, around_other] : several.found[at.realize]) {
            if (other != &p) add_shared(to_p.shared_loops, around, around_other);
        }
    }

    // Functions that are stored in one place share what is found of the lets.
    PathValues &values_from(size_t depth) {
        PathValues &all = values[depth];
        while (depth + all.size() < path.size()) all.add(path[depth + all.size()]);
        return all;
    }
    void within(PathEntry entry, const Stmt &body) {
        if (!body.defined()) return;
        path.push_back(std::move(entry));
        (*this)(body);
        values.erase(values.lower_bound(path.size()), values.end());
        for (auto &[depth, known] : values) {
            if (depth + known.size() == path.size()) known.remove_last(path.back());
        }
        path.pop_back();
    }

    FindSeveral several;
    const Function &f;
    std::unordered_map<Symbol, StoredAt> storage;
    std::vector<PathEntry> path;
    LetScope lets;  // around
    bool in_kernel = false;
    std::map<size_t, PathValues> values;  // by how many entries are outside of the storage
};

}  // namespace

void for_each_production(const Stmt &s, const std::function<void(const Production &)> &f) {
    VisitProductions visit(s, f);
    visit(s);
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

bool is_stored_outside(const FunctionContents &f) {
    return !store_level(f.schedule).matches(f.schedule.compute_level);
}

namespace {

// Follows the loops over one dimension through the directives of a stage.
class ExactLoops {
public:
    // `multiple`: what divides every extent of the dimension.
    ExactLoops(Symbol var, int64_t multiple) : loops{{var, {multiple, false, 1}}} {}

    // Returns the number of which the extent has to be a multiple for the loops to compute just the
    // region; nothing if no multiple will do.
    std::optional<int64_t> run(const program::StageSchedule &s) {
        for (const auto &t : s.transforms) {
            if (!apply(*model_of(t.directive))) return std::nullopt;
        }
        for (const program::Loop &l : s.loops) {
            // An unrolled loop may end before its last copy, since each copy has a test of its own.
            const bool needs_constant =
                traits_of(l.kind).needs_constant_extent && l.kind != LoopKind::Unrolled;
            auto made = loops.find(l.var);
            if (made != loops.end() && needs_constant && !made->second.is_constant) {
                return std::nullopt;
            }
        }
        return needed;
    }

private:
    bool apply(const program::TransformModel &transform) {
        std::vector<program::LoopFacts> taken;
        for (Symbol loop : transform.taken()) {
            if (auto found = loops.extract(loop)) taken.push_back(found.mapped());
        }
        if (taken.empty()) return true;
        if (taken.size() < transform.taken().size()) return false;
        const std::vector<program::LoopFacts> facts = transform.facts_made(taken);
        const std::vector<Symbol> made = transform.made();
        for (size_t i = 0; i < made.size(); i++) loops[made[i]] = facts[i];
        return rounds_to(facts.back().step, transform, taken);
    }

    // Returns true if the loops made compute just the region if its extent is a multiple of
    // `points`.
    bool rounds_to(int64_t points, const program::TransformModel &transform,
                   const std::vector<program::LoopFacts> &taken) {
        if (points == 0) return false;
        if (transform.is_exact(taken)) return true;
        if (taken[0].is_constant || points > most_points || transform.tail().blends) return false;
        if (!transform.tail().leaves_out) needed = std::lcm(needed, points);
        return true;
    }

    static constexpr int64_t most_points = 1 << 16;
    std::unordered_map<Symbol, program::LoopFacts> loops;
    int64_t needed = 1;
};

}  // namespace

std::optional<int64_t> granularity(const FunctionContents &f, int d) {
    // Earlier stages compute more, for later ones that read them.
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

// Returns true if a test is that of the loop's tail, which is left out at its end. The tail of one
// further in, which ends elsewhere from one iteration to the next, leaves out some anywhere, and so
// does that of a loop that was fused with this one.
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
