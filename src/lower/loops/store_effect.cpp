#include "lower/loops/store_effect.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::lower {
namespace {

using namespace ir;

// Lets around a statement. A value that one has loaded may have been overwritten since.
class FreshLets {
public:
    void push(Symbol name, const Expr &value) {
        Let let{value, {}, epoch};
        for_each_node(value, [&](const Load &l) { let.versions[l.buffer] = versions[l.buffer]; });
        lets.insert_or_assign(name, std::move(let));
    }
    void pop(Symbol name) { lets.erase(name); }
    void store(Symbol buffer) { versions[buffer]++; }
    void forget_loads() { epoch++; }

    // The value, if it would be the same now; otherwise undefined.
    Expr find(Symbol name) const {
        auto found = lets.find(name);
        if (found == lets.end()) return {};
        const Let &let = found->second;
        bool is_fresh = let.versions.empty() || let.epoch == epoch;
        for (const auto &[buffer, version] : let.versions) {
            auto now = versions.find(buffer);
            is_fresh &= now == versions.end() || now->second == version;
        }
        return is_fresh ? let.value : Expr();
    }

private:
    struct Let {
        Expr value;
        std::unordered_map<Symbol, int> versions;  // of the buffers that it loads from
        int epoch;
    };
    std::unordered_map<Symbol, Let> lets;
    std::unordered_map<Symbol, int> versions;
    int epoch = 0;
};

Expr spread(const Expr &condition, int lanes) {
    if (condition.type().lanes() == lanes) return condition;
    return Broadcast::make(condition, lanes);
}

// Returns the condition that both hold, or that one of them does; each may be one for all lanes.
Expr joined(const Expr &a, const Expr &b, bool both) {
    const int lanes = std::max(a.type().lanes(), b.type().lanes());
    const Expr x = spread(a, lanes), y = spread(b, lanes);
    return both ? And::make(x, y) : Or::make(x, y);
}

// Finds what one store does. Conditions have as many lanes as the store or one; undefined: true.
class Effect {
public:
    Effect(const Store &store, const FreshLets &lets) : store(store), lets(lets) {}

    // Returns when the value may be another than the one that is there.
    Expr of(const Expr &e) {
        if (is_there(e)) return const_false();
        if (++visited > most_visited) return {};
        if (const auto *v = e.as<Variable>()) return of_let(*v);
        if (const auto *s = e.as<Select>()) {
            return chosen(s->condition, of(s->true_value), of(s->false_value));
        }
        if (const auto *n = e.as<Add>()) return of_sum(n->a, n->b);
        if (const auto *n = e.as<Sub>()) return either(of(n->a), is_not(n->b, 0));
        if (const auto *n = e.as<Mul>()) return of_operation(n->a, n->b, 1);
        const Type element = e.type().element_of();
        if (const auto *n = e.as<Min>()) return of_bound(n->a, n->b, element.max());
        if (const auto *n = e.as<Max>()) return of_bound(n->a, n->b, element.min());
        if (const auto *n = e.as<Or>()) return of_operation(n->a, n->b, 0);
        if (const auto *n = e.as<And>()) return of_operation(n->a, n->b, 1);
        const auto *c = e.as<IntrinsicCall>();
        if (!c || c->args.size() != 2) return {};
        if (c->op == Intrinsic::bitwise_or) return of_operation(c->args[0], c->args[1], 0);
        if (c->op == Intrinsic::bitwise_xor) return of_operation(c->args[0], c->args[1], 0);
        return {};
    }

private:
    static constexpr int most_visited = 200;  // of the nodes of a value

    bool is_there(const Expr &e) const {
        const auto *load = e.as<Load>();
        return load && load->buffer == store.buffer && equal(load->index, store.index);
    }
    static bool is_never(const Expr &e) { return e.defined() && is_false(e); }
    Expr of_let(const Variable &v) {
        const Expr value = lets.find(v.name);
        return value.defined() ? of(value) : Expr();
    }
    Expr of_sum(const Expr &a, const Expr &b) { return of_operation(a, b, 0); }
    // Says when an operation may change the value that leaves one operand as it is if the other has
    // the value `neutral`.
    Expr of_operation(const Expr &a, const Expr &b, int64_t neutral) {
        const Expr left = of(a);
        if (left.defined()) return either(left, is_not(b, neutral));
        const Expr right = of(b);
        return right.defined() ? either(right, is_not(a, neutral)) : Expr();
    }
    // NaN is no bound that differs from the old value.
    Expr of_bound(const Expr &a, const Expr &b, const Expr &neutral) {
        if (const auto *n = neutral.as<IntImm>()) return of_operation(a, b, n->value);
        if (const auto *n = neutral.as<UIntImm>()) return of_operation(a, b, int64_t(n->value));
        return {};
    }

