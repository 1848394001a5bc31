#pragma once
#include "codegen/compile.h"
#include "driver/call_context.h"
#include "driver/pipeline_code.h"
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
    // Compiles now, whatever has been compiled before. Call it on a large stack.
    CompiledPipeline(const program::Program &program, const Target &target, Externs externs);
    // With Target::Interpret: statements that an oracle runs.
    CompiledPipeline(ir::Module lowered, const PipelineCode &arguments, Externs externs);
    // Links the code.
    CompiledPipeline(const PipelineCode &code, const Target &target, Externs externs,
                     const codegen::Options &options);

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
    ir::Module lowered;             // of what is interpreted
    std::vector<uint64_t> sources;  // of each argument of the code: which of `args`
    uint64_t wanted = 0;            // how many `args` there are
    Externs externs;
    std::shared_ptr<const codegen::JitModule> code;  // null: interpreted
    std::string function;                            // the code's
    codegen::JitModule::ArgvFunction entry = nullptr;
};

// Compiles, or finds what was compiled before for an equal program, target and externs: the 1,000
// that were used last, unless they are larger than 512 MiB together; or on disk, where it is kept
// on request. From several threads at once, too. Throws CompileError.
CompiledRef compile(const program::Program &program, const Target &target,
                    const Externs &externs = {});

// Says whether compiled code is kept on disk (base/kept_files.h), for later processes that compile
// the same; off to begin with. Code that was warned of is not, so that each process warns. Returns
// what was said before.
bool keep_on_disk(bool on);

// Counts the programs that the calls of `compile` have compiled, those that they found in memory
// and those that they found on disk; and the bytes of all that they would find in memory now.
struct CacheCounts {
    uint64_t compiled = 0, found = 0, bytes = 0, programs = 0, found_on_disk = 0;
};
CacheCounts cache_counts();
// Forgets what is compiled; what is in use stays.
void clear_cache();
// Keeps at most so many programs, and of at most so many bytes together, but always the last one.
void set_cache_limits(size_t programs, size_t bytes);

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
