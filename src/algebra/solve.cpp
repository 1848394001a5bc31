#include "algebra/solve.h"
#include "algebra/simplifier.h"
#include "algebra/walk.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include <map>

namespace tessera::algebra {

using namespace ir;

namespace {

constexpr int max_splits = 12;
constexpr int max_inequalities = 500;  // that are looked at in all

// Finds the interval outside of which a condition cannot hold (outer), or inside of which it must.
class Solver {
public:
    Solver(Symbol var, const Facts &facts) : s(facts), var(var) {}

    Interval run(const Expr &condition, bool outer) {
        return solve(s(condition), outer, max_splits);
    }

private:
    bool depends(const Expr &e) {
        for_each_postorder(
            e, [&](const Expr &n) { return dependent.count(n.get()) > 0; },
            [&](const Expr &n) {
                bool yes = false;
                for_own_symbol(n, [&](Symbol name) { yes |= name == var; });
                for_each_operand(n, [&](const Expr &o) { yes |= dependent.at(o.get()); });
                dependent[n.get()] = yes;
                alive.push_back(n);
            });
        return dependent.at(e.get());
    }

    static Interval unknown(bool outer) {
        return outer ? Interval::everything() : Interval::nothing();
    }

    Interval intersection(const Interval &a, const Interval &b) {
        return tidy(make_intersection(a, b));
    }

    Interval tidy(Interval i) {
        if (i.min.defined()) i.min = s(i.min);
        if (i.max.defined()) i.max = s(i.max);
        return i.is_nothing() ? Interval::nothing() : i;
    }

    // Outer: everything in either. Inner: what is certainly in one of them.
    Interval either(const Interval &a, const Interval &b, bool outer) {
        if (a.is_nothing()) return b;
        if (b.is_nothing()) return a;
        if (outer || a.is_everything() || b.is_everything()) return tidy(make_union(a, b));
        // A union without a gap in it is an interval.
        auto reaches = [&](const Interval &low, const Interval &high) {
            if (!low.max.defined() || !high.min.defined()) return false;
            auto gap = add(s.known.form(s(low.max)), s.known.form(s(high.min)), -1);
            return gap && s.known.lower_bound(*gap, -1) >= -1;
        };
        bool touch = (reaches(a, b) || !a.max.defined() || !b.min.defined()) &&
                     (reaches(b, a) || !b.max.defined() || !a.min.defined());
        bool valid =
            (a.is_bounded() ? is_nonempty(a) : true) && (b.is_bounded() ? is_nonempty(b) : true);
        if (touch && valid) return tidy(make_union(a, b));
        return a.is_bounded() && !b.is_bounded() ? b : a;
    }

    bool is_nonempty(const Interval &i) {
        auto size = add(s.known.form(s(i.max)), s.known.form(s(i.min)), -1);
        return size && s.known.lower_bound(*size, 0) >= 0;
    }

    // Everything that is not in the interval, if that is an interval.
    Interval complement(const Interval &i, bool outer) {
        if (i.is_everything()) return Interval::nothing();
        if (i.is_nothing()) return Interval::everything();
        if (i.is_bounded()) return unknown(outer);
        if (i.min.defined()) return {Expr(), s(i.min - 1)};
        return {s(i.max + 1), Expr()};
    }

    // Solves once what conditions share.
    Interval solve(const Expr &e, bool outer, int splits) {
        if (is_true(e)) return Interval::everything();
        if (is_false(e)) return Interval::nothing();
        if (splits < 0 || !depends(e)) return unknown(outer);
        auto [found, is_new] = solved.try_emplace({e.get(), outer, splits});
        Interval &solution = found->second;  // stays where it is
        if (is_new) solution = find_solution(e, outer, splits);
        return solution;
    }

