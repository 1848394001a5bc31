#pragma once
#include "program/environment.h"

namespace tessera::lower {

// A function with updates (or an extern stage) that is scheduled inline is computed by each
// function that reads it, for itself, innermost. Gives each of these a function of its own, since
// one of them may be computed within another.
//
//     g(x) = s(x), h(x) = g(x) + s(x)      ->      g(x) = s(x), h(x) = g(x) + s.1(x)
void separate_reductions(program::Environment &environment,
                         const std::vector<program::FunctionRef> &outputs);

}  // namespace tessera::lower
