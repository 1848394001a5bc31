#pragma once
#include "ir/expr.h"
#include <optional>
#include <vector>

namespace tessera::program {

using ir::Expr;

// Something that an update adds to the element that it writes.
struct SumTerm {
    Expr value;
    bool is_negative = false;  // it is taken away
    Expr condition = Expr();   // it is added only if this holds; undefined: always
};

// Returns what a value adds to the element that it is written to, `written`; nothing if it is no
// such sum. A select is two terms, each under its condition, without those that are zero.
//
//     f(x, y) - a(x, k)*b(k, y) + select(k < n, c(x, k)*d(k, y), 0)
//     -a(x, k)*b(k, y)   and, if k < n,   c(x, k)*d(k, y)
std::optional<std::vector<SumTerm>> terms_of_sum(const Expr &written, const Expr &value);

// Returns the element and what is added to it, without the condition.
Expr sum_of(const Expr &written, const SumTerm &term);

}  // namespace tessera::program
