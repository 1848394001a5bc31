#include "algebra/simplifier.h"
#include "algebra/simplify.h"
#include "algebra/walk.h"
#include "ir/operators.h"

namespace tessera::algebra {

using namespace ir;

namespace {

// Operations within one another in an assertion that is worth remembering: after each that is, all
// expressions are simplified anew.
constexpr int deepest_fact = 30;

class StmtSimplifier {
public:
    explicit StmtSimplifier(const Facts &facts)
        : s(facts, Simplifier::usual_effort, Arguments::MayBeAnything) {}

    Stmt operator()(const Stmt &stmt) {
        if (!stmt.defined()) return stmt;
        switch (stmt.kind()) {
        case NodeKind::LetStmt: return visit_lets(stmt);
        case NodeKind::For: return visit_loop(stmt, *stmt.as<For>());
        case NodeKind::IfThenElse: return visit_if(stmt, *stmt.as<IfThenElse>());
        case NodeKind::Block: return visit_block(*stmt.as<Block>());
        case NodeKind::Fork: return visit_fork(*stmt.as<Fork>());
        case NodeKind::Store: return visit_store(stmt);
        case NodeKind::Provide: return visit_provide(stmt);
        case NodeKind::AssertStmt: return visit_assert(stmt);
        case NodeKind::Evaluate: {
            Expr value = s(stmt.as<Evaluate>()->value);
            if (s.known.is_pure(value)) return no_op();
            return value.same_as(stmt.as<Evaluate>()->value) ? stmt : Evaluate::make(value);
        }
        case NodeKind::ProducerConsumer: {
            Stmt result = children(stmt);
            return is_no_op(result.as<ProducerConsumer>()->body) ? no_op() : result;
        }
        case NodeKind::Atomic: {
            Stmt result = children(stmt);
            return is_no_op(result.as<Atomic>()->body) ? no_op() : result;
        }
        default: return children(stmt);
        }
    }

private:
    Stmt children(const Stmt &stmt) {
        return map_children(stmt, [this](const auto &child) { return visit_child(child); });
    }
    Expr visit_child(const Expr &e) { return s(e); }
    Stmt visit_child(const Stmt &stmt) { return (*this)(stmt); }

    Stmt visit_lets(const Stmt &stmt) {
        std::vector<Simplifier::Bound> kept;
        Stmt rest = stmt;
        s.known.enter(false);
        while (const auto *let = rest.as<LetStmt>()) {
            Simplifier::Bound bound = s.bind_let(let->name, s(let->value));
            if (bound.value.defined()) kept.push_back(bound);
            rest = let->body;
        }
        Stmt body = (*this)(rest);
        s.known.leave();
        for (size_t i = kept.size(); i-- > 0;) {
            body = LetStmt::make(kept[i].name, kept[i].value, body);
        }
        return equal(body, stmt) ? stmt : body;
    }

    Stmt visit_loop(const Stmt &stmt, const For &loop) {
        Expr min = s(loop.min), extent = s(loop.extent);
        bool pure = s.known.is_pure(min) && s.known.is_pure(extent);
        if (pure && s.known.upper_bound(s.known.exact_form(extent), 0) <= 0) return no_op();
        // Those of a kernel say how it is launched.
        const bool is_of_kernel = traits_of(loop.loop_kind).gpu != GPULevel::None;
        if (is_one(extent) && !is_of_kernel)
            return (*this)(LetStmt::make(loop.name, min, loop.body));
        s.known.enter(true);
        if (pure) {
            Expr one = s.rewriter.intern(make_one(extent.type()));
            Expr last = s.rewriter.make_sum(s.rewriter.make_sum(min, extent, 1), one, -1);
            s.learn(s.rewriter.make(NodeKind::LE, one, extent));
            s.known.bind(loop.name, {min, last});
        }
        Stmt body = (*this)(loop.body);
        s.known.leave();
        if (is_no_op(body) && pure) return no_op();
        bool same = min.same_as(loop.min) && extent.same_as(loop.extent) && body.same_as(loop.body);
        if (same) return stmt;
        return loop.with<&For::min, &For::extent, &For::body>(min, extent, body);
    }

    Stmt under(const Expr &condition, const Stmt &stmt) {
        if (!stmt.defined()) return stmt;
        s.known.enter(true);
        s.learn(condition);
        Stmt result = (*this)(stmt);
        s.known.leave();
        return result;
    }

