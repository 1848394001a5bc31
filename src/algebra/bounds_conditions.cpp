#include "algebra/bounds_finder.h"
#include "algebra/walk.h"
#include <utility>

namespace tessera::algebra {

using namespace ir;

namespace {

constexpr size_t small_branch = 60;  // nodes of a select's value that is looked at again
constexpr int max_narrowed = 100;    // values of selects that are looked at again

}  // namespace

Interval BoundsFinder::of_select(const Select &q) {
    if (q.condition.type().is_scalar() && q.condition.type().is_bool() && is_point(q.condition)) {
        Interval a = bounds(q.true_value), b = bounds(q.false_value);
        auto pick = [&](const Expr &u, const Expr &v) {
            return u.defined() && v.defined() ? s.rewriter.make_select(q.condition, u, v) : Expr();
        };
        return {pick(a.min, b.min), pick(a.max, b.max)};
    }
    Interval a = under(q.condition, q.true_value);
    Interval b = under(s.rewriter.make_not(q.condition), q.false_value);
    return unite(a, b);
}

bool BoundsFinder::is_small(const Expr &e) {
    SeenNodes<const ExprNode *> seen;
    for_each_postorder(
        e, [&](const Expr &n) { return seen.size() > small_branch || seen.contains(n.get()); },
        [&](const Expr &n) { seen.insert(n.get()); });
    return seen.size() <= small_branch;
}

Interval BoundsFinder::under(const Expr &condition, const Expr &value) {
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
    auto f = add(s.known.exact_form(b), s.known.exact_form(a), -1);
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

Interval BoundsFinder::narrowed_bounds(Symbol name, const Interval &narrowed, const Expr &value) {
    Interval before = std::exchange(intervals[name], narrowed);
    auto old_memo = std::exchange(memo, {});
    depth++;
    narrowed_values++;
    s.known.enter(true);
    s.known.bind(name, narrowed);
    Interval i = bounds(value);
    s.known.leave();
    depth--;
    memo = std::move(old_memo);
    intervals[name] = before;
    return i;
}

}  // namespace tessera::algebra
