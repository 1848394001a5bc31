#pragma once
#include "program/apply.h"

namespace tessera::program {

// Before:  f(x) += w(x, r)                       w: a Buffer that the program holds, or an input
// After:   c(i, j) = w(i, j);  f(x) += c(x, r)   c: a function, which is stored as its schedule
// says. Throws CompileError if the stage does not read the image itself. `into`: what becomes the
// copy, a relative of f which has no definition yet; else a new one.
FunctionRef copy_input(const StageRef &stage, Symbol image, const Location &at,
                       const FunctionRef &into = {});

}  // namespace tessera::program