    Stmt visit_if(const Stmt &stmt, const IfThenElse &branch) {
        Expr condition = s(branch.condition);
        if (is_true(condition)) return (*this)(branch.then_case);
        if (is_false(condition)) {
            return branch.else_case.defined() ? (*this)(branch.else_case) : no_op();
        }
        bool pure = s.known.is_pure(condition);
        Stmt then_case = under(condition, branch.then_case);
        Stmt else_case = branch.else_case;
        if (else_case.defined())
            else_case =
                pure ? under(s.rewriter.make_not(condition), else_case) : (*this)(else_case);
        if (is_no_op(else_case)) else_case = Stmt();
        if (pure && is_no_op(then_case)) {
            if (!else_case.defined()) return no_op();
            return IfThenElse::make(s.rewriter.make_not(condition), else_case);
        }
        if (pure && else_case.defined() && equal(then_case, else_case)) return then_case;
        bool same = condition.same_as(branch.condition) && then_case.same_as(branch.then_case) &&
                    else_case.same_as(branch.else_case);
        return same ? stmt : IfThenElse::make(condition, then_case, else_case);
    }

    // The condition of an assertion holds for the statements after it.
    Stmt visit_block(const Block &block) {
        std::vector<Stmt> stmts;
        int scopes = 0;
        for (const Stmt &stmt : block.stmts) {
            Stmt result = (*this)(stmt);
            if (is_no_op(result)) continue;
            stmts.push_back(result);
            const auto *check = result.as<AssertStmt>();
            if (check && check->condition->depth <= deepest_fact) {
                s.known.enter(true);
                s.learn(s(check->condition));
                scopes++;
            }
        }
        while (scopes-- > 0) s.known.leave();
        return Block::make(std::move(stmts));
    }

    Stmt visit_fork(const Fork &fork) {
        std::vector<Stmt> stmts;
        for (const Stmt &stmt : fork.stmts) {
            Stmt result = (*this)(stmt);
            if (!is_no_op(result)) stmts.push_back(result);
        }
        return stmts.empty() ? no_op() : Fork::make(std::move(stmts));
    }

    Stmt visit_store(const Stmt &stmt) {
        Stmt result = children(stmt);
        const auto *store = result.as<Store>();
        if (!store->predicate.defined()) return result;
        bool pure = s.known.is_pure(store->value) && s.known.is_pure(store->index);
        if (is_false(store->predicate) && pure) return no_op();
        if (!is_true(store->predicate)) return result;
        return store->with<&Store::predicate>({});
    }

    Stmt visit_provide(const Stmt &stmt) {
        Stmt result = children(stmt);
        const auto *provide = result.as<Provide>();
        if (!provide->predicate.defined() || !is_true(provide->predicate)) return result;
        return Provide::make(provide->func, provide->values, provide->args);
    }

    Stmt visit_assert(const Stmt &stmt) {
        Stmt result = children(stmt);
        return is_true(result.as<AssertStmt>()->condition) ? no_op() : result;
    }

    Simplifier s;
};

// Drops the lets whose symbol nothing below uses.
class RemoveUnusedLets {
public:
    Stmt operator()(const Stmt &stmt) {
        if (!stmt.as<LetStmt>()) {
            Stmt result = map_children(stmt, [this](const auto &child) { return visit(child); });
            note_symbols(result);
            return result;
        }
        std::vector<const LetStmt *> lets;
        Stmt rest = stmt;
        while (const auto *let = rest.as<LetStmt>()) {
            lets.push_back(let);
            rest = let->body;
        }
        Stmt body = (*this)(rest);
        for (size_t i = lets.size(); i-- > 0;) {
            const LetStmt *let = lets[i];
            bool unused = !used.count(let->name) && is_pure(let->value);
            used.erase(let->name);
            if (unused) continue;
            visit(let->value);
            body = body.same_as(let->body) ? Stmt(let) : let->with<&LetStmt::body>(body);
        }
        return body;
    }

private:
    Stmt visit(const Stmt &stmt) { return (*this)(stmt); }
    Expr visit(const Expr &e) {
        SeenNodes<const ExprNode *> seen;
        for_each_postorder(
            e, [&](const Expr &n) { return seen.contains(n.get()); },
            [&](const Expr &n) {
                seen.insert(n.get());
                for_own_symbol(n, [&](Symbol name) { used.insert(name); });
            });
        return e;
    }
    void note_symbols(const Stmt &stmt) {
        if (const auto *n = stmt.as<Store>()) used.insert(n->buffer);
        if (const auto *n = stmt.as<Provide>()) used.insert(n->func);
        if (const auto *n = stmt.as<Prefetch>()) used.insert(n->name);
        if (const auto *n = stmt.as<Atomic>()) used.insert({n->func, n->mutexes});
    }
    std::unordered_set<Symbol> used;
};

}  // namespace

Stmt simplify(const Stmt &stmt, const Facts &facts) {
    return RemoveUnusedLets()(StmtSimplifier(facts)(stmt));
}

}  // namespace tessera::algebra
