#pragma once
#include "driver/compile.h"
#include "driver/output_file.h"
#include <map>

namespace tessera::driver {

// Writes a file of each type, at its path. A static library has the runtime in it unless the target
// has Target::NoRuntime, or is another machine than this one.
// Throws CompileError, also if the function's name is none in C; RuntimeError if a file cannot be
// written.
void write_files(const program::Program &program, const Target &target, const Signature &signature,
                 const std::map<OutputFileType, std::string> &paths);

// The runtime for the machine that this compiler runs on, as the bytes of a static library.
std::string runtime_library();

}  // namespace tessera::driver
