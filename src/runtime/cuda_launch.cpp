#include "runtime/cuda_profile.h"
#include "runtime/cuda_reports.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace tessera::cuda {

namespace {

using Image = tessera_cuda_image_t;
using Kernels = tessera_cuda_kernels_t;

constexpr int usual_shared = 48 << 10;  // bytes that a block can have without asking

struct Kernel {
    std::string name;
    Function function = nullptr;
    int static_shared = 0;
    int max_threads = 0;                      // in a block, with the registers that it needs
    bool waits = false;                       // by itself, for kernels before it
    std::atomic<bool> has_all_shared{false};  // the driver has been asked to allow the most
};

// Kernels as they are loaded in one context.
struct Loaded {
    std::mutex mutex;
    Module module = nullptr;
    bool waits = false;  // as each of its kernels
    std::map<std::string, std::unique_ptr<Kernel>> kernels;
};

struct Modules {
    std::mutex mutex;
    std::map<std::pair<Context, const Kernels *>, std::shared_ptr<Loaded>> all;
};
Modules &modules() {
    static auto &all = *new Modules();
    return all;
}

void unload(const Driver &driver, Loaded &loaded) {
    std::lock_guard lock(loaded.mutex);
    if (loaded.module) driver.unload_module(loaded.module);
    loaded.module = nullptr;
}

// ---- The best image ----

bool runs_on(const Image &image, int capability) {
    if (image.is_exact) return image.capability == capability;
    if (image.is_ptx) return image.capability <= capability;
    return image.capability / 10 == capability / 10 && image.capability <= capability;
}

// Those that run on the device, the best first.
std::vector<const Image *> fitting(const Kernels &kernels, int capability) {
    auto rank = [](const Image *i) { return std::tuple(i->is_ptx, -i->capability, !i->is_exact); };
    auto is_better = [&](const Image *a, const Image *b) { return rank(a) < rank(b); };
    std::vector<const Image *> images;
    for (int i = 0; i < kernels.count; i++) {
        const Image *image = &kernels.images[i];
        if (!runs_on(*image, capability)) continue;
        images.insert(std::upper_bound(images.begin(), images.end(), image, is_better), image);
    }
    return images;
}

void describe(const Image &image, Message &message) {
    message << image.capability / 10 << "." << image.capability % 10
            << (image.is_exact ? " exactly" : "") << (image.is_ptx ? " (PTX)" : " (machine code)");
}

int no_image(void *user_context, const Kernels &kernels, const State &state) {
    Message message;
    message << "CUDA: this pipeline has no kernels for the GPU " << state.name
            << ", which has compute capability " << state.capability / 10 << "."
            << state.capability % 10 << "; it has those for ";
    for (int i = 0; i < kernels.count; i++) {
        if (i) message << ", ";
        describe(kernels.images[i], message);
    }
    if (kernels.count <= 0) message << "none";
    message << ". Compile it for that capability, or a lower one";
    return message.raise(user_context, tessera_error_code_gpu_device_error);
}

// The driver may be too old for an image that the device could run.
bool may_have_better_luck(Result r) {
    return r == result::invalid_image || r == result::no_binary_for_gpu ||
           r == result::invalid_ptx || r == result::unsupported_ptx_version;
}

Result load_image(const Driver &driver, const Image &image, Module &module, char *log,
                  size_t log_bytes) {
    constexpr int error_log = 5, error_log_bytes = 6;
    int keys[] = {error_log, error_log_bytes};
    void *values[] = {log, reinterpret_cast<void *>(log_bytes)};
    log[0] = 0;
    return driver.load_module(&module, image.data, 2, keys, values);
}

int load(void *user_context, const Scope &scope, const Kernels &kernels, Loaded &loaded) {
    const auto images = fitting(kernels, scope.state().capability);
    if (images.empty()) return no_image(user_context, kernels, scope.state());
    Message what;
    Result failure = result::success;
    for (const Image *image : images) {
        char log[2048];
        const Result r = load_image(scope.driver(), *image, loaded.module, log, sizeof(log));
        loaded.waits = image->waits;
        if (!r) return 0;
        if (!failure) {
            failure = r;
            what << "loading the kernels for ";
            describe(*image, what);
            if (*log) what << " (" << log << ")";
        }
        if (!may_have_better_luck(r)) break;
    }
    return scope.check(tessera_error_code_gpu_device_error, failure, what);
}

// ---- Kernels, by name ----

Result look_up(const Driver &driver, Module module, Kernel &kernel) {
    if (Result r = driver.function(&kernel.function, module, kernel.name.c_str())) return r;
    if (Result r = driver.function_attribute(&kernel.static_shared,
                                             function_attribute::static_shared, kernel.function)) {
        return r;
    }
    return driver.function_attribute(&kernel.max_threads, function_attribute::max_threads_per_block,
                                     kernel.function);
}

int find(void *user_context, const Scope &scope, const Kernels &kernels, const char *name,
         Kernel *&kernel) {
    std::shared_ptr<Loaded> loaded;
    {
        std::lock_guard lock(modules().mutex);
        auto &mine = modules().all[{scope.state().context, &kernels}];
        if (!mine) mine = std::make_shared<Loaded>();
        loaded = mine;
    }
    // Others may be loaded meanwhile: the driver's compiler takes its time.
    std::lock_guard lock(loaded->mutex);
    if (!loaded->module) {
        if (int error = load(user_context, scope, kernels, *loaded)) return error;
    }
    std::unique_ptr<Kernel> &mine = loaded->kernels[name];
    if (!mine) {
        auto made = std::make_unique<Kernel>();
        made->name = name;
        made->waits = loaded->waits;
        if (Result r = look_up(scope.driver(), loaded->module, *made)) {
            return scope.check(tessera_error_code_gpu_device_error, r,
                               Message() << "finding the kernel " << name);
        }
        mine = std::move(made);
    }
    kernel = mine.get();
    return 0;
}

// Remembers what a thread has launched lately. Entries of another epoch may point to what is gone.
struct Recent {
    uint64_t epoch = 0;
    Context context = nullptr;
    const Kernels *kernels = nullptr;
    const char *name = nullptr;
    Kernel *kernel = nullptr;
};
thread_local constinit std::array<Recent, 32> recent_kernels = {};

Recent &recent_of(const char *name, const Kernels *kernels) {
    const uint64_t hash = (uint64_t(name) ^ uint64_t(kernels) << 7) * 0x9e3779b97f4a7c15u;
    return recent_kernels[hash >> 59];
}

int find_quickly(void *user_context, const Scope &scope, const Kernels &kernels, const char *name,
                 Kernel *&kernel) {
    Recent &recent = recent_of(name, &kernels);
    const uint64_t now = epoch();
    const bool hit = recent.epoch == now && recent.context == scope.state().context &&
                     recent.kernels == &kernels && recent.name == name;
    // The text at that address may be another one by now.
    if (hit && recent.kernel->name == name) {
        kernel = recent.kernel;
        return 0;
    }
    if (int error = find(user_context, scope, kernels, name, kernel)) return error;
    recent = {now, scope.state().context, &kernels, name, kernel};
    return 0;
}

// ---- Limits ----

// The shape of a launch, as tessera_cuda_run is given it.
struct Shape {
    const int32_t *blocks, *threads;
    int32_t shared;
};

bool is_nothing(const int32_t *shape) {
    return std::any_of(shape, shape + 6, [](int32_t n) { return n <= 0; });
}

void describe(const int32_t *n, Message &message) {
    message << n[0] << " x " << n[1] << " x " << n[2];
}

int too_much(void *user_context, const Kernel &kernel, const State &state, const Message &what) {
    return (Message() << "CUDA: cannot launch the kernel " << kernel.name.c_str() << ": "
                      << what.c_str() << " (GPU: " << state.name << ")")
        .raise(user_context, tessera_error_code_gpu_device_error);
}

int check_along(void *user_context, const Kernel &kernel, const State &state, const int32_t *n,
                const int *limits, const char *things) {
    for (int i = 0; i < 3; i++) {
        if (n[i] <= limits[i]) continue;
        Message message;
        describe(n, message);
        const char axis[] = {"xyz"[i], 0};
        message << things << " are asked for, and there can be " << limits[i] << " along " << axis;
        return too_much(user_context, kernel, state, message);
    }
    return 0;
}

int check_threads(void *user_context, const Kernel &kernel, const State &state,
                  const int32_t *threads) {
    const int64_t product = int64_t(threads[0]) * threads[1] * threads[2];
    const int limit = std::min(kernel.max_threads, state.limits.threads);
    if (product <= limit) return 0;
    Message message;
    describe(threads, message);
    message << " = " << product << " threads per block are asked for, and there can be " << limit;
    if (limit < state.limits.threads) {
        message << ", with the registers that it needs or the size that it was compiled for; the "
                   "GPU itself has "
                << state.limits.threads;
    }
    return too_much(user_context, kernel, state, message);
}

int check_shared(void *user_context, const Kernel &kernel, const State &state, int32_t dynamic) {
    const int64_t total = int64_t(dynamic) + kernel.static_shared;
    if (dynamic >= 0 && total <= std::max(state.limits.shared, usual_shared)) return 0;
    Message message;
    if (dynamic < 0) {
        message << "the bytes of shared memory per block that are asked for are more than 2^31";
    } else {
        message << total << " bytes of shared memory per block are asked for, and there can be "
                << std::max(state.limits.shared, usual_shared);
    }
    return too_much(user_context, kernel, state, message);
}

int check(void *user_context, const Kernel &kernel, const State &state, const Shape &shape) {
    if (int error = check_along(user_context, kernel, state, shape.threads, state.limits.block,
                                " threads per block")) {
        return error;
    }
    if (int error = check_threads(user_context, kernel, state, shape.threads)) return error;
    if (int error =
            check_along(user_context, kernel, state, shape.blocks, state.limits.grid, " blocks")) {
        return error;
    }
    return check_shared(user_context, kernel, state, shape.shared);
}

// More shared memory than usual has to be asked for once.
Result allow_shared(const Driver &driver, const State &state, Kernel &kernel, int32_t dynamic) {
    if (dynamic + kernel.static_shared <= usual_shared || kernel.has_all_shared) return 0;
    const int most = state.limits.shared - kernel.static_shared;
    const Result r = driver.set_function_attribute(kernel.function,
                                                   function_attribute::max_dynamic_shared, most);
    if (!r) kernel.has_all_shared = true;
    return r;
}

// Returns the driver's result. A kernel that waits by itself for those before it, or for what else
// is on the stream, begins as soon as they let it.
Result start(const Scope &scope, const Kernel &kernel, const Shape &shape, void **args) {
    const Driver &driver = scope.driver();
    const auto *b = reinterpret_cast<const unsigned *>(shape.blocks);
    const auto *t = reinterpret_cast<const unsigned *>(shape.threads);
    const auto shared = unsigned(shape.shared);
    if (!kernel.waits || !driver.launch_with_attributes) {
        return driver.launch(kernel.function, b[0], b[1], b[2], t[0], t[1], t[2], shared,
                             scope.stream(), args, nullptr);
    }
    const LaunchAttribute early{.id = launch_attribute::programmatic_serialization, .value = {1}};
    const LaunchConfiguration configuration{
        {b[0], b[1], b[2]}, {t[0], t[1], t[2]}, shared, scope.stream(), &early, 1};
    return driver.launch_with_attributes(&configuration, kernel.function, args, nullptr);
}

int launch_found(void *user_context, const Scope &scope, Kernel &kernel, const Shape &shape,
                 void **args) {
    if (int error = check(user_context, kernel, scope.state(), shape)) return error;
    const int32_t *b = shape.blocks, *t = shape.threads;
    Result r = allow_shared(scope.driver(), scope.state(), kernel, shape.shared);
    if (!r) {
        const Timed timed(scope, tessera_profiler_kernel, 0);
        r = start(scope, kernel, shape, args);
    }
    if (!r) return 0;
    Message what;
    what << "launching the kernel " << kernel.name.c_str() << " with ";
    describe(b, what);
    what << " blocks of ";
    describe(t, what);
    what << " threads and " << shape.shared << " bytes of shared memory";
    return scope.check(tessera_error_code_gpu_device_error, r, what);
}

int launch(void *user_context, const Scope &scope, const Kernels &kernels, const char *kernel,
           const int32_t *shape, void **args) {
    Kernel *found = nullptr;
    int error = find_quickly(user_context, scope, kernels, kernel, found);
    if (!error)
        error = launch_found(user_context, scope, *found, {shape, shape + 3, shape[6]}, args);
    free_copies_of_maps(user_context);
    return error;
}

// Takes out of the table what is_wanted(context, kernels).
template<typename F> std::vector<std::pair<Context, std::shared_ptr<Loaded>>> take(F &&is_wanted) {
    std::vector<std::pair<Context, std::shared_ptr<Loaded>>> taken;
    std::lock_guard lock(modules().mutex);
    auto &all = modules().all;
    for (auto i = all.begin(); i != all.end();) {
        if (is_wanted(i->first.first, i->first.second)) {
            taken.emplace_back(i->first.first, i->second);
            i = all.erase(i);
        } else {
            ++i;
        }
    }
    begin_epoch();
    return taken;
}

}  // namespace

