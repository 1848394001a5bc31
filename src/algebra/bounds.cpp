#include "algebra/bounds_finder.h"
#include "algebra/walk.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::algebra {

using namespace ir;

namespace {

constexpr int max_cases = 3;  // nested case distinctions about one sum
constexpr int deep_end = 24;  // operations within one another of which one has a name

// Finds the variables of a scope that expressions depend on.
class VariableFinder final : public Visitor {
public:
    explicit VariableFinder(const IntervalScope &scope)
        : Visitor(Visits::LeavesPerUse), scope(scope) {}
    std::unordered_set<Symbol> found;
    bool calls = false;

private:
    void visit(const Variable &v) override {
        const Interval *i = scope.find(v.name);
        if (!i || !found.insert(v.name).second) return;
        (*this)(i->min);
        (*this)(i->max);
    }
    void visit(const Call &c) override {
        calls = true;
        Visitor::visit(c);
    }
    const IntervalScope &scope;
};

// Returns them in the order in which they were made: all of the scope, if facts or bounds of calls
// may name any.
std::vector<Symbol> variables_of(std::initializer_list<Expr> exprs, const IntervalScope &scope) {
    if (scope.empty()) return {};
    VariableFinder finder(scope);
    for (const Expr &e : exprs) finder(e);
    const bool any = !scope.facts.empty() || (finder.calls && scope.call_bounds);
    std::vector<Symbol> symbols;
    for (const auto &[symbol, interval] : scope.all()) {
        if (any || finder.found.contains(symbol)) symbols.push_back(symbol);
    }
    std::ranges::sort(symbols);
    return symbols;
}

}  // namespace

BoundsFinder::BoundsFinder(const IntervalScope &scope, std::initializer_list<Expr> questions)
    : s(scope.facts), outer(scope) {
    const std::vector<Symbol> symbols = variables_of(questions, scope);
    for (Symbol symbol : symbols) {
        const Interval &i = *scope.find(symbol);
        intervals[symbol] = {simple(i.min), simple(i.max)};
    }
    for (Symbol symbol : symbols) s.known.bind(symbol, intervals.at(symbol));
}

Interval BoundsFinder::run(const Expr &e) {
    Expr simplified = s(e);
    for_each_node(simplified, [&](const Let &let) { let_names.insert(let.name); });
    Interval i = bounds(simplified);
    if (e.type().is_int_or_uint()) i = within_known(i, e.type(), interval_as_written(e));
    return {with_lets(i.min), with_lets(i.max)};
}

ConstantInterval BoundsFinder::interval_as_written(const Expr &e) {
    SeenNodes<const ExprNode *> seen;
    for_each_postorder(
        e, [&](const Expr &n) { return seen.contains(n.get()); },
        [&](const Expr &n) {
            seen.insert(n.get());
            s.known.interval(n);  // remembered: what is deep is not found by recursion
        });
    return s.known.interval(e);
}

Expr BoundsFinder::make(NodeKind op, const Expr &a, const Expr &b) {
    return a.defined() && b.defined() ? s.rewriter.make(op, a, b) : Expr();
}

Interval BoundsFinder::unite(const Interval &a, const Interval &b) {
    return {lower_of(a.min, b.min), upper_of(a.max, b.max)};
}

Interval BoundsFinder::tighter(const Interval &a, const Interval &b) {
    Interval r;
    r.min = !a.min.defined() ? b.min : b.min.defined() ? upper_of(a.min, b.min) : a.min;
    r.max = !a.max.defined() ? b.max : b.max.defined() ? lower_of(a.max, b.max) : a.max;
    return r;
}

Interval BoundsFinder::of_type(Type t) {
    if (t.is_bool() || (t.is_int_or_uint() && t.bits() < 32)) {
        return {number(t, t.min_int()), number(t, t.max_int())};
    }
    if (t.is_uint()) return {number(t, 0), Expr()};
    return {};
}

ConstantInterval BoundsFinder::constants(const Interval &i) {
    return {i.min.defined() ? s.known.interval(i.min).min : ConstantInterval::lowest,
            i.max.defined() ? s.known.interval(i.max).max : ConstantInterval::highest};
}

