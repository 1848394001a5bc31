#pragma once
#include "ir/nodes.h"
#include "ir/operators.h"

namespace tessera::algebra {

using ir::Expr;
using ir::Stmt;

// The values from min to max, both included. An undefined end is unbounded. The ends are scalars.
struct Interval {
    Expr min, max;

    static Interval everything() { return {}; }
    // No value at all: what no condition can make true.
    static Interval nothing();
    static Interval single_point(const Expr &e) { return {e, e}; }

    bool has_lower_bound() const { return min.defined(); }
    bool has_upper_bound() const { return max.defined(); }
    bool is_bounded() const { return min.defined() && max.defined(); }
    bool is_everything() const { return !min.defined() && !max.defined(); }
    bool is_nothing() const;
    bool is_single_point() const { return min.defined() && min.same_as(max); }
    bool is_single_point(const Expr &e) const;
};

// The smallest interval that holds both.
Interval make_union(const Interval &a, const Interval &b);
// Returns the intersection of both. It is empty if the result's min exceeds its max.
Interval make_intersection(const Interval &a, const Interval &b);

}  // namespace tessera::algebra
