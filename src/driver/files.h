#pragma once
#include "driver/compile.h"
#include "driver/output_file.h"
#include <map>

namespace tessera::driver {

// Writes a file of each type, at its path. A static library has the runtime in it unless the target
// has Target::NoRuntime.
// Throws CompileError, also if the function's name is none in C; RuntimeError if a file cannot be
// written.
void write_files(const program::Program &program, const Target &target, const Signature &signature,
                 const std::map<OutputFileType, std::string> &paths);

// Throws CompileError if the name is none of a C function.
void require_c_name(const std::string &name, const Location &at);

// Throws RuntimeError if the file cannot be written.
void write_text(const std::string &path, const std::string &text);

// One file of a module that has been lowered: its object, or a header.
void write_module(const ir::Module &module, const Target &target, OutputFileType type,
                  const std::string &path);

// Writes the runtime alone, as a static library. CompileError if there is none for the target.
void write_runtime_library(const Target &target, const std::string &path);

}  // namespace tessera::driver
