#include "algebra/rules/pattern.h"
#include "algebra/constant_interval.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include <cmath>

namespace tessera::algebra::rules {

using namespace ir;

namespace {

using Shared = std::shared_ptr<const PatternNode>;

bool is_commutative(NodeKind k) {
    switch (k) {
    case NodeKind::Add:
    case NodeKind::Mul:
    case NodeKind::Min:
    case NodeKind::Max:
    case NodeKind::EQ:
    case NodeKind::NE:
    case NodeKind::And:
    case NodeKind::Or: return true;
    default: return false;
    }
}

bool same_pattern(const PatternNode &a, const PatternNode &b) {
    if (a.form != b.form || a.op != b.op || a.index != b.index || a.value != b.value) return false;
    if (a.operands.size() != b.operands.size()) return false;
    for (size_t i = 0; i < a.operands.size(); i++) {
        if (!same_pattern(*a.operands[i], *b.operands[i])) return false;
    }
    return true;
}

// The pattern with the operands of commutative operations in every order.
std::vector<Shared> all_orders(const Shared &p) {
    if (p->form != PatternNode::Operation) return {p};
    std::vector<PatternNode> partial{PatternNode{p->form, p->op, 0, 0, {}}};
    for (const Shared &operand : p->operands) {
        std::vector<PatternNode> longer;
        for (const Shared &order : all_orders(operand)) {
            for (PatternNode node : partial) {
                node.operands.push_back(order);
                longer.push_back(std::move(node));
            }
        }
        partial = std::move(longer);
    }
    std::vector<Shared> result;
    auto add = [&](PatternNode node) {
        for (const Shared &r : result) {
            if (same_pattern(*r, node)) return;
        }
        result.push_back(std::make_shared<PatternNode>(std::move(node)));
    };
    for (const PatternNode &node : partial) {
        add(node);
        if (!is_commutative(p->op)) continue;
        PatternNode swapped = node;
        std::swap(swapped.operands[0], swapped.operands[1]);
        add(std::move(swapped));
    }
    return result;
}

bool may_be(const PatternNode &p, NodeKind kind) {
    switch (p.form) {
    case PatternNode::Wild: return true;
    case PatternNode::Operation: return p.op == kind;
    default:
        return kind == NodeKind::IntImm || kind == NodeKind::UIntImm ||
               kind == NodeKind::FloatImm || kind == NodeKind::Broadcast;
    }
}

template<typename T>
bool match_binary(const PatternNode &p, const Expr &e, Bindings &m) {
    const T *n = e.as<T>();
    return match(*p.operands[0], n->a, m) && match(*p.operands[1], n->b, m);
}

bool match_operation(const PatternNode &p, const Expr &e, Bindings &m) {
    switch (p.op) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return match_binary<T>(p, e, m);
        TESSERA_BINARY_NODES(CASE)
#undef CASE
    case NodeKind::Not: return match(*p.operands[0], e.as<Not>()->a, m);
    case NodeKind::Select: {
        const auto *s = e.as<Select>();
        return match(*p.operands[0], s->condition, m) && match(*p.operands[1], s->true_value, m) &&
               match(*p.operands[2], s->false_value, m);
    }
    default: throw InternalError("a pattern of a node that patterns cannot have");
    }
}

std::optional<int64_t> checked(NodeKind op, int64_t a, int64_t b) {
    int64_t r = 0;
    switch (op) {
    case NodeKind::Add: return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case NodeKind::Sub: return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case NodeKind::Mul: return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case NodeKind::Div: return euclidean_div(a, b);
    case NodeKind::Mod: return euclidean_mod(a, b);
    case NodeKind::Min: return std::min(a, b);
    case NodeKind::Max: return std::max(a, b);
    case NodeKind::EQ: return a == b;
    case NodeKind::NE: return a != b;
    case NodeKind::LT: return a < b;
    case NodeKind::LE: return a <= b;
    case NodeKind::And: return a && b;
    case NodeKind::Or: return a || b;
    default: throw InternalError("a condition that cannot be computed");
    }
}

std::optional<uint64_t> bits_of(const Expr &constant) {
    if (const auto *splat = constant.as<Broadcast>()) return bits_of(splat->value);
    const auto *number = constant.as<UIntImm>();
    return number ? std::optional(number->value) : std::nullopt;
}

// The same of unsigned numbers of 64 bits, which wrap.
uint64_t wrapped(NodeKind op, uint64_t a, uint64_t b) {
    switch (op) {
    case NodeKind::Add: return a + b;
    case NodeKind::Sub: return a - b;
    case NodeKind::Mul: return a * b;
    case NodeKind::Div: return b == 0 ? 0 : a / b;
    case NodeKind::Mod: return b == 0 ? 0 : a % b;
    case NodeKind::Min: return std::min(a, b);
    case NodeKind::Max: return std::max(a, b);
    default: throw InternalError("a constant that cannot be computed");
    }
}

}  // namespace

