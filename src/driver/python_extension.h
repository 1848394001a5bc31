#pragma once
#include "base/target.h"
#include "ir/module.h"
#include <string>

namespace tessera::driver {

// A C file that makes the function one of a Python module, by include/tessera_python.h.
// CompileError if it is a function of C++, or has no name in Python.
std::string to_python_extension(const ir::Module &module, const Target &target);

}  // namespace tessera::driver
