#pragma once
#include "base/target.h"
#include "ir/module.h"
#include <string>
#include <vector>

namespace tessera::driver {

// A header for C and C++ that declares what the module's functions are in a file for the target:
// for each f its C function, f_argv and f_metadata (codegen/compile.h), with a comment that
// describes the arguments; with Target::CPlusPlusMangling for C++ alone. It includes nothing but
// the standard's <stdint.h> and <stdbool.h>. `chosen_from`: the targets that the functions choose
// from when they are called, which the comment names in place of `target`.
std::string to_c_header(const ir::Module &module, const Target &target,
                        const std::vector<Target> &chosen_from = {});

}  // namespace tessera::driver