    Interval find_solution(const Expr &e, bool outer, int splits) {
        alive.push_back(e);
        switch (e.kind()) {
        case NodeKind::And:
            return intersection(solve(e.as<And>()->a, outer, splits),
                                solve(e.as<And>()->b, outer, splits));
        case NodeKind::Or:
            return either(solve(e.as<Or>()->a, outer, splits), solve(e.as<Or>()->b, outer, splits),
                          outer);
        case NodeKind::Not: return complement(solve(e.as<Not>()->a, !outer, splits), outer);
        case NodeKind::Select: {
            const auto *q = e.as<Select>();
            Expr yes = s.rewriter.make(NodeKind::And, q->condition, q->true_value);
            Expr no =
                s.rewriter.make(NodeKind::And, s.rewriter.make_not(q->condition), q->false_value);
            return either(solve(yes, outer, splits - 1), solve(no, outer, splits - 1), outer);
        }
        case NodeKind::Broadcast: return solve(e.as<Broadcast>()->value, outer, splits);
        case NodeKind::IntrinsicCall:
            if (is_likely(e)) return solve(e.as<IntrinsicCall>()->args[0], outer, splits);
            return unknown(outer);
        case NodeKind::Let: {
            const auto *let = e.as<Let>();
            if (!s.known.is_pure(let->value)) return unknown(outer);
            return solve(s(substitute(let->name, let->value, let->body)), outer, splits - 1);
        }
        case NodeKind::LT: return compare(e.as<LT>()->a, e.as<LT>()->b, NodeKind::LT, outer);
        case NodeKind::LE: return compare(e.as<LE>()->a, e.as<LE>()->b, NodeKind::LE, outer);
        case NodeKind::EQ: return compare(e.as<EQ>()->a, e.as<EQ>()->b, NodeKind::EQ, outer);
        default: return unknown(outer);
        }
    }

    Interval compare(const Expr &a, const Expr &b, NodeKind op, bool outer) {
        if (!is_exact(a.type()) || !s.known.is_pure(a) || !s.known.is_pure(b))
            return unknown(outer);
        auto f = add(s.known.exact_form(b), s.known.exact_form(a), -1);
        if (f && op == NodeKind::LT) f = add(*f, LinearForm{{}, 1}, -1);
        if (!f) return unknown(outer);
        Type t = a.type();
        if (op != NodeKind::EQ) return solve_lanes(*f, t, outer);
        auto negated = scale(*f, -1);
        if (!negated) return unknown(outer);
        return intersection(solve_lanes(*f, t, outer), solve_lanes(*negated, t, outer));
    }

    // f >= 0 in every lane (inner), or in any (outer).
    Interval solve_lanes(const LinearForm &f, Type t, bool outer) {
        if (t.is_scalar()) return at_least_zero(f, t, outer, max_splits);
        LinearForm scalar{{}, f.constant};
        for (const LinearTerm &term : f.terms) {
            const auto *b = term.atom.as<Broadcast>();
            const auto *r = term.atom.as<Ramp>();
            if (b && b->value.type().is_scalar()) {
                if (!add_term(scalar, b->value, term.coefficient)) return unknown(outer);
                continue;
            }
            auto stride = r && r->base.type().is_scalar() && is_zero(r->base)
                              ? as_const_int(r->stride)
                              : std::nullopt;
            if (!stride) return unknown(outer);
            int64_t last;
            if (__builtin_mul_overflow(*stride, term.coefficient, &last) ||
                __builtin_mul_overflow(last, int64_t(r->lanes - 1), &last)) {
                return unknown(outer);
            }
            last = outer ? std::max<int64_t>(last, 0) : std::min<int64_t>(last, 0);
            if (__builtin_add_overflow(scalar.constant, last, &scalar.constant)) {
                return unknown(outer);
            }
        }
        return at_least_zero(scalar, t.element_of(), outer, max_splits);
    }

    std::optional<LinearForm> replaced(const LinearForm &f, const LinearTerm &t, const Expr &u) {
        return add(without(f, t), s.known.exact_form(u), t.coefficient);
    }

