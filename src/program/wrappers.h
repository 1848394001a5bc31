#pragma once
#include "program/function.h"

namespace tessera::program {

// The function that reads `f` and that the consumers (none: all) call instead of it; made the first
// time. Throws CompileError if some of the consumers have a wrapper of f already, and others not.
FunctionRef wrap(const FunctionRef &f, const std::vector<FunctionRef> &consumers,
                 const Location &at);

// A function with the definitions of `f`, schedule and all, that the consumers call instead.
FunctionRef clone(const FunctionRef &f, const std::vector<FunctionRef> &consumers,
                  const Location &at);

}  // namespace tessera::program
