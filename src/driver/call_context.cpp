#include "driver/call_context.h"
#include "runtime/tessera_runtime_cuda.h"
#include <exception>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace tessera::driver {

struct CallContext::State {
    JITHandlers handlers;
    std::mutex mutex;
    std::string message;
    // The calls that use the context at the moment, with what a handler has thrown first since each
    // began: nobody knows which of them it was called for.
    std::unordered_map<const CallContext *, std::exception_ptr> calls;
};

namespace {

struct Registry {
    std::shared_mutex mutex;
    std::unordered_map<const void *, std::unique_ptr<CallContext::State>> live;
    JITHandlers defaults;
};

Registry &registry() {
    static auto *r = new Registry;
    return *r;
}

// The state of a live call, or null for a context that is not ours.
CallContext::State *find(void *user_context) {
    if (!user_context) return nullptr;
    std::shared_lock lock(registry().mutex);
    auto found = registry().live.find(user_context);
    return found == registry().live.end() ? nullptr : found->second.get();
}

JITUserContext *ours(void *user_context) { return static_cast<JITUserContext *>(user_context); }

// Handlers are called from compiled code, which no exception can pass: the calls that use the
// context throw it once they have ended. Until then the handler counts as one that returned
// `result`.
template<typename Handler, typename Result, typename... Args>
Result run_handler(CallContext::State &state, Result result, Handler handler, Args... args) {
    try {
        return handler(args...);
    } catch (...) {
        std::lock_guard lock(state.mutex);
        for (auto &[call, thrown] : state.calls) {
            if (!thrown) thrown = std::current_exception();
        }
        return result;
    }
}

template<typename Handler, typename... Args>
void tell_handler(CallContext::State &state, Handler handler, Args... args) {
    auto returning = [&] {
        handler(args...);
        return 0;
    };
    run_handler(state, 0, returning);
}

// What was installed in the runtime before the functions below.
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

// Several calls at once may share a context, and each brings its pipeline's handlers.
template<typename Handler> Handler of(CallContext::State &state, Handler JITHandlers::*handler) {
    std::lock_guard lock(state.mutex);
    return state.handlers.*handler;
}

// A handler of a live call, and the call; both null where there is none.
template<typename Handler> struct Found {
    CallContext::State *state = nullptr;
    Handler handler = nullptr;
};
template<typename Handler> Found<Handler> find(void *c, Handler JITHandlers::*member) {
    CallContext::State *state = find(c);
    Handler handler = state ? of(*state, member) : nullptr;
    return handler ? Found<Handler>{state, handler} : Found<Handler>{};
}

void on_error(void *c, const char *message) {
    CallContext::State *state = find(c);
    if (!state) return next_error(c, message);
    if (auto handler = of(*state, &JITHandlers::custom_error)) {
        return tell_handler(*state, handler, ours(c), message);
    }
    std::lock_guard lock(state->mutex);
    if (state->message.empty()) state->message = message;
}

void on_print(void *c, const char *message) {
    auto [state, handler] = find(c, &JITHandlers::custom_print);
    if (!state) return next_print(c, message);
    tell_handler(*state, handler, ours(c), message);
}

void *on_malloc(void *c, size_t bytes) {
    auto [state, handler] = find(c, &JITHandlers::custom_malloc);
    if (!state) return next_malloc(c, bytes);
    void *none = nullptr;
    return run_handler(*state, none, handler, ours(c), bytes);
}

void on_free(void *c, void *p) {
    auto [state, handler] = find(c, &JITHandlers::custom_free);
    if (!state) return next_free(c, p);
    tell_handler(*state, handler, ours(c), p);
}

int32_t on_trace(void *c, const tessera_trace_event_t *event) {
    auto [state, handler] = find(c, &JITHandlers::custom_trace);
    if (!state) return next_trace(c, event);
    return run_handler(*state, 0, handler, ours(c), event);
}

const int failed = tessera_error_code_generic;

using UserTask = int (*)(JITUserContext *, int, uint8_t *);

int on_do_task(void *c, tessera_task_t f, int index, uint8_t *closure) {
    auto [state, handler] = find(c, &JITHandlers::custom_do_task);
    if (!state) return next_do_task(c, f, index, closure);
    return run_handler(*state, failed, handler, ours(c), reinterpret_cast<UserTask>(f), index,
                       closure);
}

int on_do_par_for(void *c, tessera_task_t f, int min, int size, uint8_t *closure) {
    auto [state, handler] = find(c, &JITHandlers::custom_do_par_for);
    if (!state) return next_do_par_for(c, f, min, size, closure);
    return run_handler(*state, failed, handler, ours(c), reinterpret_cast<UserTask>(f), min, size,
                       closure);
}

// Those of contexts and streams see handles of the driver as pointers to anything.
int on_acquire_context(void *c, CUctx_st **cuda, bool create) {
    auto [state, handler] = find(c, &JITHandlers::custom_cuda_acquire_context);
    if (!state) return next_acquire_context(c, cuda, create);
    void *given = nullptr;
    const int code = run_handler(*state, failed, handler, ours(c), &given, create);
    *cuda = static_cast<CUctx_st *>(given);
    return code;
}

int on_release_context(void *c) {
    auto [state, handler] = find(c, &JITHandlers::custom_cuda_release_context);
    if (!state) return next_release_context(c);
    return run_handler(*state, failed, handler, ours(c));
}

int on_get_stream(void *c, CUctx_st *cuda, CUstream_st **stream) {
    auto [state, handler] = find(c, &JITHandlers::custom_cuda_get_stream);
    if (!state) return next_get_stream(c, cuda, stream);
    void *given = nullptr;
    const int code =
        run_handler(*state, failed, handler, ours(c), static_cast<void *>(cuda), &given);
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
    Registry &r = registry();
    std::unique_lock lock(r.mutex);
    const JITHandlers known = merged(merged(context.handlers, handlers), r.defaults);
    context.handlers = merged(known, handlers_of_runtime());
}

CallContext::CallContext(JITUserContext *given, const JITHandlers &of_pipeline, Purpose purpose)
    : context(given ? given : &own) {
    Registry &r = registry();
    std::unique_lock lock(r.mutex);
    JITHandlers handlers = merged(merged(context->handlers, of_pipeline), r.defaults);
    if (purpose == Purpose::Query) {
        handlers.custom_trace = [](JITUserContext *, const tessera_trace_event_t *) { return 1; };
    }
    install_hooks(handlers);
    auto &entry = r.live[context];
    if (!entry) entry = std::make_unique<State>();
    state = entry.get();
    std::lock_guard lock_state(state->mutex);
    state->handlers = handlers;
    state->calls.emplace(this, nullptr);
}

CallContext::~CallContext() {
    Registry &r = registry();
    std::unique_lock lock(r.mutex);
    bool is_last = false;
    {
        std::lock_guard lock_state(state->mutex);
        state->calls.erase(this);
        is_last = state->calls.empty();
    }
    if (is_last) r.live.erase(context);
}

const std::string &CallContext::message() const { return state->message; }

void CallContext::rethrow() const {
    std::exception_ptr thrown;
    {
        std::lock_guard lock(state->mutex);
        thrown = std::exchange(state->calls.at(this), nullptr);
    }
    if (thrown) std::rethrow_exception(thrown);
}

bool CallContext::has_error_handler() const {
    return of(*state, &JITHandlers::custom_error) != nullptr;
}

JITHandlers set_default_handlers(const JITHandlers &handlers) {
    Registry &r = registry();
    std::unique_lock lock(r.mutex);
    JITHandlers before = r.defaults;
    r.defaults = handlers;
    return before;
}

}  // namespace tessera::driver
