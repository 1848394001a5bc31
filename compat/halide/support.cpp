#include "HalideRuntime.h"
#include <atomic>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// The structs that a pipeline's description points to have the names of either.
static_assert(sizeof(halide_scalar_value_t) == sizeof(tessera_scalar_value_t));
static_assert(sizeof(halide_filter_argument_t) == sizeof(tessera_filter_argument_t));
static_assert(offsetof(halide_filter_argument_t, scalar_estimate) ==
              offsetof(tessera_filter_argument_t, scalar_estimate));
static_assert(sizeof(halide_filter_metadata_t) == sizeof(tessera_filter_metadata_t));

namespace {

// A mutex is a word of the user's that begins as 0 and is never given back: 1 while it is held.
std::atomic_ref<uintptr_t> word_of(halide_mutex *m) {
    return std::atomic_ref<uintptr_t>(m->_private[0]);
}

halide_get_symbol_t custom_get_symbol = halide_default_get_symbol;
halide_load_library_t custom_load_library = halide_default_load_library;
halide_get_library_symbol_t custom_get_library_symbol = halide_default_get_library_symbol;

template<typename Function>
Function exchange(Function &current, Function next, Function built_in) {
    return std::exchange(current, next ? next : built_in);
}

// Holds what is known of a pipeline, as long as the process lives.
struct ProfilerCopy {
    halide_profiler_pipeline_stats stats{};
    std::vector<halide_profiler_func_stats> funcs;
};

}  // namespace

struct halide_thread {
    std::thread thread;
};

extern "C" {

void halide_mutex_lock(halide_mutex *mutex) {
    auto word = word_of(mutex);
    while (word.exchange(1, std::memory_order_acquire) != 0) word.wait(1);
}
void halide_mutex_unlock(halide_mutex *mutex) {
    auto word = word_of(mutex);
    word.store(0, std::memory_order_release);
    word.notify_one();
}
halide_thread *halide_spawn_thread(void (*f)(void *), void *closure) {
    return new halide_thread{std::thread(f, closure)};
}
void halide_join_thread(halide_thread *thread) {
    thread->thread.join();
    delete thread;
}

void *halide_default_get_symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }
void *halide_default_load_library(const char *name) { return dlopen(name, RTLD_LAZY); }
void *halide_default_get_library_symbol(void *lib, const char *name) { return dlsym(lib, name); }
void *halide_get_symbol(const char *name) { return custom_get_symbol(name); }
void *halide_load_library(const char *name) { return custom_load_library(name); }
void *halide_get_library_symbol(void *lib, const char *name) {
    return custom_get_library_symbol(lib, name);
}
halide_get_symbol_t halide_set_custom_get_symbol(halide_get_symbol_t f) {
    return exchange(custom_get_symbol, f, halide_default_get_symbol);
}
halide_load_library_t halide_set_custom_load_library(halide_load_library_t f) {
    return exchange(custom_load_library, f, halide_default_load_library);
}
halide_get_library_symbol_t halide_set_custom_get_library_symbol(halide_get_library_symbol_t f) {
    return exchange(custom_get_library_symbol, f, halide_default_get_library_symbol);
}

int halide_start_clock(void *) { return 0; }
int64_t halide_current_time_ns(void *) {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}
void halide_sleep_us(void *, int microseconds) {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}
int halide_host_cpu_count(void) { return int(std::thread::hardware_concurrency()); }

void halide_memoization_cache_set_size(int64_t) {}
void halide_memoization_cache_evict(void *, uint64_t) {}
void halide_memoization_cache_cleanup(void) {}

int halide_device_host_nop_free(void *, halide_buffer_t *) { return 0; }

float halide_float16_bits_to_float(uint16_t bits) { return tessera_f16_to_f32(bits); }
double halide_float16_bits_to_double(uint16_t bits) { return tessera_f16_to_f64(bits); }

halide_profiler_pipeline_stats *halide_profiler_get_pipeline_state(const char *name) {
    static std::mutex mutex;
    static auto *copies = new std::map<std::string, ProfilerCopy>;
    std::lock_guard lock(mutex);
    tessera_profiler_pipeline_stats_t now;
    if (!tessera_profiler_get_pipeline(name, &now)) return nullptr;
    ProfilerCopy &copy = (*copies)[name];
    copy.funcs.clear();
    for (int i = 0; i < now.num_funcs; i++) {
        tessera_profiler_func_stats_t f;
        if (!tessera_profiler_get_func(name, i, &f)) break;
        copy.funcs.push_back({f.time_ns, f.memory_current, f.memory_peak, f.memory_total,
                              f.stack_peak, f.active_threads_numerator,
                              f.active_threads_denominator, f.name, int(f.num_allocations)});
    }
    copy.stats.time = now.time_ns;
    copy.stats.memory_current = now.memory_current;
    copy.stats.memory_peak = now.memory_peak;
    copy.stats.memory_total = now.memory_total;
    copy.stats.name = now.name;
    copy.stats.funcs = copy.funcs.data();
    copy.stats.num_funcs = int(copy.funcs.size());
    copy.stats.runs = int(now.runs);
    copy.stats.samples = int(now.samples);
    copy.stats.num_allocs = int(now.num_allocations);
    return &copy.stats;
}
}
