#pragma once
#include "program/environment.h"

namespace tessera::lower {

// Replaces every call of a pure function that is scheduled inline (and is no output) by its value
// at the call's arguments, and takes the function out of the environment.
//
//     f(x) = x * 2, g(x) = f(x + 1)      ->      g(x) = (x + 1) * 2
void inline_functions(program::Environment &environment,
                      const std::vector<program::FunctionRef> &outputs);

}  // namespace tessera::lower
