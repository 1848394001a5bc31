#include "lower/loops/steady_state.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/loops/certainty.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_values.h"
#include <algorithm>

namespace tessera::lower {
namespace {

using namespace ir;
using algebra::Interval;

// Limits operations within one another, when the values of lets are put in. Deeper conditions
// follow what is computed in the loop, and each test would look at all of that.
constexpr int deepest_condition = 100;
// The same, of two ends of which the lesser is required: there is a query for each min and max,
// and the ends of regions are sums and roundings of a few operations.
constexpr int deepest_end = 30;

bool contains_loop(const Stmt &s) {
    bool found = false;
    for_each_node(s, [&](const For &) { found = true; });
    return found;
}

class TestFinder final : public Visitor {
public:
    // `effects`: whether anything in what is looked at has any.
    TestFinder(bool innermost, bool all, bool effects)
        : Visitor(Visits::PerUse), innermost(innermost), all(all), effects(effects) {}
    LikelyTests tests;

private:
    void visit(const LetStmt &let) override {
        find_in(let.value);
        push(let.name, let.value);
        (*this)(let.body);
        pop(let.name);
    }
    void visit(const For &inner) override {
        find_in(inner.min);
        find_in(inner.extent);
        if (!all && !has_likely(inner.body, innermost)) return;
        // The range holds only if the tests that its ends take for granted go the likely way.
        Taken min = take(inner.min), extent = take(inner.extent);
        Expr first = lets.expand(min.value), count = lets.expand(extent.value);
        AssumedRef both = together(min.assumed, extent.assumed);
        if (both) assumed[inner.name] = both;
        loops.push(inner.name, first, count);
        inside.insert(inner.name);
        (*this)(inner.body);
        loops.pop();
        assumed.erase(inner.name);
    }
    void visit(const IfThenElse &branch) override {
        guards_loop = has_likely(branch.condition) && contains_loop(branch.then_case);
        find_in(branch.condition);
        guards_loop = false;
        if (all) add_condition(branch.condition);
        (*this)(branch.then_case);
        (*this)(branch.else_case);
    }
    void visit(const Store &store) override {
        find_in(store.value);
        find_in(store.index);
        find_in(store.predicate);
        if (all && store.predicate.defined()) add_condition(store.predicate);
    }
    void visit(const Evaluate &evaluate) override { find_in(evaluate.value); }
    void visit(const AssertStmt &check) override { find_in(check.condition); }
    void visit(const Allocate &a) override {
        for (const Expr &e : a.extents) find_in(e);
        find_in(a.condition);
        inside.insert(a.buffer);
        (*this)(a.body);
    }

    // The value of an expression when all tests in it go the likely way.
    struct Taken {
        Expr value;
        AssumedRef assumed;
    };
    static AssumedRef together(const AssumedRef &a, const AssumedRef &b) {
        if (!a || !b) return a ? a : b;
        return std::make_shared<const Assumed>(Assumed{{}, {a, b}});
    }
    void find_in(const Expr &e) {
        if (!e.defined() || !has_likely(e)) return;
        ExprTests (*this)(e);
    }
    // Walks all of one expression; tests inside a test are met before it.
    class ExprTests final : public Visitor {
    public:
        explicit ExprTests(TestFinder &finder) : finder(finder) {}

    private:
        void visit(const Let &let) override {
            (*this)(let.value);
            finder.push(let.name, let.value);
            ExprTests{finder}(let.body);
            finder.pop(let.name);
        }
        void visit(const Min &n) override {
            Visitor::visit(n);
            finder.add_choice(Expr(&n), n.a, n.b, n.a <= n.b, n.b <= n.a);
        }
        void visit(const Max &n) override {
            Visitor::visit(n);
            finder.add_choice(Expr(&n), n.a, n.b, n.a >= n.b, n.b >= n.a);
        }
        void visit(const Select &n) override {
            Visitor::visit(n);
            finder.add_choice(Expr(&n), n.true_value, n.false_value, n.condition, !n.condition);
        }
        void visit(const IntrinsicCall &n) override {
            Visitor::visit(n);
            Expr e(&n);
            bool marked = likely_marker(e, finder.innermost) != nullptr;
            if (marked && n.type.is_bool()) finder.add_condition(e);
        }
        TestFinder &finder;
    };

