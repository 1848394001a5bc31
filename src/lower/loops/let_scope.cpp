#include "lower/loops/let_scope.h"
#include "algebra/linear.h"
#include "algebra/prove.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"
#include "program/parameter.h"
#include <algorithm>

namespace tessera::lower {
namespace {

using namespace ir;

class ExpandLets final : public Mutator {
public:
    ExpandLets(const std::unordered_map<Symbol, Expr> &lets,
               std::unordered_map<Symbol, Expr> &expanded, bool keep_properties = false)
        : lets(lets), expanded(expanded), keep_properties(keep_properties) {}

private:
    Expr visit(const Variable &v) override {
        if (!v.type.is_int_or_uint()) return Expr(&v);
        auto own = inner.find(v.name);
        if (own != inner.end()) return own->second;
        auto known = expanded.find(v.name);
        if (known != expanded.end()) return known->second;
        auto let = lets.find(v.name);
        if (let == lets.end()) return Expr(&v);
        if (keep_properties && let->second.as<BufferProperty>()) return Expr(&v);
        if (is_called_once(let->second)) return Expr(&v);
        Expr value = (*this)(let->second);
        expanded.emplace(v.name, value);
        return value;
    }
    // Values of lets within one another, in each of which several names stand for the one before,
    // would be looked at exponentially often by whoever opens a scope for each.
    Expr visit(const Let &let) override {
        const Expr value = (*this)(let.value);
        if (!value.type().is_int_or_uint() || !is_pure(let.value))
            return let.with<&Let::value, &Let::body>(value, (*this)(let.body));
        if (lets.contains(let.name))  // values of lets further out may mean that one
            return (*this)(substitute(let.name, value, let.body));
        const auto [own, is_new] = inner.emplace(let.name, value);
        const bool is_other = !own->second.same_as(value);
        return (*this)(is_other ? substitute(let.name, value, let.body) : let.body);
    }

    // The call may give another value the next time.
    static bool is_called_once(const Expr &value) {
        const auto *c = value.as<IntrinsicCall>();
        return c && !info_of(c->op).pure;
    }
    const std::unordered_map<Symbol, Expr> &lets;
    std::unordered_map<Symbol, Expr> &expanded;
    std::unordered_map<Symbol, Expr> inner;  // values of lets within the expression
    bool keep_properties;
};

}  // namespace

void LetScope::push_let(Symbol name, const Expr &value) {
    lets[name] = value;
    expanded.erase(name);
    expanded_by_names.erase(name);
    bool index = value.type().is_int() && value.type().is_scalar() && value.type().bits() >= 32;
    if (index) unaligned.push_back(name);
}

void LetScope::pop_let(Symbol name) {
    lets.erase(name);
    expanded.erase(name);
    expanded_by_names.erase(name);
    if (!unaligned.empty() && unaligned.back() == name) unaligned.pop_back();
    facts.alignments.erase(name);
}

const algebra::Facts &LetScope::known() const {
    for (Symbol name : unaligned) {
        Expr value = value_of(name);
        if (!value.defined()) continue;
        Alignment known = algebra::alignment_of(value, facts);
        if (known.modulus != 1) facts.aligned(name, known);
    }
    unaligned.clear();
    return facts;
}

algebra::Facts LetScope::known_of_parameters(const Expr &e, std::span<const ir::Argument> arguments,
                                             const Target &target) const {
    algebra::Facts all = known();
    if (target.has_feature(Target::NoAsserts)) return all;
    for_each_node(e, [&](const Variable &v) {
        const ir::Argument *argument = ir::find_argument(arguments, v.name);
        const program::Parameter *p = argument ? program::parameter_of(*argument) : nullptr;
        if (!p || p->is_buffer || !p->type.is_int()) return;
        if (p->min_value.defined() || p->max_value.defined())
            all.between(v.name, p->min_value, p->max_value);
    });
    return all;
}

Expr LetScope::expand_names(const Expr &e) const {
    return ExpandLets(lets, expanded_by_names, true)(e);
}

void LetScope::push_condition(const Expr &condition) {
    bool tells = condition.type().is_scalar() && is_pure(condition);
    bool compares = false;
    const auto look = [&](const auto &n) { compares |= n.a.type() == Int(32); };
    for_each_node(condition, [&](const EQ &n) { look(n); });
    for_each_node(condition, [&](const NE &n) { look(n); });
    for_each_node(condition, [&](const LT &n) { look(n); });
    for_each_node(condition, [&](const LE &n) { look(n); });
    for_each_node(condition, [&](const GT &n) { look(n); });
    for_each_node(condition, [&](const GE &n) { look(n); });
    conditions.push_back(tells && compares ? remove_likely(condition) : Expr());
}

algebra::Facts LetScope::known_by_conditions() const {
    algebra::Facts all = facts;
    for (const Expr &c : conditions) {
        if (c.defined()) all.holds(expand_names(c));
    }
    return all;
}

std::optional<int64_t> LetScope::value_by_conditions(const Expr &e) const {
    if (std::ranges::none_of(conditions, &Expr::defined)) return {};
    return algebra::constant_value(expand_names(e), known_by_conditions());
}

std::optional<int64_t> LetScope::upper_bound_by_conditions(const Expr &e) const {
    if (std::ranges::none_of(conditions, &Expr::defined)) return {};
    return algebra::constant_upper_bound(expand_names(e), known_by_conditions());
}

void LetScope::push_loop(Symbol name, const Expr &min, const Expr &extent) {
    Expr first = expand(min), count = expand(extent);
    facts.between(name, first, first + count - make_one(count.type()));
}

Expr LetScope::expand(const Expr &e) const { return ExpandLets(lets, expanded)(e); }

Expr LetScope::value_of(Symbol name) const {
    auto found = lets.find(name);
    return found == lets.end() ? Expr() : found->second;
}

}  // namespace tessera::lower
