#pragma once
#include "driver/compile.h"
#include "lang/extern.h"
#include "lang/func.h"
#include "lang/pipeline.h"
#include <mutex>

namespace tessera {

// What a Pipeline is a handle to.
struct PipelineContents {
    program::Program program;
    JITHandlers handlers;
    std::map<std::string, JITExtern> externs;

    // What was compiled last for a target, and what code it takes its arguments from.
    struct Compiled {
        uint64_t changes = 0;
        driver::CompiledRef code;
        std::vector<program::ParameterRef> parameters;
    };
    std::mutex mutex;
    std::map<std::string, Compiled> compiled;  // by target

    // The target that was named last for a run in this process; unknown: none was.
    Target last_target;

    // Compiles, unless nothing has changed since the last time.
    Compiled compile(const Target &target);
    // The target to run for: of an undefined one, the one that was named last.
    Target target_for(const Target &given);

private:
    Compiled compile_now(const Target &target, uint64_t changes);
};

namespace detail {

// The parameter that the argument stands for: by its name where it is only a description.
program::ParameterRef parameter_for(const Argument &a, const program::Program &program,
                                    const Location &at);
// Throws what a handler has thrown; RuntimeError for a code other than 0, unless a handler was
// told.
void check_result(int code, const std::string &pipeline, const driver::CallContext &context);
// Whether a run is to be followed by a report of how long each Func took.
inline bool is_profiled(const Target &target) {
    return target.has_feature(Target::Profile) || target.has_feature(Target::ProfileByTimer);
}
// Throws RuntimeError if a buffer has not the wanted number of dimensions.
void check_dimensions(const tessera_buffer_t &b, const std::string &name, int wanted);
// Throws RuntimeError if two elements of the outputs are one place in memory, as with a stride of
// 0; by Halide's rules it is warned of.
void check_places(const std::vector<tessera_buffer_t *> &outputs, const Location &at = {});
// Whether indices into the buffer need 64 bits.
bool is_large(const tessera_buffer_t &b);

}  // namespace detail

}  // namespace tessera
