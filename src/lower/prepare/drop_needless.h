#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Removes directives that have no effect, with a warning for each: loops of a function that is
// computed inline, and where an output is computed and stored. In Halide's dialect only, before
// schedules are validated; in Tessera's own they are errors.
void drop_needless_directives(const Context &context);

}  // namespace tessera::lower
