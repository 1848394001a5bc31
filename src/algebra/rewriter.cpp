#include "algebra/rewriter.h"
#include "algebra/binary.h"
#include "algebra/fold.h"
#include "ir/operators.h"

namespace tessera::algebra {

using namespace ir;

namespace {

// Returns true if there may be something in the operand of a strict_float that could be contracted.
bool computes_floats(const Expr &e) {
    if (e.as<Variable>() || e.as<Load>() || is_const(e) || is_strict_float(e)) return false;
    const auto *c = e.as<Cast>();
    return !c || c->value.type().is_float();
}

}  // namespace

Expr Rewriter::fold_or_undefined(const Expr &node) {
    Expr folded = fold_constants(node);
    return folded.defined() ? intern(folded) : folded;
}

Expr Rewriter::folded(const Expr &node) {
    Expr constant = fold_or_undefined(node);
    return constant.defined() ? constant : intern(node);
}

Expr Rewriter::raw(NodeKind op, const Expr &a, const Expr &b) {
    return intern(make_binary(op, a, b));
}

Expr Rewriter::decided(const Expr &e) {
    if (!e.type().is_bool()) return e;
    if (known.is_true(e)) return intern(const_true(e.type().lanes()));
    if (known.is_false(e)) return intern(const_false(e.type().lanes()));
    return e;
}

Expr Rewriter::remake(const Expr &e) {
    if (is_binary(e.kind())) {
        auto [a, b] = binary_operands(e);
        return make(e.kind(), a, b);
    }
    if (const auto *n = e.as<Not>()) return make_not(n->a);
    if (const auto *n = e.as<Select>()) {
        return decided(make_select(n->condition, n->true_value, n->false_value));
    }
    if (const auto *n = e.as<Cast>()) return make_cast(n->type, n->value);
    if (const auto *n = e.as<Broadcast>()) return make_broadcast(n->value, n->lanes);
    if (const auto *n = e.as<Ramp>()) return make_ramp(n->base, n->stride, n->lanes);
    if (const auto *n = e.as<Shuffle>()) return make_shuffle(*n);
    if (const auto *n = e.as<VectorReduce>()) return make_vector_reduce(*n);
    if (const auto *n = e.as<IntrinsicCall>()) return decided(make_call(*n));
    if (const auto *n = e.as<Load>(); n && n->predicate.defined() && is_true(n->predicate)) {
        return intern(Load::make(n->type, n->buffer, n->index, {}, n->alignment, n->streaming));
    }
    Expr constant = fold_or_undefined(e);
    return constant.defined() ? constant : decided(e);
}

Expr Rewriter::make(NodeKind op, const Expr &a, const Expr &b) {
    if (op == NodeKind::GT) return make(NodeKind::LT, b, a);
    if (op == NodeKind::GE) return make(NodeKind::LE, b, a);
    return decided(make_normal(op, a, b));
}

Expr Rewriter::make_normal(NodeKind op, const Expr &a, const Expr &b) {
    bool swap =
        is_const(a) && !is_const(b) &&
        (op == NodeKind::Add || op == NodeKind::Mul || op == NodeKind::EQ || op == NodeKind::NE);
    if (swap) return make_normal(op, b, a);
    Type t = a.type();
    bool exact = is_exact(t);
    if (is_const(a) && is_const(b)) {
        Expr folded = fold_or_undefined(make_binary(op, a, b));
        return folded.defined() ? folded : raw(op, a, b);
    }
    if (t.is_vector()) {
        Expr v = make_vector(op, a, b);
        if (v.defined()) return v;
    }
    switch (op) {
    case NodeKind::And:
    case NodeKind::Or: return make_logic(op, a, b);
    case NodeKind::Add:
        if (exact) return make_sum(a, b, 1);
        break;
    case NodeKind::Sub:
        if (exact) return make_sum(a, b, -1);
        break;
    case NodeKind::Min:
    case NodeKind::Max: {
        Expr rewritten = apply_rules(make_binary(op, a, b));
        return rewritten.defined() ? rewritten : make_min_max(op, a, b);
    }
    case NodeKind::Div:
    case NodeKind::Mod:
        if (auto k = as_const_int(b); k && exact) {
            Expr r = op == NodeKind::Div ? make_division(a, *k) : make_modulus(a, *k);
            return r.defined() ? r : raw(op, a, b);  // of constants that have overflowed
        }
        break;
    case NodeKind::EQ:
    case NodeKind::NE:
    case NodeKind::LT:
    case NodeKind::LE:
        if (exact) return make_exact_comparison(op, a, b);
        break;
    default: break;
    }
    Expr node = raw(op, a, b), rewritten;
    if (!exact || op != NodeKind::Mul || !is_const(b)) rewritten = apply_rules(node);
    if (rewritten.defined()) return rewritten;
    if (exact && op == NodeKind::Mul) return make_product(a, b);
    return decide_by_intervals(node, a, b);
}

// The node, or the constant that the intervals of its operands say it is.
Expr Rewriter::decide_by_intervals(const Expr &node, const Expr &a, const Expr &b) {
    const NodeKind op = node.kind();
    Type t = a.type();
    if (!t.is_int_or_uint()) return node;
    if (!is_comparison(op)) {
        if (is_exact(t) && op != NodeKind::Div && op != NodeKind::Mod) return node;
        ConstantInterval i = known.interval(node);
        return i.is_point() ? intern(make_const(t, i.min)) : node;
    }
    ConstantInterval d = known.interval(a) - known.interval(b);
    auto constant = [&](bool holds) { return intern(make_const(Bool(t.lanes()), holds)); };
    if (op == NodeKind::LT && (d.max < 0 || d.min >= 0)) return constant(d.max < 0);
    if (op == NodeKind::LE && (d.max <= 0 || d.min > 0)) return constant(d.max <= 0);
    bool differ = d.max < 0 || d.min > 0;
    if (differ && op == NodeKind::EQ) return constant(false);
    if (differ && op == NodeKind::NE) return constant(true);
    return node;
}

Expr Rewriter::make_cast(Type t, const Expr &value) {
    if (value.type() == t) return value;
    Expr node = intern(Cast::make(t, value));
    Expr folded = fold_or_undefined(node);
    if (folded.defined()) return folded;
    if (const auto *b = value.as<Broadcast>()) {
        return make_broadcast(make_cast(t.with_lanes(b->value.type().lanes()), b->value), b->lanes);
    }
    const auto *inner = value.as<Cast>();
    Type middle = value.type();
    if (!inner || t.is_bool() || middle.is_bool()) return node;
    bool lossless = middle.can_represent(inner->value.type());
    bool truncating = t.is_int_or_uint() && middle.is_int_or_uint() &&
                      inner->value.type().is_int_or_uint() && t.bits() <= middle.bits();
    // The largest float that fits is another one of each type.
    bool saturates = inner->value.type().is_float() && t.is_int_or_uint();
    // An infinity becomes the largest.
    saturates |= t.code() == TypeCode::Float8E5M2 && inner->value.type() == t;
    return (lossless && !saturates) || truncating ? make_cast(t, inner->value) : node;
}

// Returns true if a << k may lose bits at the top, or change the sign.
bool Rewriter::may_shift_out(const Expr &a, int64_t k) {
    ConstantInterval shifted = known.interval(a) * ConstantInterval::point(int64_t(1) << k);
    Type t = a.type().element_of();
    return !shifted.bounded() || !t.can_represent(shifted.min) || !t.can_represent(shifted.max);
}

Expr Rewriter::make_call(const IntrinsicCall &c) {
    Expr node = intern(IntrinsicCall::make(c.type, c.op, c.args));
    Expr folded = fold_or_undefined(node);
    if (folded.defined()) return folded;
    if (c.args.empty()) return node;
    const Expr &a = c.args[0];
    bool exact = is_exact(a.type());
    const int64_t k = c.args.size() == 2 ? as_const_int(c.args[1]).value_or(-1) : -1;
    bool power = k >= 0 && k < a.type().bits() - 1;
    switch (c.op) {
    case Intrinsic::strict_float:
        if (!computes_floats(a)) return a;
        break;
    case Intrinsic::abs:
        if (a.type().is_int() && known.interval(a).min >= 0) return make_cast(c.type, a);
        break;
    case Intrinsic::shift_left:
        // Bits of data may be shifted out, where a product would overflow.
        if (exact && power && !(known.is_data(a) && may_shift_out(a, k))) {
            return make_normal(NodeKind::Mul, a, intern(make_const(a.type(), int64_t(1) << k)));
        }
        break;
    case Intrinsic::shift_right:
        if (exact && power) return make_division(a, int64_t(1) << k);
        break;
    case Intrinsic::bitwise_and:
        if (exact && k > 0 && k < a.type().max_int() && ((k + 1) & k) == 0) {
            return make_modulus(a, k + 1);
        }
        break;
    case Intrinsic::saturating_cast:
        if (a.type().is_int_or_uint() && c.type.is_int_or_uint()) {
            ConstantInterval i = known.interval(a);
            bool below = i.has_min() && c.type.element_of().can_represent(i.min);
            bool above = i.has_max() && c.type.element_of().can_represent(i.max);
            if (c.type.can_represent(a.type()) || (below && above)) return make_cast(c.type, a);
        }
        break;
    default: break;
    }
    return node;
}

}  // namespace tessera::algebra
