#include "lower/nest/skip_stages.h"
#include "algebra/simplify.h"
#include "ir/expr_table.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tessera::lower {

using namespace ir;

namespace {

// When each function is read, in terms of what is bound around the statement.
struct Conditions {
    std::unordered_set<Symbol> always;
    std::unordered_map<Symbol, Expr> sometimes;

    void add(Symbol func, const Expr &condition) {
        if (always.contains(func)) return;
        if (is_true(condition)) {
            sometimes.erase(func);
            always.insert(func);
            return;
        }
        auto [entry, is_new] = sometimes.try_emplace(func, condition);
        if (!is_new) entry->second = entry->second || condition;
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

bool reads_memory(const Expr &e) {
    bool reads = !is_pure(e);
    for_each_node(e, [&](const Call &) { reads = true; });
    for_each_node(e, [&](const Load &) { reads = true; });
    return reads;
}

// What holds, whatever the symbol is, where a condition does.
class ForAny {
public:
    explicit ForAny(Symbol bound) : bound(bound) {}

    // Of the condition, or of its opposite. What conditions share is looked at once.
    Expr of(const Expr &condition, bool opposite = false) {
        return (opposite ? opposites : known).get(condition, [&] {
            return uses_symbol(condition, bound) ? find(condition, opposite)
                   : opposite                    ? !condition
                                                 : condition;
        });
    }

private:
    Expr find(const Expr &condition, bool opposite) {
        if (const auto *no = condition.as<Not>()) return of(no->a, !opposite);
        const auto *all = condition.as<And>();
        const auto *any = condition.as<Or>();
        if (!all && !any) return const_true();
        Expr x = of(all ? all->a : any->a, opposite), y = of(all ? all->b : any->b, opposite);
        if ((all != nullptr) != opposite) return is_true(x) ? y : is_true(y) ? x : x && y;
        return is_true(x) || is_true(y) ? const_true() : x || y;
    }

    Symbol bound;
    ExprTable<Expr> known, opposites;
};

// The same conditions, for a place where the symbol is not bound.
void leave(Conditions &conditions, Symbol bound, const Expr &value) {
    std::vector<Symbol> always;
    for (auto &[func, condition] : conditions.sometimes) {
        if (!uses_symbol(condition, bound)) continue;
        if (value.defined() && !reads_memory(value)) {
            condition = substitute(bound, value, condition);
        } else {
            condition = algebra::simplify(ForAny(bound).of(condition));
        }
        if (is_true(condition)) always.push_back(func);
    }
    for (Symbol func : always) conditions.add(func, const_true());
}

class SkipStages final : public Mutator {
public:
    explicit SkipStages(const lower::Context &lowering)
        : Mutator(Mutator::Context::Matters), functions(lowering.functions_by_buffer()) {}

private:
    std::unordered_map<Symbol, Symbol> functions;  // by buffer
    // What the statement being visited reads.
    Conditions used;
    ExprTable<Conditions> read_by;                        // expressions that are shared
    size_t loops = 0;                                     // around the statement
    std::unordered_map<Symbol, size_t> loops_at_storage;  // how many of them, by function
    // The loops and lets around the statement: how many loops there are up to the innermost one
    // that decides on the value.
    std::unordered_map<Symbol, size_t> varies_with;

    template<typename F>
    Conditions collect(F f) {
        Conditions outer = std::move(used);
        used = {};
        f();
        Conditions inner = std::move(used);
        used = std::move(outer);
        return inner;
    }

    void read_always(const Expr &e) {
        for_each_node(e, [&](const Call &c) { used.add(c.callee, const_true()); });
        for_each_node(e, [&](const Variable &v) {
            auto function = v.type.is_handle() ? functions.find(v.name) : functions.end();
            if (function != functions.end()) used.add(function->second, const_true());
        });
    }

    // Both branches of a select or if_then_else are read only when they are chosen.
    void read(const Expr &e) {
        if (!e.defined()) return;
        if (e->use_count() < 2) return read_once(e);
        used.merge(Conditions(read_by.get(e, [&] { return collect([&] { read_once(e); }); })));
    }
    void read_once(const Expr &e) {
        if (const auto *let = e.as<Let>()) {
            read(let->value);
            Conditions inner = collect([&] { read(let->body); });
            leave(inner, let->name, let->value);
            return used.merge(std::move(inner));
        }
        if (const auto *s = e.as<Select>()) {
            return read_branches(s->condition, s->true_value, s->false_value);
        }
        const auto *c = e.as<IntrinsicCall>();
        if (c && c->op == Intrinsic::if_then_else) {
            return read_branches(c->args[0], c->args[1], c->args.size() > 2 ? c->args[2] : Expr());
        }
        if (!has_branches(e)) return read_always(e);
        Parts parts;
        parts.collect_of(e);
        if (const auto *call = e.as<Call>()) used.add(call->callee, const_true());
        for (const Expr &part : parts.list) read(part);
    }

    // Whether it is made of few nodes, and of parts that are read only if a condition holds.
    static bool has_branches(const Expr &e) {
        size_t nodes = 0;
        bool any = false;
        for_each_node(e, [&](const Select &) { any = true; });
        for_each_node(e, [&](const IntrinsicCall &c) { any |= c.op == Intrinsic::if_then_else; });
        if (any) nodes = count_nodes(Evaluate::make(e));
        return any && nodes <= 256;
    }

    // The operands of an operation.
    class Parts final : public Visitor {
    public:
        std::vector<Expr> list;

        void collect_of(const Expr &e) {
            root = e.get();
            (*this)(e);
        }

    private:
#define VISIT(T)                                                                                   \
    void visit(const T &node) override {                                                           \
        if (&node != root) return list.push_back(Expr(&node));                                     \
        Visitor::visit(node);                                                                      \
    }
        TESSERA_EXPR_NODES(VISIT)
#undef VISIT
        const ExprNode *root = nullptr;
    };

    void read_branches(const Expr &condition, const Expr &yes, const Expr &no) {
        read_always(condition);
        under(condition, [&] { read(yes); });
        under(!condition, [&] { read(no); });
    }

    // What f reads, it reads if the condition holds.
    template<typename F>
    void under(const Expr &condition, F f) {
        Conditions inner = collect(f);
        if (!reads_memory(condition) && condition.type().is_scalar()) {
            for (auto &[func, when] : inner.sometimes) when = when && condition;
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
        return IfThenElse::make(i.condition, then_case, else_case);
    }
    Stmt visit(const LetStmt &let) override {
        read(let.value);
        // What a buffer holds, a bounds query may fill in.
        bool unknown = reads_memory(let.value) || let.value.type().is_handle();
        varies_with[let.name] = unknown ? loops : innermost_loop(let.value);
        Stmt body;
        Conditions inner = collect([&] { body = (*this)(let.body); });
        varies_with.erase(let.name);
        leave(inner, let.name, let.value);
        used.merge(std::move(inner));
        return body.same_as(let.body) ? Stmt(&let) : LetStmt::make(let.name, let.value, body);
    }
    Stmt visit(const For &loop) override {
        read_always(loop.min);
        read_always(loop.extent);
        Stmt body;
        varies_with[loop.name] = ++loops;
        Conditions inner = collect([&] { body = (*this)(loop.body); });
        loops--;
        varies_with.erase(loop.name);
        leave(inner, loop.name, {});
        used.merge(std::move(inner));
        if (body.same_as(loop.body)) return Stmt(&loop);
        return For::make(loop.name, loop.min, loop.extent, loop.loop_kind, loop.partition, body);
    }
    Stmt visit(const Realize &r) override {
        loops_at_storage[r.func] = loops;
        Stmt s = Mutator::visit(r);
        used.forget(r.func);
        return s;
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
        auto stored = loops_at_storage.find(p.func);
        if (!p.is_producer || stored == loops_at_storage.end()) return Mutator::visit(p);
        Expr needed = condition_for(p.func, stored->second);
        if (is_true(needed)) return Mutator::visit(p);
        Stmt body;
        under(needed, [&] { body = (*this)(p.body); });
        return ProducerConsumer::make(p.func, true, IfThenElse::make(needed, body));
    }

    // A later iteration of the loops inside of the storage may rely on what this one computes.
    Expr condition_for(Symbol func, size_t outer_loops) {
        auto found = used.sometimes.find(func);
        if (found == used.sometimes.end()) return const_true();
        Expr condition = algebra::simplify(found->second);
        return innermost_loop(condition) > outer_loops ? const_true() : condition;
    }

    size_t innermost_loop(const Expr &e) const {
        size_t innermost = 0;
        auto look_up = [&](Symbol name) {
            auto found = varies_with.find(name);
            if (found != varies_with.end()) innermost = std::max(innermost, found->second);
        };
        for_each_node(e, [&](const Variable &v) { look_up(v.name); });
        for_each_node(e, [&](const BufferProperty &p) { look_up(p.buffer); });
        return innermost;
    }
};

}  // namespace

Stmt skip_stages(const Stmt &s, const lower::Context &context) { return SkipStages(context)(s); }

}  // namespace tessera::lower
