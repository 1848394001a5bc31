#pragma once
#include "ir/expr.h"
#include <vector>

// scatter(a, b) and gather(c, d) stand for several values of one definition, wherever in its
// arguments and values they are: f(scatter(0, 3)) = f(gather(3, 0)) exchanges two elements.
namespace tessera::program {

using ir::Expr;

// Returns how many points one run of these arguments and values writes: 1 without any such call.
// Throws CompileError if there are calls of different lengths.
size_t count_of_elements(const std::vector<Expr> &args, const std::vector<Expr> &values);

// The n-th operand in place of every such call.
Expr element(const Expr &e, size_t n);

}  // namespace tessera::program
