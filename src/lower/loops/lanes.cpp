#include "lower/loops/lanes.h"
#include "ir/operators.h"

namespace tessera::lower::lanes {

using namespace ir;

namespace {

int outer_lanes(const Expr &e) {
    if (const auto *ramp = e.as<Ramp>()) return ramp->lanes;
    if (const auto *splat = e.as<Broadcast>()) return splat->lanes;
    return 0;
}

// Both operands as Ramps of the same number of groups, if they can be seen so.
struct AffinePair {
    Affine a, b;
    int groups;
};
std::optional<AffinePair> as_affine_pair(const Expr &a, const Expr &b) {
    if (!a.type().is_int_or_uint()) return {};
    for (int groups : {outer_lanes(a), outer_lanes(b)}) {
        if (groups < 2) continue;
        auto left = as_affine(a, groups), right = as_affine(b, groups);
        if (left && right) return AffinePair{*left, *right, groups};
    }
    return {};
}

Expr make_ramp(const Expr &base, const Expr &stride, int groups) {
    if (is_zero(stride)) return Broadcast::make(base, groups);
    return Ramp::make(base, stride, groups);
}

Expr sum(const Expr &a, const Expr &b) {
    if (is_zero(a)) return b;
    if (is_zero(b)) return a;
    return a.type().is_vector() ? add(a, b) : a + b;
}

Expr difference(const Expr &a, const Expr &b) {
    if (is_zero(b)) return a;
    return a.type().is_vector() ? sub(a, b) : a - b;
}

Expr product(const Expr &a, const Expr &b) {
    if (is_one(a)) return b;
    if (is_one(b)) return a;
    if (is_zero(a)) return a;
    if (is_zero(b)) return b;
    return a.type().is_vector() ? mul(a, b) : a * b;
}

}  // namespace

std::optional<Affine> as_affine(const Expr &e, int groups) {
    int outer = outer_lanes(e);
    if (outer < groups || groups < 2 || outer % groups != 0) return {};
    int inner = outer / groups;
    if (const auto *splat = e.as<Broadcast>()) {
        Expr base = broadcast(splat->value, inner);
        return Affine{base, make_zero(base.type())};
    }
    const auto *ramp = e.as<Ramp>();
    if (inner == 1) return Affine{ramp->base, ramp->stride};
    Expr step = product(ramp->stride, make_const(ramp->stride.type(), inner));
    return Affine{Ramp::make(ramp->base, ramp->stride, inner), broadcast(step, inner)};
}

Expr add(const Expr &a, const Expr &b) {
    if (auto p = as_affine_pair(a, b)) {
        return make_ramp(sum(p->a.base, p->b.base), sum(p->a.stride, p->b.stride), p->groups);
    }
    return Add::make(a, b);
}

Expr sub(const Expr &a, const Expr &b) {
    if (auto p = as_affine_pair(a, b)) {
        return make_ramp(difference(p->a.base, p->b.base), difference(p->a.stride, p->b.stride),
                         p->groups);
    }
    return Sub::make(a, b);
}

Expr mul(const Expr &a, const Expr &b) {
    auto p = as_affine_pair(a, b);
    if (p && is_zero(p->b.stride)) {
        return make_ramp(product(p->a.base, p->b.base), product(p->a.stride, p->b.base), p->groups);
    }
    if (p && is_zero(p->a.stride)) {
        return make_ramp(product(p->a.base, p->b.base), product(p->a.base, p->b.stride), p->groups);
    }
    return Mul::make(a, b);
}

Expr cast_lanes(Type element, const Expr &e) {
    Type t = element.with_lanes(e.type().lanes());
    if (t == e.type()) return e;
    if (const auto *splat = e.as<Broadcast>()) {
        return Broadcast::make(cast_lanes(element, splat->value), splat->lanes);
    }
    return cast(t, e);
}

Expr cast_coordinate(Type element, const Expr &e) {
    const auto *ramp = e.as<Ramp>();
    bool exact = e.type().is_int() && e.type().bits() >= 32 && element.is_int() &&
                 element.bits() >= e.type().bits();
    if (!ramp || !exact) return cast_lanes(element, e);
    return Ramp::make(cast_coordinate(element, ramp->base), cast_coordinate(element, ramp->stride),
                      ramp->lanes);
}

Expr repeat_each(const Expr &e, int groups, int times) {
    if (times == 1) return e;
    if (groups == 1) return broadcast(e, times);
    if (auto affine = as_affine(e, groups)) {
        return make_ramp(broadcast(affine->base, times), broadcast(affine->stride, times), groups);
    }
    int size = e.type().lanes() / groups;
    std::vector<int> indices;
    for (int g = 0; g < groups; g++) {
        for (int t = 0; t < times; t++) {
            for (int i = 0; i < size; i++) indices.push_back(g * size + i);
        }
    }
    return Shuffle::make({e}, std::move(indices));
}

Expr transpose(const Expr &e, int rows, int columns) {
    if (rows == 1 || columns == 1) return e;
    if (auto outer = as_affine(e, rows)) {
        const auto *stride = outer->stride.as<Broadcast>();
        auto inner = as_affine(outer->base, columns);
        if (stride && inner && stride->lanes == columns) {
            return make_ramp(make_ramp(inner->base, stride->value, rows),
                             broadcast(inner->stride, rows), columns);
        }
    }
    std::vector<int> indices;
    for (int c = 0; c < columns; c++) {
        for (int r = 0; r < rows; r++) indices.push_back(r * columns + c);
    }
    return Shuffle::make({e}, std::move(indices));
}

Expr group_of(const Expr &e, int groups, int which) {
    if (groups == 1) return e;
    if (auto affine = as_affine(e, groups)) {
        Expr step = make_const(affine->stride.type(), which);
        return sum(affine->base, product(affine->stride, step));
    }
    int size = e.type().lanes() / groups;
    return Shuffle::make_slice(e, which * size, 1, size);
}

namespace {

Expr extreme(const Expr &e, ReduceOp op) {
    if (e.type().is_scalar()) return e;
    if (const auto *splat = e.as<Broadcast>()) return extreme(splat->value, op);
    const auto *ramp = e.as<Ramp>();
    if (ramp && ramp->base.type().is_scalar() && e.type().bits() >= 32 && e.type().is_int()) {
        Expr last = sum(ramp->base,
                        product(ramp->stride, make_const(ramp->stride.type(), ramp->lanes - 1)));
        if (auto stride = as_const_int(ramp->stride)) {
            return (*stride > 0) == (op == ReduceOp::Max) ? last : ramp->base;
        }
        return op == ReduceOp::Max ? max(ramp->base, last) : min(ramp->base, last);
    }
    return VectorReduce::make(op, e, 1);
}

}  // namespace

Expr least(const Expr &e) { return extreme(e, ReduceOp::Min); }
Expr greatest(const Expr &e) { return extreme(e, ReduceOp::Max); }

bool all_different(const Expr &e) {
    if (e.type().is_scalar()) return true;
    const auto *ramp = e.as<Ramp>();
    if (!ramp || !e.type().is_int() || e.type().bits() < 32) return false;
    auto stride = as_const_int(ramp->stride);
    if (!stride || *stride == 0) return false;
    if (ramp->base.type().is_scalar()) return true;
    const auto *inner = ramp->base.as<Ramp>();
    if (!inner || inner->base.type().is_vector()) return false;
    auto step = as_const_int(inner->stride);
    if (!step || *step == 0) return false;
    int64_t s = std::abs(*stride), t = std::abs(*step);
    return s >= t * inner->lanes || t >= s * ramp->lanes;
}

}  // namespace tessera::lower::lanes
