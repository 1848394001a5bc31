#include "driver/user_context.h"
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace tessera {

void JITHandlers::merge(const JITHandlers &other) {
    if (other.custom_print) custom_print = other.custom_print;
    if (other.custom_malloc) custom_malloc = other.custom_malloc;
    if (other.custom_free) custom_free = other.custom_free;
    if (other.custom_do_task) custom_do_task = other.custom_do_task;
    if (other.custom_do_par_for) custom_do_par_for = other.custom_do_par_for;
    if (other.custom_error) custom_error = other.custom_error;
    if (other.custom_trace) custom_trace = other.custom_trace;
}

namespace driver {

struct ActiveCall::State {
    JITHandlers handlers;
    std::mutex mutex;
    std::string error;
    int calls = 0;  // that share this context
};

namespace {

// The calls that are running, by the user context they were given: pipelines compiled ahead of time
// use the same runtime in this process, with contexts that mean something else.
struct Registry {
    std::shared_mutex mutex;
    std::unordered_map<void *, ActiveCall::State> calls;
    JITHandlers defaults;
    // The runtime's functions that ours replaced.
    tessera_error_handler_t error = nullptr;
    tessera_print_t print = nullptr;
    tessera_malloc_t malloc = nullptr;
    tessera_free_t free = nullptr;
    tessera_do_task_t do_task = nullptr;
    tessera_do_par_for_t do_par_for = nullptr;
    tessera_trace_t trace = nullptr;
};

Registry &registry() {
    static auto *r = new Registry;  // pool threads may report until the very end
    return *r;
}

ActiveCall::State *find(void *user_context) {
    Registry &r = registry();
    std::shared_lock lock(r.mutex);
    auto found = r.calls.find(user_context);
    return found == r.calls.end() ? nullptr : &found->second;
}

JITUserContext *as_context(void *p) { return static_cast<JITUserContext *>(p); }

void on_error(void *user_context, const char *message) {
    ActiveCall::State *call = find(user_context);
    if (!call) return registry().error(user_context, message);
    if (call->handlers.custom_error) {
        return call->handlers.custom_error(as_context(user_context), message);
    }
    std::lock_guard lock(call->mutex);
    if (call->error.empty()) call->error = message;
}

void on_print(void *user_context, const char *message) {
    ActiveCall::State *call = find(user_context);
    if (!call || !call->handlers.custom_print) return registry().print(user_context, message);
    call->handlers.custom_print(as_context(user_context), message);
}

void *on_malloc(void *user_context, size_t bytes) {
    ActiveCall::State *call = find(user_context);
    if (!call || !call->handlers.custom_malloc) return registry().malloc(user_context, bytes);
    return call->handlers.custom_malloc(as_context(user_context), bytes);
}

void on_free(void *user_context, void *p) {
    ActiveCall::State *call = find(user_context);
    if (!call || !call->handlers.custom_free) return registry().free(user_context, p);
    call->handlers.custom_free(as_context(user_context), p);
}

int on_do_task(void *user_context, tessera_task_t f, int index, uint8_t *closure) {
    ActiveCall::State *call = find(user_context);
    if (!call || !call->handlers.custom_do_task) {
        return registry().do_task(user_context, f, index, closure);
    }
    return call->handlers.custom_do_task(as_context(user_context), f, index, closure);
}

int on_do_par_for(void *user_context, tessera_task_t f, int min, int size, uint8_t *closure) {
    ActiveCall::State *call = find(user_context);
    if (!call || !call->handlers.custom_do_par_for) {
        return registry().do_par_for(user_context, f, min, size, closure);
    }
    return call->handlers.custom_do_par_for(as_context(user_context), f, min, size, closure);
}

int32_t on_trace(void *user_context, const tessera_trace_event_t *event) {
    ActiveCall::State *call = find(user_context);
    if (!call || !call->handlers.custom_trace) return registry().trace(user_context, event);
    return call->handlers.custom_trace(as_context(user_context), event);
}

// Puts ours in the place of the runtime's handlers, each when it is first needed: allocation and
// loops are not to be slower for those who never replace them.
void install(const JITHandlers &h) {
    Registry &r = registry();
    std::unique_lock lock(r.mutex);
    auto replace = [](bool wanted, auto &old, auto set, auto ours) {
        if (wanted && !old) old = set(ours);
    };
    replace(true, r.error, tessera_set_error_handler, on_error);
    replace(h.custom_print, r.print, tessera_set_custom_print, on_print);
    replace(h.custom_malloc, r.malloc, tessera_set_custom_malloc, on_malloc);
    replace(h.custom_free, r.free, tessera_set_custom_free, on_free);
    replace(h.custom_do_task, r.do_task, tessera_set_custom_do_task, on_do_task);
    replace(h.custom_do_par_for, r.do_par_for, tessera_set_custom_do_par_for, on_do_par_for);
    replace(h.custom_trace, r.trace, tessera_set_custom_trace, on_trace);
}

}  // namespace

JITHandlers set_default_handlers(const JITHandlers &handlers) {
    Registry &r = registry();
    std::unique_lock lock(r.mutex);
    return std::exchange(r.defaults, handlers);
}

JITHandlers default_handlers() {
    Registry &r = registry();
    std::shared_lock lock(r.mutex);
    return r.defaults;
}

ActiveCall::ActiveCall(JITUserContext *user)
    : context(user ? user : &own), handlers(default_handlers()) {
    handlers.merge(context->handlers);
    install(handlers);
    Registry &r = registry();
    std::unique_lock lock(r.mutex);
    state = &r.calls[context];
    state->handlers = handlers;
    state->calls++;
}

ActiveCall::~ActiveCall() {
    Registry &r = registry();
    std::unique_lock lock(r.mutex);
    if (--state->calls == 0) r.calls.erase(context);
}

const char *ActiveCall::error_text() const { return state->error.c_str(); }

}  // namespace driver
}  // namespace tessera
