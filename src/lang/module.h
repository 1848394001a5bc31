#pragma once
#include "ir/module.h"
#include "lang/pipeline.h"

namespace tessera {

// How a compiled function may be reached from other files.
enum class LinkageType : uint8_t { External, ExternalPlusArgv, ExternalPlusMetadata, Internal };

// A pipeline with the arguments, name and target for which it is to be written into files. It is
// lowered when compile() is called: a schedule that changes before, changes what is written.
class Module {
public:
    Module(Pipeline pipeline, std::vector<Argument> args, const std::string &name,
           const Target &target)
        : pipeline(std::move(pipeline)), args(std::move(args)), function(name), own_target(target) {
    }

    const std::string &name() const { return function; }
    const Target &target() const { return own_target; }
    // What it is lowered to.
    std::vector<ir::LoweredFunction> functions(Location at = Here::current()) const {
        return pipeline.lowered(args, function, own_target, at).functions;
    }
    // A file of each type, at its path.
    void compile(const std::map<OutputFileType, std::string> &files,
                 Location at = Here::current()) {
        pipeline.compile_to(files, args, function, own_target, at);
    }

private:
    Pipeline pipeline;
    std::vector<Argument> args;
    std::string function;
    Target own_target;
};

// Writes the runtime alone, for programs that link several files compiled with Target::NoRuntime.
// Throws CompileError if the target is another machine; RuntimeError if it cannot be written.
void compile_standalone_runtime(const std::string &path, const Target &target);
// The same for the types static_library and object (an archive as well); gives what it wrote.
std::map<OutputFileType, std::string>
compile_standalone_runtime(const std::map<OutputFileType, std::string> &files,
                           const Target &target);

}  // namespace tessera
