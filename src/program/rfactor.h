#pragma once
#include "program/apply.h"

namespace tessera::program {

// Before:  f(x) = op(f(x), g(x, r))      over r, split into ro and ri
// After:   i(x, u) = identity;  i(x, u) = op(i(x, u), g(x, u * factor + ri))   over ri
//          f(x) = op(f(x), i(x, ro))     over ro
// Loops of f that are left to the intermediate keep their kinds there. Throws CompileError if the
// update is not known to be associative (and commutative, if the order changes), or has no
// identity. `into`: what becomes the intermediate, a relative of f which has no definition yet;
// else a new one.
FunctionRef rfactor(const StageRef &stage, const std::vector<Preserved> &preserved,
                    const Location &at, const FunctionRef &into = {});

}  // namespace tessera::program
