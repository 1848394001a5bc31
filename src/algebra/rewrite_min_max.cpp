#include "algebra/common_divisor.h"
#include "algebra/rewriter.h"
#include "ir/operators.h"
#include <algorithm>

// Min and max: nested ones of the same kind are one list, from which what never counts is dropped;
// of exact integers, what all have in common is taken out: min(x + 3, y + 5) is min(x, y + 2) + 3.
// Those of floats stay as they are written.
namespace tessera::algebra {

using namespace ir;

namespace {

constexpr size_t max_operands = 12;  // longer lists are left nested

// Stops as soon as there are too many.
template<typename T>
void collect(const Expr &e, std::vector<Expr> &list) {
    const T *n = list.size() <= max_operands ? e.as<T>() : nullptr;
    if (n && !is_likely(n->a) && !is_likely(n->b)) {
        collect<T>(n->b, list);
        collect<T>(n->a, list);
    } else {
        list.push_back(e);
    }
}

// The operands of nested nodes of this kind, or the node alone if there are too many.
std::vector<Expr> operands_of(NodeKind op, const Expr &e) {
    std::vector<Expr> list;
    op == NodeKind::Min ? collect<Min>(e, list) : collect<Max>(e, list);
    if (list.size() > max_operands) return {e};
    std::reverse(list.begin(), list.end());
    return list;
}

bool operand_before(const Expr &a, const Expr &b) {
    if (is_const(a) != is_const(b)) return is_const(b);
    return atom_before(a, b);
}

// Returns what all forms have in common: terms of one coefficient. Constants only if no form is
// constant.
LinearForm common_part(const std::vector<LinearForm> &forms) {
    LinearForm common = forms[0];
    bool any_constant = false;
    for (const LinearForm &f : forms) {
        std::erase_if(common.terms, [&](const LinearTerm &t) {
            return f.coefficient_of(t.atom) != t.coefficient;
        });
        common.constant = std::min(common.constant, f.constant);
        any_constant |= f.is_constant();
    }
    if (any_constant) common.constant = 0;
    return common;
}

// The factor that divides all of the forms; negative if every term of every form is.
int64_t common_factor(const std::vector<LinearForm> &forms) {
    int64_t g = 0;
    bool negative = true;
    for (const LinearForm &f : forms) {
        g = common_divisor(g, f.constant);
        negative &= !f.is_constant();
        for (const LinearTerm &t : f.terms) {
            g = common_divisor(g, t.coefficient);
            negative &= t.coefficient < 0;
        }
    }
    return std::max<int64_t>(g, 1) * (negative ? -1 : 1);
}

bool is_lowest(const Expr &e) {
    auto value = e.type().is_int() ? as_const_int(e) : std::nullopt;
    return value && *value == e.type().min_int();
}
bool is_highest(const Expr &e) {
    auto value = e.type().is_int() ? as_const_int(e) : std::nullopt;
    return value && *value == e.type().max_int();
}

NodeKind dual(NodeKind op) { return op == NodeKind::Min ? NodeKind::Max : NodeKind::Min; }

}  // namespace

// 1 if a is never smaller than b, -1 if never larger; 0 if unknown.
int Rewriter::compare_order(const Expr &a, const Expr &b) {
    if (a.same_as(b)) return 1;
    Type t = a.type();
    if (is_lowest(b) || is_highest(a)) return 1;
    if (is_lowest(a) || is_highest(b)) return -1;
    if (is_exact(t)) {
        auto difference = add(known.exact_form(a), known.exact_form(b), -1);
        if (!difference) return 0;
        if (known.lower_bound(*difference, 0) >= 0) return 1;
        return known.upper_bound(*difference, 0) <= 0 ? -1 : 0;
    }
    if (!t.is_int_or_uint()) return 0;
    ConstantInterval i = known.interval(a), j = known.interval(b);
    if (i.has_min() && j.has_max() && i.min >= j.max) return 1;
    return i.has_max() && j.has_min() && i.max <= j.min ? -1 : 0;
}

Expr Rewriter::make_min_max(NodeKind op, const Expr &a, const Expr &b) {
    if (int order = compare_order(a, b)) return (order > 0) == (op == NodeKind::Max) ? a : b;
    // For a NaN, or zeros of both signs, the result depends on the order of the operands.
    bool keep_order = !a.type().is_int_or_uint();
    if (keep_order || is_likely(a) || is_likely(b)) return raw(op, a, b);
    std::vector<Expr> list = operands_of(op, a), others = operands_of(op, b);
    if (list.size() + others.size() > max_operands) return raw(op, a, b);
    for (const Expr &o : others) {
        bool dropped = false;
        for (size_t i = 0; i < list.size() && !dropped;) {
            int order = compare_order(list[i], o);
            bool keep_first = (order > 0) == (op == NodeKind::Max);
            if (order != 0 && keep_first) {
                dropped = true;
            } else if (order != 0) {
                list.erase(list.begin() + i);
            } else {
                Expr combined = apply_rules(op == NodeKind::Min ? Min::make(list[i], o)
                                                                : Max::make(list[i], o));
                if (combined.defined()) {
                    list.erase(list.begin() + i);
                    for (size_t j = &o - others.data() + 1; j < others.size(); j++) {
                        combined = make_min_max(op, combined, others[j]);
                    }
                    for (const Expr &e : list) combined = make_min_max(op, combined, e);
                    return combined;
                }
                i++;
            }
        }
        if (!dropped) list.push_back(o);
    }
    return combine_min_max(op, std::move(list));
}

// Takes out what two operands have in common; undefined if nothing.
Expr Rewriter::factor_min_max(NodeKind op, const Expr &a, const Expr &b) {
    Type t = a.type();
    const auto *splat_a = a.as<Broadcast>(), *splat_b = b.as<Broadcast>();
    if (splat_a && splat_b && splat_a->lanes == splat_b->lanes) {
        return make_broadcast(make_normal(op, splat_a->value, splat_b->value), splat_a->lanes);
    }
    if (!is_exact(t)) return {};
    std::vector<LinearForm> forms{known.exact_form(a), known.exact_form(b)};
    LinearForm common = common_part(forms);
    for (LinearForm &f : forms) {
        auto rest = add(f, common, -1);
        if (!rest) return {};
        f = *rest;
    }
    int64_t factor = common_factor(forms);
    if (factor == 1 && common.is_constant() && common.constant == 0) return {};
    for (LinearForm &f : forms) {
        f.constant /= factor;
        for (LinearTerm &term : f.terms) term.coefficient /= factor;
    }
    // Forms of data that are left may overflow where the operands as they are written do not.
    if (known.may_overflow(forms[0], t) || known.may_overflow(forms[1], t)) return {};
    Expr u = make_expr(forms[0], t), v = make_expr(forms[1], t);
    if (!u.defined() || !v.defined()) return {};
    auto whole = add(common, known.form(make_normal(factor < 0 ? dual(op) : op, u, v)), factor);
    if (whole) recombine(*whole, Sums::MayWrap);
    return whole ? make_expr(*whole, t) : Expr();
}

Expr Rewriter::combine_min_max(NodeKind op, std::vector<Expr> list) {
    std::sort(list.begin(), list.end(), operand_before);
    for (size_t i = 0; i < list.size(); i++) {
        for (size_t j = i + 1; j < list.size(); j++) {
            Expr combined = factor_min_max(op, list[i], list[j]);
            if (!combined.defined()) continue;
            list.erase(list.begin() + j);
            list.erase(list.begin() + i);
            for (const Expr &e : list) combined = make_min_max(op, combined, e);
            return combined;
        }
    }
    Expr e = list[0];
    for (size_t i = 1; i < list.size(); i++) {
        // Pairs have been tried. Several together may decide about the next, or match with it, as
        // none of them does alone.
        int order = i == 1 ? 0 : compare_order(e, list[i]);
        if (order != 0) {
            if ((order > 0) != (op == NodeKind::Max)) e = list[i];
            continue;
        }
        e = raw(op, e, list[i]);
        Expr matched = i == 1 ? Expr() : apply_rules(e);
        if (!matched.defined()) continue;
        for (size_t j = i + 1; j < list.size(); j++) matched = make_normal(op, matched, list[j]);
        return matched;
    }
    return e;
}

}  // namespace tessera::algebra
