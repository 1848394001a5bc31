#pragma once
#include "ir/type.h"

namespace tessera::ir {

// The bits of a floating type's values, of which a Word holds as many as the type has.

// Returns the bits of a value that the type has; another one is rounded.
uint64_t bits_of_float(Type t, double value);
double float_of_bits(Type t, uint64_t bits);

// Returns the value that a cast to the type gives: rounded once to nearest, ties to even. What is
// too large becomes infinite, but in a float of 8 bits its largest finite value, infinities too.
double rounded_to(Type t, double value);

}  // namespace tessera::ir
