#pragma once
#include <optional>
#include <string>
#include <vector>

namespace tessera::codegen {

// Machine code (a cubin) of PTX for an architecture, such as "sm_90", by NVIDIA's assembler; none
// if there is no assembler on this machine. Code that has been made once is kept on disk, by the
// contents of the PTX.
//
// The assembler is $TESSERA_PTXAS, or ptxas of $CUDA_HOME/bin, of the PATH or of
// /usr/local/cuda/bin; "" switches it off. Where code is kept: base/kept_files.h.
//
// Throws CompileError with the assembler's message if it refuses the text.
std::optional<std::vector<char>> assemble_ptx(const std::string &ptx, const std::string &arch);

// Tells apart what assemblers make: the path of the one that is found, and when it was installed.
std::string assembler_on_disk();

// Machine code as a text, by nvdisasm or else cuobjdump, which are found in the same way (or named
// by TESSERA_NVDISASM and TESSERA_CUOBJDUMP). Nothing if there is neither.
std::optional<std::string> disassemble(const std::vector<char> &code);

}  // namespace tessera::codegen
