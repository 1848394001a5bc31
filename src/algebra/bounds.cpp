#include "algebra/bounds.h"
#include "algebra/simplifier.h"
#include "algebra/walk.h"
#include "ir/match.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::algebra {

using namespace ir;

namespace {

constexpr int max_cases = 3;         // nested case distinctions about one sum
constexpr size_t small_branch = 60;  // nodes of a select's value that is looked at again
constexpr int max_narrowed = 100;    // values of selects that are looked at again
constexpr int deep_end = 24;         // operations within one another of which one has a name

class BoundsFinder {
public:
    explicit BoundsFinder(const IntervalScope &scope) : s(scope.facts), outer(scope) {
        std::vector<Symbol> symbols;  // bound in the order in which they were made
        for (const auto &[symbol, interval] : scope.all()) symbols.push_back(symbol);
        std::ranges::sort(symbols);
        for (Symbol symbol : symbols) {
            const Interval &i = *scope.find(symbol);
            intervals[symbol] = {simple(i.min), simple(i.max)};
        }
        for (Symbol symbol : symbols) s.bind(symbol, intervals.at(symbol));
    }

    Interval run(const Expr &e) {
        Expr simplified = s(e);
        for_each_node(simplified, [&](const Let &let) { let_names.insert(let.name); });
        Interval i = bounds(simplified);
        if (e.type().is_int_or_uint()) i = within_known(i, e.type(), interval_as_written(e));
        return {with_lets(i.min), with_lets(i.max)};
    }

private:
    struct Bound {
        Symbol name;
        Expr value;
    };

    // Simplification drops a clamp where it knows, of all variables together, that the value is
    // within it; the ends here are each found alone, and may be outside.
    ConstantInterval interval_as_written(const Expr &e) {
        std::unordered_set<const ExprNode *> seen;
        for_each_postorder(
            e, [&](const Expr &n) { return seen.count(n.get()) > 0; },
            [&](const Expr &n) {
                seen.insert(n.get());
                s.interval(n);  // remembered: what is deep is not found by recursion
            });
        return s.interval(e);
    }

    Expr simple(const Expr &e) { return e.defined() ? s(e) : e; }
    Expr number(Type t, int64_t v) { return s.intern(make_const(t.element_of(), v)); }
    Expr make(NodeKind op, const Expr &a, const Expr &b) {
        return a.defined() && b.defined() ? s.make(op, a, b) : Expr();
    }
    Expr lower_of(const Expr &a, const Expr &b) { return make(NodeKind::Min, a, b); }
    Expr upper_of(const Expr &a, const Expr &b) { return make(NodeKind::Max, a, b); }
    Interval unite(const Interval &a, const Interval &b) {
        return {lower_of(a.min, b.min), upper_of(a.max, b.max)};
    }
    // The tighter ends of two intervals that are both right.
    Interval tighter(const Interval &a, const Interval &b) {
        Interval r;
        r.min = !a.min.defined() ? b.min : b.min.defined() ? upper_of(a.min, b.min) : a.min;
        r.max = !a.max.defined() ? b.max : b.max.defined() ? lower_of(a.max, b.max) : a.max;
        return r;
    }
    Interval of_type(Type t) {
        if (t.is_bool() || (t.is_int_or_uint() && t.bits() < 32)) {
            return {number(t, t.min_int()), number(t, t.max_int())};
        }
        if (t.is_uint()) return {number(t, 0), Expr()};
        return {};
    }
    ConstantInterval constants(const Interval &i) {
        return {i.min.defined() ? s.interval(i.min).min : ConstantInterval::lowest,
                i.max.defined() ? s.interval(i.max).max : ConstantInterval::highest};
    }
    Interval of_constants(Type t, const ConstantInterval &c) {
        Interval r;
        if (c.has_min() && t.element_of().can_represent(c.min)) r.min = number(t, c.min);
        if (c.has_max() && t.element_of().can_represent(c.max)) r.max = number(t, c.max);
        return r;
    }

    static bool is_several(const IntrinsicCall &c) {
        return c.op == Intrinsic::gather || c.op == Intrinsic::scatter;
    }

    // Whether the value is one that an end of an interval may name: no variable of the scope in
    // it, and nothing that could be elsewhere another value.
    bool is_point(const Expr &e) {
        auto is_known = [&](const Expr &n) { return points.count(n.get()) > 0; };
        if (is_known(e)) return points.at(e.get());
        // Ends of the scope's intervals have lets of their own, whose variables are no points.
        std::unordered_set<const ExprNode *> seen;
        for_each_postorder(
            e, [&](const Expr &n) { return is_known(n) || seen.count(n.get()) > 0; },
            [&](const Expr &n) {
                seen.insert(n.get());
                if (const auto *let = n.as<Let>()) let_names.insert(let->name);
            });
        for_each_postorder(e, is_known, [&](const Expr &n) {
            bool point = s.is_pure(n) && !n.as<Load>() && !n.as<Let>();
            if (const auto *v = n.as<Variable>()) {
                point = !intervals.count(v->name) && !let_names.count(v->name);
            }
            if (const auto *c = n.as<IntrinsicCall>()) point &= !is_several(*c);
            if (const auto *c = n.as<Call>()) {
                point = c->call_kind == CallKind::Image && !outer.call_bounds;
            }
            for_each_operand(n, [&](const Expr &o) { point &= points.at(o.get()); });
            points[n.get()] = point;
            alive.push_back(n);
        });
        return points.at(e.get());
    }

