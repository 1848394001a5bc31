#include "lower/loops/certainty.h"
#include "algebra/linear.h"
#include "algebra/simplify.h"
#include "ir/expr_table.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"

namespace tessera::lower {
namespace {

using namespace ir;

class Certainty {
public:
    explicit Certainty(const algebra::IntervalScope &scope) : scope(scope) {}

    // Conditions may share their parts, each of which is looked at once.
    Expr of(const Expr &e) {
        return certain.get(e, [&] { return find(e); });
    }

    // Returns a condition under which the opposite is certain.
    Expr opposite(const Expr &e) {
        return excluded.get(e, [&] { return find_opposite(e); });
    }

private:
    Expr find(const Expr &e) {
        if (is_true(e)) return const_true();
        if (const auto *n = e.as<And>()) return both(of(n->a), of(n->b));
        if (const auto *n = e.as<Or>()) return either(of(n->a), of(n->b));
        if (const auto *n = e.as<Not>()) return opposite(n->a);
        if (const auto *n = e.as<Broadcast>()) return of(n->value);
        if (const auto *n = likely_marker(e, true)) return of(n->args[0]);
        if (const auto *n = e.as<LT>()) return less(n->a, n->b, false);
        if (const auto *n = e.as<LE>()) return less(n->a, n->b, true);
        if (const auto *n = e.as<GT>()) return less(n->b, n->a, false);
        if (const auto *n = e.as<GE>()) return less(n->b, n->a, true);
        if (const auto *n = e.as<EQ>()) return both(less(n->a, n->b, true), less(n->b, n->a, true));
        if (const auto *n = e.as<NE>()) {
            return either(less(n->a, n->b, false), less(n->b, n->a, false));
        }
        return plain(e);
    }

    Expr find_opposite(const Expr &e) {
        if (const auto *n = e.as<And>()) return either(opposite(n->a), opposite(n->b));
        if (const auto *n = e.as<Or>()) return both(opposite(n->a), opposite(n->b));
        if (const auto *n = e.as<Not>()) return of(n->a);
        if (const auto *n = e.as<Broadcast>()) return opposite(n->value);
        if (const auto *n = likely_marker(e, true)) return opposite(n->args[0]);
        if (const auto *n = e.as<LT>()) return less(n->b, n->a, true);
        if (const auto *n = e.as<LE>()) return less(n->b, n->a, false);
        if (const auto *n = e.as<GT>()) return less(n->a, n->b, true);
        if (const auto *n = e.as<GE>()) return less(n->a, n->b, false);
        if (const auto *n = e.as<EQ>()) {
            return either(less(n->a, n->b, false), less(n->b, n->a, false));
        }
        if (const auto *n = e.as<NE>()) {
            return both(less(n->a, n->b, true), less(n->b, n->a, true));
        }
        Expr same = plain(e);
        return same.defined() ? !same : same;
    }

    static Expr both(const Expr &a, const Expr &b) {
        return a.defined() && b.defined() ? a && b : Expr();
    }
    static Expr either(const Expr &a, const Expr &b) {
        return a.defined() && b.defined() ? a || b : a.defined() ? a : b;
    }
    // One that is the same in all lanes and for all values.
    Expr plain(const Expr &e) const {
        if (!e.type().is_scalar()) return {};
        bool varies = false;
        for_each_node(e, [&](const Variable &v) { varies |= scope.find(v.name) != nullptr; });
        return varies ? Expr() : e;
    }
    Expr less(const Expr &a, const Expr &b, bool or_equal) const {
        Type t = a.type();
        if (t.is_int() && t.bits() >= 32) {
            if (algebra::may_wrap(a) || algebra::may_wrap(b)) return {};
            Expr most = bounds_of_expr(algebra::simplify(Sub::make(a, b)), scope).max;
            if (!most.defined()) return {};
            return or_equal ? most <= make_zero(most.type()) : most < make_zero(most.type());
        }
        Expr most = bounds_of_expr(a, scope).max, least = bounds_of_expr(b, scope).min;
        if (!most.defined() || !least.defined()) return {};
        return or_equal ? most <= least : most < least;
    }

    const algebra::IntervalScope &scope;
    ExprTable<Expr> certain, excluded;
};

}  // namespace

Expr certainly(const Expr &condition, const algebra::IntervalScope &scope) {
    return Certainty(scope).of(condition);
}

namespace {

// Negates a condition; a part that is shared is negated once.
class Negation {
public:
    Expr of(const Expr &e) {
        return known.get(e, [&] { return find(e); });
    }

private:
    Expr find(const Expr &e) {
        if (const auto *n = e.as<And>()) return of(n->a) || of(n->b);
        if (const auto *n = e.as<Or>()) return of(n->a) && of(n->b);
        if (const auto *n = e.as<LT>()) return n->a >= n->b;
        if (const auto *n = e.as<LE>()) return n->a > n->b;
        return is_true(e) ? const_false() : !e;
    }
    ExprTable<Expr> known;
};

class Possibility {
public:
    explicit Possibility(const algebra::IntervalScope &scope) : certainty(scope) {}

    Expr of(const Expr &e) {
        return known.get(e, [&] { return find(e); });
    }

private:
    Expr find(const Expr &e) {
        if (const auto *both = e.as<And>()) {
            Expr a = of(both->a), b = of(both->b);
            return a.defined() && b.defined() ? a && b : a.defined() ? a : b;
        }
        Expr never = certainty.opposite(e);
        return never.defined() ? negation.of(never) : never;
    }

    Certainty certainty;
    Negation negation;
    ExprTable<Expr> known;
};

}  // namespace

Expr possibly(const Expr &condition, const algebra::IntervalScope &scope) {
    return Possibility(scope).of(condition);
}

}  // namespace tessera::lower
