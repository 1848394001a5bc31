#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Makes a nest of tensorized loops for each product that an update adds, if no instruction computes
// the update as a whole: the first product of all iterations is added first. What is added under a
// condition is an update under it.
//
//     tensorized for x: for k:                     tensorized for x: for k:
//       f(x) = f(x) + a(x, k)*b(k)            ->     f(x) = f(x) + a(x, k)*b(k)
//                   + select(c, d(x, k)*e(k), 0)   tensorized for x: for k:
//                                                    if c: f(x) = f(x) + d(x, k)*e(k)
//
// If an instruction only adds, a product that is taken away has one factor negated, of floats or
// of integers that are known not to be the least of their type. Updates with a term that no
// instruction computes stay, to be refused by what looks for operands.
ir::Stmt split_sums(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
