#pragma once
#include "base/target.h"
#include "driver/user_context.h"
#include "ir/module.h"
#include "program/program.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

// From a program to something that runs, or to its text.
namespace tessera::driver {

// C functions that the program calls, beyond the runtime's and the C library's.
using ExternSymbols = std::map<std::string, void *>;

// A program as machine code in memory. Immutable; may be run by several threads at once.
class CompiledPipeline {
public:
    struct Code;
    explicit CompiledPipeline(std::unique_ptr<Code> code);
    ~CompiledPipeline();

    // What it takes, in order: scalars and input buffers with the Parameter that is passed as their
    // referent, then one output buffer per value of each output.
    const std::vector<ir::Argument> &arguments() const;
    const Target &target() const;

    // Runs it. Per argument: the tessera_buffer_t *, or a pointer to the scalar. Returns 0, or the
    // error code if `context` has an error handler of its own; without one, a failure throws
    // RuntimeError with the runtime's message.
    int run(const std::vector<void *> &args, JITUserContext *context = nullptr) const;

    // The pointers for run(): what the parameters are set to, then the outputs. Throws RuntimeError,
    // naming the parameter, if one is not set. `inputs` overrides the buffers of some parameters.
    std::vector<void *> bind(const std::vector<tessera_buffer_t *> &outputs,
                             const std::map<const program::Parameter *, tessera_buffer_t *> &inputs =
                                 {}) const;

private:
    std::unique_ptr<Code> code;
};

using CompiledPipelineRef = std::shared_ptr<const CompiledPipeline>;

// Compiles for the JIT, or finds what was compiled for the same program, schedule and target.
// Throws CompileError.
CompiledPipelineRef compile(const program::Program &program, const Target &target,
                            const ExternSymbols &externs = {});

// Compiles (with Target::LargeBuffers if a buffer has more elements than 32 bits can index), binds
// the parameters, and runs.
int realize(const program::Program &program, const Target &target,
            const std::vector<tessera_buffer_t *> &outputs, const ExternSymbols &externs = {},
            JITUserContext *context = nullptr);

// Fills in the regions of the buffers without host memory: `outputs` say what is wanted, `inputs`
// learn what is needed of them. Asks until the answers no longer change.
void infer_bounds(const program::Program &program, const Target &target,
                  const std::vector<tessera_buffer_t *> &outputs,
                  const std::map<const program::Parameter *, tessera_buffer_t *> &inputs,
                  const ExternSymbols &externs = {}, JITUserContext *context = nullptr);

// Texts of what a program becomes.
std::string to_lowered_text(const program::Program &program, const Target &target);
std::string to_llvm_ir(const program::Program &program, const Target &target);
std::string to_assembly(const program::Program &program, const Target &target);
std::vector<char> to_object(const program::Program &program, const Target &target);
std::vector<char> to_bitcode(const program::Program &program, const Target &target);

// Forgets all compiled programs that nobody holds; how many are remembered.
void clear_cache();
size_t cache_size();

}  // namespace tessera::driver
