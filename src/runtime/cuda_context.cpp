#include "runtime/cuda_profile.h"
#include <atomic>
#include <climits>
#include <cstdlib>
#include <map>
#include <memory>

namespace tessera::cuda {

namespace {

constexpr int max_devices = 64;

std::atomic<int> chosen_device{-1};
std::atomic<uint64_t> current_epoch{1};

// The primary contexts that the runtime has retained, by the number of their device.
struct Primaries {
    std::mutex mutex;
    std::atomic<Context> contexts[max_devices] = {};
};
Primaries &primaries() {
    static auto &all = *new Primaries();
    return all;
}

struct States {
    std::mutex mutex;
    std::map<Context, std::unique_ptr<State>> all;
};
States &states() {
    static auto &all = *new States();
    return all;
}

constexpr int not_a_number = INT_MIN;

int device_from_environment() {
    for (const char *variable : {"TESSERA_GPU_DEVICE", "HL_GPU_DEVICE"}) {
        const char *text = std::getenv(variable);
        if (!text || !*text) continue;
        char *end = nullptr;
        const long n = std::strtol(text, &end, 10);
        return *end || n < 0 || n > INT_MAX ? not_a_number : int(n);
    }
    return 0;
}

int no_such_device(void *user_context, const Driver &driver, int n) {
    int count = 0;
    driver.device_count(&count);
    Message message;
    if (n == not_a_number) {
        message << "TESSERA_GPU_DEVICE (or HL_GPU_DEVICE) is not the number of a GPU";
    } else {
        message << "There is no GPU " << n;
    }
    message << ": this process has " << count << (count == 1 ? " GPU" : " GPUs")
            << ", counted from 0";
    return message.raise(user_context, tessera_error_code_gpu_device_error);
}

int retain_primary(void *user_context, const Driver &driver, int n, Context &context) {
    Device device = 0;
    if (n < 0 || n >= max_devices || driver.device(&device, n)) {
        return no_such_device(user_context, driver, n);
    }
    std::lock_guard lock(primaries().mutex);
    std::atomic<Context> &mine = primaries().contexts[n];
    context = mine.load(std::memory_order_acquire);
    if (context) return 0;
    if (Result r = driver.retain_primary(&context, device)) {
        return raise(user_context, tessera_error_code_gpu_device_error, driver, r,
                     Message() << "creating the context of GPU " << n);
    }
    mine.store(context, std::memory_order_release);
    return 0;
}

int default_acquire_context(void *user_context, Context *context, bool create) {
    const int n = tessera_get_gpu_device(user_context);
    *context = n >= 0 && n < max_devices ? primaries().contexts[n].load(std::memory_order_acquire)
                                         : nullptr;
    if (*context || !create) return 0;
    const Driver *d = driver(user_context);
    return d ? retain_primary(user_context, *d, n, *context) : tessera_error_code_gpu_device_error;
}

int default_release_context(void *) { return 0; }

int default_get_stream(void *, Context, Stream *stream) {
    *stream = nullptr;
    return 0;
}

std::atomic<tessera_cuda_acquire_context_t> acquire_context{default_acquire_context};
std::atomic<tessera_cuda_release_context_t> release_context{default_release_context};
std::atomic<tessera_cuda_get_stream_t> get_stream{default_get_stream};

// Memory that is freed stays in it until it is trimmed.
Pool make_pool(const Driver &driver, Device device) {
    int has_pools = 0;
    driver.device_attribute(&has_pools, device_attribute::pools, device);
    const bool can = driver.create_pool && driver.destroy_pool && driver.set_pool_attribute &&
                     driver.trim_pool && driver.allocate_from_pool && driver.free_to_pool;
    if (!has_pools || !can) return nullptr;
    PoolProperties properties;
    properties.location = device;
    Pool pool = nullptr;
    if (driver.create_pool(&pool, &properties)) return nullptr;
    uint64_t threshold = UINT64_MAX;
    driver.set_pool_attribute(pool, pool_release_threshold, &threshold);
    return pool;
}

// Fills in what there is to know of the current context.
Result describe(const Driver &driver, State &state) {
    if (Result r = driver.context_device(&state.device)) return r;
    Result failure = result::success;
    auto get = [&](int attribute) {
        int value = 0;
        if (Result r = driver.device_attribute(&value, attribute, state.device)) failure = r;
        return value;
    };
    state.capability =
        get(device_attribute::capability_major) * 10 + get(device_attribute::capability_minor);
    state.limits.threads = get(device_attribute::max_threads_per_block);
    for (int i = 0; i < 3; i++) {
        state.limits.block[i] = get(device_attribute::max_block_x + i);
        state.limits.grid[i] = get(device_attribute::max_grid_x + i);
    }
    state.limits.shared = get(device_attribute::max_shared_opt_in);
    state.limits.pitch = get(device_attribute::max_pitch);
    if (!failure) failure = driver.device_name(state.name, sizeof(state.name), state.device);
    return failure;
}

// Returns the state of the current context; NULL, and why not in `failure`.
State *state_of(const Driver &driver, Context context, Result &failure) {
    struct Last {
        uint64_t epoch;
        Context context;
        State *state;
    };
    static thread_local Last last{0, nullptr, nullptr};
    const uint64_t now = epoch();
    if (last.epoch == now && last.context == context) return last.state;
    std::lock_guard lock(states().mutex);
    std::unique_ptr<State> &state = states().all[context];
    if (!state) {
        auto made = std::make_unique<State>();
        made->context = context;
        failure = describe(driver, *made);
        if (failure) return nullptr;
        made->pool = make_pool(driver, made->device);
        state = std::move(made);
    }
    last = {now, context, state.get()};
    return state.get();
}

void free_staging(const Driver &driver, State &state) {
    std::lock_guard lock(state.mutex);
    for (Staging *staging : state.unused_staging) {
        for (Staging::Piece &piece : staging->pieces) {
            driver.destroy_event(piece.copied);
            driver.free_host(piece.memory);
        }
        delete staging;
    }
    state.unused_staging.clear();
}

void release_primary(const Driver &driver, Context context) {
    std::lock_guard lock(primaries().mutex);
    for (int n = 0; n < max_devices; n++) {
        if (primaries().contexts[n].load() != context) continue;
        primaries().contexts[n].store(nullptr);
        Device device = 0;
        if (!driver.device(&device, n)) driver.release_primary(device);
    }
}

void free_reports(const Driver &driver, State &state) {
    std::lock_guard lock(state.mutex);
    for (tessera_cuda_reports_t *reports : state.unused_reports) driver.free_host(reports);
    state.unused_reports.clear();
}

// Gives back what the runtime has in the context. Returns true if nothing of it is left.
bool leave(const Driver &driver, State &state) {
    driver.context_synchronize();
    finish_timing(driver, state.context);
    unload_kernels(driver, state.context);
    free_staging(driver, state);
    free_reports(driver, state);
    free_to_pool(driver, state);
    if (state.pool) driver.trim_pool(state.pool, 0);
    if (has_allocations(state.context)) return false;
    if (state.pool) driver.destroy_pool(state.pool);
    std::lock_guard lock(states().mutex);
    states().all.erase(state.context);
    return true;
}

}  // namespace

uint64_t epoch() { return current_epoch.load(std::memory_order_acquire); }
void begin_epoch() { current_epoch.fetch_add(1, std::memory_order_acq_rel); }

Current::Current(const Driver &driver, Context context) : driver(driver) {
    Context now = nullptr;
    failure = driver.current(&now);
    if (failure || now == context) return;
    failure = driver.push(context);
    pushed = !failure;
}

Current::~Current() {
    Context popped = nullptr;
    if (pushed) driver.pop(&popped);
}

// It delegates, so that the destructor runs even if an error handler throws.
Scope::Scope(void *user_context, Enter how) : Scope() {
    this->user_context = user_context;
    of = cuda::driver(user_context);
    failure = of ? enter(how) : tessera_error_code_gpu_device_error;
}

Scope::~Scope() {
    Context popped = nullptr;
    if (pushed) of->pop(&popped);
    if (acquired) tessera_cuda_release_context(user_context);
}

int Scope::enter(Enter how) {
    Context context = nullptr;
    const bool create = how == Enter::Create;
    acquired = true;
    if (int error = tessera_cuda_acquire_context(user_context, &context, create)) return error;
    if (context) return enter_context(context, how);
    if (!create) return 0;
    return (Message() << "CUDA: the program's own function gave no context")
        .raise(user_context, tessera_error_code_gpu_device_error);
}

int Scope::enter_context(Context context, Enter how) {
    Context now = nullptr;
    Result r = of->current(&now);
    if (!r && now != context) {
        r = of->push(context);
        pushed = !r;
    }
    State *state = r ? nullptr : state_of(*of, context, r);
    if (r && how == Enter::ToFree && is_gone(r)) return 0;
    if (r) {
        return raise(user_context, tessera_error_code_gpu_device_error, *of, r,
                     Message() << "entering the context of the GPU");
    }
    if (int error = tessera_cuda_get_stream(user_context, context, &on)) return error;
    if (on) state->has_streams.store(true, std::memory_order_relaxed);
    in = state;
    return 0;
}

void release(void *user_context) {
    const Driver *d = driver_in_use();
    if (!d) return;
    Context left = nullptr;
    {
        Scope scope(user_context, Enter::ToFree);
        if (!scope.has_context()) return;
        const Context context = scope.state().context;
        if (leave(*d, scope.state())) left = context;
    }
    if (left) release_primary(*d, left);
}

int compute_capability(void *user_context, int *major, int *minor) {
    *major = *minor = 0;
    Message why;
    const Driver *d = find_driver(why);
    if (!d) return 0;
    int capability = 0;
    {
        Scope scope(user_context, Enter::IfThere);
        if (scope.error()) return scope.error();
        if (scope.has_context()) capability = scope.state().capability;
    }
    Device device = 0;
    const int n = tessera_get_gpu_device(user_context);
    if (!capability && n >= 0 && !d->device(&device, n)) {
        d->device_attribute(major, device_attribute::capability_major, device);
        d->device_attribute(minor, device_attribute::capability_minor, device);
        return 0;
    }
    *major = capability / 10;
    *minor = capability % 10;
    return 0;
}

}  // namespace tessera::cuda

