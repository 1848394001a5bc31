#pragma once
#include "ir/expr.h"
#include <cstddef>

namespace tessera::ir {

// Whether two trees are the same, node by node and symbol by symbol. Unequal ones are told apart
// by their hashes; equal ones take time linear in the number of distinct pairs of nodes.
bool equal(const Expr &a, const Expr &b);
bool equal(const Stmt &a, const Stmt &b);

// Equal but for the choice of symbols: a renaming of one's symbols, one to one, gives the other.
bool alpha_equal(const Expr &a, const Expr &b);
bool alpha_equal(const Stmt &a, const Stmt &b);

// For unordered containers keyed by what an expression is, not by which node it is.
struct ExprHash {
    size_t operator()(const Expr &e) const { return e.defined() ? e.hash() : 0; }
};
struct ExprEqual {
    bool operator()(const Expr &a, const Expr &b) const { return equal(a, b); }
};

}  // namespace tessera::ir
