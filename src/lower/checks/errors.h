#pragma once
#include "algebra/interval.h"
#include "ir/nodes.h"

// Calls of the runtime's error functions: expressions that report and give the error code, for the
// message of an AssertStmt.
namespace tessera::lower {

// tessera_<name>(user_context, args...)
ir::Expr error_call(const char *name, std::vector<ir::Expr> args);

// The same for what was written at a line of the program.
ir::Expr error_call_at(const Location &at, const char *name, std::vector<ir::Expr> args);

ir::Expr error_explicit_bounds_too_small(const Location &at, Symbol func, Symbol var,
                                         const algebra::Interval &bound,
                                         const algebra::Interval &required);

}  // namespace tessera::lower
