#pragma once
#include "driver/run.h"
#include "lang/extern.h"
#include "lang/func.h"
#include "lang/pipeline.h"
#include "program/dependencies.h"
#include <deque>
#include <mutex>

namespace tessera {

// The object that a Pipeline is a handle to.
struct PipelineContents {
    program::Program program;
    JITHandlers handlers;
    std::map<std::string, JITExtern> externs;

    program::Version version;  // counts changes of these

    // The code that was compiled last for a target.
    struct Compiled : driver::Prepared {
        program::Dependencies dependencies;
    };
    std::mutex mutex;
    using CompiledRef = std::shared_ptr<const Compiled>;
    std::deque<std::pair<Target, CompiledRef>> compiled;  // for each target

    // The target that was named last for a run in this process; unknown: none was.
    Target last_target;

    // Compiles, unless nothing has changed since the last time.
    CompiledRef compile(const Target &target);
    // The target to run for: of an undefined one, the one that was named last.
    Target target_for(const Target &given);

private:
    CompiledRef compile_now(const Target &target);
};

namespace detail {

// The parameter that the argument stands for: by its name where it is only a description.
program::ParameterRef parameter_for(const Argument &a, const program::Program &program,
                                    const Location &at);
}  // namespace detail

}  // namespace tessera
