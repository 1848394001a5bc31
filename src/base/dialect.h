#pragma once
#include "base/error.h"
#include <cstdint>

namespace tessera {

// Selects the rules where this language and Halide differ: a directive without effect is an error
// here, and only warned of there; coordinates of 64 bits are allowed here; a constant takes the
// type of what stands beside it here, and keeps its own there.
enum class Dialect : uint8_t { Tessera, Halide };
Dialect dialect();
// Sets the dialect of the whole process, from now on; base/thread_dialect.h that of a thread.
void set_dialect(Dialect d);
// Returns true if the code at this place follows Halide's rules: a line of a program in that
// dialect, and none of Tessera's own.
bool follows_halide(const Location &at);

}  // namespace tessera