    // Returns when the value may be another than this constant.
    Expr is_not(const Expr &e, int64_t k) {
        if (++visited > most_visited) return {};
        if (const auto *n = e.as<IntImm>()) return Expr(n->value != k ? Expr() : const_false());
        if (const auto *n = e.as<UIntImm>()) {
            return Expr(n->value != uint64_t(k) ? Expr() : const_false());
        }
        if (const auto *n = e.as<FloatImm>()) {
            return Expr(n->value != double(k) ? Expr() : const_false());
        }
        if (const auto *n = e.as<Broadcast>()) {
            const Expr one = is_not(n->value, k);
            return one.defined() && one.type().is_vector() ? Expr() : one;
        }
        if (const auto *n = e.as<Select>()) {
            return chosen(n->condition, is_not(n->true_value, k), is_not(n->false_value, k));
        }
        if (const auto *n = e.as<Cast>()) return is_not_cast(n->value, k);
        if (const auto *v = e.as<Variable>()) {
            const Expr value = lets.find(v->name);
            if (value.defined()) return is_not(value, k);
        }
        if (const auto *n = e.as<Mul>()) return is_no_product(n->a, n->b, k);
        if (!e.type().is_bool()) return {};
        return k == 0 ? e : k == 1 ? !e : Expr();
    }
    // Casts keep 0 and 1.
    Expr is_not_cast(const Expr &e, int64_t k) { return k == 0 || k == 1 ? is_not(e, k) : Expr(); }
    // 0 times infinity is not 0.
    Expr is_no_product(const Expr &a, const Expr &b, int64_t k) {
        if (k != 0 || a.type().is_float()) return {};
        const Expr left = is_not(a, 0), right = is_not(b, 0);
        return left.defined() ? left : right;
    }

    // Undefined if one of them is, as the union of something with everything.
    Expr either(const Expr &a, const Expr &b) const {
        if (is_never(a)) return b;
        if (is_never(b)) return a;
        return a.defined() && b.defined() ? joined(a, b, false) : Expr();
    }
    Expr chosen(const Expr &condition, const Expr &yes, const Expr &no) const {
        const bool may_yes = !is_never(yes), may_no = !is_never(no);
        if (!may_yes && !may_no) return const_false();
        if (may_yes && may_no && !yes.defined() && !no.defined()) return {};
        const Expr not_chosen = Not::make(condition);
        const Expr a = !may_yes        ? const_false()
                       : yes.defined() ? joined(condition, yes, true)
                                       : condition;
        const Expr b = !may_no        ? const_false()
                       : no.defined() ? joined(not_chosen, no, true)
                                      : not_chosen;
        return either(a, b);
    }

    const Store &store;
    const FreshLets &lets;
    int visited = 0;
};

class FindEffects final : public Visitor {
public:
    explicit FindEffects(std::unordered_map<const Store *, Expr> &conditions)
        : Visitor(Visits::PerUse), conditions(conditions) {}

private:
    void visit(const LetStmt &let) override {
        if (!is_pure(let.value)) lets.forget_loads();
        lets.push(let.name, let.value);
        (*this)(let.body);
        lets.pop(let.name);
    }
    void visit(const For &loop) override {
        lets.forget_loads();
        (*this)(loop.body);
        lets.forget_loads();
    }
    void visit(const Fork &fork) override {
        for (const Stmt &s : fork.stmts) {
            lets.forget_loads();
            (*this)(s);
        }
        lets.forget_loads();
    }
    void visit(const IfThenElse &branch) override {
        (*this)(branch.then_case);
        if (branch.else_case.defined()) (*this)(branch.else_case);
    }
    void visit(const Allocate &a) override { (*this)(a.body); }
    void visit(const AssertStmt &) override {}
    void visit(const Evaluate &e) override {
        if (!is_pure(e.value)) lets.forget_loads();
    }
    void visit(const Store &store) override {
        Expr changes = Effect(store, lets).of(store.value);
        if (store.predicate.defined()) {
            changes = changes.defined() ? joined(store.predicate, changes, true) : store.predicate;
        }
        if (changes.defined()) conditions[&store] = changes;
        lets.store(store.buffer);
    }
    std::unordered_map<const Store *, Expr> &conditions;
    FreshLets lets;
};

}  // namespace

StoreEffects::StoreEffects(const Stmt &s) : kept{s} { FindEffects{conditions}(s); }

void StoreEffects::replace(const Store &before, const Store &after) {
    auto found = conditions.find(&before);
    if (found == conditions.end() || &before == &after) return;
    const Expr condition = found->second;
    conditions[&after] = condition;
    kept.push_back(Stmt(&after));
}

Expr StoreEffects::condition_of(const Store &store) const {
    auto found = conditions.find(&store);
    return found == conditions.end() ? const_true() : found->second;
}

}  // namespace tessera::lower