    // A choice between two values of which one is likely.
    void add_choice(const Expr &test, const Expr &a, const Expr &b, const Expr &takes_a,
                    const Expr &takes_b) {
        bool likely_a = is_likely(a, innermost), likely_b = is_likely(b, innermost);
        if (likely_a == likely_b) return;
        // The value that a select does not choose need not be evaluated; all else has to be.
        const auto *select = test.as<Select>();
        if (must_stay(select ? select->condition : likely_a ? b : a)) return;
        add(test, likely_a ? takes_a : takes_b, likely_a ? a : b);
    }
    void add_condition(const Expr &condition) {
        if (must_stay(condition)) return;
        add(condition, condition, const_true(condition.type().lanes()));
    }
    void add(const Expr &test, const Expr &condition, const Expr &outcome);
    void push(Symbol name, const Expr &value);
    void pop(Symbol name);
    Taken take(const Expr &e, const Expr &test = {}) const;
    bool is_known_outside(const Expr &e) const;
    // A requirement that has to fail, or a call that somebody may count.
    bool must_stay(const Expr &e) const { return effects && !is_pure(e); }

    bool innermost, all, effects;
    bool guards_loop = false;  // what is looked at
    LetScope lets;             // inside of the body
    LoopValues loops;          // inside of the body
    std::unordered_set<Symbol> inside;
    std::unordered_map<Symbol, AssumedRef> assumed;  // by the values of lets and loops
};

// Puts the outcomes of tests found before into an expression, but for one test.
class TakeOutcomes final : public Mutator {
public:
    TakeOutcomes(const LikelyTests &tests, const Expr &except) : tests(tests), except(except) {}
    std::vector<Expr> used;

private:
    template<typename T>
    Expr replace(const T &node) {
        Expr e(&node);
        auto found = tests.occurrences.find(e);
        bool skip = except.defined() && equal(e, except);
        if (skip || found == tests.occurrences.end()) return Mutator::visit(node);
        used.push_back(found->first);
        return (*this)(found->second[0].outcome);
    }
    Expr visit(const Min &node) override { return replace(node); }
    Expr visit(const Max &node) override { return replace(node); }
    Expr visit(const Select &node) override { return replace(node); }
    Expr visit(const IntrinsicCall &node) override { return replace(node); }
    const LikelyTests &tests;
    const Expr &except;
};

TestFinder::Taken TestFinder::take(const Expr &e, const Expr &test) const {
    TakeOutcomes outcomes(tests, test);
    Expr value = outcomes(e);
    Assumed all{std::move(outcomes.used), {}};
    std::unordered_set<const Assumed *> seen;
    auto look_up = [&](const Variable &v) {
        auto found = assumed.find(v.name);
        if (found == assumed.end() || !seen.insert(found->second.get()).second) return;
        all.others.push_back(found->second);
    };
    if (!assumed.empty()) for_each_node(e, look_up);
    AssumedRef ref;
    if (all.tests.empty() && all.others.size() == 1) {
        ref = all.others[0];
    } else if (!all.tests.empty() || !all.others.empty()) {
        ref = std::make_shared<const Assumed>(std::move(all));
    }
    return {remove_likely(value), ref};
}

void TestFinder::push(Symbol name, const Expr &value) {
    Taken taken = take(value);
    lets.push_let(name, taken.value);
    inside.insert(name);
    if (taken.assumed) assumed[name] = taken.assumed;
}

void TestFinder::pop(Symbol name) {
    lets.pop_let(name);
    assumed.erase(name);
}

bool TestFinder::is_known_outside(const Expr &e) const {
    bool known = is_pure(e);
    for_each_node(e, [&](const Load &) { known = false; });
    for_each_node(e, [&](const Call &) { known = false; });
    return known && !uses_any(e, inside);
}

void TestFinder::add(const Expr &test, const Expr &condition, const Expr &outcome) {
    Taken taken = take(condition, test);
    Expr expanded = lets.expand(taken.value);
    bool deep = expanded->depth > deepest_condition;
    Expr certain = deep ? Expr() : certainly(expanded, loops.scope_of(expanded));
    std::vector<LikelyTest> &occurrences = tests.occurrences[test];
    if (occurrences.empty()) tests.order.push_back(test);
    bool usable = certain.defined() && is_known_outside(certain);
    occurrences.push_back({usable ? certain : Expr(), outcome, taken.assumed, guards_loop});
}

// Replaces tests by their outcomes, and does away with what is decided by that.
class AssumeOutcomes final : public Mutator {
public:
    explicit AssumeOutcomes(const SteadyState &steady) : steady(steady) {}

private:
    template<typename T>
    Expr replace(const T &node) {
        auto found = steady.outcomes.find(Expr(&node));
        if (found == steady.outcomes.end()) return Mutator::visit(node);
        return (*this)(found->second);
    }
    Expr visit(const Min &node) override { return replace(node); }
    Expr visit(const Max &node) override { return replace(node); }
    Expr visit(const Select &node) override {
        Expr e = replace(node);
        const auto *s = e.as<Select>();
        if (s && is_true(s->condition)) return s->true_value;
        return s && is_false(s->condition) ? s->false_value : e;
    }
    Expr visit(const IntrinsicCall &node) override { return replace(node); }
    Expr visit(const LT &node) override { return replace(node); }
    Expr visit(const LE &node) override { return replace(node); }
    Expr visit(const GT &node) override { return replace(node); }
    Expr visit(const GE &node) override { return replace(node); }
    Expr visit(const EQ &node) override { return replace(node); }
    Expr visit(const NE &node) override { return replace(node); }
    Expr visit(const And &node) override {
        Expr e = replace(node);
        const auto *n = e.as<And>();
        if (!n) return e;
        if (is_true(n->a)) return n->b;
        if (is_false(n->a) && is_pure(n->b)) return n->a;
        if (is_true(n->b)) return n->a;
        return is_false(n->b) && is_pure(n->a) ? n->b : e;
    }
    Expr visit(const Or &node) override {
        Expr e = replace(node);
        const auto *n = e.as<Or>();
        if (!n) return e;
        if (is_false(n->a)) return n->b;
        if (is_true(n->a) && is_pure(n->b)) return n->a;
        if (is_false(n->b)) return n->a;
        return is_true(n->b) && is_pure(n->a) ? n->b : e;
    }
    Expr visit(const Not &node) override {
        Expr e = replace(node);
        const auto *n = e.as<Not>();
        if (n && is_true(n->a)) return const_false(n->type.lanes());
        return n && is_false(n->a) ? const_true(n->type.lanes()) : e;
    }
    Expr visit(const VectorReduce &node) override {
        Expr e = Mutator::visit(node);
        const auto *n = e.as<VectorReduce>();
        bool decided = n && is_true(n->value) && (n->op == ReduceOp::And || n->op == ReduceOp::Or);
        return decided ? const_true(n->lanes) : e;
    }
    Expr visit(const Load &node) override {
        Expr index = (*this)(node.index), predicate = (*this)(node.predicate);
        if (predicate.defined() && is_true(predicate)) predicate = {};
        if (index.same_as(node.index) && predicate.same_as(node.predicate)) return Expr(&node);
        return node.with<&Load::index, &Load::predicate>(index, predicate);
    }
    Stmt visit(const Store &node) override {
        Expr value = (*this)(node.value), index = (*this)(node.index);
        Expr predicate = (*this)(node.predicate);
        if (predicate.defined() && is_true(predicate)) predicate = {};
        return node.with<&Store::value, &Store::index, &Store::predicate>(value, index, predicate);
    }
    Stmt visit(const IfThenElse &node) override {
        Expr condition = (*this)(node.condition);
        if (is_true(condition)) return (*this)(node.then_case);
        if (is_false(condition)) {
            return node.else_case.defined() ? (*this)(node.else_case) : no_op();
        }
        return IfThenElse::make(condition, (*this)(node.then_case), (*this)(node.else_case));
    }

