#pragma once
#include "algebra/bounds.h"

namespace tessera::algebra {

// Values of `var` outside of which the condition is certainly false:
//     outer(0 <= x && x < n, x)  is  [0, n - 1]
// everything() where nothing is known, nothing() where the condition never holds.
Interval solve_for_outer_interval(const Expr &condition, Symbol var, const Facts &facts = {});

// Values of `var` for which the condition certainly holds; nothing() where none are known.
Interval solve_for_inner_interval(const Expr &condition, Symbol var, const Facts &facts = {});

enum class Monotonic { Constant, Increasing, Decreasing, Unknown };

// Says how the value changes as `var` grows (weakly): booleans count as 0 and 1. The other
// variables stay as they are, except those of the scope that are bound by intervals which depend on
// `var`.
Monotonic is_monotonic(const Expr &e, Symbol var, const IntervalScope &scope = {});

}  // namespace tessera::algebra