    Interval bounds(const Expr &e) {
        if (e.type().is_scalar() && is_point(e)) return Interval::single_point(e);
        auto found = memo.find(e.get());
        if (found != memo.end()) return found->second;
        Interval i = compute(e);
        Type t = e.type();
        bool narrow = t.is_int_or_uint() && !is_exact(t);
        if (narrow || !i.is_bounded()) {
            Interval all = of_type(t), known = of_constants(t, s.interval(e));
            if (!t.is_int_or_uint()) known = {};
            for (const Interval &other : {known, all}) {
                if (!i.min.defined()) i.min = other.min;
                if (!i.max.defined()) i.max = other.max;
            }
        }
        if (t.is_int_or_uint()) i = within_known(i, t, s.interval(e));
        // What ends share would be searched again for each.
        const bool point = i.is_single_point();
        i.min = named_if_deep(i.min);
        i.max = point ? i.min : named_if_deep(i.max);
        memo[e.get()] = i;
        alive.push_back(e);
        return i;
    }

    Interval within_known(Interval i, Type t, const ConstantInterval &known) {
        Interval ends = of_constants(t, known);
        if (!i.min.defined()) i.min = ends.min;
        if (!i.max.defined()) i.max = ends.max;
        if (ends.min.defined() && s.interval(i.min).min < known.min) {
            i.min = upper_of(i.min, ends.min);
        }
        if (ends.max.defined() && s.interval(i.max).max > known.max) {
            i.max = lower_of(i.max, ends.max);
        }
        return i;
    }

    Interval compute(const Expr &e) {
        Type t = e.type();
        if (is_exact(t)) {
            LinearForm f = s.form(e);
            bool itself = f.terms.size() == 1 && f.constant == 0 && f.terms[0].atom.same_as(e);
            if (!itself) {
                // Let-bound values are looked into first, so that the form is found again.
                Interval i;
                i.min = end_of_sum(f, t.element_of(), false, max_cases);
                i.max = end_of_sum(f, t.element_of(), true, max_cases);
                return i;
            }
        }
        switch (e.kind()) {
        case NodeKind::Variable: return of_variable(*e.as<Variable>());
        case NodeKind::Add:
        case NodeKind::Sub:
        case NodeKind::Mul: return arithmetic(e);
        case NodeKind::Div: return division(e.as<Div>()->a, e.as<Div>()->b);
        case NodeKind::Mod: return modulus(e);
        case NodeKind::Min:
            return min_max(bounds(e.as<Min>()->a), bounds(e.as<Min>()->b), NodeKind::Min);
        case NodeKind::Max:
            return min_max(bounds(e.as<Max>()->a), bounds(e.as<Max>()->b), NodeKind::Max);
        case NodeKind::Select: return of_select(*e.as<Select>());
        case NodeKind::Cast: return of_cast(t, bounds(e.as<Cast>()->value), e.as<Cast>()->value);
        case NodeKind::LT: return comparison(NodeKind::LT, e.as<LT>()->a, e.as<LT>()->b);
        case NodeKind::LE: return comparison(NodeKind::LE, e.as<LE>()->a, e.as<LE>()->b);
        case NodeKind::And:
        case NodeKind::Or: return logic(e);
        case NodeKind::Not: {
            Interval a = bounds(e.as<Not>()->a);
            return {s.make_not(a.max), s.make_not(a.min)};
        }
        case NodeKind::Broadcast: return bounds(e.as<Broadcast>()->value);
        case NodeKind::Ramp: return of_ramp(*e.as<Ramp>());
        case NodeKind::Let: return of_let(e);
        case NodeKind::Call: return outer.call_bounds ? of_call(*e.as<Call>()) : Interval();
        case NodeKind::IntrinsicCall: return of_intrinsic(*e.as<IntrinsicCall>());
        case NodeKind::Shuffle: {
            Interval i = bounds(e.as<Shuffle>()->vectors[0]);
            for (const Expr &v : e.as<Shuffle>()->vectors) i = unite(i, bounds(v));
            return i;
        }
        case NodeKind::VectorReduce: {
            const auto *r = e.as<VectorReduce>();
            bool one_of = r->op == ReduceOp::Min || r->op == ReduceOp::Max ||
                          r->op == ReduceOp::And || r->op == ReduceOp::Or;
            return one_of ? bounds(r->value) : Interval();
        }
        default:
            if (auto value = as_const_int(e); value && e.type().is_vector()) {
                return Interval::single_point(number(t, *value));
            }
            return {};
        }
    }

