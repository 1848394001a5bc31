#include "fake_cuda.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct CUstream_st {
    std::deque<std::function<void()>> queue;
};
struct CUctx_st {
    int device = 0;
    CUstream_st legacy;
};
struct CUmod_st {
    std::string image;
};
struct CUfunc_st {
    FakeKernel kernel;
    CUmod_st *module;
    int max_dynamic = 0;
};
struct CUevent_st {
    CUstream_st *stream = nullptr;
    bool done = true;
};
struct CUmemPoolHandle_st {
    int device = 0;
    uint64_t kept = 0;
};

namespace {

using Address = uint64_t;
using Pool = CUmemPoolHandle_st *;

// Addresses of devices are those of the host with this bit, which no host address has.
constexpr Address device_bit = Address(1) << 60;

struct Block {
    std::unique_ptr<uint8_t[]> bytes;
    size_t size;
    int device;
    Pool pool;
};

struct Fake {
    std::map<std::string, int> calls;
    std::map<std::string, std::pair<int, int>> failures;  // how many calls to go, the result
    int all_calls = 0;
    int broken = 0;
    std::map<std::string, FakeKernel> kernels;
    std::map<Address, Block> blocks;
    std::map<Address, size_t> pinned;
    uint64_t memory = uint64_t(1) << 30;
    int capability = 90;
    bool has_pools = true;
    std::map<CUmod_st *, std::unique_ptr<CUmod_st>> modules;
    std::vector<std::unique_ptr<CUfunc_st>> functions;
    std::string last_image;
    int last_dynamic = 0;
    std::unique_ptr<CUctx_st> primary[2];
    int retained[2] = {};
    std::vector<std::unique_ptr<CUctx_st>> contexts;
    std::vector<std::unique_ptr<CUstream_st>> streams;
    std::map<CUevent_st *, std::unique_ptr<CUevent_st>> events;
    std::map<Pool, std::unique_ptr<CUmemPoolHandle_st>> pools;
};

std::recursive_mutex mutex;
Fake &fake() {
    static auto *it = new Fake();
    return *it;
}
thread_local std::vector<CUctx_st *> stack;

int environment(const char *name, int otherwise) {
    const char *text = std::getenv(name);
    return text ? std::atoi(text) : otherwise;
}

int devices() { return environment("FAKE_CUDA_DEVICES", 2); }

// Counts the call, and lets it fail if it shall; else the result is that of f.
template<typename F> int entry(const char *name, bool can_break, F f) {
    std::lock_guard lock(mutex);
    Fake &x = fake();
    x.calls[name]++;
    x.all_calls++;
    auto failure = x.failures.find(name);
    if (failure != x.failures.end() && --failure->second.first == 0) {
        int result = failure->second.second;
        x.failures.erase(failure);
        return result;
    }
    if (x.broken && can_break) return x.broken;
    return f(x);
}

// A function that needs a current context.
template<typename F> int in_context(const char *name, F f) {
    return entry(name, true, [&](Fake &x) { return stack.empty() ? 201 : f(x); });
}

void drain(CUstream_st &stream) {
    while (!stream.queue.empty()) {
        auto work = std::move(stream.queue.front());
        stream.queue.pop_front();
        work();
    }
}

void drain_all(Fake &x) {
    for (auto &s : x.streams) drain(*s);
    for (auto &c : x.contexts) drain(c->legacy);
    for (auto &c : x.primary) {
        if (c) drain(c->legacy);
    }
}

CUstream_st *stream_of(CUstream_st *stream) { return stream ? stream : &stack.back()->legacy; }

// The host's address of device memory that has at least so many bytes.
uint8_t *find(Fake &x, Address address, size_t bytes) {
    if (!(address & device_bit)) return nullptr;
    auto next = x.blocks.upper_bound(address);
    if (next == x.blocks.begin()) return nullptr;
    --next;
    Address offset = address - next->first;
    return offset + bytes <= next->second.size ? next->second.bytes.get() + offset : nullptr;
}

bool is_pinned(Fake &x, const void *p) {
    auto next = x.pinned.upper_bound(Address(p));
    if (next == x.pinned.begin()) return false;
    --next;
    return Address(p) - next->first < next->second;
}

int add_block(Fake &x, Address *address, size_t bytes, Pool pool) {
    uint64_t used = 0;
    const int device = stack.back()->device;
    for (auto &[at, block] : x.blocks) used += block.device == device ? block.size : 0;
    for (auto &[at, p] : x.pools) used += p->device == device ? p->kept : 0;
    if (pool) used -= std::min<uint64_t>(pool->kept, bytes);
    if (bytes == 0) return 1;
    if (used + bytes > x.memory) return 2;
    if (pool) pool->kept -= std::min<uint64_t>(pool->kept, bytes);
    auto memory = std::make_unique<uint8_t[]>(bytes);
    std::memset(memory.get(), 0xcd, bytes);
    *address = Address(memory.get()) | device_bit;
    x.blocks[*address] = {std::move(memory), bytes, device, pool};
    return 0;
}

// Rows of bytes, one side of which may be the host.
struct Side {
    const void *host;
    Address device;
    size_t pitch;
};

int copy(Fake &x, CUstream_st *on, Side src, Side dst, size_t width, size_t height) {
    if (width == 0 || height == 0) return 1;
    if (height > 1 && (src.pitch < width || dst.pitch < width)) return 1;
    auto reach = [&](const Side &side) { return (height - 1) * side.pitch + width; };
    auto *from = src.host ? static_cast<uint8_t *>(const_cast<void *>(src.host))
                          : find(x, src.device, reach(src));
    auto *to = dst.host ? static_cast<uint8_t *>(const_cast<void *>(dst.host))
                        : find(x, dst.device, reach(dst));
    if (!from || !to) return 1;
    if ((src.host && (Address(src.host) & device_bit)) ||
        (dst.host && (Address(dst.host) & device_bit))) {
        return 1;
    }
    CUstream_st *stream = stream_of(on);
    std::shared_ptr<std::vector<uint8_t>> kept;
    if (src.host && !is_pinned(x, src.host)) {
        kept = std::make_shared<std::vector<uint8_t>>(from, from + reach(src));
    }
    stream->queue.push_back([=] {
        const uint8_t *source = kept ? kept->data() : from;
        for (size_t y = 0; y < height; y++) {
            std::memcpy(to + y * dst.pitch, source + y * src.pitch, width);
        }
    });
    if (dst.host && !is_pinned(x, dst.host)) drain(*stream);
    return 0;
}

int attribute(Fake &x, int which) {
    switch (which) {
    case 1: return 1024;
    case 2:
    case 3: return 1024;
    case 4: return 64;
    case 5: return 2147483647;
    case 6:
    case 7: return 65535;
    case 11: return 2147483647;
    case 75: return x.capability / 10;
    case 76: return x.capability % 10;
    case 97: return 232448;
    case 115: return x.has_pools;
    default: return 0;
    }
}

struct Name {
    int result;
    const char *name, *text;
};
constexpr Name names[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an "
     "unsupported toolchain."},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

}  // namespace

