#pragma once
#include "program/function.h"

namespace tessera::program {

// The function that reads `f` and that the consumers (none: all) call instead of it; made the first
// time, of `into`, a relative of f which has no definition yet, or as a new one. Throws
// CompileError if some of the consumers have a wrapper of f already, and others not.
FunctionRef wrap(const FunctionRef &f, const std::vector<FunctionRef> &consumers,
                 const Location &at, const FunctionRef &into = {});

// A function with the definitions of `f`, schedule and all, that the consumers call instead.
FunctionRef clone(const FunctionRef &f, const std::vector<FunctionRef> &consumers,
                  const Location &at, const FunctionRef &into = {});

// A deep copy under another name, of the same family; where f calls itself, the copy calls itself.
// Wrappers stay with f.
FunctionRef copy_as(Symbol name, const FunctionRef &f);

// Makes calls of `from` in the definitions of `caller` calls of `to`, by name alone: all three are
// of one family.
void redirect_calls(FunctionContents &caller, Symbol from, const FunctionRef &to);

}  // namespace tessera::program
