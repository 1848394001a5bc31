#pragma once
#include <cstdint>

namespace tessera::program {

// Counts what could make compiled code out of date: definitions, directives, constraints. Whoever
// keeps compiled code remembers the count, and looks closer only if it has moved.
uint64_t count_of_changes();
void note_change();

}  // namespace tessera::program