    static LinearForm without(const LinearForm &f, const LinearTerm &t) {
        LinearForm rest = f;
        std::erase_if(rest.terms, [&](const LinearTerm &o) { return o.atom.same_as(t.atom); });
        return rest;
    }

    Interval at_least_zero(const LinearForm &f, Type t, bool outer, int splits) {
        if (++inequalities > max_inequalities) return unknown(outer);
        if (s.known.lower_bound(f, 0) >= 0) return Interval::everything();
        if (s.known.upper_bound(f, -1) <= -1) return Interval::nothing();
        const LinearTerm *linear = nullptr, *other = nullptr;
        for (const LinearTerm &term : f.terms) {
            if (!depends(term.atom)) continue;
            const auto *v = term.atom.as<Variable>();
            (v && v->name == var ? linear : other) = &term;
        }
        if (splits < 0) return unknown(outer);
        if (other) return split(f, *other, t, outer, splits - 1);
        if (!linear) return unknown(outer);
        // c * x + rest >= 0
        int64_t c = linear->coefficient;
        Expr rest = s.rewriter.make_expr(without(f, *linear), t);
        if (!rest.defined()) return unknown(outer);
        Expr size = s.rewriter.intern(make_const(t, std::abs(c))),
             zero = s.rewriter.intern(make_zero(t));
        Expr quotient = s.rewriter.make(NodeKind::Div, rest, size);
        if (c < 0) return {Expr(), quotient};
        return {s.rewriter.make(NodeKind::Sub, zero, quotient), Expr()};
    }

    Interval split(const LinearForm &f, const LinearTerm &term, Type t, bool outer, int splits) {
        Expr u, v;
        bool both = false;
        if (const auto *m = term.atom.as<Min>()) {
            u = m->a, v = m->b, both = term.coefficient > 0;
        } else if (const auto *m = term.atom.as<Max>()) {
            u = m->a, v = m->b, both = term.coefficient < 0;
        } else if (const auto *q = term.atom.as<Select>()) {
            return split_select(f, term, *q, t, outer, splits);
        } else if (const auto *d = term.atom.as<Div>()) {
            return split_division(f, term, *d, t, outer, splits);
        } else if (const auto *m = term.atom.as<Mul>()) {
            return split_product(f, term, *m, t, outer);
        } else if (term.atom.as<IntrinsicCall>() && same_as_operand(term.atom)) {
            auto g = replaced(f, term, term.atom.as<IntrinsicCall>()->args[0]);
            return g ? at_least_zero(*g, t, outer, splits) : unknown(outer);
        } else {
            return split_bounded(f, term, t, outer, splits);
        }
        auto with_u = replaced(f, term, u), with_v = replaced(f, term, v);
        if (!with_u || !with_v) return unknown(outer);
        Interval a = at_least_zero(*with_u, t, outer, splits);
        Interval b = at_least_zero(*with_v, t, outer, splits);
        return both ? intersection(a, b) : either(a, b, outer);
    }

    static bool same_as_operand(const Expr &e) {
        const auto *c = e.as<IntrinsicCall>();
        return is_likely(e) || c->op == Intrinsic::promise_clamped ||
               c->op == Intrinsic::unsafe_promise_clamped;
    }

    Interval split_select(const LinearForm &f, const LinearTerm &term, const Select &q, Type t,
                          bool outer, int splits) {
        auto with_u = replaced(f, term, q.true_value), with_v = replaced(f, term, q.false_value);
        if (!with_u || !with_v) return unknown(outer);
        Interval a = at_least_zero(*with_u, t, outer, splits);
        Interval b = at_least_zero(*with_v, t, outer, splits);
        if (!outer) {
            // Both hold, or the condition says which.
            Interval safe = intersection(a, b);
            if (!safe.is_nothing()) return safe;
        }
        Interval yes = intersection(solve(q.condition, outer, splits), a);
        Interval no = intersection(solve(s.rewriter.make_not(q.condition), outer, splits), b);
        return either(yes, no, outer);
    }

