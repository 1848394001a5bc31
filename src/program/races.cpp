#include "program/races.h"
#include "algebra/bounds.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/visitor_inl.h"
#include "program/apply.h"
#include "program/loop_transforms.h"
#include "program/scatter.h"
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

namespace tessera::program {
namespace {

// The factor of `var` in an expression that is linear in it; nothing if it may not be.
std::optional<int64_t> factor_of(const Expr &e, Symbol var) {
    if (!ir::uses_symbol(e, var)) return 0;
    if (const auto *v = e.as<ir::Variable>()) return v->name == var ? 1 : 0;
    if (const auto *add = e.as<ir::Add>()) {
        auto a = factor_of(add->a, var), b = factor_of(add->b, var);
        if (a && b) return *a + *b;
    } else if (const auto *sub = e.as<ir::Sub>()) {
        auto a = factor_of(sub->a, var), b = factor_of(sub->b, var);
        if (a && b) return *a - *b;
    } else if (const auto *mul = e.as<ir::Mul>()) {
        auto a = factor_of(mul->a, var), b = ir::as_const_int(mul->b);
        if (!a || !b) a = factor_of(mul->b, var), b = ir::as_const_int(mul->a);
        if (a && b) return *a * *b;
    }
    return std::nullopt;
}

// Factors beyond it are not followed, so that products with them do not overflow.
constexpr int64_t largest_factor = 1 << 20;

// An index that is linear in a variable: factor * var + rest.
struct Places {
    int64_t factor;
    Expr rest;
};

std::optional<Places> places_of(const Expr &e, Symbol var) {
    auto factor = factor_of(e, var);
    if (!factor || std::abs(*factor) > largest_factor) return std::nullopt;
    Expr v = ir::Variable::make(Int(32), var);
    return Places{*factor, e - v * int(*factor)};
}

// Returns true if no iteration reads what any writes: where the two lie on different grids, or in
// different ranges.
bool never_meet(const Expr &written, const Expr &read, const Definition &d, Symbol var) {
    auto w = places_of(written, var), r = places_of(read, var);
    if (!w || !r) return false;
    auto distance = ir::as_const_int(algebra::simplify(r->rest - w->rest));
    if (!distance) return false;
    int64_t grid = std::gcd(w->factor, r->factor);
    if (grid != 0 && *distance % grid != 0) return true;
    auto domain = std::ranges::find(d.reduction, var, &ReductionVariable::var);
    if (domain == d.reduction.end()) return false;
    auto min = ir::as_const_int(domain->min), extent = ir::as_const_int(domain->extent);
    if (!min || !extent || *extent <= 0) return false;
    auto ends = [&](int64_t factor) {
        return std::minmax({factor * *min, factor * (*min + *extent - 1)});
    };
    auto [w_min, w_max] = ends(w->factor);
    auto [r_min, r_max] = ends(r->factor);
    return w_max < r_min + *distance || r_max + *distance < w_min;
}

// A sum of multiples of terms that are not taken apart further.
class Sum {
public:
    void add(const Expr &e, int64_t times) {
        if (const auto *n = e.as<ir::Add>()) return add(n->a, times), add(n->b, times);
        if (const auto *n = e.as<ir::Sub>()) return add(n->a, times), add(n->b, -times);
        if (const auto *n = e.as<ir::Mul>()) {
            auto by = ir::as_const_int(n->b), other = ir::as_const_int(n->a);
            auto factor = by ? by : other;
            if (factor && std::abs(*factor) <= largest_factor / std::abs(times)) {
                return add(by ? n->a : n->b, times * *factor);
            }
        }
        auto value = ir::as_const_int(e);
        if (value && std::abs(*value) <= largest_factor) {
            constant += times * *value;
        } else {
            terms.emplace_back(e, times);
        }
    }
    int64_t constant = 0;
    std::vector<std::pair<Expr, int64_t>> terms;
};

bool calls_itself(const Expr &e, const FunctionContents &f) {
    bool found = false;
    ir::for_each_node(e, [&](const ir::Call &c) { found |= c.callee == f.name; });
    return found;
}

// Returns true if two indices differ in each point of the domain from what they are in any: because
// of their remainders, of which different constants are the simplest case.
bool differ_by_remainder(const Expr &written, const Expr &read, const FunctionContents &f,
                         const Definition &d) {
    Sum distance;
    distance.add(algebra::simplify(read), 1);
    const size_t of_read = distance.terms.size();
    distance.add(algebra::simplify(written), -1);
    auto changes = [&](const Expr &e) {
        bool found = calls_itself(e, f) || !ir::is_pure(e);
        for (const ReductionVariable &r : d.reduction) found |= ir::uses_symbol(e, r.var);
        return found;
    };
    // Terms that are the same in all points may cancel out; the rest is a multiple of its factors.
    auto &terms = distance.terms;
    int64_t grid = 0;
    for (size_t i = 0; i < terms.size(); i++) {
        for (size_t k = of_read; i < of_read && k < terms.size(); k++) {
            if (!terms[i].second || changes(terms[i].first)) continue;
            if (!ir::equal(terms[i].first, terms[k].first)) continue;
            terms[i].second += std::exchange(terms[k].second, 0);
        }
        grid = std::gcd(grid, terms[i].second);
    }
    return grid == 0 ? distance.constant != 0 : distance.constant % grid != 0;
}

// The same because of their ranges.
bool differ_by_range(const Expr &written, const Expr &read, const Definition &d) {
    algebra::IntervalScope scope;
    for (const ReductionVariable &r : d.reduction) {
        scope.bind(r.var, {r.min, algebra::simplify(r.min + r.extent - 1)});
    }
    const auto w = bounds_of_expr(written, scope), r = bounds_of_expr(read, scope);
    auto less = [](const Expr &a, const Expr &b) {
        return a.defined() && b.defined() && algebra::can_prove(a < b);
    };
    return less(w.max, r.min) || less(r.max, w.min);
}

// Returns true if no iteration at all writes the element that is read. Pure variables are the same
// in both.
bool is_never_written(const FunctionContents &f, const Definition &d, const ir::Call &read) {
    for (size_t dim = 0; dim < d.args.size(); dim++) {
        const Expr &written = d.args[dim], &at = read.args[dim];
        if (count_of_elements({written}, {}) > 1) continue;
        if (differ_by_remainder(written, at, f, d)) return true;
        if (calls_itself(written, f) || calls_itself(at, f)) continue;
        if (differ_by_range(written, at, d)) return true;
    }
    return false;
}

// Returns true if each iteration of the loop over `var`, which writes different places in dimension
// `dim`, reads what it writes itself, or what none writes.
bool reads_only_own_place(const FunctionContents &f, const Definition &d, size_t dim, Symbol var) {
    bool same = true;
    auto check = [&](const Expr &e) {
        ir::for_each_node(e, [&](const ir::Call &c) {
            if (c.call_kind != CallKind::Func || c.callee != f.name) return;
            same =
                same && (ir::equal(c.args[dim], d.args[dim]) ||
                         never_meet(d.args[dim], c.args[dim], d, var) || is_never_written(f, d, c));
        });
    };
    for (const Expr &e : d.args) check(e);
    for (const Expr &e : d.values) check(e);
    if (d.predicate.defined()) check(d.predicate);
    return same;
}

// Returns true if argument `dim` takes different values for different values of `var`, whatever the
// other reduction variables are.
bool tells_apart(const Definition &d, size_t dim, Symbol var) {
    auto factor = factor_of(algebra::simplify(d.args[dim]), var);
    if (!factor || *factor == 0) return false;
    for (const ReductionVariable &other : d.reduction) {
        if (other.var != var && ir::uses_symbol(d.args[dim], other.var)) return false;
    }
    bool calls = false;
    ir::for_each_node(d.args[dim], [&](const ir::Call &) { calls = true; });
    return !calls;
}

}  // namespace

bool is_free_of_races(const FunctionContents &f, const Definition &d, Symbol var) {
    for (Symbol root : roots_of_loop(d.schedule, var)) {
        bool apart = false;
        for (size_t dim = 0; dim < d.args.size() && !apart; dim++) {
            apart = tells_apart(d, dim, root) && reads_only_own_place(f, d, dim, root);
        }
        if (!apart) return false;
    }
    return true;
}

bool stores_one_value(const FunctionContents &f, const Definition &d) {
    if (count_of_elements(d.args, d.values) > 1) return false;
    bool one = true;
    for (const Expr &value : d.values) {
        one &= ir::is_pure(value);
        for (const ReductionVariable &r : d.reduction) one &= !ir::uses_symbol(value, r.var);
    }
    for (const auto *list : {&d.args, &d.values}) {
        for (const Expr &e : *list) one &= !calls_itself(e, f);
    }
    return one && !(d.predicate.defined() && calls_itself(d.predicate, f));
}

}  // namespace tessera::program
