#pragma once
#include "program/environment.h"

namespace tessera::lower {

// Removes directives that have no effect, with a warning for each: loops of a function that is
// computed inline, and where an output is computed and stored. In Halide's dialect only, before
// functions are inlined and schedules validated; in Tessera's own they are errors.
void drop_needless_directives(const program::Environment &environment,
                              const std::vector<program::FunctionRef> &outputs);

}  // namespace tessera::lower
