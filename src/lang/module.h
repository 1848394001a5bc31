#pragma once
#include "ir/module.h"
#include "lang/pipeline.h"
#include <functional>
#include <optional>

namespace tessera {

// Says how other files may reach a compiled function.
enum class LinkageType : uint8_t { External, ExternalPlusArgv, ExternalPlusMetadata, Internal };

// Lowered functions that are written into files together: those of a pipeline with its arguments,
// its name and target, or of several modules.
class Module {
public:
    // Nothing yet.
    Module(const std::string &name, const Target &target);
    // A pipeline as it is now: later schedules do not change its functions. (Its schedule and
    // conceptual_stmt, and compile_multitarget(), are of the pipeline as it is when they are
    // written.) Throws CompileError.
    Module(const Pipeline &pipeline, const std::vector<Argument> &args, const std::string &name,
           const Target &target, Location at = Here::current());

    const std::string &name() const { return lowered.name; }
    const Target &target() const { return own_target; }
    const std::vector<ir::LoweredFunction> &functions() const { return lowered.functions; }
    // CompileError if there is none of that name.
    const ir::LoweredFunction &get_function_by_name(const std::string &name,
                                                    Location at = Here::current()) const;
    // CompileError if there is one of that name, here or in the modules that are part of this one.
    void append(const ir::LoweredFunction &function, Location at = Here::current());
    void append(const Module &part, Location at = Here::current());
    const std::vector<Module> &submodules() const { return parts; }
    // The same with the functions of its parts among its own.
    Module resolve_submodules() const;

    // A file of each type, at its path. CompileError for what is written of one pipeline only (its
    // schedule), or what cannot be called as it is.
    void compile(const std::map<OutputFileType, std::string> &files,
                 Location at = Here::current()) const;
    // Returns what a file of the type object would have, which has the code of kernels within; the
    // second returns that of the type device_code, an undefined Buffer if there are no kernels.
    Buffer<uint8_t> compile_to_buffer(Location at = Here::current()) const;
    Buffer<uint8_t> get_device_code_buffer(Location at = Here::current()) const;

private:
    friend void
    compile_multitarget(const std::string &, const std::map<OutputFileType, std::string> &,
                        const std::vector<Target> &, const std::vector<std::string> &,
                        const std::function<Module(const std::string &, const Target &)> &,
                        Location);
    struct Source {
        Pipeline pipeline;
        std::vector<Argument> args;
    };
    bool has_function(const std::string &name) const;

    ir::Module lowered;
    Target own_target;
    std::vector<Module> parts;
    std::optional<Source> source;  // while it is of one pipeline alone
};

// The functions of all modules in one. CompileError if their targets differ, or two functions have
// one name.
Module link_modules(const std::string &name, const std::vector<Module> &modules,
                    Location at = Here::current());

// Makes the module of a function for a target; may be called more than once for one.
using ModuleFactory = std::function<Module(const std::string &function, const Target &target)>;
// Code for several targets behind one function; Pipeline::compile_to_multitarget_... say how. For
// one target it writes what its module's compile() writes.
void compile_multitarget(const std::string &function,
                         const std::map<OutputFileType, std::string> &files,
                         const std::vector<Target> &targets,
                         const std::vector<std::string> &suffixes, const ModuleFactory &make,
                         Location at = Here::current());

std::ostream &operator<<(std::ostream &out, const Module &module);

// Writes the runtime alone, for programs that link several files compiled with Target::NoRuntime.
// Throws CompileError if the target is another machine; RuntimeError if it cannot be written.
void compile_standalone_runtime(const std::string &path, const Target &target,
                                Location at = Here::current());
// The same for the types static_library and object (an archive as well); gives what it wrote.
std::map<OutputFileType, std::string>
compile_standalone_runtime(const std::map<OutputFileType, std::string> &files, const Target &target,
                           Location at = Here::current());

}  // namespace tessera