Interval BoundsFinder::of_constants(Type t, const ConstantInterval &c) {
    Interval r;
    if (c.has_min() && t.element_of().can_represent(c.min)) r.min = number(t, c.min);
    if (c.has_max() && t.element_of().can_represent(c.max)) r.max = number(t, c.max);
    return r;
}

bool BoundsFinder::is_several(const IntrinsicCall &c) {
    return c.op == Intrinsic::gather || c.op == Intrinsic::scatter;
}

bool BoundsFinder::is_point(const Expr &e) {
    auto is_known = [&](const Expr &n) { return points.count(n.get()) > 0; };
    if (is_known(e)) return points.at(e.get());
    // Ends of the scope's intervals have lets of their own, whose variables are no points.
    SeenNodes<const ExprNode *> seen;
    for_each_postorder(
        e, [&](const Expr &n) { return is_known(n) || seen.contains(n.get()); },
        [&](const Expr &n) {
            seen.insert(n.get());
            if (const auto *let = n.as<Let>()) let_names.insert(let->name);
        });
    for_each_postorder(e, is_known, [&](const Expr &n) {
        bool point = s.known.is_pure(n) && !n.as<Load>() && !n.as<Let>();
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

Interval BoundsFinder::bounds(const Expr &e) {
    if (e.type().is_scalar() && is_point(e)) return Interval::single_point(e);
    auto found = memo.find(e.get());
    if (found != memo.end()) return found->second;
    Interval i = compute(e);
    Type t = e.type();
    bool narrow = t.is_int_or_uint() && !is_exact(t);
    if (narrow || !i.is_bounded()) {
        Interval all = of_type(t), known = of_constants(t, s.known.interval(e));
        if (!t.is_int_or_uint()) known = {};
        for (const Interval &other : {known, all}) {
            if (!i.min.defined()) i.min = other.min;
            if (!i.max.defined()) i.max = other.max;
        }
    }
    if (t.is_int_or_uint()) i = within_known(i, t, s.known.interval(e));
    // Naming a large end once saves searching the parts that ends share again for each.
    const bool point = i.is_single_point();
    i.min = named_if_deep(i.min);
    i.max = point ? i.min : named_if_deep(i.max);
    memo[e.get()] = i;
    alive.push_back(e);
    return i;
}

Interval BoundsFinder::within_known(Interval i, Type t, const ConstantInterval &known) {
    Interval ends = of_constants(t, known);
    if (!i.min.defined()) i.min = ends.min;
    if (!i.max.defined()) i.max = ends.max;
    if (ends.min.defined() && s.known.interval(i.min).min < known.min) {
        i.min = upper_of(i.min, ends.min);
    }
    if (ends.max.defined() && s.known.interval(i.max).max > known.max) {
        i.max = lower_of(i.max, ends.max);
    }
    return i;
}

Interval BoundsFinder::compute(const Expr &e) {
    Type t = e.type();
    if (is_exact(t)) {
        LinearForm f = s.known.form(e);  // bounds are asked for of coordinates
        bool itself = f.terms.size() == 1 && f.constant == 0 && f.terms[0].atom.same_as(e);
        if (!itself) {
            // Let-bound values are looked into first, so that the form is found again.
            Interval i;
            i.min = end_of_sum(f, t.element_of(), false, max_cases);
            i.max = end_of_sum(f, t.element_of(), true, max_cases);
            // A sum of data that may be anything on one side may wrap beyond the other end.
            const bool is_one_sided = i.min.defined() != i.max.defined();
            return is_one_sided && !(s.known.exact_form(e) == f) ? Interval() : i;
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
        return {s.rewriter.make_not(a.max), s.rewriter.make_not(a.min)};
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
        bool one_of = r->op == ReduceOp::Min || r->op == ReduceOp::Max || r->op == ReduceOp::And ||
                      r->op == ReduceOp::Or;
        return one_of ? bounds(r->value) : Interval();
    }
    default:
        if (auto value = as_const_int(e); value && e.type().is_vector()) {
            return Interval::single_point(number(t, *value));
        }
        return {};
    }
}

Expr BoundsFinder::end_of_sum(const LinearForm &f, Type t, bool upper, int cases) {
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
        if (s.known.may_overflow(*with_u, t) || s.known.may_overflow(*with_v, t)) continue;
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

Expr BoundsFinder::tighter_end(const Expr &a, const Expr &b, bool upper) {
    return a.defined() ? make(upper ? NodeKind::Min : NodeKind::Max, a, b) : b;
}

std::optional<LinearForm> BoundsFinder::replaced(const LinearForm &f, const LinearTerm &t,
                                                 const Expr &u) {
    LinearForm rest = f;
    std::erase_if(rest.terms, [&](const LinearTerm &o) { return o.atom.same_as(t.atom); });
    return add(rest, s.known.exact_form(u), t.coefficient);
}

Expr BoundsFinder::sum_of_ends(const LinearForm &f, Type t, bool upper) {
    ConstantInterval constant = ConstantInterval::point(f.constant);
    Expr sum = number(t, 0);
    for (const LinearTerm &term : f.terms) {
        Interval i = bounds(term.atom);
        const Expr &end = (term.coefficient > 0) == upper ? i.max : i.min;
        if (!end.defined()) return {};
        if (auto value = as_const_int(end)) {
            constant = constant +
                       ConstantInterval::point(*value) * ConstantInterval::point(term.coefficient);
        } else {
            sum = s.rewriter.make_sum(sum, end, term.coefficient);
        }
    }
    if (!constant.bounded() || !t.can_represent(constant.min)) return {};
    return s.rewriter.make_sum(sum, number(t, constant.min), 1);
}

Interval BoundsFinder::of_variable(const Variable &v) {
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

bool BoundsFinder::can_wrap(Type t, const ConstantInterval &c) {
    return t.is_int_or_uint() && !is_exact(t) && !c.fits(t);
}

Interval BoundsFinder::of_let(const Expr &e) {
    Expr rest = e;
    while (const auto *let = rest.as<Let>()) {
        Interval i = bounds(let->value);
        i.min = named(let->name, i.min);
        i.max = i.is_single_point() ? i.min : named(let->name, i.max);
        intervals[let->name] = i;
        s.known.bind(let->name, i);
        rest = let->body;
    }
    return bounds(rest);
}

Expr BoundsFinder::named_if_deep(const Expr &end) {
    if (!end.defined() || end->depth <= deep_end) return end;
    auto known = names.find(end.get());
    if (known != names.end()) return known->second;
    alive.push_back(end);
    return names[end.get()] = named(Symbol::fresh("end"), end);
}

Expr BoundsFinder::named(Symbol name, const Expr &end) {
    if (!end.defined() || is_cheap(end)) return end;
    if (const auto *m = end.as<Mul>(); m && m->a.as<Variable>() && is_const(m->b)) return end;
    Symbol fresh = Symbol::fresh(name.text());
    Expr value = end.type().is_float() ? strict(end) : end;
    lets.push_back({fresh, value});
    s.known.bind_value(fresh, value);
    return s.rewriter.intern(Variable::make(end.type(), fresh));
}

Expr BoundsFinder::with_lets(Expr e) {
    if (!e.defined() || lets.empty()) return e;
    std::unordered_set<Symbol> used;
    SeenNodes<const ExprNode *> seen;
    auto collect = [&](const Expr &root) {
        for_each_postorder(
            root, [&](const Expr &n) { return seen.contains(n.get()); },
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

Interval bounds_of_expr(const Expr &e, const IntervalScope &scope) {
    return BoundsFinder(scope, {e}).run(e);
}

std::pair<Interval, Interval> bounds_of_exprs(const Expr &a, const Expr &b,
                                              const IntervalScope &scope) {
    BoundsFinder finder(scope, {a, b});
    const Interval first = finder.run(a);
    return {first, finder.run(b)};
}

}  // namespace tessera::algebra