    const SteadyState &steady;
};

}  // namespace

namespace {

// A loop with a body of more nodes than this is not copied to save it a scalar min or max.
constexpr size_t most_nodes_copied_for_little = 100;
// Nor one of more than this to save tests of which each guards a loop.
constexpr size_t most_nodes_copied_for_guards = 1000;

bool save_little(const LikelyTests &tests) {
    return std::all_of(tests.order.begin(), tests.order.end(), [](const Expr &test) {
        return test.type().is_scalar() && (test.as<Min>() || test.as<Max>());
    });
}

bool has_effects(const Stmt &s) {
    bool found = false;
    for_each_node(s, [&](const IntrinsicCall &c) { found |= !info_of(c.op).pure; });
    for_each_node(s, [&](const ExternCall &c) { found |= !c.pure; });
    return found;
}

LikelyTests find(const For &loop, bool innermost, bool all) {
    TestFinder finder(innermost, all, has_effects(loop.body));
    finder(loop.body);
    return std::move(finder.tests);
}

}  // namespace

LikelyTests find_likely_tests(const For &loop, bool all) {
    if (all) return find(loop, true, true);
    if (!has_likely(loop.body)) return {};
    LikelyTests strong = find(loop, false, false);
    if (strong.order.empty() && contains_loop(loop.body)) return {};
    // The loop is innermost, or split anyway.
    LikelyTests tests = find(loop, true, false);
    bool pays = !strong.order.empty() || !save_little(tests) ||
                count_nodes(loop.body) <= most_nodes_copied_for_little;
    return pays ? std::move(tests) : LikelyTests();
}

namespace {

// Returns true if it is known that the loop has at most one iteration there, which nobody calls
// steady.
bool leaves_one_iteration(const For &loop, const Interval &i) {
    Expr last = loop.min + loop.extent - make_one(loop.extent.type());
    return (i.min.defined() && i.min.type() == last.type() && algebra::can_prove(last <= i.min)) ||
           (i.max.defined() && i.max.type() == last.type() &&
            algebra::can_prove(i.max <= loop.min));
}

// The interval where all occurrences of the test are known to go the likely way, if one is known.
std::optional<Interval> steady_interval(const For &loop, const std::vector<LikelyTest> &test) {
    Interval all;
    bool depends = false;
    for (const LikelyTest &t : test) {
        if (!t.condition.defined()) return {};
        Expr condition = algebra::simplify(t.condition);
        if (is_true(condition)) continue;
        if (!uses_symbol(condition, loop.name)) return {};
        depends = true;
        Interval i = algebra::solve_for_inner_interval(condition, loop.name);
        if (i.is_nothing() || i.is_everything()) return {};
        all = algebra::make_intersection(all, i);
    }
    if (!depends) return Interval::everything();
    if (loop.partition != Partition::Always && leaves_one_iteration(loop, all)) return {};
    return all;
}

using Solved = std::unordered_map<Expr, std::optional<Interval>, ExprHash, ExprEqual>;

// Finds what takes for granted a test of which it is not known where it goes the likely way.
class UnknownFinder {
public:
    explicit UnknownFinder(const Solved &solved) : solved(solved) {}