    // k * f >= 0, where k * c * (u / k) is c * u less c times a remainder of 0 to k - 1.
    Interval split_division(const LinearForm &f, const LinearTerm &term, const Div &d, Type t,
                            bool outer, int splits) {
        auto k = as_const_int(d.b);
        if (!k || *k <= 0) return unknown(outer);
        LinearForm rest = without(f, term);
        int64_t c = term.coefficient;
        bool alone = true;
        for (const LinearTerm &o : rest.terms) alone &= !depends(o.atom);
        if (alone && (c == 1 || c == -1)) {
            // u / k >= -rest  is  u >= -rest * k;  u / k <= rest  is  u <= rest * k + k - 1.
            auto g = scale(rest, *k);
            if (g && c < 0) g = add(*g, LinearForm{{}, *k - 1});
            if (g) g = add(*g, s.known.exact_form(d.a), c);
            return g ? at_least_zero(*g, t, outer, splits) : unknown(outer);
        }
        auto g = scale(rest, *k);
        if (g) g = add(*g, s.known.exact_form(d.a), c);
        bool remainder_counts = (c > 0) != outer;
        if (g && remainder_counts) g = add(*g, LinearForm{{}, *k - 1}, -c);
        return g ? at_least_zero(*g, t, outer, splits) : unknown(outer);
    }

    // x * p with a factor p > 0 or p < 0 that does not depend on the variable.
    Interval split_product(const LinearForm &f, const LinearTerm &term, const Mul &m, Type t,
                           bool outer) {
        bool first = depends(m.a);
        if (first && depends(m.b)) return unknown(outer);
        const Expr &x = first ? m.a : m.b, &p = first ? m.b : m.a;
        const auto *v = x.as<Variable>();
        if (!v || v->name != var || std::abs(term.coefficient) != 1) return unknown(outer);
        LinearForm rest = without(f, term);
        for (const LinearTerm &o : rest.terms) {
            if (depends(o.atom)) return unknown(outer);
        }
        int64_t sign = s.known.lower_bound(s.known.exact_form(p), 1) >= 1     ? 1
                       : s.known.upper_bound(s.known.exact_form(p), -1) <= -1 ? -1
                                                                              : 0;
        Expr r = s.rewriter.make_expr(rest, t), zero = s.rewriter.intern(make_zero(t));
        if (sign == 0 || !r.defined()) return unknown(outer);
        Expr size = sign > 0 ? p : s.rewriter.make(NodeKind::Sub, zero, p);
        Expr quotient = s.rewriter.make(NodeKind::Div, r, size);
        if (sign * term.coefficient < 0) return {Expr(), quotient};
        return {s.rewriter.make(NodeKind::Sub, zero, quotient), Expr()};
    }

    // An atom of which only constant bounds are known: taken at its best (outer) or worst.
    Interval split_bounded(const LinearForm &f, const LinearTerm &term, Type t, bool outer,
                           int splits) {
        ConstantInterval i = s.known.interval(term.atom);
        bool high = (term.coefficient > 0) == outer;
        if (high ? !i.has_max() : !i.has_min()) return unknown(outer);
        auto g = add(without(f, term), LinearForm{{}, high ? i.max : i.min}, term.coefficient);
        return g ? at_least_zero(*g, t, outer, splits) : unknown(outer);
    }

    Simplifier s;
    Symbol var;
    std::unordered_map<const ExprNode *, bool> dependent;
    std::map<std::tuple<const ExprNode *, bool, int>, Interval> solved;
    int inequalities = 0;
    std::vector<Expr> alive;
};

class MonotonicFinder {
public:
    MonotonicFinder(Symbol var, const IntervalScope &scope)
        : s(scope.facts), var(var), scope(scope) {}

