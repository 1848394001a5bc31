#pragma once
#include "codegen/backend.h"
#include "driver/compile.h"
#include "driver/output_file.h"
#include <map>
#include <optional>

namespace tessera::driver {

// The files of one program or module for one target, which is lowered and compiled once, when that
// is first needed. Call it on a large stack.
class FileWriter {
public:
    FileWriter(const program::Program &program, const Target &target, const Signature &signature);
    // Has no schedule or conceptual_stmt. `written`: where, for errors.
    FileWriter(ir::Module module, const Target &target, const Location &written = {});

    // Throw CompileError, also if the function's name is none in C.
    const ir::Module &module();
    const std::vector<char> &object();
    std::vector<char> device_code();
    // Returns the bytes of the file.
    std::string contents(OutputFileType type);
    void write(OutputFileType type, const std::string &path);

private:
    const ir::Module &lowered();
    std::string code(codegen::CodeKind kind);
    std::string static_library();
    std::string shared_library(const std::string &name);

    const program::Program *program = nullptr;
    Target target;
    Signature signature;
    std::optional<ir::Module> the_module;
    std::optional<std::vector<char>> the_object;
};

// Writes a file of each type, at its path. A library has the runtime in it unless the target has
// Target::NoRuntime.
// Throws CompileError, also if the function's name is none in C; RuntimeError if a file cannot be
// written.
void write_files(const program::Program &program, const Target &target, const Signature &signature,
                 const std::map<OutputFileType, std::string> &paths);
// Returns the bytes of one such file.
std::string file_contents(const program::Program &program, const Target &target,
                          const Signature &signature, OutputFileType type);
// The same of functions that are lowered; `written`: where, for errors.
void write_files(const ir::Module &module, const Target &target,
                 const std::map<OutputFileType, std::string> &paths, const Location &written);

// Throws CompileError if the name is none of a C function; with Target::CPlusPlusMangling it may be
// in namespaces: "ns::f".
void require_function_name(const std::string &name, const Target &target, const Location &at);
// Returns the bytes of the shared library that these of a static one become; `name`: what the file
// is called. Throws RuntimeError if there is nothing that links, or if it fails.
std::string as_shared_library(std::string_view static_library, const std::string &name,
                              const Target &target);
// "f" of "ns::f": what files are called.
std::string base_name(const std::string &function);

// Throws RuntimeError if the file cannot be written.
void write_text(const std::string &path, const std::string &text);

// Writes the runtime alone, as a static library. CompileError if there is none for the target.
void write_runtime_library(const Target &target, const std::string &path);

}  // namespace tessera::driver
