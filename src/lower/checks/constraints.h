#pragma once
#include "ir/mutator.h"
#include "lower/program_context.h"
#include "program/parameter.h"

namespace tessera::lower {

// The constraints of the user on dimension d of a buffer that is an argument. Without any the
// innermost dimension is dense.
program::DimensionConstraint constraint_of(const ir::Argument &argument, int d);
// The same, of one field; undefined: anything.
ir::Expr constraint_of(const program::DimensionConstraint &constraint, BufferField field);

// Replaces fields of buffers that are arguments by what the user fixed them to.
class UseConstraints final : public ir::Mutator {
public:
    explicit UseConstraints(const ProgramContext &context) : arguments(context) {}

private:
    ir::Expr visit(const ir::BufferProperty &p) override;
    const ProgramContext &arguments;
};

// In the body of a pipeline: the struct of a buffer, and whether a pointer is null.
ir::Expr handle_of(Symbol buffer);
ir::Expr is_null(const ir::Expr &handle);
// True if the buffer has no memory, here or on a device: it is a bounds query.
ir::Expr is_query(Symbol buffer);

}  // namespace tessera::lower