    Monotonic run(const Expr &e) { return of(s(e)); }

private:
    static Monotonic flip(Monotonic m) {
        if (m == Monotonic::Increasing) return Monotonic::Decreasing;
        return m == Monotonic::Decreasing ? Monotonic::Increasing : m;
    }
    static Monotonic both(Monotonic a, Monotonic b) {
        if (a == b || b == Monotonic::Constant) return a;
        return a == Monotonic::Constant ? b : Monotonic::Unknown;
    }

    Monotonic of(const Expr &e) {
        auto found = memo.find(e.get());
        if (found != memo.end()) return found->second;
        Monotonic m = s.known.is_pure(e) ? compute(e) : Monotonic::Unknown;
        alive.push_back(e);
        return memo[e.get()] = m;
    }

    Monotonic scaled(Monotonic m, const Expr &factor) {
        if (m == Monotonic::Constant) return m;
        if (const auto *f = factor.as<FloatImm>()) return f->value >= 0 ? m : flip(m);
        if (!factor.type().is_int_or_uint()) return Monotonic::Unknown;
        ConstantInterval i = s.known.interval(factor);
        if (i.min >= 0) return m;
        return i.max <= 0 ? flip(m) : Monotonic::Unknown;
    }

    Monotonic unless_constant(const Expr &e) {
        Monotonic m = Monotonic::Constant;
        for_each_operand(e, [&](const Expr &o) {
            if (of(o) != Monotonic::Constant) m = Monotonic::Unknown;
        });
        return m;
    }

    // Wrapping arithmetic is monotonic only where it does not wrap.
    bool may_wrap_in_narrow_type(const Expr &e) {
        Type t = e.type();
        if (!t.is_int_or_uint() || is_exact(t)) return false;
        auto inside = [&](const ConstantInterval &i) { return i.fits(t); };
        if (const auto *n = e.as<Add>())
            return !inside(s.known.interval(n->a) + s.known.interval(n->b));
        if (const auto *n = e.as<Sub>())
            return !inside(s.known.interval(n->a) - s.known.interval(n->b));
        if (const auto *n = e.as<Mul>())
            return !inside(s.known.interval(n->a) * s.known.interval(n->b));
        return false;
    }

    Monotonic compute(const Expr &e) {
        if (may_wrap_in_narrow_type(e)) return unless_constant(e);
        switch (e.kind()) {
        case NodeKind::Variable: return of_variable(e.as<Variable>()->name);
        case NodeKind::Add: return both(of(e.as<Add>()->a), of(e.as<Add>()->b));
        case NodeKind::Sub: return both(of(e.as<Sub>()->a), flip(of(e.as<Sub>()->b)));
        case NodeKind::Mul: {
            const auto *m = e.as<Mul>();
            Monotonic a = of(m->a), b = of(m->b);
            if (b == Monotonic::Constant) return scaled(a, m->b);
            return a == Monotonic::Constant ? scaled(b, m->a) : Monotonic::Unknown;
        }
        case NodeKind::Div: {
            const auto *d = e.as<Div>();
            if (of(d->b) != Monotonic::Constant) return Monotonic::Unknown;
            if (d->a.type().is_int() && !is_exact(d->a.type()) && s.known.interval(d->b).min < 0) {
                return unless_constant(e);
            }
            return scaled(of(d->a), d->b);
        }
        case NodeKind::Min: return both(of(e.as<Min>()->a), of(e.as<Min>()->b));
        case NodeKind::Max: return both(of(e.as<Max>()->a), of(e.as<Max>()->b));
        case NodeKind::LT: return both(flip(of(e.as<LT>()->a)), of(e.as<LT>()->b));
        case NodeKind::LE: return both(flip(of(e.as<LE>()->a)), of(e.as<LE>()->b));
        case NodeKind::And: return both(of(e.as<And>()->a), of(e.as<And>()->b));
        case NodeKind::Or: return both(of(e.as<Or>()->a), of(e.as<Or>()->b));
        case NodeKind::Not: return flip(of(e.as<Not>()->a));
        case NodeKind::Select: return of_select(*e.as<Select>());
        case NodeKind::Cast: {
            const auto *c = e.as<Cast>();
            Type from = c->value.type(), to = c->type;
            bool keeps =
                to.can_represent(from) || to.is_float() || (is_exact(to) && from.is_float());
            return keeps ? of(c->value) : unless_constant(e);
        }
        case NodeKind::Broadcast: return of(e.as<Broadcast>()->value);
        case NodeKind::Ramp: return both(of(e.as<Ramp>()->base), of(e.as<Ramp>()->stride));
        case NodeKind::Let: {
            const auto *let = e.as<Let>();
            bound[let->name] = of(let->value);
            return of(let->body);
        }
        case NodeKind::IntrinsicCall: return of_call(e, *e.as<IntrinsicCall>());
        default: return unless_constant(e);
        }
    }

