#pragma once
#include "program/environment.h"

namespace tessera::lower {

// Makes the floats strict that decide where something is read or written: those in the arguments of
// calls and of what is defined, in conditions of reduction domains, specializations and of what
// reads, and under a cast to an integer of 32 bits or more, which may be such an index elsewhere.
// Rounding is monotone, so a region that is made of the ends of intervals by the same operations,
// each rounded on its own, holds every index that is. A lerp of floats in an index is spelled out.
//
//     f(x) = g(int32((float32(x) + 0.5) * scale - 0.5))      ->
//     f(x) = g(int32(strict_float((float32(x) + 0.5) * scale - 0.5)))
void make_coordinates_strict(program::Environment &environment);

}  // namespace tessera::lower
