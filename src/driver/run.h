#pragma once
#include "driver/call_context.h"
#include "driver/compile.h"
#include <functional>
#include <map>

// Calls of a program in this process with buffers.
namespace tessera::driver {

// Code, and what it takes its arguments from.
struct Prepared {
    CompiledRef code;
    std::vector<program::ParameterRef> parameters;
};
using PreparedRef = std::shared_ptr<const Prepared>;

// One call, or several questions: the target that the buffers need, the arguments in their order.
// All throw RuntimeError where a buffer or parameter is missing or does not fit, and where the code
// fails unless a handler gets the error.
class Run {
public:
    using Purpose = CallContext::Purpose;
    // `prepare` compiles the program for a target, or finds what has been compiled.
    Run(const program::Program &program, std::function<PreparedRef(const Target &)> prepare,
        const JITHandlers &handlers, JITUserContext *context, const Target &target,
        Purpose purpose = Purpose::Run);

    // Computes the outputs, a buffer per value.
    void call(const std::vector<tessera_buffer_t *> &outputs);
    // The shapes of the outputs, which have no memory, become those that the pipeline computes to
    // have these. Returns false if it failed, and a handler got the error.
    bool ask_outputs(const std::vector<tessera_buffer_t *> &outputs);
    // Asks until nothing changes which shapes the missing images have to have, by their names: what
    // one has to be may depend on what another is.
    void ask_inputs(const std::vector<tessera_buffer_t *> &outputs,
                    const std::map<Symbol, tessera_buffer_t *> &missing);
    std::vector<program::ParameterRef> parameters() const { return prepare(target)->parameters; }

private:
    void check_outputs(const std::vector<tessera_buffer_t *> &outputs) const;
    int call_with_inputs(const std::vector<tessera_buffer_t *> &outputs);
    bool ask_inputs_once(const std::vector<tessera_buffer_t *> &outputs,
                         const std::map<Symbol, tessera_buffer_t *> &missing);

    const program::Program &program;
    std::function<PreparedRef(const Target &)> prepare;
    CallContext context;
    Target target;
};

// Throws what a handler has thrown; RuntimeError for a code other than 0, unless a handler was
// told.
void check_result(int code, const std::string &pipeline, CallContext &context);
// Returns true if a run is to be followed by a report of how long each Func took.
inline bool is_profiled(const Target &target) {
    return target.has_feature(Target::Profile) || target.has_feature(Target::ProfileByTimer);
}
// Throws RuntimeError if a buffer has not the wanted number of dimensions.
void check_dimensions(const tessera_buffer_t &b, const std::string &name, int wanted);
// Throws RuntimeError if two elements of the outputs are one place in memory, as with a stride of
// 0; by Halide's rules it is warned of.
void check_places(std::span<tessera_buffer_t *const> outputs, const Location &at = {});
// Returns true if indices into the buffer need 64 bits.
bool is_large(const tessera_buffer_t &b);

}  // namespace tessera::driver
