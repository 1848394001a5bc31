#pragma once
#include "base/error.h"
#include "ir/nodes.h"

// Checks that several directives share; they throw CompileError.
namespace tessera::program {

// An integer, and positive if it is constant; in terms of parameters alone.
void require_factor(const ir::Expr &factor, const char *directive, const Location &at);
// Constants, parameters and properties of buffers: what is known before the pipeline runs.
void require_parameters_only(const ir::Expr &e, const char *directive, const Location &at);

}  // namespace tessera::program
