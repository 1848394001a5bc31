#pragma once
#include "base/target.h"
#include "ir/module.h"
#include <string>

namespace tessera::driver {

// A C++ header with a constexpr description of each argument: f_argument_info().
std::string to_function_info_header(const ir::Module &module, const Target &target);

}  // namespace tessera::driver