    // The largest (smallest) value of a sum: each term at its own end, which is right whether or
    // not terms depend on each other; and, where putting an operand of a min, max or select in its
    // place lets terms cancel, that.
    Expr end_of_sum(const LinearForm &f, Type t, bool upper, int cases) {
        Expr plain = sum_of_ends(f, t, upper);
        if (cases == 0 || f.terms.size() < 2) return plain;
        for (const LinearTerm &term : f.terms) {
            if (is_point(term.atom)) continue;
            Expr u, v;
            bool any = false;
            if (const auto *m = term.atom.as<Min>()) {
                u = m->a, v = m->b, any = (term.coefficient > 0) == upper;
            } else if (const auto *m = term.atom.as<Max>()) {
                u = m->a, v = m->b, any = (term.coefficient < 0) == upper;
            } else if (const auto *q = term.atom.as<Select>()) {
                u = q->true_value, v = q->false_value;
            } else {
                continue;
            }
            auto with_u = replaced(f, term, u), with_v = replaced(f, term, v);
            if (!with_u || !with_v) continue;
            bool cancels_u = with_u->terms.size() < f.terms.size();
            bool cancels_v = with_v->terms.size() < f.terms.size();
            if (!cancels_u && !cancels_v) continue;
            // The sum as it is written may be small where one with this operand is not.
            if (s.may_overflow(*with_u, t) || s.may_overflow(*with_v, t)) continue;
            Expr better;
            if (any) {
                better = end_of_sum(cancels_u ? *with_u : *with_v, t, upper, cases - 1);
            } else {
                better = make(upper ? NodeKind::Max : NodeKind::Min,
                              end_of_sum(*with_u, t, upper, cases - 1),
                              end_of_sum(*with_v, t, upper, cases - 1));
            }
            if (!better.defined()) continue;
            if (!plain.defined() || is_const(better)) return tighter_end(plain, better, upper);
            return make(upper ? NodeKind::Min : NodeKind::Max, plain, better);
        }
        return plain;
    }

    Expr tighter_end(const Expr &a, const Expr &b, bool upper) {
        return a.defined() ? make(upper ? NodeKind::Min : NodeKind::Max, a, b) : b;
    }

    std::optional<LinearForm> replaced(const LinearForm &f, const LinearTerm &t, const Expr &u) {
        LinearForm rest = f;
        std::erase_if(rest.terms, [&](const LinearTerm &o) { return o.atom.same_as(t.atom); });
        return add(rest, s.form(u), t.coefficient);
    }

    // Unknown where the numbers in it add up to none of its type: an operand of a min or max that
    // is put in its place may be the largest there is.
    Expr sum_of_ends(const LinearForm &f, Type t, bool upper) {
        ConstantInterval constant = ConstantInterval::point(f.constant);
        Expr sum = number(t, 0);
        for (const LinearTerm &term : f.terms) {
            Interval i = bounds(term.atom);
            const Expr &end = (term.coefficient > 0) == upper ? i.max : i.min;
            if (!end.defined()) return {};
            if (auto value = as_const_int(end)) {
                constant = constant + ConstantInterval::point(*value) *
                                          ConstantInterval::point(term.coefficient);
            } else {
                sum = s.make_sum(sum, end, term.coefficient);
            }
        }
        if (!constant.bounded() || !t.can_represent(constant.min)) return {};
        return s.make_sum(sum, number(t, constant.min), 1);
    }

    Interval of_variable(const Variable &v) {
        auto found = intervals.find(v.name);
        if (found == intervals.end()) return {};
        Interval i = found->second;
        bool open = std::find(expanding.begin(), expanding.end(), v.name) != expanding.end();
        if (open) return i;
        // The ends may name other variables of the scope.
        expanding.push_back(v.name);
        if (i.min.defined() && !is_point(i.min)) i.min = bounds(i.min).min;
        if (i.max.defined() && !is_point(i.max)) i.max = bounds(i.max).max;
        expanding.pop_back();
        return i;
    }

    bool can_wrap(Type t, const ConstantInterval &c) {
        return t.is_int_or_uint() && !is_exact(t) && !c.fits(t);
    }

    Interval arithmetic(const Expr &e) {
        NodeKind op = e.kind();
        const auto [x, y] = op == NodeKind::Add   ? std::pair(e.as<Add>()->a, e.as<Add>()->b)
                            : op == NodeKind::Sub ? std::pair(e.as<Sub>()->a, e.as<Sub>()->b)
                                                  : std::pair(e.as<Mul>()->a, e.as<Mul>()->b);
        Interval a = bounds(x), b = bounds(y);
        ConstantInterval ca = constants(a), cb = constants(b);
        ConstantInterval c = op == NodeKind::Add   ? ca + cb
                             : op == NodeKind::Sub ? ca - cb
                                                   : ca * cb;
        if (can_wrap(e.type(), c)) return of_type(e.type());
        if (op == NodeKind::Add) return {make(op, a.min, b.min), make(op, a.max, b.max)};
        if (op == NodeKind::Sub) return {make(op, a.min, b.max), make(op, a.max, b.min)};
        return x.same_as(y) && e.type().is_any_float() ? square(a) : product(a, b);
    }

    // 1: never negative, -1: never positive, 0: unknown.
    int sign_of(const Interval &i) {
        const Expr &end = i.min.defined() ? i.min : i.max;
        if (end.defined() && end.type().is_any_float()) {
            return sign_of_float(i.min) > 0 ? 1 : sign_of_float(i.max) < 0 ? -1 : 0;
        }
        ConstantInterval c = constants(i);
        return c.min >= 0 ? 1 : c.max <= 0 ? -1 : 0;
    }

