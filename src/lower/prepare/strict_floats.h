#pragma once
#include "program/environment.h"

namespace tessera::lower {

// Target::StrictFloat: all arithmetic on floats is that of a strict_float.
//
//     f(x) = select(x > 3, g(x) * 2 + 0, 1)      ->
//     f(x) = select(x > 3, strict_float(strict_float(g(x) * 2) + 0), 1)
void make_floats_strict(program::Environment &environment);

}  // namespace tessera::lower
