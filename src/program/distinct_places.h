#pragma once
#include "program/reduction_domain.h"
#include <span>

namespace tessera::program {

// Returns true if no two points of these variables have the same arguments, whatever the other
// variables are: what is written at these arguments is written once. Variables that are not in the
// domain have any range. False if that is not known.
//
//     x, y + 1            apart in x and y
//     2*p + r             apart in p and r if r has up to 2 iterations
//     x / 4, x % 4        apart in x, whose range is a constant
bool are_apart(const std::vector<Expr> &args, const std::vector<Symbol> &variables,
               std::span<const ReductionVariable> domain);

}  // namespace tessera::program