    // 1: 0 or more, -1: 0 or less; 0: unknown. Of a number: what is none has no sign.
    int sign_of_float(const Expr &e, int depth = 0) {
        constexpr int deepest = 8;
        if (!e.defined() || depth > deepest) return 0;
        auto sign = [&](const Expr &operand) { return sign_of_float(operand, depth + 1); };
        auto common = [&](const Expr &a, const Expr &b) {
            const int of_a = sign(a);
            return of_a != 0 && of_a == sign(b) ? of_a : 0;
        };
        return match(
            e, [](const FloatImm &n) { return n.value >= 0   ? 1
                                              : n.value <= 0 ? -1
                                                             : 0; },
            [&](const Cast &c) {
                if (!c.value.type().is_int_or_uint()) return 0;
                const ConstantInterval i = s.interval(c.value);
                return i.min >= 0 ? 1 : i.max <= 0 ? -1 : 0;
            },
            [&](const Select &n) { return common(n.true_value, n.false_value); },
            [&](const Add &n) { return common(n.a, n.b); },
            [&](const Mul &n) { return equal(n.a, n.b) ? 1 : 0; },
            [&](const IntrinsicCall &c) {
                return c.op == Intrinsic::strict_float ? sign(c.args[0])
                       : c.op == Intrinsic::abs        ? 1
                                                       : 0;
            },
            otherwise(0));
    }

    Expr choose(const Expr &condition, const Expr &a, const Expr &b) {
        return a.defined() && b.defined() ? s.make_select(condition, a, b) : Expr();
    }
    Expr not_negative(const Expr &e) { return s.make(NodeKind::LE, make_zero(e.type()), e); }

    Interval square(const Interval &a) {
        if (int sign = sign_of(a)) {
            return sign > 0 ? product(a, a)
                            : Interval{make(NodeKind::Mul, a.max, a.max),
                                       make(NodeKind::Mul, a.min, a.min)};
        }
        const Expr &end = a.min.defined() ? a.min : a.max;
        if (!end.defined()) return {};
        Expr zero = s.intern(make_zero(end.type()));
        if (!a.is_bounded()) return {zero, {}};
        Expr low = make(NodeKind::Mul, a.min, a.min), high = make(NodeKind::Mul, a.max, a.max);
        Expr nearest =
            s.make_select(not_negative(a.min), low, s.make_select(not_negative(a.max), zero, high));
        return {nearest, upper_of(low, high)};
    }

    Interval product(const Interval &a, const Interval &b) {
        NodeKind mul = NodeKind::Mul;
        int sa = sign_of(a), sb = sign_of(b);
        bool a_point = a.is_single_point(), b_point = b.is_single_point();
        if (!b_point && a_point) return product(b, a);
        if (b_point && sb > 0) return {make(mul, a.min, b.min), make(mul, a.max, b.min)};
        if (b_point && sb < 0) return {make(mul, a.max, b.min), make(mul, a.min, b.min)};
        if (b_point && b.min.type().is_any_float()) return scaled(mul, a, b.min);
        if (sa > 0 && sb > 0) return {make(mul, a.min, b.min), make(mul, a.max, b.max)};
        if (!a.is_bounded() || !b.is_bounded()) return {};
        Expr p = make(mul, a.min, b.min), q = make(mul, a.max, b.min);
        Interval r{lower_of(p, q), upper_of(p, q)};
        if (b_point) return r;
        p = make(mul, a.min, b.max), q = make(mul, a.max, b.max);
        return unite(r, {lower_of(p, q), upper_of(p, q)});
    }

    // The product with, or quotient by, a float of unknown sign. Ends are chosen by the sign, as
    // the smaller one of both is no end if the other is 0 * infinity, which is not a number.
    Interval scaled(NodeKind op, const Interval &a, const Expr &b) {
        Expr rises = not_negative(b);
        return {make(op, choose(rises, a.min, a.max), b), make(op, choose(rises, a.max, a.min), b)};
    }

    // The quotient of floats is smallest or largest at ends of both intervals, if 0 is not within
    // that of the divisor; whether it is may be known only when the code runs.
    Interval division_of_floats(const Interval &a, const Interval &b) {
        NodeKind div = NodeKind::Div;
        if (b.is_single_point()) {
            const auto *number = b.min.as<FloatImm>();
            if (number && number->value == 0) return {};
            int sign = sign_of(b);
            if (sign > 0) return {make(div, a.min, b.min), make(div, a.max, b.min)};
            if (sign < 0) return {make(div, a.max, b.min), make(div, a.min, b.min)};
            return scaled(div, a, b.min);
        }
        if (!a.is_bounded() || !b.is_bounded()) return {};
        Type t = b.min.type();
        Expr zero = s.intern(make_zero(t));
        Expr above = s.make(NodeKind::LT, zero, b.min), below = s.make(NodeKind::LT, b.max, zero);
        if (is_false(above) && is_false(below)) return {};
        Expr p = make(div, a.min, b.min), q = make(div, a.min, b.max);
        Expr u = make(div, a.max, b.min), v = make(div, a.max, b.max);
        Expr keeps_sign = s.make(NodeKind::Or, above, below);
        Expr infinity = s.intern(t.max()), minus_infinity = s.intern(t.min());
        return {choose(keeps_sign, lower_of(lower_of(p, q), lower_of(u, v)), minus_infinity),
                choose(keeps_sign, upper_of(upper_of(p, q), upper_of(u, v)), infinity)};
    }

