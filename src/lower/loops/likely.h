#pragma once
#include "lower/context.h"

namespace tessera::lower {

// The call likely(e) that the expression is, or with `innermost` likely_if_innermost(e); null if it
// is none.
const ir::IntrinsicCall *likely_marker(const ir::Expr &e, bool innermost);

// Returns true if the expression is, or is computed by arithmetic from, an operand marked likely. A
// marker inside the index of a load says nothing about what is loaded.
bool is_likely(const ir::Expr &e, bool innermost);

// Returns true if there is any such marker at all.
bool has_likely(const ir::Expr &e);
bool has_likely(const ir::Stmt &s, bool innermost = true);

// Replaces likely(e) and likely_if_innermost(e) by e.
//
//     f[x] = min(likely(x), n)      ->      f[x] = min(x, n)
ir::Stmt remove_likely(const ir::Stmt &s, const Context &context);
ir::Stmt remove_likely(const ir::Stmt &s);
ir::Expr remove_likely(const ir::Expr &e);

}  // namespace tessera::lower
