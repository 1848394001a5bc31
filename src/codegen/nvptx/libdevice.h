#pragma once
#include <llvm/IR/Module.h>
#include <string>

namespace tessera::codegen {

// The function of libdevice, NVIDIA's library of mathematics as LLVM bitcode, that does what a
// function of the C library does: "__nv_sinf" for "sinf". "" if there is none.
std::string libdevice_name(const std::string &c_function);

// Tells apart releases of the library: the path of the one that is found, and when it was
// installed.
std::string libdevice_on_disk();

// Adds the functions of libdevice that the module calls. The library is $TESSERA_LIBDEVICE, or
// nvvm/libdevice/libdevice.10.bc of $CUDA_HOME, or of /usr/local/cuda. CompileError if some are
// called and it is not found.
void link_libdevice(llvm::Module &module);

}  // namespace tessera::codegen
