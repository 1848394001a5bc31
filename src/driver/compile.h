#pragma once
#include "codegen/compile.h"
#include "driver/call_context.h"
#include "lower/lower.h"
#include "program/program.h"
#include <memory>
#include <span>

namespace tessera::driver {

class CompiledPipeline;
using CompiledRef = std::shared_ptr<const CompiledPipeline>;

// C functions that a program calls by name.
struct Externs {
    codegen::ExternSymbols symbols;
    std::vector<CompiledRef> compiled;  // whose code `symbols` points into
};

// A program compiled for a target, ready to be called in this process.
class CompiledPipeline {
public:
    CompiledPipeline(const program::Program &program, const Target &target, Externs externs);

    const ir::Module &module() const { return lowered; }
    // `args`: pointers to scalars, and tessera_buffer_t; first the program's parameters, in the
    // order of program::find_parameters, then one per output value. Returns 0 or the runtime's
    // error code.
    int call(JITUserContext *context, std::span<void *const> args) const;
    // The C function, int (user_context, arguments...); null with Target::Interpret.
    void *address() const;
    // Returns about how many bytes it takes: its code, and the statements that the code was made
    // of.
    size_t bytes() const;

private:
    ir::Module lowered;
    std::vector<size_t> sources;  // of each argument of the code: which of `args`
    size_t wanted = 0;            // how many `args` there are
    Target target;
    Externs externs;
    std::shared_ptr<const codegen::JitModule> code;  // null: interpreted
    codegen::JitModule::ArgvFunction entry = nullptr;
};

// Compiles, or finds what was compiled before for an equal program, target and externs: the 1,000
// that were used last, unless they are larger than 512 MiB together. From several threads at once,
// too. Throws CompileError.
CompiledRef compile(const program::Program &program, const Target &target,
                    const Externs &externs = {});

// Counts the programs that the calls of `compile` have compiled and those that they found, and the
// bytes of all that they would find now.
struct CacheCounts {
    uint64_t compiled = 0, found = 0, bytes = 0;
};
CacheCounts cache_counts();
// Forgets what is compiled; what is in use stays.
void clear_cache();

// The name of a compiled function, and the order of its arguments (before the outputs).
struct Signature {
    std::string name;                         // empty: the program's
    std::vector<program::ParameterRef> args;  // may have more than the program reads
    bool any_args = true;                     // `args` says nothing
    std::vector<std::string> outputs;         // what the outputs are called; empty: as their Funcs
    Location written;                         // of the list, for errors
};

// Lowers like `compile`, without making code. Throws CompileError if the signature lacks a
// parameter that the program reads, or has one twice.
ir::Module lower_for(const program::Program &program, const Target &target,
                     const Signature &signature);
// Before loops and storage are worked on: regions, and what is computed and used in them.
ir::Module conceptual(const program::Program &program, const Target &target);

// The loops of the whole pipeline, and what is computed in them, as an indented text.
std::string loop_nest(const program::Program &program, const Target &target);

// Replaces an undefined target: by the environment's JIT target or else the host, with the features
// that are set. Adds Target::JIT. Throws RuntimeError if it wants a device that is not there.
Target jit_target(const Target &target);
// The same for a file, which has no part in this process: of an undefined target, that of the
// environment or else the host.
Target file_target(const Target &target);

}  // namespace tessera::driver
