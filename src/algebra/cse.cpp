#include "algebra/cse.h"
#include "algebra/lift.h"
#include "algebra/simple_stores.h"
#include "algebra/walk.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tessera::algebra {

using namespace ir;

namespace {

bool is_conditional(const Expr &e) {
    const auto *c = e.as<IntrinsicCall>();
    return c && c->op == Intrinsic::if_then_else;
}

bool has_own_effects(const Expr &e) {
    if (const auto *c = e.as<IntrinsicCall>()) return !info_of(c->op).pure;
    const auto *c = e.as<ExternCall>();
    return c && !c->pure;
}

// Returns true if the expression is as cheap to compute again as to keep.
bool is_trivial(const Expr &e) {
    if (e.as<Variable>() || e.as<BufferProperty>() || e.as<StringImm>() || is_const(e)) return true;
    if (const auto *c = e.as<Cast>()) return is_trivial(c->value);
    if (const auto *b = e.as<Broadcast>()) return is_trivial(b->value);
    if (const auto *r = e.as<Ramp>()) return is_trivial(r->base) && is_const(r->stride);
    if (const auto *a = e.as<Add>()) return a->a.as<Variable>() && is_const(a->b);
    if (const auto *s = e.as<Sub>()) return s->a.as<Variable>() && is_const(s->b);
    if (const auto *c = e.as<IntrinsicCall>()) {
        switch (c->op) {
        case Intrinsic::make_struct:
        case Intrinsic::alloca:
        case Intrinsic::address_of:
        case Intrinsic::undef:
        case Intrinsic::stringify: return true;
        case Intrinsic::likely:
        case Intrinsic::likely_if_innermost: return is_trivial(c->args[0]);
        default: return false;
        }
    }
    return false;
}

// Returns true if the expression stays where it is used, so that code generation sees that an
// access is dense or strided, or that all of its lanes are under one condition.
bool stays_in_place(const Expr &e) {
    if (const auto *b = e.as<Broadcast>()) return b->value.type() == Bool();
    const auto *r = e.as<Ramp>();
    return r && r->base.type().is_scalar();
}

// Copies of an expression, as of an unrolled loop, bind the same symbols to other values. Gives
// all but the first of them symbols of their own.
class TellLetsApart final : public Mutator {
public:
    static bool needed(const std::vector<Expr> &roots) {
        std::unordered_map<Symbol, Expr> values;
        bool found = false;
        for (const Expr &e : roots) {
            for_each_node(e, [&](const Let &let) {
                auto [known, is_new] = values.try_emplace(let.name, let.value);
                found |= !is_new && !equal(known->second, let.value);
            });
        }
        return found;
    }

private:
    Expr visit(const Let &let) override {
        Expr value = (*this)(let.value);
        auto [known, is_new] = values.try_emplace(let.name, value);
        if (is_new || equal(known->second, value)) {
            return Let::make(let.name, value, (*this)(let.body));
        }
        Symbol own = Symbol::fresh(let.name.text());
        Expr body = substitute(let.name, Variable::make(value.type(), own), let.body);
        return Let::make(own, value, (*this)(body));
    }
    std::unordered_map<Symbol, Expr> values;
};

// Numbers expressions by what they are: equal ones become the same node. Lets are inlined, so that
// what they share is found together with everything else; those with effects are kept.
class Numbering {
public:
    Expr operator()(const Expr &root) {
        auto done = [&](const Expr &e) { return numbered.count(e.get()) > 0; };
        std::vector<Expr> stack{root};
        while (!stack.empty()) {
            Expr top = stack.back();
            if (done(top)) {
                stack.pop_back();
                continue;
            }
            size_t before = stack.size();
            if (const auto *let = top.as<Let>()) {
                visit_let(*let, done, stack);
            } else {
                for_each_operand(top, [&](const Expr &o) {
                    if (!done(o)) stack.push_back(o);
                });
            }
            if (stack.size() != before) continue;
            stack.pop_back();
            set(top, number(top));
        }
        return numbered.at(root.get());
    }

    bool has_effects(const Expr &e) const { return effects.count(e.get()) > 0; }
    // Returns true if a float is computed in it.
    bool has_floats(const Expr &e) const { return floats.count(e.get()) > 0; }

private:
    template<typename Done>
    void visit_let(const Let &let, Done &&done, std::vector<Expr> &stack) {
        if (!done(let.value)) return stack.push_back(let.value);
        Expr value = numbered.at(let.value.get());
        if (!has_effects(value)) inlined[let.name] = value;
        if (!done(let.body)) stack.push_back(let.body);
    }

    Expr number(const Expr &e) {
        if (const auto *v = e.as<Variable>()) {
            auto found = inlined.find(v->name);
            if (found != inlined.end()) return found->second;
        }
        if (const auto *let = e.as<Let>(); let && inlined.count(let->name)) {
            return numbered.at(let->body.get());
        }
        bool impure = has_own_effects(e);
        Expr same = map_operands(e, [&](const Expr &o) {
            Expr n = numbered.at(o.get());
            impure |= has_effects(n);
            return n;
        });
        if (impure) {
            effects.insert(same.get());
            kept_alive.push_back(same);
            return same;
        }
        return *unique.insert(same).first;
    }

