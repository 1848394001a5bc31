#include "lower/nest/skip_stages.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/bounds/value_bounds.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/pipeline_copies.h"
#include "lower/loops/certainty.h"
#include "lower/loops/likely.h"
#include "lower/nest/evaluation.h"
#include "lower/traced_access.h"
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tessera::lower {

using namespace ir;

namespace {

// A condition, and the symbols in it by hash: whether it uses one is asked for each let and loop
// around it, and nearly all are others'.
class Condition {
public:
    Condition(const Expr &e) : expr(e) {}
    Expr expr;

    bool is_true() const { return ir::is_true(expr); }
    bool uses(Symbol s) {
        if (!symbols) symbols = hash_of_symbols();
        return (*symbols & hash_of(s)) && uses_symbol(expr, s);
    }
    void or_else(const Condition &other) { become(expr || other.expr, other); }
    // Makes it hold only where `first` holds; this condition is evaluated only there.
    void guard(const Condition &first) { become(guarded(first.expr, expr), first); }

private:
    static uint64_t hash_of(Symbol s) { return uint64_t(1) << s.id() % 64; }
    uint64_t hash_of_symbols() const {
        uint64_t all = 0;
        for (const Symbol &s : symbols_in(expr)) all |= hash_of(s);
        return all;
    }
    void become(const Expr &e, const Condition &other) {
        expr = e;
        if (symbols && other.symbols)
            *symbols |= *other.symbols;
        else
            symbols.reset();
    }
    std::optional<uint64_t> symbols;
};

// Says when each function, and each let whose value reads some, is read, in terms of what is bound
// around the statement.
struct Conditions {
    std::unordered_set<Symbol> always;
    std::unordered_map<Symbol, Condition> sometimes;

    void add(Symbol func, const Condition &condition) {
        if (always.contains(func)) return;
        if (condition.is_true()) {
            sometimes.erase(func);
            always.insert(func);
            return;
        }
        auto [entry, is_new] = sometimes.try_emplace(func, condition);
        if (!is_new) entry->second.or_else(condition);
    }
    void forget(Symbol func) {
        always.erase(func);
        sometimes.erase(func);
    }
    void merge(Conditions &&other) {
        if (other.always.size() > always.size()) std::swap(*this, other);
        for (Symbol func : other.always) add(func, const_true());
        for (const auto &[func, condition] : other.sometimes) add(func, condition);
    }
};

// Returns a condition that holds where this one does, for any of these values of the symbol.
Expr for_any(Symbol bound, const algebra::Interval &values, const Expr &condition) {
    algebra::IntervalScope scope;
    scope.bind(bound, values);
    algebra::Facts has_values;
    if (values.is_bounded()) has_values.holds(values.min <= values.max);
    const auto any_value = [&](const Expr &part) {
        if (!uses_symbol(part, bound)) return part;
        const bool is_told = values.is_bounded() && !likely_marker(part, true);
        const Expr possible = is_told ? possibly(part, scope) : Expr();
        if (!possible.defined() || uses_symbol(possible, bound)) return const_true();
        return reads_memory(possible) ? const_true() : algebra::simplify(possible, has_values);
    };
    return uses_symbol(condition, bound) ? weakened(condition, any_value) : condition;
}

// The same conditions, for a place where the symbol, which has one of these values, is not bound.
void leave(Conditions &conditions, Symbol bound, const algebra::Interval &values) {
    std::vector<Symbol> always;
    algebra::Facts is_bound;
    if (values.is_bounded()) is_bound.between(bound, values.min, values.max);
    for (auto &[func, condition] : conditions.sometimes) {
        if (!condition.uses(bound)) continue;
        const Expr left = for_any(bound, values, algebra::simplify(condition.expr, is_bound));
        condition = algebra::simplify(left);
        if (condition.is_true()) always.push_back(func);
    }
    for (Symbol func : always) conditions.add(func, const_true());
}

// Operations within one another in a condition that is worth its evaluation: a chain of lets, each
// of which is chosen by the one before, has conditions that grow with every step.
constexpr int deepest_skip_condition = 50;

// The same, of a let.
void leave_let(Conditions &conditions, Symbol bound, const Expr &value) {
    if (!is_pure(value)) return leave(conditions, bound, algebra::Interval::everything());
    std::vector<Symbol> always;
    for (auto &[func, condition] : conditions.sometimes) {
        if (!condition.uses(bound)) continue;
        if (condition.expr->depth + value->depth > deepest_skip_condition) {
            always.push_back(func);
        } else {
            condition = substitute(bound, value, condition.expr);
        }
    }
    for (Symbol func : always) conditions.add(func, const_true());
}

class SkipStages final : public Mutator {
public:
    explicit SkipStages(const LoweredFunction &pipeline)
        : Mutator(Mutator::Visits::PerUse), functions(functions_by_buffer(pipeline)),
          traced(find_traced(pipeline)) {}

private:
    std::unordered_map<Symbol, Symbol> functions;  // by buffer
    std::unordered_map<Symbol, Traced> traced;
    // Collects what the statement being visited reads.
    Conditions used;
    bool in_kernel = false;
    std::unordered_set<Symbol> copied_ahead;              // within kernels, by all of its threads
    size_t loops = 0;                                     // around the statement
    std::unordered_map<Symbol, size_t> loops_at_storage;  // how many of them, by function
    // Functions that have been computed where the statement stands, and in how many loops.
    std::unordered_map<Symbol, size_t> loops_at_computed;
    // The loops and lets around the statement: how many loops there are up to the innermost one
    // that decides on the value.
    std::unordered_map<Symbol, size_t> varies_with;
    Substitution reading_lets;  // the lets around the statement whose values read functions

    template<typename F>
    Conditions collect(F f) {
        Conditions outer = std::move(used);
        used = {};
        f();
        Conditions inner = std::move(used);
        used = std::move(outer);
        return inner;
    }

    void read_node(const Expr &e, const Expr &when) {
        if (const auto *c = e.as<Call>()) return used.add(c->callee, when);
        const auto *v = e.as<Variable>();
        if (!v) return;
        if (reading_lets.contains(v->name)) used.add(v->name, when);
        auto function = v->type.is_handle() ? functions.find(v->name) : functions.end();
        if (function != functions.end()) used.add(function->second, when);
    }

    void read_always(const Expr &e) {
        for_each_node(e, [&](const Call &c) { read_node(Expr(&c), const_true()); });
        for_each_node(e, [&](const Variable &v) { read_node(Expr(&v), const_true()); });
    }

    // Both branches of a select or if_then_else are read only when they are chosen.
    void read(const Expr &e) {
        if (!e.defined()) return;
        for (const Evaluated &node : evaluation_of(e)) {
            read_node(node.expr, node.when);
            const auto *call = node.expr.as<Call>();
            if (!call || reading_lets.empty()) continue;
            for (const Expr &arg : call->args) {
                const Expr whole = substitute(reading_lets, arg);
                if (!whole.same_as(arg) && is_bounded_by_values(whole)) read_always(arg);
            }
        }
    }

    template<typename F>
    void under(const Expr &condition, F f) {
        Conditions inner = collect(f);
        if (is_usable_condition(condition)) {
            for (auto &[func, when] : inner.sometimes) when.guard(condition);
            for (Symbol func : std::exchange(inner.always, {})) inner.add(func, condition);
        }
        used.merge(std::move(inner));
    }

    // Expressions are read, and stay as they are.
    Stmt visit(const Provide &p) override {
        for (const Expr &e : p.values) read(e);
        for (const Expr &e : p.args) read_always(e);
        if (p.predicate.defined()) read_always(p.predicate);
        return Stmt(&p);
    }
    Stmt visit(const Evaluate &e) override {
        read(e.value);
        return Stmt(&e);
    }
    Stmt visit(const AssertStmt &a) override {
        read_always(a.condition);
        read_always(a.message);
        return Stmt(&a);
    }
    Stmt visit(const IfThenElse &i) override {
        read_always(i.condition);
        Stmt then_case, else_case;
        under(i.condition, [&] { then_case = (*this)(i.then_case); });
        if (i.else_case.defined()) under(!i.condition, [&] { else_case = (*this)(i.else_case); });
        return i.with<&IfThenElse::then_case, &IfThenElse::else_case>(then_case, else_case);
    }
    Stmt visit(const LetStmt &let) override {
        // A bounds query may fill in what a buffer holds.
        bool unknown = !is_pure(let.value) || let.value.type().is_handle();
        varies_with[let.name] = unknown ? loops : innermost_loop(let.value);
        if (reads(let.value)) reading_lets[let.name] = substitute(reading_lets, let.value);
        Stmt body;
        Conditions inner = collect([&] { body = (*this)(let.body); });
        varies_with.erase(let.name);
        if (reading_lets.erase(let.name)) inner.merge(collect([&] { read_let(inner, let); }));
        leave_let(inner, let.name, let.value);
        used.merge(std::move(inner));
        return let.with<&LetStmt::body>(body);
    }
    bool reads(const Expr &e) const {
        bool any = false;
        for_each_node(e, [&](const Call &) { any = true; });
        for_each_node(e, [&](const Variable &v) {
            any |= reading_lets.contains(v.name) || functions.contains(v.name);
        });
        return any;
    }
    // The value of a let is wanted where its variable is, which is evaluated no longer.
    void read_let(Conditions &body, const LetStmt &let) {
        auto sometimes = body.sometimes.find(let.name);
        const bool is_pure_let = is_pure(let.value);
        if (!is_pure_let || body.always.contains(let.name)) {
            read(let.value);
        } else if (sometimes != body.sometimes.end()) {
            const Expr when = sometimes->second.expr;
            under(when, [&] { read(let.value); });
        }
        body.forget(let.name);
    }
    Stmt visit(const For &loop) override {
        read_always(loop.min);
        read_always(loop.extent);
        Stmt body;
        varies_with[loop.name] = ++loops;
        const bool was_in_kernel = std::exchange(in_kernel, in_kernel || is_over_blocks(loop));
        Conditions inner = collect([&] { body = (*this)(loop.body); });
        in_kernel = was_in_kernel;
        loops--;
        varies_with.erase(loop.name);
        leave(inner, loop.name, {loop.min, loop.min + loop.extent - 1});
        used.merge(std::move(inner));
        return loop.with<&For::body>(body);
    }
    Stmt visit(const Realize &r) override {
        loops_at_storage[r.func] = loops;
        if (in_kernel && is_ring(r)) copied_ahead.insert(r.func);
        Stmt body;
        Conditions inner = collect([&] { body = (*this)(r.body); });
        inner.forget(r.func);
        leave(inner, r.func, algebra::Interval::everything());
        used.merge(std::move(inner));
        return r.with<&Realize::body>(body);
    }
    // From the last statement to the first: those that read come after those that compute.
    Stmt visit(const Block &block) override {
        std::vector<Stmt> stmts = block.stmts;
        bool changed = false;
        for (size_t i = stmts.size(); i-- > 0;) {
            Stmt s = (*this)(stmts[i]);
            changed |= !s.same_as(stmts[i]);
            stmts[i] = s;
        }
        return changed ? Block::make(std::move(stmts)) : Stmt(&block);
    }
    Stmt visit(const ProducerConsumer &p) override {
        if (!p.is_producer) return consume(p);
        if (copied_ahead.contains(p.func)) return Mutator::visit(p);
        auto stored = loops_at_storage.find(p.func);
        if (stored == loops_at_storage.end()) return Mutator::visit(p);
        Expr needed = condition_for(p.func, std::min(stored->second, loops_at_storage_within(p)));
        if (is_true(needed)) return Mutator::visit(p);
        Stmt body;
        under(needed, [&] { body = (*this)(p.body); });
        read(needed);
        return p.with<&ProducerConsumer::is_producer, &ProducerConsumer::body>(
            true, IfThenElse::make(needed, body));
    }

    // Counts the loops around the storage that is furthest out of what is computed in the
    // production, but kept for later ones.
    size_t loops_at_storage_within(const ProducerConsumer &production) const {
        std::unordered_set<Symbol> kept;
        for_each_node(production.body, [&](const ProducerConsumer &p) { kept.insert(p.func); });
        for_each_node(production.body, [&](const Realize &r) { kept.erase(r.func); });
        size_t fewest = loops;
        for (Symbol func : kept) {
            auto stored = loops_at_storage.find(func);
            if (stored != loops_at_storage.end()) fewest = std::min(fewest, stored->second);
        }
        return fewest;
    }

    Stmt consume(const ProducerConsumer &p) {
        const bool is_outermost = loops_at_computed.emplace(p.func, loops).second;
        Stmt s = Mutator::visit(p);
        if (is_outermost) loops_at_computed.erase(p.func);
        return s;
    }

    // A later iteration of the loops inside of the storage may rely on what this one computes.
    Expr condition_for(Symbol func, size_t outer_loops) {
        auto found = used.sometimes.find(func);
        if (found == used.sometimes.end()) return const_true();
        const auto if_known = [&](const Expr &part) {
            const bool is_known = are_calls_known(part) && innermost_loop(part) <= outer_loops;
            return is_known ? part : const_true();
        };
        return algebra::simplify(weakened(algebra::simplify(found->second.expr), if_known));
    }

    // Returns true if all that is read has been computed, and may be read once more without being
    // traced.
    bool are_calls_known(const Expr &e) const {
        bool known = is_pure(e);
        for_each_node(e, [&](const Call &c) {
            auto found = traced.find(c.callee);
            known &= found == traced.end() || !found->second.accesses();
            known &= c.call_kind == CallKind::Image || loops_at_computed.contains(c.callee);
        });
        for_each_node(e, [&](const Load &) { known = false; });
        return known;
    }

    size_t innermost_loop(const Expr &e) const {
        size_t innermost = 0;
        auto look_up = [&](Symbol name) {
            auto found = varies_with.find(name);
            if (found != varies_with.end()) innermost = std::max(innermost, found->second);
        };
        for_each_node(e, [&](const Variable &v) { look_up(v.name); });
        for_each_node(e, [&](const BufferProperty &p) { look_up(p.buffer); });
        for_each_node(e, [&](const Call &c) {
            auto computed = loops_at_computed.find(c.callee);
            if (computed != loops_at_computed.end())
                innermost = std::max(innermost, computed->second);
            else if (c.call_kind != CallKind::Image)
                innermost = loops;
        });
        return innermost;
    }
};

}  // namespace

Stmt skip_stages(const LoweredFunction &pipeline, const lower::Context &) {
    // The condition of a stage is made of those of the stages that read it.
    const algebra::SimplifierScope remembers;
    return SkipStages(pipeline)(pipeline.body);
}

}  // namespace tessera::lower