extern "C" {

int cuDriverGetVersion(int *version) {
    *version = environment("FAKE_CUDA_VERSION", 13000);
    return 0;
}
int cuInit(unsigned) {
    return entry("cuInit", true, [](Fake &) { return devices() ? 0 : 100; });
}
int cuDeviceGetCount(int *count) {
    return entry("cuDeviceGetCount", true, [&](Fake &) { return *count = devices(), 0; });
}
int cuDeviceGet(int *device, int n) {
    return entry("cuDeviceGet", true, [&](Fake &) {
        if (n < 0 || n >= devices()) return 101;
        *device = n;
        return 0;
    });
}
int cuDeviceGetName(char *name, int bytes, int) {
    return entry("cuDeviceGetName", true, [&](Fake &) {
        std::strncpy(name, "Fake GPU", size_t(bytes));
        return 0;
    });
}
int cuDeviceGetAttribute(int *value, int which, int) {
    return entry("cuDeviceGetAttribute", true,
                 [&](Fake &x) { return *value = attribute(x, which), 0; });
}
int cuDevicePrimaryCtxRetain(CUctx_st **context, int device) {
    return entry("cuDevicePrimaryCtxRetain", true, [&](Fake &x) {
        auto &mine = x.primary[device];
        if (!mine) mine = std::make_unique<CUctx_st>();
        mine->device = device;
        x.retained[device]++;
        *context = mine.get();
        return 0;
    });
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    return entry("cuDevicePrimaryCtxRelease_v2", true, [&](Fake &x) {
        x.retained[device]--;
        return 0;
    });
}
int cuCtxGetCurrent(CUctx_st **context) {
    return entry("cuCtxGetCurrent", false, [&](Fake &) {
        *context = stack.empty() ? nullptr : stack.back();
        return 0;
    });
}
int cuCtxPushCurrent_v2(CUctx_st *context) {
    return entry("cuCtxPushCurrent_v2", false, [&](Fake &) {
        if (!context) return 1;
        stack.push_back(context);
        return 0;
    });
}
int cuCtxPopCurrent_v2(CUctx_st **context) {
    return entry("cuCtxPopCurrent_v2", false, [&](Fake &) {
        if (stack.empty()) return 201;
        *context = stack.back();
        stack.pop_back();
        return 0;
    });
}
int cuCtxGetDevice(int *device) {
    return in_context("cuCtxGetDevice", [&](Fake &) { return *device = stack.back()->device, 0; });
}
int cuCtxSynchronize() {
    return in_context("cuCtxSynchronize", [&](Fake &x) { return drain_all(x), 0; });
}
// An image is text; "bad" ones are refused, and those for a newer driver.
int cuModuleLoadDataEx(CUmod_st **module, const void *image, unsigned n, int *keys, void **values) {
    return in_context("cuModuleLoadDataEx", [&](Fake &x) {
        std::string text = static_cast<const char *>(image);
        if (text.starts_with("bad")) {
            for (unsigned i = 0; i < n; i++) {
                if (keys[i] == 5) std::strcpy(static_cast<char *>(values[i]), "line 1: bad");
            }
            return 200;
        }
        if (text.starts_with("new")) return 222;
        auto made = std::make_unique<CUmod_st>();
        made->image = x.last_image = text;
        *module = made.get();
        x.modules[made.get()] = std::move(made);
        return 0;
    });
}
int cuModuleUnload(CUmod_st *module) {
    return in_context("cuModuleUnload", [&](Fake &x) {
        drain_all(x);
        return x.modules.erase(module) ? 0 : 400;
    });
}
int cuModuleGetFunction(CUfunc_st **function, CUmod_st *module, const char *name) {
    return in_context("cuModuleGetFunction", [&](Fake &x) {
        if (!x.modules.count(module)) return 400;
        auto found = x.kernels.find(name);
        if (found == x.kernels.end()) return 500;
        x.functions.push_back(std::make_unique<CUfunc_st>());
        *function = x.functions.back().get();
        (*function)->kernel = found->second;
        (*function)->module = module;
        return 0;
    });
}
int cuFuncGetAttribute(int *value, int which, CUfunc_st *function) {
    return in_context("cuFuncGetAttribute", [&](Fake &) {
        *value = which == 0 ? function->kernel.max_threads : function->kernel.static_shared;
        return 0;
    });
}
int cuFuncSetAttribute(CUfunc_st *function, int, int value) {
    return in_context("cuFuncSetAttribute", [&](Fake &) {
        if (value + function->kernel.static_shared > 232448) return 1;
        function->max_dynamic = value;
        return 0;
    });
}
int cuLaunchKernel(CUfunc_st *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, CUstream_st *on, void **args,
                   void **) {
    return in_context("cuLaunchKernel", [&](Fake &x) {
        if (!x.modules.count(function->module)) return 400;
        x.last_dynamic = function->max_dynamic;
        const FakeKernel &kernel = function->kernel;
        if (int(bx * by * bz) > kernel.max_threads || gy > 65535 || gz > 65535) return 1;
        if (int(shared) + kernel.static_shared > 49152 && int(shared) > function->max_dynamic) {
            return 1;
        }
        auto values = std::make_shared<std::vector<uint64_t>>(size_t(kernel.arguments));
        for (size_t i = 0; i < values->size(); i++) std::memcpy(&(*values)[i], args[i], 8);
        FakeLaunch launch{{gx, gy, gz}, {bx, by, bz}, shared, on, nullptr};
        stream_of(on)->queue.push_back([=] {
            std::vector<void *> pointers;
            for (uint64_t &value : *values) pointers.push_back(&value);
            FakeLaunch mine = launch;
            mine.args = pointers.data();
            kernel.run(mine);
        });
        return 0;
    });
}
int cuMemAlloc_v2(Address *address, size_t bytes) {
    return in_context("cuMemAlloc_v2",
                      [&](Fake &x) { return add_block(x, address, bytes, nullptr); });
}
int cuMemFree_v2(Address address) {
    return in_context("cuMemFree_v2", [&](Fake &x) {
        drain_all(x);
        auto block = x.blocks.find(address);
        if (block == x.blocks.end() || block->second.pool) return 1;
        x.blocks.erase(block);
        return 0;
    });
}
int cuMemAllocHost_v2(void **p, size_t bytes) {
    return in_context("cuMemAllocHost_v2", [&](Fake &x) {
        *p = std::malloc(bytes);
        x.pinned[Address(*p)] = bytes;
        return 0;
    });
}
int cuMemFreeHost(void *p) {
    return in_context("cuMemFreeHost", [&](Fake &x) {
        drain_all(x);
        if (!x.pinned.erase(Address(p))) return 1;
        std::free(p);
        return 0;
    });
}
int cuPointerGetAttribute(void *value, int, Address address) {
    return in_context("cuPointerGetAttribute", [&](Fake &x) {
        const bool on_device = find(x, address, 1);
        if (!on_device && !is_pinned(x, reinterpret_cast<void *>(address))) return 1;
        *static_cast<int *>(value) = on_device ? 2 : 1;
        return 0;
    });
}
int cuMemcpyHtoDAsync_v2(Address dst, const void *src, size_t bytes, CUstream_st *stream) {
    return in_context("cuMemcpyHtoDAsync_v2", [&](Fake &x) {
        return copy(x, stream, {src, 0, bytes}, {nullptr, dst, bytes}, bytes, 1);
    });
}
int cuMemcpyDtoHAsync_v2(void *dst, Address src, size_t bytes, CUstream_st *stream) {
    return in_context("cuMemcpyDtoHAsync_v2", [&](Fake &x) {
        return copy(x, stream, {nullptr, src, bytes}, {dst, 0, bytes}, bytes, 1);
    });
}
int cuMemcpyDtoDAsync_v2(Address dst, Address src, size_t bytes, CUstream_st *stream) {
    return in_context("cuMemcpyDtoDAsync_v2", [&](Fake &x) {
        return copy(x, stream, {nullptr, src, bytes}, {nullptr, dst, bytes}, bytes, 1);
    });
}

struct FakeCopy2D {
    size_t src_x, src_y;
    int src_kind;
    const void *src_host;
    Address src_device;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_kind;
    void *dst_host;
    Address dst_device;
    void *dst_array;
    size_t dst_pitch;
    size_t width, height;
};

int cuMemcpy2DAsync_v2(const FakeCopy2D *c, CUstream_st *stream) {
    return in_context("cuMemcpy2DAsync_v2", [&](Fake &x) {
        Side src{c->src_kind == 1 ? c->src_host : nullptr, c->src_device, c->src_pitch};
        Side dst{c->dst_kind == 1 ? c->dst_host : nullptr, c->dst_device, c->dst_pitch};
        return copy(x, stream, src, dst, c->width, c->height);
    });
}
int cuStreamSynchronize(CUstream_st *stream) {
    return in_context("cuStreamSynchronize", [&](Fake &) { return drain(*stream_of(stream)), 0; });
}
int cuEventCreate(CUevent_st **event, unsigned) {
    return in_context("cuEventCreate", [&](Fake &x) {
        auto made = std::make_unique<CUevent_st>();
        *event = made.get();
        x.events[made.get()] = std::move(made);
        return 0;
    });
}
int cuEventRecord(CUevent_st *event, CUstream_st *stream) {
    return in_context("cuEventRecord", [&](Fake &x) {
        if (!x.events.count(event)) return 400;
        event->stream = stream_of(stream);
        event->done = false;
        event->stream->queue.push_back([=] { event->done = true; });
        return 0;
    });
}
int cuEventSynchronize(CUevent_st *event) {
    return in_context("cuEventSynchronize", [&](Fake &x) {
        if (!x.events.count(event)) return 400;
        while (!event->done) {
            auto work = std::move(event->stream->queue.front());
            event->stream->queue.pop_front();
            work();
        }
        return 0;
    });
}
int cuEventDestroy_v2(CUevent_st *event) {
    return in_context("cuEventDestroy_v2",
                      [&](Fake &x) { return x.events.erase(event) ? 0 : 400; });
}
int cuGetErrorName(int result, const char **name) {
    for (const Name &n : names) {
        if (n.result == result) return *name = n.name, 0;
    }
    return 1;
}
int cuGetErrorString(int result, const char **text) {
    for (const Name &n : names) {
        if (n.result == result) return *text = n.text, 0;
    }
    return 1;
}

struct FakePoolProperties {
    int allocation_kind, handle_kinds, location_kind, location;
};

int cuMemPoolCreate(Pool *pool, const FakePoolProperties *properties) {
    return in_context("cuMemPoolCreate", [&](Fake &x) {
        auto made = std::make_unique<CUmemPoolHandle_st>();
        made->device = properties->location;
        *pool = made.get();
        x.pools[made.get()] = std::move(made);
        return 0;
    });
}
int cuMemPoolDestroy(Pool pool) {
    return in_context("cuMemPoolDestroy", [&](Fake &x) { return x.pools.erase(pool) ? 0 : 400; });
}
int cuMemPoolSetAttribute(Pool, int, void *) {
    return in_context("cuMemPoolSetAttribute", [](Fake &) { return 0; });
}
int cuMemPoolTrimTo(Pool pool, size_t) {
    return in_context("cuMemPoolTrimTo", [&](Fake &) { return pool->kept = 0, 0; });
}
int cuMemAllocFromPoolAsync(Address *address, size_t bytes, Pool pool, CUstream_st *) {
    return in_context("cuMemAllocFromPoolAsync",
                      [&](Fake &x) { return add_block(x, address, bytes, pool); });
}
int cuMemFreeAsync(Address address, CUstream_st *stream) {
    return in_context("cuMemFreeAsync", [&](Fake &x) {
        auto block = x.blocks.find(address);
        if (block == x.blocks.end() || !block->second.pool) return 1;
        auto gone = std::make_shared<Block>(std::move(block->second));
        gone->pool->kept += gone->size;
        x.blocks.erase(block);
        stream_of(stream)->queue.push_back([gone] {});
        return 0;
    });
}

const FakeCuda *fake_cuda() {
    static const FakeCuda control = {
        .reset =
            [] {
                std::lock_guard lock(mutex);
                for (auto &[p, bytes] : fake().pinned) std::free(reinterpret_cast<void *>(p));
                fake() = Fake();
                stack.clear();
            },
        .calls =
            [](const char *name) {
                std::lock_guard lock(mutex);
                return fake().calls[name];
            },
        .all_calls =
            [] {
                std::lock_guard lock(mutex);
                return fake().all_calls;
            },
        .fail =
            [](const char *name, int nth, int result) {
                std::lock_guard lock(mutex);
                fake().failures[name] = {nth, result};
            },
        .fail_all = [](int result) { fake().broken = result; },
        .add_kernel = [](const FakeKernel &kernel) { fake().kernels[kernel.name] = kernel; },
        .memory = [](uint64_t address) -> void * {
            std::lock_guard lock(mutex);
            return find(fake(), address, 1);
        },
        .live_bytes =
            [] {
                std::lock_guard lock(mutex);
                uint64_t sum = 0;
                for (auto &[at, block] : fake().blocks) sum += block.size;
                return sum;
            },
        .kept_bytes =
            [] {
                std::lock_guard lock(mutex);
                uint64_t sum = 0;
                for (auto &[at, pool] : fake().pools) sum += pool->kept;
                return sum;
            },
        .set_memory = [](uint64_t bytes) { fake().memory = bytes; },
        .set_capability = [](int capability) { fake().capability = capability; },
        .set_pools = [](bool has_pools) { fake().has_pools = has_pools; },
        .modules = [] { return int(fake().modules.size()); },
        .last_image = [] { return fake().last_image.c_str(); },
        .dynamic_shared = [] { return fake().last_dynamic; },
        .retained = [](int device) { return fake().retained[device]; },
        .current = [] { return stack.empty() ? nullptr : stack.back(); },
        .new_context =
            [](int device) {
                std::lock_guard lock(mutex);
                fake().contexts.push_back(std::make_unique<CUctx_st>());
                fake().contexts.back()->device = device;
                return fake().contexts.back().get();
            },
        .make_current =
            [](CUctx_st *context) {
                stack.clear();
                if (context) stack.push_back(context);
            },
        .new_stream =
            [] {
                std::lock_guard lock(mutex);
                fake().streams.push_back(std::make_unique<CUstream_st>());
                return fake().streams.back().get();
            },
        .pending =
            [](CUstream_st *stream) {
                std::lock_guard lock(mutex);
                return int(stream->queue.size());
            },
        .pinned =
            [](size_t bytes) {
                std::lock_guard lock(mutex);
                void *p = std::malloc(bytes);
                fake().pinned[Address(p)] = bytes;
                return p;
            },
        .pinned_blocks = [] { return int(fake().pinned.size()); },
    };
    return &control;
}
}
