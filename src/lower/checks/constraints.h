#pragma once
#include "lower/context.h"
#include "program/parameter.h"

namespace tessera::lower {

// What the user fixed of dimension d of a buffer that is an argument. Where nobody says anything
// the innermost dimension is dense.
program::DimensionConstraint constraint_of(const ir::Argument &argument, int d);
// The same, of one field; undefined: anything.
ir::Expr constraint_of(const program::DimensionConstraint &constraint, BufferField field);

// In the body of a pipeline: the struct of a buffer, and whether a pointer is null.
ir::Expr handle_of(Symbol buffer);
ir::Expr is_null(const ir::Expr &handle);
// Whether the buffer has no memory: what it should be like is asked.
ir::Expr is_query(Symbol buffer);

}  // namespace tessera::lower
