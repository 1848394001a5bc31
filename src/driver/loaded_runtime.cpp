#include "driver/loaded_runtime.h"
#include "base/small_array.h"
#include "driver/call_context.h"
#include "runtime/tessera_runtime_cuda.h"
#include <algorithm>
#include <condition_variable>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tessera::driver {
namespace {

// A call of a loaded function. Most compiled functions take no context, so that the runtime's
// handlers are called without one: they find the call by the thread, or else take the newest.
struct LoadedCall {
    JITUserContext *context;
    bool has_reported = false;
    int users = 0;  // handlers on other threads; guarded by the list, as are the links
    LoadedCall *older = nullptr, *newer = nullptr;
};

struct LoadedCalls {
    std::mutex mutex;
    std::condition_variable unused;
    LoadedCall *newest = nullptr;
    // The errors that threads of runtimes have reported, which know no call: one that fails without
    // a reason takes the first.
    std::vector<std::string> unclaimed;

    void add(LoadedCall &call) {
        std::lock_guard lock(mutex);
        call.older = newest;
        if (newest) newest->newer = &call;
        newest = &call;
    }
    void remove(LoadedCall &call) {
        std::unique_lock lock(mutex);
        (call.newer ? call.newer->older : newest) = call.older;
        if (call.older) call.older->newer = call.newer;
        if (!newest) unclaimed.clear();
        unused.wait(lock, [&] { return call.users == 0; });
    }
    std::string take_unclaimed() {
        std::lock_guard lock(mutex);
        if (unclaimed.empty()) return "";
        std::string first = std::move(unclaimed.front());
        unclaimed.erase(unclaimed.begin());
        return first;
    }
    bool keep_unclaimed(const char *message) {
        std::lock_guard lock(mutex);
        if (newest) unclaimed.emplace_back(message);
        return newest;
    }
};

LoadedCalls &loaded_calls() {
    static auto *all = new LoadedCalls;
    return *all;
}

thread_local LoadedCall *call_of_thread = nullptr;

// Lasts as long as compiled code runs.
class RunningCall {
public:
    explicit RunningCall(JITUserContext *context) : call{context}, outer(call_of_thread) {
        loaded_calls().add(call);
        call_of_thread = &call;
    }
    RunningCall(const RunningCall &) = delete;
    RunningCall &operator=(const RunningCall &) = delete;
    ~RunningCall() {
        call_of_thread = outer;
        loaded_calls().remove(call);
    }
    // Sees to it that a failure has its reason.
    void failed() {
        if (call.has_reported) return;
        const std::string message = loaded_calls().take_unclaimed();
        if (!message.empty()) tessera_error(call.context, message.c_str());
    }

private:
    LoadedCall call;
    LoadedCall *outer;
};

// The context that a handler is called for: the given one, or that of the call that goes on. It
// stays as long as this object does.
class CallerContext {
public:
    explicit CallerContext(void *given) : found(given) {
        if (given) return;
        if (call_of_thread) {
            found = call_of_thread->context;
            return;
        }
        std::lock_guard lock(loaded_calls().mutex);
        used = loaded_calls().newest;
        if (!used) return;
        used->users++;
        found = used->context;
    }
    CallerContext(const CallerContext &) = delete;
    CallerContext &operator=(const CallerContext &) = delete;
    ~CallerContext() {
        if (!used) return;
        std::lock_guard lock(loaded_calls().mutex);
        if (--used->users == 0) loaded_calls().unused.notify_all();
    }
    void *get() const { return found; }

private:
    void *found;
    LoadedCall *used = nullptr;
};

// Returns false if no call goes on.
bool report_to_call(const char *message) {
    if (!call_of_thread) return loaded_calls().keep_unclaimed(message);
    call_of_thread->has_reported = true;
    tessera_error(call_of_thread->context, message);
    return true;
}

// ---- Handlers of a library's own runtime: the process's runtime does it, for the caller ----

void pass_error(void *c, const char *message) {
    if (c || !report_to_call(message)) tessera_error(c, message);
}
void pass_print(void *c, const char *message) { tessera_print(CallerContext(c).get(), message); }
int32_t pass_trace(void *c, const tessera_trace_event_t *event) {
    return tessera_trace(CallerContext(c).get(), event);
}
int pass_acquire_context(void *c, CUctx_st **context, bool create) {
    return tessera_cuda_acquire_context(CallerContext(c).get(), context, create);
}
int pass_release_context(void *c) { return tessera_cuda_release_context(CallerContext(c).get()); }
int pass_get_stream(void *c, CUctx_st *context, CUstream_st **stream) {
    return tessera_cuda_get_stream(CallerContext(c).get(), context, stream);
}

// ---- Handlers of the process's runtime, which a library without one calls, too ----

tessera_error_handler_t error_of_process;
tessera_print_t print_of_process;
tessera_trace_t trace_of_process;
tessera_cuda_get_stream_t get_stream_of_process;

void on_process_error(void *c, const char *message) {
    if (c || !report_to_call(message)) error_of_process(c, message);
}
void on_process_print(void *c, const char *message) {
    const CallerContext caller(c);
    (caller.get() == c ? print_of_process : tessera_print)(caller.get(), message);
}
int32_t on_process_trace(void *c, const tessera_trace_event_t *event) {
    const CallerContext caller(c);
    return (caller.get() == c ? trace_of_process : tessera_trace)(caller.get(), event);
}
int on_process_get_stream(void *c, CUctx_st *context, CUstream_st **stream) {
    const CallerContext caller(c);
    const auto get = caller.get() == c ? get_stream_of_process : tessera_cuda_get_stream;
    return get(caller.get(), context, stream);
}

void install_process_handlers() {
    error_of_process = tessera_set_error_handler(on_process_error);
    print_of_process = tessera_set_custom_print(on_process_print);
    trace_of_process = tessera_set_custom_trace(on_process_trace);
    get_stream_of_process = tessera_set_cuda_get_stream(on_process_get_stream);
}

// ---- Finding a runtime ----

// A library without a runtime has that of whoever had one before.
template<typename F> F *function_of(void *library, const char *name, F *) {
    void *found = dlsym(library, name);
    return reinterpret_cast<F *>(found ? found : dlsym(RTLD_DEFAULT, name));
}
// The function of this name and type in the library's runtime; null if it has none.
#define OF_LIBRARY(name) function_of(library, #name, name)

template<typename Setter, typename Handler> void install(Setter *set, Handler handler) {
    if (set) set(handler);
}

// Returns true if some GPU can run pipelines.
bool has_gpu() {
    static const bool found = [] {
        int major = 0, minor = 0;
        const auto *cuda = tessera_cuda_device_interface();
        return !cuda->compute_capability(nullptr, &major, &minor) && major > 0;
    }();
    return found;
}

}  // namespace

