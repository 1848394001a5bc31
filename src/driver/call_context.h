#pragma once
#include "driver/jit_context.h"
#include <exception>
#include <string>

namespace tessera::driver {

// One call of compiled code in this process: as long as it lives, the runtime's handlers, given its
// user_context(), do what the handlers of the caller, the pipeline and the process say. Several
// calls at once may share a context; of their handlers those of the newest call are in force.
class CallContext {
public:
    // A query only asks which regions are needed: what it does is not traced.
    enum class Purpose : uint8_t { Run, Query };
    CallContext(JITUserContext *given, const JITHandlers &of_pipeline,
                Purpose purpose = Purpose::Run);
    ~CallContext();
    CallContext(const CallContext &) = delete;
    CallContext &operator=(const CallContext &) = delete;

    JITUserContext *user_context() { return context; }
    // Throws what a handler has thrown, if one has; of several calls at once with one context, each
    // that ran then throws it.
    void rethrow();
    // Returns the error that was reported first, if there is no handler of errors that took it; of
    // several calls at once with one context, each that ran then has it.
    std::string message() const;
    bool has_error_handler() const { return handlers.custom_error; }

private:
    friend struct LiveCalls;

    JITUserContext own;
    JITUserContext *context;
    JITHandlers handlers;
    // Guarded by the list of live calls, as are the links.
    std::string reported;
    std::exception_ptr thrown;
    CallContext *older = nullptr, *newer = nullptr;
};

// Completes the handlers of the context: by these, then by those of the process, then by the
// runtime's own. The error handler stays unset where nobody has one: a failed call then throws.
void populate_handlers(JITUserContext &context, const JITHandlers &handlers);

// Those of all pipelines that have none of their own; returns the ones before.
JITHandlers set_default_handlers(const JITHandlers &handlers);

}  // namespace tessera::driver