    Interval division(const Expr &x, const Expr &y) {
        Interval a = bounds(x), b = bounds(y);
        NodeKind div = NodeKind::Div;
        Type t = x.type();
        if (t.is_any_float()) return division_of_floats(a, b);
        ConstantInterval cb = constants(b);
        if (b.is_single_point() && cb.min > 0) {
            return {make(div, a.min, b.min), make(div, a.max, b.min)};
        }
        if (b.is_single_point() && cb.max < 0) {
            if (can_wrap(t, constants(a) / cb)) return of_type(t);
            return {make(div, a.max, b.min), make(div, a.min, b.min)};
        }
        if (b.is_single_point() && a.is_bounded()) {
            // Of unknown sign: the quotient rises or falls all the way, and is 0 where b is.
            if (t.is_int() && can_wrap(t, constants(a) * ConstantInterval{-1, 1})) {
                return of_type(t);
            }
            Expr p = make(div, a.min, b.min), q = make(div, a.max, b.min);
            return {lower_of(p, q), upper_of(p, q)};
        }
        Expr zero = number(t, 0);
        if (cb.min > 0) {
            // The quotient is largest at the smallest divisor, or close to zero at the largest.
            Interval r{make(div, a.min, b.min), make(div, a.max, b.min)};
            Expr far_min = b.max.defined() ? make(div, a.min, b.max) : zero;
            Expr far_max = b.max.defined() ? make(div, a.max, b.max) : zero;
            return {lower_of(r.min, far_min), upper_of(r.max, far_max)};
        }
        if (t.is_uint()) return a.max.defined() ? Interval{zero, a.max} : of_type(t);
        if (cb.min >= 0) return {lower_of(a.min, zero), upper_of(a.max, zero)};
        if (!a.is_bounded() || can_wrap(t, constants(a) * ConstantInterval{-1, 1}))
            return of_type(t);
        Expr negated_max = make(NodeKind::Sub, zero, a.max),
             negated_min = make(NodeKind::Sub, zero, a.min);
        return {lower_of(zero, lower_of(a.min, negated_max)),
                upper_of(zero, upper_of(a.max, negated_min))};
    }

    // From 0 to the divisor, which is rounded up to, and off by what the quotient is rounded by.
    Interval remainder_of_floats(const Interval &a, const Interval &b) {
        if (!a.is_bounded() || !b.is_single_point()) return {};
        Expr zero = s.intern(make_zero(b.min.type())), size = size_of(a);
        Expr off = make(NodeKind::Mul, size, s.intern(rounding_of(b.min.type())));
        return {make(NodeKind::Sub, lower_of(b.min, zero), off),
                make(NodeKind::Add, upper_of(b.min, zero), off)};
    }

    // The largest absolute value of floats.
    Expr size_of(const Interval &a) {
        return upper_of(a.max, make(NodeKind::Sub, s.intern(make_zero(a.min.type())), a.min));
    }

    // More than what a function of the mathematical library is off by, in terms of its value.
    static Expr rounding_of(Type t) {
        return make_float_const(t, t.bits() == 64 ? 0x1p-48 : t.bits() == 32 ? 0x1p-19 : 0x1p-6);
    }

    Interval modulus(const Expr &e) {
        const auto *m = e.as<Mod>();
        Type t = e.type();
        if (t.is_any_float()) return remainder_of_floats(bounds(m->a), bounds(m->b));
        Interval a = bounds(m->a), b = bounds(m->b);
        ConstantInterval ca = constants(a), cb = constants(b);
        Expr zero = number(t, 0), one = number(t, 1);
        Interval r{zero, {}};
        if (cb.min > 0) {
            r.max = make(NodeKind::Sub, b.max, one);
            if (b.is_single_point() && a.is_bounded()) {
                Expr q = make(NodeKind::Div, a.min, b.min);
                if (q.same_as(make(NodeKind::Div, a.max, b.min))) {
                    return {make(NodeKind::Mod, a.min, b.min), make(NodeKind::Mod, a.max, b.min)};
                }
            }
        } else if (b.is_bounded() && is_exact(t)) {
            Expr size = upper_of(b.max, make(NodeKind::Sub, zero, b.min));
            r.max = upper_of(zero, make(NodeKind::Sub, size, one));
        } else if (cb.bounded() && !is_exact(t)) {
            int64_t size = std::max(std::abs(cb.min), std::abs(cb.max));
            r = of_constants(t, {0, std::max<int64_t>(0, size - 1)});
        }
        if (ca.min >= 0 && a.max.defined()) {
            r.max = r.max.defined() ? lower_of(r.max, a.max) : a.max;
        }
        return r;
    }

    Interval min_max(const Interval &a, const Interval &b, NodeKind op) {
        Interval r{make(op, a.min, b.min), make(op, a.max, b.max)};
        Expr &open = op == NodeKind::Min ? r.max : r.min;
        if (!open.defined()) {
            const Expr &x = op == NodeKind::Min ? a.max : a.min;
            open = x.defined() ? x : op == NodeKind::Min ? b.max : b.min;
        }
        return r;
    }