    bool is_unknown(const AssumedRef &assumed) {
        if (!assumed) return false;
        auto [found, is_new] = known.try_emplace(assumed.get(), false);
        if (!is_new) return found->second;
        bool unknown =
            std::ranges::any_of(assumed->tests, [&](const Expr &e) { return !solved.at(e); }) ||
            std::ranges::any_of(assumed->others,
                                [&](const AssumedRef &other) { return is_unknown(other); });
        return known[assumed.get()] = unknown;
    }

private:
    const Solved &solved;
    std::unordered_map<const Assumed *, bool> known;
};

// A scalar min or max of which nothing says that it counts in a loop with another one inside.
bool is_little(const Expr &test) {
    auto is_weak = [](const auto &n) { return !is_likely(n.a, false) && !is_likely(n.b, false); };
    const auto *least = test.as<Min>();
    const auto *most = test.as<Max>();
    return test.type().is_scalar() && ((least && is_weak(*least)) || (most && is_weak(*most)));
}

bool is_among(const Expr &end, const std::vector<Expr> &ends) {
    return std::any_of(ends.begin(), ends.end(), [&](const Expr &e) { return equal(e, end); });
}

// Adds the operands of a Max of mins, or of a Min of maxes, one by one.
template<typename Choice> void add_end(std::vector<Expr> &ends, const Expr &end) {
    if (!end.defined()) return;
    if (const auto *choice = end.as<Choice>()) {
        add_end<Choice>(ends, choice->a);
        add_end<Choice>(ends, choice->b);
    } else if (Expr e = algebra::simplify(end); !is_among(e, ends)) {
        ends.push_back(e);
    }
}

// A test that takes an unknown outcome for granted is unknown itself.
void forget_what_needs_unknown(const LikelyTests &tests, Solved &solved) {
    bool changed = true;
    while (changed) {
        changed = false;
        UnknownFinder finder(solved);
        for (const Expr &test : tests.order) {
            std::optional<Interval> &interval = solved[test];
            auto is_unknown = [&](const LikelyTest &t) { return finder.is_unknown(t.assumed); };
            if (!interval || std::ranges::none_of(tests.occurrences.at(test), is_unknown)) continue;
            interval = std::nullopt;
            changed = true;
        }
    }
}

SteadyState steady_state_of(const LikelyTests &tests, Solved &solved) {
    forget_what_needs_unknown(tests, solved);
    SteadyState steady;
    for (const Expr &test : tests.order) {
        const std::optional<Interval> &interval = solved[test];
        if (!interval) continue;
        steady.outcomes[test] = tests.occurrences.at(test)[0].outcome;
        add_end<Max>(steady.mins, interval->min);
        add_end<Min>(steady.maxes, interval->max);
    }
    return steady;
}

bool are_guards(const std::vector<LikelyTest> &test) {
    return std::ranges::all_of(test, &LikelyTest::guards_loop);
}

// Says what a copy of the loop without tests saves: a scalar min or max here and there, tests that
// each guard a loop, or tests for each element or vector. Other tests in its body may not depend on
// its variable.
enum class Saved { Little, Guards, Much };

Saved saved_by(const LikelyTests &tests, const Solved &solved) {
    Saved saved = Saved::Little;
    for (const auto &[test, interval] : solved) {
        if (!interval || interval->is_everything() || is_little(test)) continue;
        if (!are_guards(tests.occurrences.at(test))) return Saved::Much;
        saved = Saved::Guards;
    }
    return saved;
}

bool is_worth_a_copy(const For &loop, Saved saved) {
    if (saved == Saved::Much || loop.partition == Partition::Always) return true;
    const bool guards = saved == Saved::Guards;
    return count_nodes(loop.body) <=
           (guards ? most_nodes_copied_for_guards : most_nodes_copied_for_little);
}

// Finds the min and max in the values of lets whose outcome follows from the steady state.
class DecidedEnds final : public Visitor {
public:
    DecidedEnds(const For &loop, const SteadyState &steady)
        : Visitor(Visits::PerUse), loop(loop), steady(steady) {
        (*this)(loop.body);
        // The same test may stand again where its names mean something else.
        is_first_walk = false;
        (*this)(loop.body);
    }