Pattern::Pattern(int value)
    : Pattern(PatternNode{PatternNode::Literal, NodeKind::IntImm, 0, value, {}}) {}

Pattern wild(int index) {
    return Pattern(PatternNode{PatternNode::Wild, NodeKind::Variable, index, 0, {}});
}
Pattern constant(int index) {
    return Pattern(PatternNode{PatternNode::Constant, NodeKind::IntImm, index, 0, {}});
}
Pattern operation(NodeKind op, const std::vector<Pattern> &operands) {
    PatternNode node{PatternNode::Operation, op, 0, 0, {}};
    for (const Pattern &p : operands) node.operands.push_back(p.share());
    return Pattern(std::move(node));
}
Pattern operator+(const Pattern &a, const Pattern &b) { return operation(NodeKind::Add, {a, b}); }
Pattern operator-(const Pattern &a, const Pattern &b) { return operation(NodeKind::Sub, {a, b}); }
Pattern operator*(const Pattern &a, const Pattern &b) { return operation(NodeKind::Mul, {a, b}); }
Pattern operator/(const Pattern &a, const Pattern &b) { return operation(NodeKind::Div, {a, b}); }
Pattern operator%(const Pattern &a, const Pattern &b) { return operation(NodeKind::Mod, {a, b}); }
Pattern operator<(const Pattern &a, const Pattern &b) { return operation(NodeKind::LT, {a, b}); }
Pattern operator<=(const Pattern &a, const Pattern &b) { return operation(NodeKind::LE, {a, b}); }
Pattern operator==(const Pattern &a, const Pattern &b) { return operation(NodeKind::EQ, {a, b}); }
Pattern operator!=(const Pattern &a, const Pattern &b) { return operation(NodeKind::NE, {a, b}); }
Pattern operator&&(const Pattern &a, const Pattern &b) { return operation(NodeKind::And, {a, b}); }
Pattern operator||(const Pattern &a, const Pattern &b) { return operation(NodeKind::Or, {a, b}); }
Pattern operator!(const Pattern &a) { return operation(NodeKind::Not, {a}); }
Pattern min(const Pattern &a, const Pattern &b) { return operation(NodeKind::Min, {a, b}); }
Pattern max(const Pattern &a, const Pattern &b) { return operation(NodeKind::Max, {a, b}); }
Pattern select(const Pattern &c, const Pattern &a, const Pattern &b) {
    return operation(NodeKind::Select, {c, a, b});
}
Pattern fold(const Pattern &a) {
    return Pattern(PatternNode{PatternNode::Folded, NodeKind::IntImm, 0, 0, {a.share()}});
}

static bool is_negative_zero(const Expr &e) {
    const auto *b = e.as<Broadcast>();
    const auto *f = (b ? b->value : e).as<FloatImm>();
    return f && f->value == 0 && std::signbit(f->value);
}