using namespace tessera::cuda;

extern "C" {

void tessera_set_gpu_device(int n) { chosen_device.store(n < 0 ? -1 : n); }

[[gnu::weak]] int tessera_get_gpu_device(void *) {
    static const int from_environment = device_from_environment();
    const int chosen = chosen_device.load(std::memory_order_relaxed);
    return chosen < 0 ? from_environment : chosen;
}

[[gnu::weak]] int tessera_cuda_acquire_context(void *user_context, Context *context, bool create) {
    return acquire_context.load(std::memory_order_relaxed)(user_context, context, create);
}

[[gnu::weak]] int tessera_cuda_release_context(void *user_context) {
    return release_context.load(std::memory_order_relaxed)(user_context);
}

[[gnu::weak]] int tessera_cuda_get_stream(void *user_context, Context context, Stream *stream) {
    return get_stream.load(std::memory_order_relaxed)(user_context, context, stream);
}

tessera_cuda_acquire_context_t
tessera_set_cuda_acquire_context(tessera_cuda_acquire_context_t handler) {
    return acquire_context.exchange(handler ? handler : default_acquire_context);
}

tessera_cuda_release_context_t
tessera_set_cuda_release_context(tessera_cuda_release_context_t handler) {
    return release_context.exchange(handler ? handler : default_release_context);
}

tessera_cuda_get_stream_t tessera_set_cuda_get_stream(tessera_cuda_get_stream_t handler) {
    return get_stream.exchange(handler ? handler : default_get_stream);
}
}