void unload_kernels(const Driver &driver, Context context) {
    for (auto &[in, loaded] : take([&](Context c, const Kernels *) { return c == context; })) {
        unload(driver, *loaded);
    }
}

}  // namespace tessera::cuda

using namespace tessera::cuda;

extern "C" {

int tessera_cuda_run(void *user_context, const tessera_cuda_kernels_t *kernels, const char *kernel,
                     const int32_t *shape, void **args) {
    if (is_nothing(shape)) return 0;
    Scope scope(user_context);
    if (scope.error()) return scope.error();
    return launch(user_context, scope, *kernels, kernel, shape, args);
}

int tessera_cuda_run_reporting(void *user_context, const tessera_cuda_kernels_t *kernels,
                               const char *kernel, const int32_t *shape, void **args,
                               tessera_cuda_report_t report) {
    if (is_nothing(shape)) return 0;
    Scope scope(user_context);
    if (scope.error()) return scope.error();
    Reports reports(user_context, scope);
    if (reports.error()) return reports.error();
    args[0] = reports.argument();
    if (int error = launch(user_context, scope, *kernels, kernel, shape, args)) return error;
    return reports.tell(kernel, report);
}

// A call that fails here has nothing to unload any more: the driver or the context is gone.
void tessera_cuda_unload(const tessera_cuda_kernels_t *kernels) {
    const Driver *d = driver_in_use();
    if (!d) return;
    for (auto &[context, loaded] : take([&](Context, const Kernels *k) { return k == kernels; })) {
        const Current current(*d, context);
        if (current.result()) continue;
        d->context_synchronize();
        unload(*d, *loaded);
    }
}
}
