#pragma once
#include "ir/expr.h"
#include <unordered_map>

namespace tessera::ir {

// Each variable of these symbols replaced by its expression, everywhere at once: what is put in
// is not searched again.
using Substitution = std::unordered_map<Symbol, Expr>;
Expr substitute(const Substitution &values, const Expr &e);
Stmt substitute(const Substitution &values, const Stmt &s);
Expr substitute(Symbol name, const Expr &value, const Expr &e);
Stmt substitute(Symbol name, const Expr &value, const Stmt &s);

}  // namespace tessera::ir