    Interval of_select(const Select &q) {
        if (q.condition.type().is_scalar() && q.condition.type().is_bool() &&
            is_point(q.condition)) {
            Interval a = bounds(q.true_value), b = bounds(q.false_value);
            auto pick = [&](const Expr &u, const Expr &v) {
                return u.defined() && v.defined() ? s.make_select(q.condition, u, v) : Expr();
            };
            return {pick(a.min, b.min), pick(a.max, b.max)};
        }
        Interval a = under(q.condition, q.true_value);
        Interval b = under(s.make_not(q.condition), q.false_value);
        return unite(a, b);
    }

    static bool is_small(const Expr &e) {
        std::unordered_set<const ExprNode *> seen;
        for_each_postorder(
            e, [&](const Expr &n) { return seen.size() > small_branch || seen.count(n.get()) > 0; },
            [&](const Expr &n) { seen.insert(n.get()); });
        return seen.size() <= small_branch;
    }

    // The bounds of the value where the condition holds: it may narrow the interval of a variable.
    Interval under(const Expr &condition, const Expr &value) {
        Interval plain = bounds(value);
        if (is_point(value) || depth > 2 || narrowed_values >= max_narrowed || !is_small(value)) {
            return plain;
        }
        if (const auto *call = condition.as<IntrinsicCall>();
            call && (call->op == Intrinsic::likely || call->op == Intrinsic::likely_if_innermost)) {
            return under(call->args[0], value);
        }
        if (const auto *both = condition.as<And>()) {
            return tighter(under(both->a, value), under(both->b, value));
        }
        Expr a, b;
        int64_t less = 0;
        if (const auto *n = condition.as<LT>()) {
            a = n->a, b = n->b, less = 1;
        } else if (const auto *n = condition.as<LE>()) {
            a = n->a, b = n->b;
        } else {
            return plain;
        }
        if (!is_exact(a.type()) || a.type().is_vector()) return plain;
        auto f = add(s.form(b), s.form(a), -1);
        if (!f) return plain;
        f->constant -= less;
        for (const LinearTerm &t : f->terms) {
            const auto *v = t.atom.as<Variable>();
            auto found = v ? intervals.find(v->name) : intervals.end();
            if (found == intervals.end() || std::abs(t.coefficient) != 1) continue;
            LinearForm rest = *f;
            std::erase_if(rest.terms, [&](const LinearTerm &o) { return o.atom.same_as(t.atom); });
            // t.coefficient * v + rest >= 0, for the largest value of rest
            Expr most = end_of_sum(rest, a.type(), true, 1);
            if (!most.defined()) continue;
            Interval narrowed = of_variable(*v);
            if (t.coefficient > 0) {
                narrowed = tighter(narrowed, {make(NodeKind::Sub, number(a.type(), 0), most), {}});
            } else {
                narrowed = tighter(narrowed, {{}, most});
            }
            return tighter(plain, narrowed_bounds(v->name, narrowed, value));
        }
        return plain;
    }

    Interval narrowed_bounds(Symbol name, const Interval &narrowed, const Expr &value) {
        Interval before = std::exchange(intervals[name], narrowed);
        auto old_memo = std::exchange(memo, {});
        depth++;
        narrowed_values++;
        s.enter(true);
        s.bind(name, narrowed);
        Interval i = bounds(value);
        s.leave();
        depth--;
        memo = std::move(old_memo);
        intervals[name] = before;
        return i;
    }

    static bool fits(Type t, const Expr &end) {
        const auto *number = end.defined() ? end.as<FloatImm>() : nullptr;
        return number && number->value >= double(t.min_int()) &&
               number->value < double(t.max_int()) + 1;
    }

    // Rounded as values are in an index.
    Expr strict(const Expr &end) { return end.defined() ? s.intern(as_strict_float(end)) : end; }

    // The cast saturates, as that of the value does. A number that does not fit is no end.
    Expr cast_outer_end(Type t, const Expr &end) {
        if (!end.defined() || (end.as<FloatImm>() && !fits(t, end))) return {};
        return s.make_cast(t.element_of(), strict(end));
    }

    Interval of_cast(Type t, const Interval &i, const Expr &value) {
        Type from = value.type();
        auto cast_end = [&](const Expr &end) {
            return end.defined() ? s.make_cast(t.element_of(), end) : end;
        };
        Interval cast_ends{cast_end(i.min), cast_end(i.max)};
        if (t.is_any_float()) return cast_ends;
        if (!t.is_int_or_uint()) return {};
        if (!from.is_int_or_uint()) {
            if (fits(t, i.min) && fits(t, i.max)) return cast_ends;
            return is_exact(t) ? Interval{cast_outer_end(t, i.min), cast_outer_end(t, i.max)}
                               : of_type(t);
        }
        Type element = t.element_of();
        if (element.can_represent(from.element_of())) return cast_ends;
        ConstantInterval c = constants(i);
        bool fits = c.bounded() && element.can_represent(c.min) && element.can_represent(c.max);
        return fits || is_distance_that_fits(t, value) ? cast_ends : of_type(t);
    }

