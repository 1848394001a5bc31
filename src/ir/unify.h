#pragma once
#include "ir/substitute.h"
#include <optional>
#include <span>

namespace tessera::ir {

// Returns the values of the holes, which are variables of the pattern, so that the pattern with
// these put in is the expression, but for the order and grouping of operands: of sums (a - b is
// one, too), products, min, max, and, or, and of the intrinsics that commute. Nothing if there is
// no such way.
//
//     pattern         expression               holes
//     x + h           a + x - b                h = a - b
//     u * v + h       c[i] + w * (p + q)       u = w, v = p + q, h = c[i]
//
// A hole stands for one thing wherever it is, of its own type. An operand of a sum that is a hole
// is one operand of the expression; the last one is all that is left. Floats count as real numbers:
// whether another order will do is the caller's to say. (Associative-commutative matching, by
// backtracking: patterns are small.)
std::optional<Substitution> unify(const Expr &pattern, const Expr &e,
                                  std::span<const Symbol> holes);

}  // namespace tessera::ir
