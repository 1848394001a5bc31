#include "algebra/binary.h"
#include "algebra/rewriter.h"
#include "algebra/rules/rules.h"
#include "ir/operators.h"
#include <algorithm>

// The rules of algebra/rules: the first that matches, if its condition holds.
namespace tessera::algebra {

using namespace ir;
using rules::Bindings;
using rules::PatternNode;

namespace {

// The type of what a pattern stands for, where the operands tell.
Type type_of_pattern(const PatternNode &p, const Bindings &m) {
    switch (p.form) {
    case PatternNode::Wild: return m.wild[p.index].type();
    case PatternNode::Constant: return m.constant[p.index].type();
    case PatternNode::Operation: {
        size_t first = p.op == NodeKind::Select ? 1 : 0;
        for (size_t i = first; i < p.operands.size(); i++) {
            Type t = type_of_pattern(*p.operands[i], m);
            if (t.defined()) return t;
        }
        return {};
    }
    case PatternNode::Folded: return type_of_pattern(*p.operands[0], m);
    default: return {};
    }
}

// Returns true if sums and products of what has matched may wrap.
bool is_any_data(Knowledge &known, const Bindings &m) {
    return std::ranges::any_of(m.wild, [&](const Expr &e) {
        return e.defined() && e.type().is_int() && known.is_data(e);
    });
}

}  // namespace

Expr Rewriter::apply_rules(const Expr &node) {
    const rules::RuleTable *table = rules::rules_for(node.kind());
    if (!table || fuel > 100) return {};
    Expr first = is_binary(node.kind()) ? binary_operands(node).first
                 : node.as<Not>()       ? node.as<Not>()->a
                                        : node.as<Select>()->condition;
    for (const rules::Rule &rule : table->for_first_operand(first.kind())) {
        Bindings m;
        if (!match(*rule.before.share(), node, m) || !in_domain(rule.domain, node)) continue;
        if (rule.domain == rules::Domain::Exact && is_any_data(known, m)) continue;
        if (rule.condition.defined()) {
            auto holds = rules::value_of(*rule.condition.share(), m);
            if (!holds || !*holds) continue;
        }
        fuel++;
        Expr built = build(rule.after.share().get(), &m, node.type());
        fuel--;
        if (built.defined() && built.type() == node.type() && !equal(built, node)) return built;
    }
    return {};
}

Expr Rewriter::build(const void *pattern, const void *bindings, Type expected) {
    const PatternNode &p = *static_cast<const PatternNode *>(pattern);
    const Bindings &m = *static_cast<const Bindings *>(bindings);
    switch (p.form) {
    case PatternNode::Wild: return m.wild[p.index];
    case PatternNode::Constant: return m.constant[p.index];
    case PatternNode::Literal: return intern(make_const(expected, p.value));
    case PatternNode::Folded: {
        Expr constant = rules::folded(p, m, expected);
        return constant.defined() ? intern(constant) : constant;
    }
    case PatternNode::Operation: break;
    }
    Type t = is_comparison(p.op) ? type_of_pattern(p, m) : expected;
    if (!t.defined()) return {};
    Type condition = Bool(expected.lanes());
    if (p.op == NodeKind::Not) {
        Expr a = build(p.operands[0].get(), bindings, condition);
        return a.defined() ? make_not(a) : a;
    }
    std::vector<Expr> built;
    for (size_t i = 0; i < p.operands.size(); i++) {
        bool is_condition = p.op == NodeKind::Select && i == 0;
        built.push_back(build(p.operands[i].get(), bindings, is_condition ? condition : t));
        if (!built.back().defined()) return {};
    }
    if (p.op == NodeKind::Select) {
        if (built[1].type() != built[2].type()) return {};
        return make_select(built[0], built[1], built[2]);
    }
    for (size_t i = 0; i < 2; i++) {
        int lanes = built[1 - i].type().lanes();
        if (lanes > 1 && built[i].type().is_scalar()) built[i] = make_broadcast(built[i], lanes);
    }
    if (built[0].type() != built[1].type()) return {};
    return make(p.op, built[0], built[1]);
}

}  // namespace tessera::algebra
