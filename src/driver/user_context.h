#pragma once
#include "runtime/tessera_runtime.h"

namespace tessera {

struct JITUserContext;

// What a pipeline calls instead of the runtime's own functions; null: the runtime's own.
struct JITHandlers {
    void (*custom_print)(JITUserContext *, const char *) = nullptr;
    void *(*custom_malloc)(JITUserContext *, size_t) = nullptr;
    void (*custom_free)(JITUserContext *, void *) = nullptr;
    int (*custom_do_task)(JITUserContext *, tessera_task_t, int, uint8_t *) = nullptr;
    int (*custom_do_par_for)(JITUserContext *, tessera_task_t, int, int, uint8_t *) = nullptr;
    void (*custom_error)(JITUserContext *, const char *) = nullptr;
    int32_t (*custom_trace)(JITUserContext *, const tessera_trace_event_t *) = nullptr;

    // The other's handlers where it has one.
    void merge(const JITHandlers &other);
};

// Passed to a call of a pipeline, and by it to every handler and extern function: derive from it to
// hand them something of your own.
struct JITUserContext {
    JITHandlers handlers;
};

namespace driver {

// Handlers for every JIT call whose own context has none. Returns those set before.
JITHandlers set_default_handlers(const JITHandlers &handlers);
JITHandlers default_handlers();

// Routes what one call of a pipeline reports to its handlers, while this object lives.
class ActiveCall {
public:
    // `user`: the caller's context, or null.
    explicit ActiveCall(JITUserContext *user);
    ~ActiveCall();
    ActiveCall(const ActiveCall &) = delete;

    void *user_context() { return context; }
    bool has_error_handler() const { return handlers.custom_error != nullptr; }
    // What the pipeline reported, if there is no error handler.
    const char *error_text() const;

    struct State;

private:
    JITUserContext own;
    JITUserContext *context;
    JITHandlers handlers;
    State *state;
};

}  // namespace driver
}  // namespace tessera