    // Returns the outcomes of tests. Two that are equal, in scopes of their own, have to be decided
    // alike.
    std::unordered_map<Expr, Expr, ExprHash, ExprEqual> outcomes() const {
        std::unordered_map<Expr, Expr, ExprHash, ExprEqual> decided;
        for (const auto &[test, outcome] : found) {
            if (outcome.defined()) decided[test] = outcome;
        }
        return decided;
    }

private:
    void visit(const LetStmt &let) override {
        if (is_first_walk) find_in(let.value);
        check(let.value);
        lets.push_let(let.name, steady_value(let.value));
        inside.insert(let.name);
        (*this)(let.body);
        lets.pop_let(let.name);
    }
    void visit(const For &inner) override {
        check(inner.min);
        check(inner.extent);
        const Expr first = lets.expand(steady_value(inner.min));
        const Expr count = lets.expand(steady_value(inner.extent));
        loops.push(inner.name, first, count);
        inside.insert(inner.name);
        (*this)(inner.body);
        loops.pop();
    }
    void visit(const Allocate &a) override {
        for (const Expr &e : a.extents) check(e);
        check(a.condition);
        inside.insert(a.buffer);
        (*this)(a.body);
    }
    void visit(const IfThenElse &branch) override {
        check(branch.condition);
        (*this)(branch.then_case);
        (*this)(branch.else_case);
    }
    void visit(const Store &store) override {
        check(store.value);
        check(store.index);
        check(store.predicate);
    }
    void visit(const Evaluate &evaluate) override { check(evaluate.value); }
    void visit(const AssertStmt &assertion) override { check(assertion.condition); }
    void visit(const Acquire &acquire) override {
        check(acquire.count);
        (*this)(acquire.body);
    }

