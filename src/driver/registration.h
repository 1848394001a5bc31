#pragma once
#include "base/target.h"
#include "ir/module.h"
#include <string>

namespace tessera::driver {

// A file of C++ that hands the compiled function to tessera_register_function() before main(): for
// programs that offer whatever is linked with them. CompileError if it is in a namespace of C++.
std::string to_registration(const ir::Module &module, const Target &target);

}  // namespace tessera::driver