    // Whether this is |a| or |a - b| of coordinates, cast to a signed type as wide. Coordinates are
    // within 2^30, so their distances fit; constants beyond that are no coordinates.
    bool is_distance_that_fits(Type t, const Expr &value) {
        const auto *c = value.as<IntrinsicCall>();
        if (!c || (c->op != Intrinsic::abs && c->op != Intrinsic::absd)) return false;
        Type from = c->args[0].type();
        if (!is_exact(from) || !t.is_int() || t.bits() < from.bits()) return false;
        constexpr int64_t largest = int64_t(1) << 30;
        for (const Expr &arg : c->args) {
            Interval a = bounds(arg);
            if (!a.is_bounded()) return false;
            for (const Expr &end : {a.min, a.max}) {
                auto constant = as_const_int(end);
                if (constant && (*constant < -largest || *constant > largest)) return false;
            }
        }
        return true;
    }

    Interval comparison(NodeKind op, const Expr &x, const Expr &y) {
        Interval a = bounds(x), b = bounds(y);
        if (x.type().is_any_float()) {
            a = {strict(a.min), strict(a.max)};
            b = {strict(b.min), strict(b.max)};
        }
        Interval r{make(op, a.max, b.min), make(op, a.min, b.max)};
        if (!r.min.defined()) r.min = s.intern(const_false());
        if (!r.max.defined()) r.max = s.intern(const_true());
        return r;
    }

    Interval logic(const Expr &e) {
        NodeKind op = e.kind();
        Interval a = bounds(op == NodeKind::And ? e.as<And>()->a : e.as<Or>()->a);
        Interval b = bounds(op == NodeKind::And ? e.as<And>()->b : e.as<Or>()->b);
        return {make(op, a.min, b.min), make(op, a.max, b.max)};
    }

    Interval of_ramp(const Ramp &r) {
        Interval base = bounds(r.base), stride = bounds(r.stride);
        Type t = r.base.type().element_of();
        if (!t.is_int_or_uint()) return {};
        Expr steps = number(t, r.lanes - 1), zero = number(t, 0);
        ConstantInterval c = constants(base) + constants(stride) * ConstantInterval{0, r.lanes - 1};
        if (can_wrap(t, c)) return of_type(t);
        Expr down = make(NodeKind::Mul, stride.min, steps),
             up = make(NodeKind::Mul, stride.max, steps);
        return {make(NodeKind::Add, base.min, lower_of(down, zero)),
                make(NodeKind::Add, base.max, upper_of(up, zero))};
    }

    // Ends that are not small get a name, so that a chain of lets stays linear.
    Interval of_let(const Expr &e) {
        Expr rest = e;
        while (const auto *let = rest.as<Let>()) {
            Interval i = bounds(let->value);
            i.min = named(let->name, i.min);
            i.max = i.is_single_point() ? i.min : named(let->name, i.max);
            intervals[let->name] = i;
            s.bind(let->name, i);
            rest = let->body;
        }
        return bounds(rest);
    }

    Expr named_if_deep(const Expr &end) {
        if (!end.defined() || end->depth <= deep_end) return end;
        auto known = names.find(end.get());
        if (known != names.end()) return known->second;
        alive.push_back(end);
        return names[end.get()] = named(Symbol::fresh("end"), end);
    }

    Expr named(Symbol name, const Expr &end) {
        if (!end.defined() || Simplifier::is_cheap(end)) return end;
        if (const auto *m = end.as<Mul>(); m && m->a.as<Variable>() && is_const(m->b)) return end;
        Symbol fresh = Symbol::fresh(name.text());
        Expr value = end.type().is_any_float() ? strict(end) : end;
        lets.push_back({fresh, value});
        s.bind_value(fresh, value);
        return s.intern(Variable::make(end.type(), fresh));
    }

    Expr with_lets(Expr e) {
        if (!e.defined() || lets.empty()) return e;
        std::unordered_set<Symbol> used;
        std::unordered_set<const ExprNode *> seen;
        auto collect = [&](const Expr &root) {
            for_each_postorder(
                root, [&](const Expr &n) { return seen.count(n.get()) > 0; },
                [&](const Expr &n) {
                    seen.insert(n.get());
                    for_own_symbol(n, [&](Symbol name) { used.insert(name); });
                });
        };
        collect(e);
        for (size_t i = lets.size(); i-- > 0;) {
            if (!used.count(lets[i].name)) continue;
            collect(lets[i].value);
            e = Let::make(lets[i].name, lets[i].value, e);
        }
        return e;
    }

    Interval of_call(const Call &c) {
        Interval i = outer.call_bounds(c);
        return {simple(i.min), simple(i.max)};
    }

