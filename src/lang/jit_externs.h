#pragma once
#include "driver/compile.h"
#include "lang/extern.h"
#include "program/environment.h"

// The functions that set_jit_externs() gives to a pipeline.
namespace tessera::detail {

using JITExterns = std::map<std::string, JITExtern>;

// The parameters of each Func that stands for a C function, by the function's name. CompileError if
// an extern stage of the program passes others, or an expression calls it.
std::map<std::string, std::vector<program::ParameterRef>>
parameters_of_externs(const JITExterns &externs, const program::Environment &environment);

// The address of each, Funcs compiled, and those that the program has registered.
driver::Externs compile_externs(const JITExterns &externs, const Target &target);

}  // namespace tessera::detail