    Monotonic of_variable(Symbol name) {
        if (name == var) return Monotonic::Increasing;
        auto found = bound.find(name);
        if (found != bound.end()) return found->second;
        const Interval *i = scope.find(name);
        if (!i) return Monotonic::Constant;
        Monotonic low = i->min.defined() ? of(s(i->min)) : Monotonic::Constant;
        Monotonic high = i->max.defined() ? of(s(i->max)) : Monotonic::Constant;
        if (low == Monotonic::Constant && high == low) return low;
        return i->is_single_point() ? low : Monotonic::Unknown;
    }

    // A condition that switches once, from the value that is smaller to the one that is larger.
    Monotonic of_select(const Select &q) {
        Monotonic c = of(q.condition), values = both(of(q.true_value), of(q.false_value));
        if (c == Monotonic::Constant) return values;
        if (c == Monotonic::Unknown || values == Monotonic::Unknown) return Monotonic::Unknown;
        if (!is_exact(q.true_value.type())) return Monotonic::Unknown;
        auto difference =
            add(s.known.exact_form(q.true_value), s.known.exact_form(q.false_value), -1);
        if (!difference) return Monotonic::Unknown;
        if (s.known.lower_bound(*difference, 0) >= 0) return both(values, c);
        if (s.known.upper_bound(*difference, 0) <= 0) return both(values, flip(c));
        return Monotonic::Unknown;
    }

    Monotonic of_call(const Expr &e, const IntrinsicCall &c) {
        switch (c.op) {
        case Intrinsic::likely:
        case Intrinsic::likely_if_innermost:
        case Intrinsic::strict_float:
        case Intrinsic::promise_clamped:
        case Intrinsic::unsafe_promise_clamped:
        case Intrinsic::saturating_cast:
        case Intrinsic::floor:
        case Intrinsic::ceil:
        case Intrinsic::trunc:
        case Intrinsic::round:
        case Intrinsic::sqrt:
        case Intrinsic::exp:
        case Intrinsic::log:
        case Intrinsic::fast_exp:
        case Intrinsic::fast_log:
        case Intrinsic::tanh:
        case Intrinsic::atan: return of(c.args[0]);
        default: return unless_constant(e);
        }
    }

    Simplifier s;
    Symbol var;
    const IntervalScope &scope;
    std::unordered_map<const ExprNode *, Monotonic> memo;
    std::unordered_map<Symbol, Monotonic> bound;
    std::vector<Expr> alive;
};

}  // namespace

Interval solve_for_outer_interval(const Expr &condition, Symbol var, const Facts &facts) {
    return Solver(var, facts).run(condition, true);
}

Interval solve_for_inner_interval(const Expr &condition, Symbol var, const Facts &facts) {
    return Solver(var, facts).run(condition, false);
}

Monotonic is_monotonic(const Expr &e, Symbol var, const IntervalScope &scope) {
    return MonotonicFinder(var, scope).run(e);
}

}  // namespace tessera::algebra
