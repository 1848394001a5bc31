#pragma once
#include "aot/registry.h"
#include "driver/output_file.h"
#include <set>

namespace tessera {

// The files to write for a generator of this program.
struct GeneratorJob {
    std::string generator;  // its name in the registry
    std::string function;   // of the compiled function; empty: as the generator
    std::string folder;
    std::string file_base;        // of the files, before their extensions; empty: as the function
    std::vector<Target> targets;  // several: one library that chooses (driver/dispatch.h)
    std::vector<std::string>
        suffixes;  // of files of which there is one for each of several targets
    std::vector<std::pair<std::string, std::string>> params;  // name, value
    std::set<OutputFileType> outputs;
    // Makes the generator of that name; null: the registry does.
    const GeneratorSource *source = nullptr;
};

// Returns the paths of the files. Throws CompileError, or RuntimeError if a file cannot be written.
std::vector<std::string> write_generator_files(const GeneratorJob &job);

}  // namespace tessera
