#include "runtime/device_profile.h"
#include "runtime/message.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using tessera::DeviceWork;
using tessera::Message;
using Instance = tessera_profiler_instance_t;

namespace {

using Counter = std::atomic<uint64_t>;

struct Memory {
    Counter current{0}, peak{0}, total{0}, allocations{0};

    void allocate(uint64_t bytes);
    void free(uint64_t bytes) { current -= bytes; }
};

struct FuncStats {
    std::string name;
    Memory memory;
    Counter time{0}, calls{0}, stack_peak{0}, threads_numerator{0}, threads_denominator{0};
};

struct PipelineStats {
    PipelineStats(const char *name, int num_funcs, const char *const *func_names)
        : name(name), num_funcs(num_funcs), funcs(new FuncStats[size_t(num_funcs)]) {
        for (int i = 0; i < num_funcs; i++) funcs[size_t(i)].name = func_names[i];
    }

    std::string name;
    int num_funcs;
    std::unique_ptr<FuncStats[]> funcs;
    Memory memory;
    uint64_t time = 0, runs = 0, samples = 0;
    std::vector<std::shared_ptr<DeviceWork>> device;
};

// Says what this thread's work on a device is booked to.
struct TimedFor {
    uint64_t instance;  // its number; it may have ended. 0: nothing
    const char *name;
};
thread_local constinit TimedFor timed_for = {0, nullptr};

std::atomic<void (*)()> device_finisher{nullptr};

void finish_device_work() {
    if (auto *finish = device_finisher.load()) finish();
}

void raise_to(Counter &peak, uint64_t value) {
    uint64_t seen = peak.load();
    while (seen < value && !peak.compare_exchange_weak(seen, value)) continue;
}

void Memory::allocate(uint64_t bytes) {
    raise_to(peak, current += bytes);
    total += bytes;
    allocations++;
}

uint64_t now_ns() {
    using namespace std::chrono;
    return uint64_t(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

PipelineStats &stats_of(const Instance &instance) {
    return *static_cast<PipelineStats *>(instance.pipeline);
}

FuncStats *func_of(const Instance *instance, int func) {
    PipelineStats &stats = stats_of(*instance);
    return func >= 0 && func < stats.num_funcs ? &stats.funcs[size_t(func)] : nullptr;
}

// All pipelines ever profiled, the live instances, and the thread that looks at these.
class Profiler {
public:
    static Profiler &get() {
        static Profiler *const profiler = new Profiler;
        return *profiler;
    }

    void start(Instance &instance, const char *name, int num_funcs, const char *const *funcs);
    void end(Instance &instance);
    bool reset();
    std::shared_ptr<DeviceWork> work_of(const TimedFor &wanted, tessera_profiler_work_t work);
    void report(void *user_context);

    // Calls f with the pipeline of this name, under the mutex.
    template<typename F> bool with_pipeline(const char *name, F f) {
        std::lock_guard lock(mutex);
        for (auto &p : pipelines) {
            if (p->name == name) return f(*p);
        }
        return false;
    }

private:
    PipelineStats &find(const char *name, int num_funcs, const char *const *funcs);
    void sample_while_live();
    void bill(Instance &instance, uint64_t now, bool is_sample);

    std::mutex mutex;
    std::condition_variable wakes;
    std::vector<std::unique_ptr<PipelineStats>> pipelines;
    Instance *live = nullptr;
    uint64_t instances = 0;
    std::thread sampler;
    bool stopping = false;
};

PipelineStats &Profiler::find(const char *name, int num_funcs, const char *const *funcs) {
    for (auto &p : pipelines) {
        if (p->num_funcs == num_funcs && p->name == name) return *p;
    }
    pipelines.push_back(std::make_unique<PipelineStats>(name, num_funcs, funcs));
    return *pipelines.back();
}

void Profiler::start(Instance &instance, const char *name, int num_funcs,
                     const char *const *funcs) {
    std::lock_guard lock(mutex);
    uint64_t now = now_ns();
    instance = {-1, 0, &find(name, num_funcs, funcs), live, nullptr, now, now, ++instances};
    if (live) live->previous = &instance;
    live = &instance;
    if (!sampler.joinable()) sampler = std::thread([this] { sample_while_live(); });
    wakes.notify_one();
}

void Profiler::end(Instance &instance) {
    std::lock_guard lock(mutex);
    bill(instance, now_ns(), false);
    stats_of(instance).runs++;
    (instance.previous ? instance.previous->next : live) = instance.next;
    if (instance.next) instance.next->previous = instance.previous;
}

std::shared_ptr<DeviceWork> Profiler::work_of(const TimedFor &wanted,
                                              tessera_profiler_work_t work) {
    std::lock_guard lock(mutex);
    Instance *instance = live;
    while (instance && instance->number != wanted.instance) instance = instance->next;
    if (!instance) return nullptr;
    auto &all = stats_of(*instance).device;
    const auto known = std::find_if(all.begin(), all.end(), [&](const auto &each) {
        return each->work == work && each->name == wanted.name;
    });
    if (known != all.end()) return *known;
    all.push_back(std::make_shared<DeviceWork>());
    all.back()->name = wanted.name;
    all.back()->work = work;
    return all.back();
}

void Profiler::bill(Instance &instance, uint64_t now, bool is_sample) {
    uint64_t elapsed = now - std::exchange(instance.billed_until, now);
    PipelineStats &stats = stats_of(instance);
    stats.time += elapsed;
    stats.samples += is_sample;
    int current = std::atomic_ref(instance.current_func).load(std::memory_order_relaxed);
    FuncStats *func = func_of(&instance, current);
    if (!func) return;
    func->time += elapsed;
    if (!is_sample) return;
    int threads = std::atomic_ref(instance.active_threads).load(std::memory_order_relaxed);
    func->threads_numerator += uint64_t(std::max(threads, 1));
    func->threads_denominator++;
}

void Profiler::sample_while_live() {
    std::unique_lock lock(mutex);
    while (!stopping) {
        if (live) {
            wakes.wait_for(lock, std::chrono::milliseconds(1));
        } else {
            wakes.wait(lock);
        }
        uint64_t now = now_ns();
        for (Instance *i = live; i; i = i->next) bill(*i, now, true);
    }
}

bool Profiler::reset() {
    std::thread leaving;
    {
        std::lock_guard lock(mutex);
        if (live) return false;
        pipelines.clear();
        stopping = true;
        leaving.swap(sampler);
        wakes.notify_all();
    }
    if (leaving.joinable()) leaving.join();
    std::lock_guard lock(mutex);
    stopping = false;
    return true;
}

double milliseconds(uint64_t ns) {
    uint64_t microseconds = ns / 1000;
    return double(microseconds) / 1000;
}

double ratio(uint64_t a, uint64_t b) { return b ? double(a) / double(b) : 0; }

void report_func(void *user_context, const PipelineStats &pipeline, const FuncStats &func) {
    Message line;
    line << "  " << func.name.c_str() << ": " << milliseconds(func.time) << " ms ("
         << uint64_t(100 * ratio(func.time, pipeline.time)) << "%)";
    if (func.calls) line << ", calls: " << func.calls.load();
    if (func.threads_denominator) {
        line << ", threads: " << ratio(func.threads_numerator, func.threads_denominator);
    }
    if (func.memory.allocations) {
        line << ", heap peak: " << func.memory.peak.load()
             << " bytes, allocations: " << func.memory.allocations.load()
             << ", mean: " << uint64_t(ratio(func.memory.total, func.memory.allocations))
             << " bytes";
    }
    if (func.stack_peak) line << ", stack: " << func.stack_peak.load() << " bytes";
    tessera_print(user_context, (line << "\n").c_str());
}

const char *words_for(tessera_profiler_work_t work) {
    switch (work) {
    case tessera_profiler_kernel: return "kernel of ";
    case tessera_profiler_copy_to_device: return "copy to the device: ";
    case tessera_profiler_copy_to_host: return "copy to the host: ";
    case tessera_profiler_copy_on_device: return "copy on the device: ";
    }
    return "";
}

void report_device(void *user_context, const DeviceWork &work) {
    const uint64_t times = work.times, bytes = work.bytes;
    const bool is_kernel = work.work == tessera_profiler_kernel;
    Message line;
    line << "  " << words_for(work.work) << work.name.c_str() << ": " << milliseconds(work.time)
         << " ms" << (is_kernel ? ", launches: " : ", copies: ") << times
         << ", mean: " << milliseconds(times ? work.time / times : 0) << " ms";
    if (!is_kernel) {
        line << ", bytes: " << bytes << ", GB/s: " << ratio(bytes, work.time);
    }
    tessera_print(user_context, (line << "\n").c_str());
}

void report_pipeline(void *user_context, const PipelineStats &p) {
    if (p.runs == 0) return;
    Message head;
    head << p.name.c_str() << "\n  total time: " << milliseconds(p.time) << " ms, runs: " << p.runs
         << ", time per run: " << milliseconds(p.time / p.runs) << " ms, samples: " << p.samples
         << "\n  heap allocations: " << p.memory.allocations.load()
         << ", peak heap usage: " << p.memory.peak.load() << " bytes\n";
    tessera_print(user_context, head.c_str());
    for (int i = 0; i < p.num_funcs; i++) {
        const FuncStats &func = p.funcs[size_t(i)];
        if (func.time || func.calls || func.memory.allocations || func.stack_peak) {
            report_func(user_context, p, func);
        }
    }
    for (const auto &work : p.device) {
        if (work->times) report_device(user_context, *work);
    }
}

void Profiler::report(void *user_context) {
    finish_device_work();
    std::lock_guard lock(mutex);
    for (auto &p : pipelines) report_pipeline(user_context, *p);
}

}  // namespace

namespace tessera {

std::shared_ptr<DeviceWork> profiled_work(tessera_profiler_work_t work) {
    return timed_for.instance ? Profiler::get().work_of(timed_for, work) : nullptr;
}

void set_device_finisher(void (*finish)()) { device_finisher.store(finish); }

}  // namespace tessera

extern "C" {

int tessera_profiler_instance_start(void *user_context, const char *pipeline_name, int num_funcs,
                                    const char *const *func_names, Instance *instance) {
    try {
        Profiler::get().start(*instance, pipeline_name, num_funcs, func_names);
        return 0;
    } catch (const std::exception &e) {
        return (Message() << "Cannot profile " << pipeline_name << ": " << e.what())
            .raise(user_context, tessera_error_code_generic);
    }
}

int tessera_profiler_instance_end(void *, Instance *instance) {
    // A kernel that fails ends the pipeline where its work is timed.
    if (timed_for.instance == instance->number) timed_for = {0, nullptr};
    Profiler::get().end(*instance);
    return 0;
}

int tessera_profiler_enter_func(Instance *instance, int func) {
    if (FuncStats *stats = func_of(instance, func)) stats->calls++;
    return std::atomic_ref(instance->current_func).exchange(func, std::memory_order_relaxed);
}

void tessera_profiler_set_current_func(Instance *instance, int func) {
    std::atomic_ref(instance->current_func).store(func, std::memory_order_relaxed);
}

void tessera_profiler_incr_active_threads(Instance *instance) {
    std::atomic_ref(instance->active_threads).fetch_add(1, std::memory_order_relaxed);
}

void tessera_profiler_decr_active_threads(Instance *instance) {
    std::atomic_ref(instance->active_threads).fetch_sub(1, std::memory_order_relaxed);
}

void tessera_profiler_memory_allocate(void *, Instance *instance, int func, uint64_t bytes) {
    stats_of(*instance).memory.allocate(bytes);
    if (FuncStats *stats = func_of(instance, func)) stats->memory.allocate(bytes);
}

void tessera_profiler_memory_free(void *, Instance *instance, int func, uint64_t bytes) {
    stats_of(*instance).memory.free(bytes);
    if (FuncStats *stats = func_of(instance, func)) stats->memory.free(bytes);
}

void tessera_profiler_stack_peak(void *, Instance *instance, int func, uint64_t bytes) {
    if (FuncStats *stats = func_of(instance, func)) raise_to(stats->stack_peak, bytes);
}

int tessera_profiler_device_begin(Instance *instance, const char *name) {
    timed_for = {instance->number, name};
    return 0;
}

int tessera_profiler_device_end(Instance *) {
    timed_for = {0, nullptr};
    return 0;
}

void tessera_profiler_report(void *user_context) { Profiler::get().report(user_context); }

int tessera_profiler_reset(void) {
    if (Profiler::get().reset()) return 0;
    return (Message() << "The profiler cannot be reset while a pipeline is running")
        .raise(nullptr, tessera_error_code_generic);
}

bool tessera_profiler_get_pipeline(const char *pipeline_name,
                                   tessera_profiler_pipeline_stats_t *stats) {
    return Profiler::get().with_pipeline(pipeline_name, [&](PipelineStats &p) {
        *stats = {p.time,
                  p.runs,
                  p.samples,
                  p.memory.current,
                  p.memory.peak,
                  p.memory.total,
                  p.memory.allocations,
                  p.num_funcs,
                  p.name.c_str()};
        return true;
    });
}

bool tessera_profiler_get_func(const char *pipeline_name, int func,
                               tessera_profiler_func_stats_t *stats) {
    return Profiler::get().with_pipeline(pipeline_name, [&](PipelineStats &p) {
        if (func < 0 || func >= p.num_funcs) return false;
        const FuncStats &f = p.funcs[size_t(func)];
        *stats = {f.time,
                  f.calls,
                  f.memory.current,
                  f.memory.peak,
                  f.memory.total,
                  f.memory.allocations,
                  f.stack_peak,
                  f.threads_numerator,
                  f.threads_denominator,
                  f.name.c_str()};
        return true;
    });
}

bool tessera_profiler_get_device_work(const char *pipeline_name, int n,
                                      tessera_profiler_device_stats_t *stats) {
    finish_device_work();
    return Profiler::get().with_pipeline(pipeline_name, [&](PipelineStats &p) {
        if (n < 0 || size_t(n) >= p.device.size()) return false;
        const DeviceWork &work = *p.device[size_t(n)];
        *stats = {work.work, work.time, work.times, work.bytes, work.name.c_str()};
        return true;
    });
}
}
