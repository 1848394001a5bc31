#pragma once
#include "base/target.h"
#include "ir/module.h"
#include <string>

namespace tessera::codegen {

// The module as one C file, for a machine that has a C compiler and no other: C11, with the
// functions that compile.h describes. It includes the runtime's header and the C library's, and is
// linked with the runtime. It computes what the machine code computes; only floats may differ in
// their last bits, and it has no order of its own for what may be reordered.
//
// Throws CompileError where C cannot say it: a function with the name of one in the C library's
// headers, a C function that is called in two ways, a Buffer of the program whose values are not in
// memory.
std::string to_c_source(const ir::Module &module, const Target &target);

}  // namespace tessera::codegen
