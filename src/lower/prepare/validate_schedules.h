#pragma once
#include "lower/program_context.h"

namespace tessera::lower {

// Checks that the places of all functions exist and fit together: the loops that compute_at,
// store_at and hoist_storage name are there, storage encloses computation, every use of a function
// is inside of where it is computed, and no loop in between runs in parallel.
// Throws CompileError, with the line of the directive, and what would be right.
void validate_schedules(const ProgramContext &context);

}  // namespace tessera::lower
