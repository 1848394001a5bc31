#include "runtime/cuda_driver.h"
#include "runtime/tessera_runtime_cuda.h"
#include <atomic>
#include <cstdlib>

#include <dlfcn.h>
#include <memory>
#include <mutex>

namespace tessera::cuda {

namespace {

constexpr int oldest_version = 11000;

std::atomic<const Driver *> found{nullptr};
std::atomic<bool> known_fault{false};

// Explains a result to the user where the driver's own text does not.
struct Hint {
    Result result;
    const char *text;
};
constexpr Hint hints[] = {
    {2, "; the GPU has no more memory (tessera_cuda_release_unused_device_allocations gives back "
        "what is kept for later)"},
    {46, "; the GPU is taken by another process, or lost"},
    {100, "; CUDA_VISIBLE_DEVICES says which GPUs a process may use"},
    {218, "; the driver does not understand the kernels' PTX"},
    {222, "; the driver is older than the kernels' PTX, and has to be updated"},
    {701, "; the kernel needs more registers or shared memory than a block of its size can have"},
    {803, "; the kernel's driver and libcuda.so.1 are of different versions: restart the machine, "
          "or install the driver anew"},
};
constexpr const char *fault_hint =
    "; something that ran on the GPU before has failed, and its context with it: what was in its "
    "memory is lost, and this process can run nothing more on it";

const char *hint_for(Result r) {
    if (is_fault(r)) return fault_hint;
    for (const Hint &hint : hints) {
        if (hint.result == r) return hint.text;
    }
    return "";
}

void describe(const Driver &driver, Result r, Message &message) {
    const char *name = nullptr, *text = nullptr;
    if (driver.error_name(r, &name) || !name) name = "an unknown error";
    if (driver.error_text(r, &text) || !text) text = "";
    message << name << " (";
    if (*text) {
        message << text << ")";
    } else {
        message << r << ")";
    }
    message << hint_for(r);
}

// A library's handle: that of the process itself, where it has the driver.
void *open_library(Message &why) {
    const char *name = std::getenv("TESSERA_CUDA_DRIVER");
    if (!name || !*name) {
        if (dlsym(RTLD_DEFAULT, "cuInit")) return dlopen(nullptr, RTLD_LAZY);
        name = "libcuda.so.1";
    }
    if (void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return handle;
    const char *reason = dlerror();
    why << "There is no driver for NVIDIA's GPUs, which this pipeline runs on: cannot load " << name
        << " (" << (reason ? reason : "no reason given") << ")";
    return nullptr;
}

std::unique_ptr<Driver> open_driver(Message &why) {
    void *handle = open_library(why);
    if (!handle) return nullptr;
    auto driver = std::make_unique<Driver>(handle);
    int version = 0;
    if (driver->version) driver->version(&version);
    if (driver->version && version < oldest_version) {
        why << "The driver for NVIDIA's GPUs is too old: it is made for CUDA " << version / 1000
            << "." << version % 1000 / 10 << ", and " << oldest_version / 1000 << ".0 is the least";
    } else if (driver->library.missing) {
        why << "The driver for NVIDIA's GPUs has no function " << driver->library.missing;
    } else if (Result r = driver->init(0)) {
        why << "There is no NVIDIA GPU that can be used: cuInit says ";
        describe(*driver, r, why);
    } else {
        return driver;
    }
    dlclose(handle);
    return nullptr;
}

}  // namespace

void *Library::find(const char *name, bool must_be) {
    void *symbol = dlsym(handle, name);
    if (!symbol && must_be && !missing) missing = name;
    return symbol;
}

const Driver *driver_in_use() { return found.load(std::memory_order_acquire); }

const Driver *find_driver(Message &why) {
    if (const Driver *driver = driver_in_use()) return driver;
    static std::mutex &mutex = *new std::mutex();
    std::lock_guard lock(mutex);
    if (const Driver *driver = driver_in_use()) return driver;
    // Lives as long as the process: buffers may outlive all that could own it.
    const Driver *driver = open_driver(why).release();
    found.store(driver, std::memory_order_release);
    return driver;
}

const Driver *driver(void *user_context) {
    if (const Driver *driver = driver_in_use()) return driver;
    Message why;
    const Driver *driver = find_driver(why);
    if (!driver) why.raise(user_context, tessera_error_code_gpu_device_error);
    return driver;
}

bool is_fault(Result r) {
    // An uncorrectable error of memory or of a link; a lost device; what a kernel did wrong.
    return r == 214 || r == 220 || r == 700 || r == 702 || r == 710 || (r >= 714 && r <= 719);
}

bool is_gone(Result r) {
    return r == result::deinitialized ||
           (is_fault(r) && known_fault.load(std::memory_order_relaxed));
}

int raise(void *user_context, tessera_error_code_t code, const Driver &driver, Result r,
          const Message &what) {
    if (is_fault(r)) known_fault.store(true, std::memory_order_relaxed);
    Message message;
    message << "CUDA: " << what.c_str() << " failed: ";
    describe(driver, r, message);
    return message.raise(user_context, code);
}

}  // namespace tessera::cuda

extern "C" void *tessera_cuda_get_symbol(void *user_context, const char *name) {
    const auto *driver = tessera::cuda::driver(user_context);
    return driver ? dlsym(driver->library.handle, name) : nullptr;
}
