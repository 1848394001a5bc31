#pragma once
#include "ir/expr.h"
#include <cstddef>

namespace tessera::ir {

// Returns true if two trees are the same, node by node and symbol by symbol. Unequal ones are told
// apart by their hashes; equal ones take time linear in the number of distinct pairs of nodes.
bool equal(const Expr &a, const Expr &b);
bool equal(const Stmt &a, const Stmt &b);

// Equal but for the choice of symbols: a renaming of one's symbols, one to one, gives the other.
bool alpha_equal(const Expr &a, const Expr &b);
bool alpha_equal(const Stmt &a, const Stmt &b);

// A total order in which equal trees are the same: negative if a comes first, 0 if they are equal.
// It depends on kinds, types and numbers, and of symbols on which was made first: what was compiled
// before does not change it.
int compare(const Expr &a, const Expr &b);

// For unordered containers keyed by what an expression is, not by which node it is.
struct ExprHash {
    size_t operator()(const Expr &e) const { return e.defined() ? e.hash() : 0; }
};
struct ExprEqual {
    bool operator()(const Expr &a, const Expr &b) const { return equal(a, b); }
};

}  // namespace tessera::ir