    template<typename F> static void for_each_choice(const Expr &e, const F &f) {
        for_each_node(e, [&](const Min &n) { f(Expr(&n), n.a, n.b); });
        for_each_node(e, [&](const Max &n) { f(Expr(&n), n.b, n.a); });
    }
    void find_in(const Expr &e) {
        if (e.type() != loop.min.type()) return;
        for_each_choice(e, [&](const Expr &test, const Expr &less, const Expr &greater) {
            if (test.type() != loop.min.type() || steady.outcomes.count(test)) return;
            found.emplace(test, outcome_of(test, less, greater));
        });
    }
    void check(const Expr &e) {
        if (is_first_walk || !e.defined()) return;
        // The values of these lets are not known here.
        for_each_node(e, [&](const Let &let) { inside.insert(let.name); });
        for_each_choice(e, [&](const Expr &test, const Expr &less, const Expr &greater) {
            auto same = found.find(test);
            if (same == found.end() || !same->second.defined()) return;
            const Expr outcome = outcome_of(test, less, greater);
            if (!outcome.defined() || !equal(same->second, outcome)) same->second = {};
        });
    }
    // Returns the outcome of a choice of `less` where it is the less, or, for max, of what is not.
    Expr outcome_of(const Expr &test, const Expr &less, const Expr &greater) {
        const auto *n = test.as<Min>();
        Expr first = n ? less : greater, second = n ? greater : less;
        const Expr a = lets.expand(less), b = lets.expand(greater);
        if (std::max(a->depth, b->depth) > deepest_end) return {};
        return holds(a <= b) ? first : holds(b <= a) ? second : Expr();
    }
    bool holds(const Expr &condition) {
        const Expr simple = algebra::simplify(condition);
        Expr c = certainly(simple, loops.scope_of(simple));
        if (!c.defined()) return false;
        c = algebra::simplify(c);
        if (!uses_symbol(c, loop.name) || uses_any(c, inside) || !is_pure(c)) return false;
        Interval i = algebra::solve_for_inner_interval(c, loop.name);
        if (i.is_nothing()) return false;
        auto at_least = [](const Expr &a, const Expr &b) { return a >= b; };
        auto at_most = [](const Expr &a, const Expr &b) { return a <= b; };
        return follows(i.min, steady.mins, at_least) && follows(i.max, steady.maxes, at_most);
    }
    // Returns true if one of the steady state's ends implies this one.
    template<typename Compare>
    static bool follows(const Expr &end, const std::vector<Expr> &ends, const Compare &compare) {
        if (!end.defined() || is_among(algebra::simplify(end), ends)) return true;
        return std::ranges::any_of(ends, [&](const Expr &e) {
            return e.type() == end.type() && algebra::can_prove(compare(e, end));
        });
    }
    Expr steady_value(const Expr &e) const { return remove_likely(AssumeOutcomes(steady)(e)); }

    const For &loop;
    const SteadyState &steady;
    bool is_first_walk = true;
    LetScope lets;
    LoopValues loops;  // inside of the body, around what is visited
    std::unordered_set<Symbol> inside;
    std::unordered_map<Expr, Expr, ExprHash, ExprEqual> found;
};

}  // namespace

SteadyState solve_for_steady_state(const For &loop, const LikelyTests &tests) {
    Solved solved;
    for (const Expr &test : tests.order) {
        solved[test] = steady_interval(loop, tests.occurrences.at(test));
    }
    SteadyState steady = steady_state_of(tests, solved);
    const Saved saved = saved_by(tests, solved);
    if (is_worth_a_copy(loop, saved)) return steady;
    if (saved == Saved::Guards && !DecidedEnds(loop, steady).outcomes().empty()) return steady;
    for (auto &[test, interval] : solved) {
        if (interval && !interval->is_everything()) interval = std::nullopt;
    }
    return steady_state_of(tests, solved);
}

void add_decided_ends(SteadyState &steady, const For &loop) {
    for (auto &[test, outcome] : DecidedEnds(loop, steady).outcomes())
        steady.outcomes.emplace(test, outcome);
}

Stmt assume_outcomes(const Stmt &body, const SteadyState &steady) {
    return AssumeOutcomes(steady)(body);
}

}  // namespace tessera::lower
