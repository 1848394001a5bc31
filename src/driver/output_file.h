#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tessera {

// The kinds of files that can be written of a pipeline; the names are those of a generator's `-e`.
enum class OutputFileType : uint8_t {
    assembly,
    bitcode,
    c_header,
    c_source,
    conceptual_stmt,
    cpp_stub,
    function_info_header,
    llvm_assembly,
    object,
    registration,
    schedule,
    static_library,
    // The same as a library that is loaded when a program runs, by tessera.load for example.
    shared_library,
    stmt,
    // The same as a page for a browser.
    stmt_html,
    conceptual_stmt_html,
    // PTX of the kernels.
    device_code,
    // A C file that makes the function one of a Python module.
    python_extension,
    // Not there yet.
    featurization,
    hlpipe,
    pytorch_wrapper,
    compiler_log
};

}  // namespace tessera

namespace tessera::driver {

struct OutputFile {
    OutputFileType type;
    const char *name;       // of the type
    const char *extension;  // what is appended to the function's name
};
std::span<const OutputFile> output_files();
// Knows Halide's older names of some, too, such as "h".
std::optional<OutputFileType> output_file_type(const std::string &name);

}  // namespace tessera::driver