bool match(const PatternNode &p, const Expr &e, Bindings &m) {
    switch (p.form) {
    case PatternNode::Wild: {
        Expr &bound = m.wild[p.index];
        if (bound.defined()) return bound.same_as(e) || equal(bound, e);
        bound = e;
        return true;
    }
    case PatternNode::Constant: {
        Expr &bound = m.constant[p.index];
        if (bound.defined()) return equal(bound, e);
        if (!e.type().is_int_or_uint() || !ir::is_const(e)) return false;
        bound = e;
        return true;
    }
    case PatternNode::Literal: return ir::is_const(e, p.value) && !is_negative_zero(e);
    case PatternNode::Operation: return e.kind() == p.op && match_operation(p, e, m);
    default: throw InternalError("a pattern with a computed constant");
    }
}

std::optional<int64_t> value_of(const PatternNode &p, const Bindings &m) {
    switch (p.form) {
    case PatternNode::Constant: return as_const_int(m.constant[p.index]);
    case PatternNode::Literal: return p.value;
    case PatternNode::Folded: return value_of(*p.operands[0], m);
    case PatternNode::Operation: {
        auto a = value_of(*p.operands[0], m);
        if (!a) return std::nullopt;
        if (p.op == NodeKind::Not) return !*a;
        auto b = value_of(*p.operands[1], m);
        return b ? checked(p.op, *a, *b) : std::nullopt;
    }
    default: throw InternalError("a wildcard in a computed constant");
    }
}

Expr folded(const PatternNode &p, const Bindings &m, Type t) {
    bool exact = t.is_int() && t.bits() >= 32;
    const PatternNode &op = *p.operands[0];
    if (t.is_uint() && op.form == PatternNode::Operation && op.operands.size() == 2) {
        auto bits = [&](const Shared &operand) -> std::optional<uint64_t> {
            if (operand->form != PatternNode::Constant) return std::nullopt;
            return bits_of(m.constant[operand->index]);
        };
        auto a = bits(op.operands[0]), b = bits(op.operands[1]);
        if (a && b) return make_const(t, int64_t(wrapped(op.op, *a, *b)));
    }
    auto v = value_of(p, m);
    if (!v || (exact && !t.element_of().can_represent(*v))) return {};
    return make_const(t, *v);
}

bool in_domain(Domain d, const Expr &matched) {
    Type t = matched.type();
    switch (matched.kind()) {
    case NodeKind::EQ: t = matched.as<EQ>()->a.type(); break;
    case NodeKind::NE: t = matched.as<NE>()->a.type(); break;
    case NodeKind::LT: t = matched.as<LT>()->a.type(); break;
    case NodeKind::LE: t = matched.as<LE>()->a.type(); break;
    case NodeKind::Not:
        if (const auto *lt = matched.as<Not>()->a.as<LT>()) t = lt->a.type();
        if (const auto *le = matched.as<Not>()->a.as<LE>()) t = le->a.type();
        break;
    default: break;
    }
    switch (d) {
    case Domain::Any: return !t.is_handle();
    case Domain::Integer: return t.is_int_or_uint();
    case Domain::Wide:
    case Domain::Exact: return t.is_int() && t.bits() >= 32;
    case Domain::Boolean: return t.is_bool();
    }
    return false;
}

RuleTable::RuleTable(std::vector<Rule> rules) : rows(std::move(rules)) {
    constexpr size_t kinds = size_t(NodeKind::VectorReduce) + 1;
    by_kind.resize(kinds);
    for (const Rule &r : rows) {
        for (const Shared &order : all_orders(r.before.share())) {
            Rule commuted = r;
            commuted.before = Pattern(*order);
            for (size_t k = 0; k < kinds; k++) {
                if (may_be(*order->operands[0], NodeKind(k))) by_kind[k].push_back(commuted);
            }
        }
    }
}

}  // namespace tessera::algebra::rules
