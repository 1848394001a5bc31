#pragma once
#include "runtime/tessera_runtime.h"
#include <string>

namespace tessera::files {

// A value of any type but handles. It is exact: a long double has the 64 bits of the widest
// integer.
long double number_at(tessera_type_t type, const uint8_t *element);
// Floats are rounded to nearest. An integer has to be one, and within its type's range.
void store_number(tessera_type_t type, uint8_t *element, long double value);

// Returns true if a finite value is beyond the largest finite one of a floating type, or is rounded
// to infinity. A float of 8 bits would become its largest.
bool is_too_large(tessera_type_t type, long double value);

bool is_integer(tessera_type_t type);
bool is_float(tessera_type_t type);

// The least and greatest value of an integer type.
long double lowest_of(tessera_type_t type);
long double highest_of(tessera_type_t type);

// A value as text: with all digits of an integer, and as many as tell a float's from others.
std::string number_text(tessera_type_t type, long double value);

}  // namespace tessera::files
