#include "algebra/rewriter.h"
#include "ir/operators.h"
#include <algorithm>

// Ramps, broadcasts, shuffles and reductions of vectors.
namespace tessera::algebra {

using namespace ir;

namespace {

constexpr size_t max_affine_lanes = 128;

// The expression in lane i of a broadcast or ramp of scalars; undefined for other vectors.
Expr lane_of(Rewriter &s, const Expr &v, int i) {
    if (v.type().is_scalar()) return v;
    if (const auto *b = v.as<Broadcast>(); b && b->value.type().is_scalar()) return b->value;
    const auto *r = v.as<Ramp>();
    if (!r || r->base.type().is_vector()) return {};
    Expr index = s.intern(make_const(r->stride.type(), i));
    return s.make(NodeKind::Add, r->base, s.make(NodeKind::Mul, r->stride, index));
}

}  // namespace

Expr Rewriter::make_broadcast(const Expr &value, int lanes) {
    if (lanes == 1) return value;
    if (const auto *b = value.as<Broadcast>()) {
        return intern(Broadcast::make(b->value, b->lanes * lanes));
    }
    return intern(Broadcast::make(value, lanes));
}

Expr Rewriter::make_ramp(const Expr &base, const Expr &stride, int lanes) {
    if (lanes == 1) return base;
    if (is_zero(stride)) return make_broadcast(base, lanes);
    if (const auto *inner = base.as<Ramp>(); inner && is_exact(base.type())) {
        // A ramp of ramps that go on where the last one ended is one ramp.
        Expr span = make(NodeKind::Mul, inner->stride,
                         intern(make_const(inner->stride.type(), inner->lanes)));
        if (inner->base.type().is_scalar() && stride.same_as(make_broadcast(span, inner->lanes))) {
            return make_ramp(inner->base, inner->stride, inner->lanes * lanes);
        }
    }
    Expr node = intern(Ramp::make(base, stride, lanes));
    if (!is_exact(base.type()) || base.type().is_vector()) return node;
    Expr canonical = make_expr(known.form(node), node.type());
    return canonical.defined() ? canonical : node;
}

Expr Rewriter::make_vector(NodeKind op, const Expr &a, const Expr &b) {
    const auto *splat_a = a.as<Broadcast>(), *splat_b = b.as<Broadcast>();
    if (splat_a && splat_b && splat_a->lanes == splat_b->lanes) {
        return make_broadcast(make(op, splat_a->value, splat_b->value), splat_a->lanes);
    }
    Type t = a.type();
    if (!t.is_int_or_uint()) return {};
    const auto *ramp_a = a.as<Ramp>(), *ramp_b = b.as<Ramp>();
    if (op == NodeKind::Mul && ((ramp_a && splat_b) || (ramp_b && splat_a))) {
        const Ramp *r = splat_b ? ramp_a : ramp_b;
        const Expr &factor = splat_b ? splat_b->value : splat_a->value;
        if (factor.type() != r->base.type()) return {};
        return make_ramp(make(op, r->base, factor), make(op, r->stride, factor), r->lanes);
    }
    // The sums of exact integers are taken care of by their linear forms.
    bool sum = op == NodeKind::Add || op == NodeKind::Sub;
    if (!sum || is_exact(t)) return {};
    auto parts = [](const Ramp *r, const Broadcast *s) {
        if (r) return std::pair(r->base, r->stride);
        Type element = s->value.type();
        return std::pair(s->value, make_zero(element));
    };
    int lanes = ramp_a ? ramp_a->lanes : splat_a ? splat_a->lanes : 0;
    int other = ramp_b ? ramp_b->lanes : splat_b ? splat_b->lanes : 0;
    if (lanes == 0 || lanes != other) return {};
    auto [base_a, stride_a] = parts(ramp_a, splat_a);
    auto [base_b, stride_b] = parts(ramp_b, splat_b);
    if (base_a.type() != base_b.type()) return {};
    return make_ramp(make(op, base_a, base_b), make(op, intern(stride_a), intern(stride_b)), lanes);
}

Expr Rewriter::make_shuffle(const Shuffle &s) {
    Expr node = intern(Shuffle::make(s.vectors, s.indices));
    Type t = node.type();
    if (s.vectors.size() == 1 && s.is_slice() && s.indices.size() > 1 && s.indices[0] == 0 &&
        s.indices[1] == 1 && t == s.vectors[0].type()) {
        return s.vectors[0];
    }
    if (s.vectors.size() == 1 && t.is_scalar() && s.vectors[0].type().is_scalar()) {
        return s.vectors[0];
    }
    if (s.indices.size() > max_affine_lanes || !t.is_int_or_uint()) {
        const auto *b = s.vectors[0].as<Broadcast>();
        bool one = s.vectors.size() == 1 && b && b->value.type().is_scalar();
        return one ? make_broadcast(b->value, t.lanes()) : node;
    }
    std::vector<Expr> lanes;
    for (int i : s.indices) {
        size_t v = 0;
        while (i >= s.vectors[v].type().lanes()) i -= s.vectors[v++].type().lanes();
        lanes.push_back(lane_of(*this, s.vectors[v], i));
        if (!lanes.back().defined()) return node;
    }
    if (lanes.size() == 1) return lanes[0];
    Expr stride = make(NodeKind::Sub, lanes[1], lanes[0]);
    for (size_t i = 2; i < lanes.size(); i++) {
        if (!make(NodeKind::Sub, lanes[i], lanes[i - 1]).same_as(stride)) return node;
    }
    if (!is_const(stride) && s.vectors.size() > 1) return node;
    return make_ramp(lanes[0], stride, int(lanes.size()));
}

Expr Rewriter::make_vector_reduce(const VectorReduce &r) {
    Type t = r.value.type();
    if (r.lanes == t.lanes()) return r.value;
    Expr node = intern(VectorReduce::make(r.op, r.value, r.lanes));
    const auto *b = r.value.as<Broadcast>();
    if (!b || b->value.type().is_vector()) return node;
    switch (r.op) {
    case ReduceOp::Min:
    case ReduceOp::Max:
    case ReduceOp::And:
    case ReduceOp::Or: return make_broadcast(b->value, r.lanes);
    case ReduceOp::Add: {
        if (!t.is_int_or_uint() || t.is_bool()) return node;
        Expr count = intern(make_const(t.element_of(), t.lanes() / r.lanes));
        return make_broadcast(make(NodeKind::Mul, b->value, count), r.lanes);
    }
    default: return node;
    }
}

}  // namespace tessera::algebra
