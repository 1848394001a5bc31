#include "lower/loops/let_scope.h"
#include "algebra/linear.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "program/parameter.h"

namespace tessera::lower {
namespace {

using namespace ir;

class ExpandLets final : public Mutator {
public:
    ExpandLets(const std::unordered_map<Symbol, Expr> &lets,
               std::unordered_map<Symbol, Expr> &expanded)
        : lets(lets), expanded(expanded) {}

private:
    Expr visit(const Variable &v) override {
        if (!v.type.is_int_or_uint()) return Expr(&v);
        auto known = expanded.find(v.name);
        if (known != expanded.end()) return known->second;
        auto let = lets.find(v.name);
        if (let == lets.end()) return Expr(&v);
        Expr value = (*this)(let->second);
        expanded.emplace(v.name, value);
        return value;
    }

    const std::unordered_map<Symbol, Expr> &lets;
    std::unordered_map<Symbol, Expr> &expanded;
};

}  // namespace

void LetScope::push_let(Symbol name, const Expr &value) {
    lets[name] = value;
    expanded.erase(name);
    bool index = value.type().is_int() && value.type().is_scalar() && value.type().bits() >= 32;
    if (index) unaligned.push_back(name);
}

void LetScope::pop_let(Symbol name) {
    lets.erase(name);
    expanded.erase(name);
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

algebra::Facts LetScope::known_of_parameters(const Expr &e, const Context &context) const {
    algebra::Facts all = known();
    if (context.target.has_feature(Target::NoAsserts)) return all;
    for_each_node(e, [&](const Variable &v) {
        const ir::Argument *argument = context.argument(v.name);
        const program::Parameter *p = argument ? program::parameter_of(*argument) : nullptr;
        if (!p || p->is_buffer || !p->type.is_int()) return;
        if (p->min_value.defined() || p->max_value.defined())
            all.between(v.name, p->min_value, p->max_value);
    });
    return all;
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