    Interval of_intrinsic(const IntrinsicCall &c) {
        Type t = c.type;
        auto apply = [&](const Expr &end) {
            if (!end.defined()) return end;
            return s.make_call(
                *c.with<&IntrinsicCall::type, &IntrinsicCall::args>(t.element_of(), {end})
                     .as<IntrinsicCall>());
        };
        switch (c.op) {
        case Intrinsic::likely:
        case Intrinsic::likely_if_innermost:
        case Intrinsic::strict_float: return bounds(c.args[0]);
        case Intrinsic::return_second:
        case Intrinsic::require: return bounds(c.args[1]);
        case Intrinsic::promise_clamped:
        case Intrinsic::unsafe_promise_clamped:
            return tighter(bounds(c.args[0]), {bounds(c.args[1]).min, bounds(c.args[2]).max});
        case Intrinsic::if_then_else: {
            Expr otherwise = c.args.size() == 3 ? c.args[2] : make_zero(c.args[1].type());
            return unite(bounds(c.args[1]), bounds(otherwise));
        }
        case Intrinsic::gather:
        case Intrinsic::scatter: {
            Interval a = bounds(c.args[0]);
            for (size_t i = 1; i < c.args.size(); i++) a = unite(a, bounds(c.args[i]));
            return a;
        }
        case Intrinsic::floor:
        case Intrinsic::ceil:
        case Intrinsic::trunc:
        case Intrinsic::round: {
            Interval a = bounds(c.args[0]);
            return {apply(a.min), apply(a.max)};
        }
        case Intrinsic::exp:
        case Intrinsic::tanh:
        case Intrinsic::atan: {
            Interval a = bounds(c.args[0]);
            return nearly({apply(a.min), apply(a.max)});
        }
        case Intrinsic::sqrt: {
            // Of what is negative it is not a number, which is cast to the largest integer.
            Interval a = bounds(c.args[0]);
            if (sign_of_float(a.min) > 0) return {apply(a.min), apply(a.max)};
            if (!a.is_bounded()) return {make_zero(t.element_of()), {}};
            Expr real = not_negative(a.min);
            return {choose(real, apply(a.min), s.intern(make_zero(t.element_of()))),
                    choose(real, apply(a.max), s.intern(t.element_of().max()))};
        }
        case Intrinsic::log: {
            Interval a = bounds(c.args[0]);
            if (!a.is_bounded()) return {};
            Expr real = not_negative(a.min);
            Interval r = nearly({apply(a.min), apply(a.max)});
            return {choose(real, r.min, s.intern(t.element_of().min())),
                    choose(real, r.max, s.intern(t.element_of().max()))};
        }
        case Intrinsic::lerp:
            // Of integers, rounded: between both.
            if (!t.is_int_or_uint() || !c.args[2].type().is_uint()) return {};
            return unite(bounds(c.args[0]), bounds(c.args[1]));
        case Intrinsic::saturating_cast: {
            Interval a = bounds(c.args[0]), all = of_type(t);
            if (c.args[0].type().is_any_float()) a = {strict(a.min), strict(a.max)};
            return {a.min.defined() ? apply(a.min) : all.min,
                    a.max.defined() ? apply(a.max) : all.max};
        }
        case Intrinsic::abs: return of_abs(t, bounds(c.args[0]));
        case Intrinsic::absd:
            if (!is_exact(c.args[0].type())) return {};
            return of_abs(t, bounds(make(NodeKind::Sub, c.args[0], c.args[1])));
        default: return {};
        }
    }

    // Vectors and scalars may have functions of their own, neither of which is quite monotone.
    Interval nearly(const Interval &i) {
        auto moved = [&](const Expr &end, NodeKind away) -> Expr {
            if (!end.defined()) return {};
            Type t = end.type();
            Expr size = s.make_call(*call(t, Intrinsic::abs, {end}).as<IntrinsicCall>());
            return s.make(away, end, s.make(NodeKind::Mul, size, s.intern(rounding_of(t))));
        };
        return {moved(i.min, NodeKind::Sub), moved(i.max, NodeKind::Add)};
    }

    Interval of_abs(Type t, const Interval &a) {
        Type from = a.is_everything() ? t : (a.min.defined() ? a.min : a.max).type();
        if (a.is_everything()) return {make_zero(t.element_of()), {}};
        if (from.is_any_float()) {
            if (sign_of(a) > 0) return a;
            return {make_zero(t.element_of()), a.is_bounded() ? size_of(a) : Expr()};
        }
        auto positive = [&](const Expr &end) { return s.make_cast(t.element_of(), end); };
        ConstantInterval c = constants(a);
        if (c.min >= 0) return {positive(a.min), a.max.defined() ? positive(a.max) : Expr()};
        Interval r{number(t, 0), {}};
        if (!a.is_bounded() || !is_exact(from)) return r;
        Expr size = upper_of(a.max, make(NodeKind::Sub, number(from, 0), a.min));
        r.max = positive(upper_of(size, number(from, 0)));
        return r;
    }

    Simplifier s;
    const IntervalScope &outer;
    std::unordered_map<Symbol, Interval> intervals;
    std::unordered_map<const ExprNode *, Interval> memo;
    std::unordered_map<const ExprNode *, bool> points;
    std::vector<Expr> alive;
    std::vector<Symbol> expanding;
    std::vector<Bound> lets;
    std::unordered_map<const ExprNode *, Expr> names;  // of deep ends
    std::unordered_set<Symbol> let_names;
    int depth = 0, narrowed_values = 0;
};

}  // namespace

Interval bounds_of_expr(const Expr &e, const IntervalScope &scope) {
    return BoundsFinder(scope).run(e);
}

std::pair<Interval, Interval> bounds_of_exprs(const Expr &a, const Expr &b,
                                              const IntervalScope &scope) {
    BoundsFinder finder(scope);
    const Interval first = finder.run(a);
    return {first, finder.run(b)};
}

}  // namespace tessera::algebra