LoadedRuntime::LoadedRuntime(void *library) {
    auto *set_error_handler = OF_LIBRARY(tessera_set_error_handler);
    is_own = set_error_handler && set_error_handler != tessera_set_error_handler;
    if (!is_own) {
        install_process_handlers();
        return;
    }
    install(set_error_handler, pass_error);
    install(OF_LIBRARY(tessera_set_custom_print), pass_print);
    install(OF_LIBRARY(tessera_set_custom_trace), pass_trace);
    install(OF_LIBRARY(tessera_set_cuda_acquire_context), pass_acquire_context);
    install(OF_LIBRARY(tessera_set_cuda_release_context), pass_release_context);
    install(OF_LIBRARY(tessera_set_cuda_get_stream), pass_get_stream);
    auto *cuda = OF_LIBRARY(tessera_cuda_device_interface);
    copy_to_host = OF_LIBRARY(tessera_copy_to_host);
    device_free = OF_LIBRARY(tessera_device_free);
    if (cuda && copy_to_host && device_free) interface = cuda();
}

const LoadedRuntime &LoadedRuntime::of(void *library) {
    static std::mutex mutex;
    static auto *known = new std::map<void *, const LoadedRuntime *>;
    auto *key = reinterpret_cast<void *>(OF_LIBRARY(tessera_set_error_handler));
    std::lock_guard lock(mutex);
    const LoadedRuntime *&runtime = (*known)[key];
    if (!runtime) runtime = new LoadedRuntime(library);
    return *runtime;
}

int LoadedRuntime::call(JITUserContext *context, int (*argv)(void *const *), std::span<void *> args,
                        std::span<const PassedBuffer> buffers, bool uses_devices) const {
    RunningCall running(context);
    const bool asks =
        std::ranges::any_of(buffers, [](const auto &b) { return b.buffer->is_bounds_query(); });
    const int code = uses_devices && interface && !asks && has_gpu()
                         ? call_on_device(context, argv, args, buffers)
                         : argv(args.data());
    if (code) running.failed();
    return code;
}

namespace {

// A buffer as a library sees it that has a runtime of its own.
struct SeenBuffer {
    tessera_buffer_t *given;
    tessera_buffer_t seen;
};

// Gives a buffer memory on the device; an input is to be copied there, whatever its flags say.
// Returns 0, or an error code.
int allocate_on_device(JITUserContext *context, const PassedBuffer &b) {
    if (b.buffer->device) return 0;
    const int code = tessera_device_malloc(context, b.buffer, tessera_cuda_device_interface());
    if (!code && b.is_input) b.buffer->set_host_dirty();
    return code;
}

}  // namespace

int LoadedRuntime::call_on_device(JITUserContext *context, int (*argv)(void *const *),
                                  std::span<void *> args,
                                  std::span<const PassedBuffer> buffers) const {
    constexpr size_t most_on_the_stack = 16;
    SmallArray<SeenBuffer, most_on_the_stack> all(buffers.size());
    size_t count = 0;
    for (const PassedBuffer &passed : buffers) {
        tessera_buffer_t *b = passed.buffer;
        if (const int code = allocate_on_device(context, passed)) return code;
        SeenBuffer &s = all[count] = {b, *b};
        if (s.seen.device_interface == tessera_cuda_device_interface())
            s.seen.device_interface = interface;
        // One that is passed twice is one to the library, too.
        const auto place = std::ranges::find(args, static_cast<void *>(b));
        if (place == args.end()) continue;
        std::ranges::replace(args, static_cast<void *>(b), static_cast<void *>(&s.seen));
        count++;
    }
    int code = argv(args.data());
    for (SeenBuffer &s : all.first(count)) {
        if (s.seen.device != s.given->device) {
            if (!code) code = copy_to_host(context, &s.seen);
            device_free(context, &s.seen);
        }
        if (s.seen.flags != s.given->flags) s.given->flags = s.seen.flags;
    }
    return code;
}

}  // namespace tessera::driver