    void set(const Expr &e, const Expr &n) {
        kept_alive.push_back(e);
        numbered[e.get()] = n;
        bool any = e.type().is_float();
        for_each_operand(e, [&](const Expr &o) { any = any || has_floats(numbered.at(o.get())); });
        if (any) floats.insert(n.get());
    }

    std::unordered_map<const ExprNode *, Expr> numbered;
    std::unordered_set<Expr, ExprHash, ExprEqual> unique;
    std::unordered_map<Symbol, Expr> inlined;
    std::unordered_set<const ExprNode *> effects, floats;
    std::vector<Expr> kept_alive;
};

// An expression and where it stands: below a strict_float, arithmetic of floats is another than
// elsewhere. For one that computes no floats `strict` is false.
struct Place {
    Expr expr;
    bool strict = false;
};

// Names what occurs more than once in the expressions, which are numbered. The conditional
// operands of an if_then_else are scopes of their own.
class SharingScope {
public:
    SharingScope(const Numbering &numbering, const SharingScope *outer)
        : numbering(numbering), outer(outer) {}

    std::vector<Lifted> run(std::vector<Expr> &roots, bool strict = false) {
        for (const Expr &root : roots) count(place_of(root, strict));
        count_through_what_stays();
        std::vector<Lifted> lets;
        for (const Place &p : order) rebuild(p, lets);
        for (Expr &root : roots) root = replacement(place_of(root, strict));
        return lets;
    }

private:
    Place place_of(const Expr &e, bool strict) const {
        return {e, strict && numbering.has_floats(e)};
    }

    template<typename F>
    void for_each_edge(const Place &p, F &&f) {
        const Expr &e = p.expr;
        bool strict = p.strict || is_strict_float(e);
        auto edge = [&](const Expr &o) { f(place_of(o, strict)); };
        if (is_conditional(e)) return edge(e.as<IntrinsicCall>()->args[0]);
        if (e.as<Let>()) return edge(e.as<Let>()->value);
        for_each_operand(e, edge);
    }

    void count(const Place &root) {
        uses_of(root)++;
        if (known(root)) return;
        std::vector<Place> stack{root};
        while (!stack.empty()) {
            Place top = stack.back();
            size_t before = stack.size();
            if (!opened[top.strict].insert(top.expr.get()).second) {
                stack.pop_back();
                if (closed[top.strict].insert(top.expr.get()).second) order.push_back(top);
                continue;
            }
            for_each_edge(top, [&](const Place &o) {
                uses_of(o)++;
                if (!known(o)) stack.push_back(o);
            });
            if (stack.size() == before) {
                stack.pop_back();
                closed[top.strict].insert(top.expr.get());
                order.push_back(top);
            }
        }
    }

    // The operands of an expression that stays are used as often as it is itself.
    void count_through_what_stays() {
        for (size_t i = order.size(); i-- > 0;) {
            if (!stays_in_place(order[i].expr)) continue;
            int more = uses_of(order[i]) - 1;
            for_each_edge(order[i], [&](const Place &o) { uses_of(o) += more; });
        }
    }

    int &uses_of(const Place &p) { return uses[p.strict][p.expr.get()]; }
    const Expr *find(const Place &p) const {
        auto found = replaced[p.strict].find(p.expr.get());
        if (found != replaced[p.strict].end()) return &found->second;
        return outer ? outer->find(p) : nullptr;
    }
    const Expr &replacement(const Place &p) const { return *find(p); }
    bool known(const Place &p) const { return find(p) || opened[p.strict].count(p.expr.get()); }

    void rebuild(const Place &p, std::vector<Lifted> &lets) {
        const Expr &e = p.expr;
        Expr built = with_operands(p);
        bool lift = uses_of(p) > 1 && !is_trivial(e) && !built.as<Variable>() &&
                    !stays_in_place(e) && !numbering.has_effects(e);
        if (lift) {
            Symbol name = Symbol::fresh("t");
            if (p.strict && !is_strict_float(built)) {
                built = IntrinsicCall::make(e.type(), Intrinsic::strict_float, {built});
            }
            lets.push_back({name, built});
            built = Variable::make(e.type(), name);
        }
        replaced[p.strict][e.get()] = built;
    }

