#pragma once
#include "ir/nodes.h"
#include "lower/with_lets.h"
#include <functional>
#include <set>

// Queries on lowered statements that all back ends share.
namespace tessera::codegen {

using lower::Lets;

// Throws InternalError for a statement that lowering should have replaced.
[[noreturn]] void refuse_statement(const char *kind, const std::string &what);
// The same for a loop that no code is made for.
[[noreturn]] void refuse_loop(const ir::For &loop);

std::set<Symbol> accessed_buffers(const ir::Stmt &body);
// Returns true if any buffer in the body has a growing place.
bool has_growing_places(const ir::Stmt &body);
// The Invoke that the body of a parallel loop, or a statement of a Fork, is; InternalError if it is
// another statement.
const ir::Invoke &invoked(const ir::Stmt &s);

// The lets around an expression, innermost last, as part of it.
ir::Expr within_lets(const Lets &lets, ir::Expr e);
ir::Stmt within_lets(const Lets &lets, const ir::Store &store);
// Returns true if the expression uses one of the lets that is not bound to a value.
bool uses_unbound(const ir::Expr &e, const Lets &lets, const std::function<bool(Symbol)> &is_bound);

// The error that the intrinsic `require` raises where its condition does not hold.
ir::Expr requirement_failed(const ir::IntrinsicCall &require);

// The index of the element whose mutex an Atomic takes: that of the first one that it stores to;
// undefined if it stores nothing.
ir::Expr locked_element(const ir::Atomic &node);

}  // namespace tessera::codegen
