#pragma once
#include "program/environment.h"

namespace tessera::lower {

// Checks definitions into which others have been inlined: refuses coordinates and conditions of
// domains that depend on `undef`, as nobody can tell what they read, or where they write. Throws
// CompileError with the line of the definition.
void validate_undef(const program::Environment &environment);

}  // namespace tessera::lower