    Expr with_operands(const Place &p) {
        const Expr &e = p.expr;
        bool strict = p.strict || is_strict_float(e);
        auto operand = [&](const Expr &o) { return replacement(place_of(o, strict)); };
        if (is_strict_float(e)) {
            // One that has a name is known to be strict.
            Expr value = operand(e.as<IntrinsicCall>()->args[0]);
            if (value.as<Variable>()) return value;
        }
        if (is_conditional(e)) {
            const auto *c = e.as<IntrinsicCall>();
            std::vector<Expr> args{operand(c->args[0])};
            for (size_t i = 1; i < c->args.size(); i++) args.push_back(inner(c->args[i], strict));
            return c->with<&IntrinsicCall::args>(std::move(args));
        }
        if (const auto *let = e.as<Let>()) {
            return Let::make(let->name, operand(let->value), inner(let->body, strict));
        }
        return map_operands(e, operand);
    }

    Expr inner(const Expr &e, bool strict) {
        std::vector<Expr> roots{e};
        std::vector<Lifted> lets = SharingScope(numbering, this).run(roots, strict);
        for (size_t i = lets.size(); i-- > 0;) {
            roots[0] = Let::make(lets[i].name, lets[i].value, roots[0]);
        }
        return roots[0];
    }

    const Numbering &numbering;
    const SharingScope *outer;
    // By node, elsewhere and below a strict_float.
    std::unordered_map<const ExprNode *, Expr> replaced[2];
    std::unordered_map<const ExprNode *, int> uses[2];
    std::unordered_set<const ExprNode *> opened[2], closed[2];
    std::vector<Place> order;
};

}  // namespace

std::vector<Lifted> lift(std::vector<Expr> &roots) {
    if (TellLetsApart::needed(roots)) {
        TellLetsApart tell_apart;
        for (Expr &e : roots) e = tell_apart(e);
    }
    Numbering numbering;
    for (Expr &e : roots) e = numbering(e);
    return SharingScope(numbering, nullptr).run(roots);
}

Stmt wrap(const std::vector<Lifted> &lets, Stmt body) {
    for (size_t i = lets.size(); i-- > 0;) {
        body = LetStmt::make(lets[i].name, lets[i].value, body);
    }
    return body;
}

namespace {

class EachStmt {
public:
    Stmt operator()(const Stmt &s) {
        switch (s.kind()) {
        case NodeKind::Store: return visit_store(*s.as<Store>());
        case NodeKind::Provide: return visit_provide(*s.as<Provide>());
        case NodeKind::LetStmt: return visit_lets(s);
        case NodeKind::Block: return visit_block(*s.as<Block>());
        default: return map_children(s, [this](const auto &child) { return visit(child); });
        }
    }

private:
    Stmt visit(const Stmt &s) { return (*this)(s); }
    Expr visit(const Expr &e) { return common_subexpression_elimination(e); }

    Stmt visit_lets(const Stmt &s) {
        std::vector<const LetStmt *> lets;
        Stmt rest = s;
        while (const auto *let = rest.as<LetStmt>()) {
            lets.push_back(let);
            rest = let->body;
        }
        Stmt body = (*this)(rest);
        for (size_t i = lets.size(); i-- > 0;) {
            body = LetStmt::make(lets[i]->name, visit(lets[i]->value), body);
        }
        return body;
    }

    static Stmt visit_store(const Store &store) {
        std::vector<Expr> roots{store.value, store.index};
        if (store.predicate.defined()) roots.push_back(store.predicate);
        std::vector<Lifted> lets = lift(roots);
        Expr predicate = store.predicate.defined() ? roots[2] : Expr();
        return wrap(lets, store.with<&Store::value, &Store::index, &Store::predicate>(
                              roots[0], roots[1], predicate));
    }

    // Stores that follow one another, as those of an unrolled loop, share what they have in common.
    Stmt visit_block(const Block &block) {
        std::vector<Stmt> done;
        const auto &all = block.stmts;
        for (size_t i = 0; i < all.size();) {
            const std::vector<SimpleStore> together = stores_from(all, i);
            const size_t end = i + std::max<size_t>(1, together.size());
            if (may_share(together)) {
                done.push_back(share(together));
                i = end;
            }
            for (; i < end; i++) done.push_back((*this)(all[i]));
        }
        return Block::make(std::move(done));
    }

    static Stmt visit_provide(const Provide &provide) {
        std::vector<Expr> roots = provide.values;
        roots.insert(roots.end(), provide.args.begin(), provide.args.end());
        if (provide.predicate.defined()) return Stmt(&provide);
        std::vector<Lifted> lets = lift(roots);
        auto middle = roots.begin() + long(provide.values.size());
        return wrap(lets,
                    Provide::make(provide.func, {roots.begin(), middle}, {middle, roots.end()}));
    }
};

}  // namespace

Expr common_subexpression_elimination(const Expr &e) {
    if (!e.defined()) return e;
    std::vector<Expr> roots{e};
    std::vector<Lifted> lets = lift(roots);
    Expr result = roots[0];
    for (size_t i = lets.size(); i-- > 0;) {
        result = Let::make(lets[i].name, lets[i].value, result);
    }
    return result;
}

Stmt common_subexpression_elimination(const Stmt &s) { return EachStmt()(s); }

}  // namespace tessera::algebra
