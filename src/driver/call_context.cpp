#include "driver/call_context.h"
#include "runtime/tessera_runtime_cuda.h"
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

namespace tessera::driver {

// The calls that go on at the moment, in a list without memory of its own: a small pipeline may
// take less time than an allocation.
struct LiveCalls {
    std::shared_mutex mutex;
    CallContext *newest = nullptr;
    JITHandlers defaults;

    void add(CallContext &call) {
        call.older = newest;
        if (newest) newest->newer = &call;
        newest = &call;
    }
    void remove(CallContext &call) {
        (call.newer ? call.newer->older : newest) = call.older;
        if (call.older) call.older->newer = call.newer;
    }
    // Calls f(call) for those of a context, the newest first, until it returns true.
    template<typename F> bool any_of(const void *user_context, F f) const {
        if (!user_context) return false;
        for (CallContext *call = newest; call; call = call->older) {
            if (call->context == user_context && f(*call)) return true;
        }
        return false;
    }
    // The handlers in force for a live call; nothing for a context that is not ours.
    std::optional<JITHandlers> handlers_of(const void *user_context) {
        std::shared_lock lock(mutex);
        std::optional<JITHandlers> handlers;
        any_of(user_context, [&](const CallContext &call) {
            handlers = call.handlers;
            return true;
        });
        return handlers;
    }
    // Nobody knows which of several calls with one context a handler was called for.
    void keep_thrown(const void *user_context, const std::exception_ptr &thrown) {
        std::unique_lock lock(mutex);
        any_of(user_context, [&](CallContext &call) {
            if (!call.thrown) call.thrown = thrown;
            return false;
        });
    }
    void keep_message(const void *user_context, const char *message) {
        std::unique_lock lock(mutex);
        any_of(user_context, [&](CallContext &call) {
            if (call.reported.empty()) call.reported = message;
            return false;
        });
    }
};

namespace {

LiveCalls &live_calls() {
    static auto *all = new LiveCalls;
    return *all;
}

JITUserContext *ours(void *user_context) { return static_cast<JITUserContext *>(user_context); }

// Handlers are called from compiled code, which no exception can pass: the calls that use the
// context throw it once they have ended. Until then the handler counts as one that returned
// `result`.
template<typename Handler, typename Result, typename... Args>
Result run_handler(void *c, Result result, Handler handler, Args... args) {
    try {
        return handler(ours(c), args...);
    } catch (...) {
        live_calls().keep_thrown(c, std::current_exception());
        return result;
    }
}

template<typename Handler, typename... Args>
void tell_handler(void *c, Handler handler, Args... args) {
    auto returning = [&](JITUserContext *context) {
        handler(context, args...);
        return 0;
    };
    run_handler(c, 0, returning);
}

// These were installed in the runtime before the functions below.
tessera_error_handler_t next_error;
tessera_print_t next_print;
tessera_malloc_t next_malloc;
tessera_free_t next_free;
tessera_trace_t next_trace;
tessera_do_task_t next_do_task;
tessera_do_par_for_t next_do_par_for;
tessera_cuda_acquire_context_t next_acquire_context;
tessera_cuda_release_context_t next_release_context;
tessera_cuda_get_stream_t next_get_stream;

// A handler of a live call; null where there is none.
template<typename Handler> Handler find(void *c, Handler JITHandlers::*member) {
    const std::optional<JITHandlers> handlers = live_calls().handlers_of(c);
    return handlers ? *handlers.*member : nullptr;
}

void on_error(void *c, const char *message) {
    const std::optional<JITHandlers> handlers = live_calls().handlers_of(c);
    if (!handlers) return next_error(c, message);
    if (handlers->custom_error) return tell_handler(c, handlers->custom_error, message);
    live_calls().keep_message(c, message);
}

void on_print(void *c, const char *message) {
    const auto handler = find(c, &JITHandlers::custom_print);
    if (!handler) return next_print(c, message);
    tell_handler(c, handler, message);
}

void *on_malloc(void *c, size_t bytes) {
    const auto handler = find(c, &JITHandlers::custom_malloc);
    if (!handler) return next_malloc(c, bytes);
    void *none = nullptr;
    return run_handler(c, none, handler, bytes);
}

void on_free(void *c, void *p) {
    const auto handler = find(c, &JITHandlers::custom_free);
    if (!handler) return next_free(c, p);
    tell_handler(c, handler, p);
}

int32_t on_trace(void *c, const tessera_trace_event_t *event) {
    const auto handler = find(c, &JITHandlers::custom_trace);
    if (!handler) return next_trace(c, event);
    return run_handler(c, 0, handler, event);
}

const int failed = tessera_error_code_generic;

using UserTask = int (*)(JITUserContext *, int, uint8_t *);

int on_do_task(void *c, tessera_task_t f, int index, uint8_t *closure) {
    const auto handler = find(c, &JITHandlers::custom_do_task);
    if (!handler) return next_do_task(c, f, index, closure);
    return run_handler(c, failed, handler, reinterpret_cast<UserTask>(f), index, closure);
}

int on_do_par_for(void *c, tessera_task_t f, int min, int size, uint8_t *closure) {
    const auto handler = find(c, &JITHandlers::custom_do_par_for);
    if (!handler) return next_do_par_for(c, f, min, size, closure);
    return run_handler(c, failed, handler, reinterpret_cast<UserTask>(f), min, size, closure);
}

// Those of contexts and streams see handles of the driver as pointers to anything.
int on_acquire_context(void *c, CUctx_st **cuda, bool create) {
    const auto handler = find(c, &JITHandlers::custom_cuda_acquire_context);
    if (!handler) return next_acquire_context(c, cuda, create);
    void *given = nullptr;
    const int code = run_handler(c, failed, handler, &given, create);
    *cuda = static_cast<CUctx_st *>(given);
    return code;
}

int on_release_context(void *c) {
    const auto handler = find(c, &JITHandlers::custom_cuda_release_context);
    if (!handler) return next_release_context(c);
    return run_handler(c, failed, handler);
}

int on_get_stream(void *c, CUctx_st *cuda, CUstream_st **stream) {
    const auto handler = find(c, &JITHandlers::custom_cuda_get_stream);
    if (!handler) return next_get_stream(c, cuda, stream);
    void *given = nullptr;
    const int code = run_handler(c, failed, handler, static_cast<void *>(cuda), &given);
    *stream = static_cast<CUstream_st *>(given);
    return code;
}

void install_cuda_hooks() {
    static std::once_flag once;
    std::call_once(once, [] {
        next_acquire_context = tessera_set_cuda_acquire_context(on_acquire_context);
        next_release_context = tessera_set_cuda_release_context(on_release_context);
        next_get_stream = tessera_set_cuda_get_stream(on_get_stream);
    });
}

// Installed when first needed, so that a program without handlers pays for none.
void install_hooks(const JITHandlers &h) {
    static std::once_flag error, print, memory, trace, task, par_for;
    std::call_once(error, [] { next_error = tessera_set_error_handler(on_error); });
    if (h.custom_print) {
        std::call_once(print, [] { next_print = tessera_set_custom_print(on_print); });
    }
    if (h.custom_malloc || h.custom_free) {
        std::call_once(memory, [] {
            next_malloc = tessera_set_custom_malloc(on_malloc);
            next_free = tessera_set_custom_free(on_free);
        });
    }
    if (h.custom_trace) {
        std::call_once(trace, [] { next_trace = tessera_set_custom_trace(on_trace); });
    }
    if (h.custom_do_task) {
        std::call_once(task, [] { next_do_task = tessera_set_custom_do_task(on_do_task); });
    }
    if (h.custom_do_par_for) {
        std::call_once(par_for,
                       [] { next_do_par_for = tessera_set_custom_do_par_for(on_do_par_for); });
    }
    if (h.custom_cuda_acquire_context || h.custom_cuda_release_context ||
        h.custom_cuda_get_stream) {
        install_cuda_hooks();
    }
}

// `first`, completed by what `second` has.
JITHandlers merged(JITHandlers first, const JITHandlers &second) {
    auto fill = [](auto &a, auto b) {
        if (!a) a = b;
    };
    fill(first.custom_print, second.custom_print);
    if (!first.custom_malloc && !first.custom_free) {
        first.custom_malloc = second.custom_malloc;
        first.custom_free = second.custom_free;
    }
    fill(first.custom_do_task, second.custom_do_task);
    fill(first.custom_do_par_for, second.custom_do_par_for);
    fill(first.custom_error, second.custom_error);
    fill(first.custom_trace, second.custom_trace);
    fill(first.custom_get_symbol, second.custom_get_symbol);
    fill(first.custom_load_library, second.custom_load_library);
    fill(first.custom_get_library_symbol, second.custom_get_library_symbol);
    fill(first.custom_cuda_acquire_context, second.custom_cuda_acquire_context);
    fill(first.custom_cuda_release_context, second.custom_cuda_release_context);
    fill(first.custom_cuda_get_stream, second.custom_cuda_get_stream);
    return first;
}

// Until the functions above are installed, the runtime's own are what it calls.
void add_cuda_handlers(JITHandlers &h) {
    h.custom_cuda_acquire_context = [](JITUserContext *c, void **cuda, bool create) -> int32_t {
        const auto acquire =
            next_acquire_context ? next_acquire_context : tessera_cuda_acquire_context;
        CUctx_st *given = nullptr;
        const int code = acquire(c, &given, create);
        *cuda = given;
        return code;
    };
    h.custom_cuda_release_context = [](JITUserContext *c) -> int32_t {
        return (next_release_context ? next_release_context : tessera_cuda_release_context)(c);
    };
    h.custom_cuda_get_stream = [](JITUserContext *c, void *cuda, void **stream) -> int32_t {
        const auto get = next_get_stream ? next_get_stream : tessera_cuda_get_stream;
        CUstream_st *given = nullptr;
        const int code = get(c, static_cast<CUctx_st *>(cuda), &given);
        *stream = given;
        return code;
    };
}

// The runtime's own, as handlers.
JITHandlers handlers_of_runtime() {
    JITHandlers h;
    h.custom_print = [](JITUserContext *c, const char *message) {
        (next_print ? next_print : tessera_default_print)(c, message);
    };
    h.custom_malloc = [](JITUserContext *c, size_t bytes) {
        return (next_malloc ? next_malloc : tessera_default_malloc)(c, bytes);
    };
    h.custom_free = [](JITUserContext *c, void *p) {
        (next_free ? next_free : tessera_default_free)(c, p);
    };
    h.custom_do_task = [](JITUserContext *c, UserTask f, int index, uint8_t *closure) {
        const auto task = reinterpret_cast<tessera_task_t>(f);
        return (next_do_task ? next_do_task : tessera_default_do_task)(c, task, index, closure);
    };
    h.custom_do_par_for = [](JITUserContext *c, UserTask f, int min, int size, uint8_t *closure) {
        const auto task = reinterpret_cast<tessera_task_t>(f);
        const auto run = next_do_par_for ? next_do_par_for : tessera_default_do_par_for;
        return run(c, task, min, size, closure);
    };
    h.custom_trace = [](JITUserContext *c, const tessera_trace_event_t *event) {
        return (next_trace ? next_trace : tessera_default_trace)(c, event);
    };
    add_cuda_handlers(h);
    return h;
}

}  // namespace

void populate_handlers(JITUserContext &context, const JITHandlers &handlers) {
    LiveCalls &all = live_calls();
    std::unique_lock lock(all.mutex);
    const JITHandlers known = merged(merged(context.handlers, handlers), all.defaults);
    context.handlers = merged(known, handlers_of_runtime());
}

CallContext::CallContext(JITUserContext *given, const JITHandlers &of_pipeline, Purpose purpose)
    : context(given ? given : &own) {
    LiveCalls &all = live_calls();
    const JITHandlers of_call = given ? merged(given->handlers, of_pipeline) : of_pipeline;
    std::unique_lock lock(all.mutex);
    handlers = merged(of_call, all.defaults);
    if (purpose == Purpose::Query) {
        handlers.custom_trace = [](JITUserContext *, const tessera_trace_event_t *) { return 1; };
    }
    install_hooks(handlers);
    all.add(*this);
}

CallContext::~CallContext() {
    LiveCalls &all = live_calls();
    std::unique_lock lock(all.mutex);
    all.remove(*this);
}

std::string CallContext::message() const {
    std::shared_lock lock(live_calls().mutex);
    return reported;
}

void CallContext::rethrow() {
    std::exception_ptr first;
    {
        std::unique_lock lock(live_calls().mutex);
        first = std::exchange(thrown, nullptr);
    }
    if (first) std::rethrow_exception(first);
}

JITHandlers set_default_handlers(const JITHandlers &handlers) {
    LiveCalls &all = live_calls();
    std::unique_lock lock(all.mutex);
    return std::exchange(all.defaults, handlers);
}

}  // namespace tessera::driver
