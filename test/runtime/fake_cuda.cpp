#include "fake_cuda_state.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace fake_driver;

namespace {

int environment(const char *name, int otherwise) {
    const char *text = std::getenv(name);
    return text ? std::atoi(text) : otherwise;
}

int devices() { return environment("FAKE_CUDA_DEVICES", 2); }

// Counts the call, and lets it fail if it shall; else the result is that of f.
template<typename F> int entry(const char *name, bool selects_contexts, F f) {
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
    if (x.broken && (!selects_contexts || x.contexts_are_broken)) return x.broken;
    return f(x);
}

// A function that needs a current context.
template<typename F> int in_context(const char *name, F f) {
    return entry(name, false, [&](Fake &x) { return stack.empty() ? 201 : f(x); });
}

template<typename T> std::string numbers(const char *name, const T *all, unsigned count) {
    std::string text = name;
    for (unsigned i = 0; i < count; i++) text.append(1, ' ').append(std::to_string(all[i]));
    return text;
}

// Writes where an array is that a tensor map is of, and how far apart its rows are. Returns false
// if the driver would not make that map.
bool make_map(void *map, unsigned rank, void *address, const uint64_t *strides) {
    const auto is_odd = [](uint64_t n) { return n % 16 != 0; };
    if (!map || uintptr_t(map) % 64 || is_odd(Address(address)) ||
        std::any_of(strides, strides + rank - 1, is_odd))
        return false;
    const uint64_t words[] = {Address(address), rank > 1 ? strides[0] : 0};
    std::memcpy(map, words, sizeof words);
    return true;
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

// Does what stands before the event on its stream.
void reach(const CUevent_st &event) {
    while (!event.done) {
        auto work = std::move(event.stream->queue.front());
        event.stream->queue.pop_front();
        work();
    }
}

CUstream_st *stream_of(CUstream_st *stream) { return stream ? stream : &stack.back()->legacy; }

// Puts a kernel on a stream, with copies of its arguments.
int launch(Fake &x, CUfunc_st *function, const FakeLaunch &given) {
    if (!x.modules.count(function->module)) return 400;
    x.last_dynamic = function->max_dynamic;
    const FakeKernel &kernel = function->kernel;
    const unsigned *b = given.blocks, *t = given.threads;
    if (int(t[0] * t[1] * t[2]) > kernel.max_threads || b[1] > 65535 || b[2] > 65535) return 1;
    const int dynamic = int(given.shared);
    if (dynamic + kernel.static_shared > 49152 && dynamic > function->max_dynamic) return 1;
    auto values = std::make_shared<std::vector<uint64_t>>(size_t(kernel.arguments));
    for (size_t i = 0; i < values->size(); i++) std::memcpy(&(*values)[i], given.args[i], 8);
    stream_of(given.stream)->queue.push_back([=] {
        std::vector<void *> pointers;
        for (uint64_t &value : *values) pointers.push_back(&value);
        FakeLaunch mine = given;
        mine.args = pointers.data();
        fake().clock++;
        kernel.run(mine);
    });
    return 0;
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
    const bool reuses = pool && pool->kept >= bytes;
    if (reuses) used -= bytes;
    if (bytes == 0) return 1;
    if (used + bytes > x.memory) return 2;
    if (reuses) pool->kept -= bytes;
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
                          : find(x.blocks, src.device, reach(src));
    auto *to = dst.host ? static_cast<uint8_t *>(const_cast<void *>(dst.host))
                        : find(x.blocks, dst.device, reach(dst));
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
        fake().clock++;
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
    return entry("cuInit", false, [](Fake &) { return devices() ? 0 : 100; });
}
int cuDeviceGetCount(int *count) {
    return entry("cuDeviceGetCount", false, [&](Fake &) { return *count = devices(), 0; });
}
int cuDeviceGet(int *device, int n) {
    return entry("cuDeviceGet", false, [&](Fake &) {
        if (n < 0 || n >= devices()) return 101;
        *device = n;
        return 0;
    });
}
int cuDeviceGetName(char *name, int bytes, int) {
    return entry("cuDeviceGetName", false, [&](Fake &) {
        std::strncpy(name, "Fake GPU", size_t(bytes));
        return 0;
    });
}
int cuDeviceGetAttribute(int *value, int which, int) {
    return entry("cuDeviceGetAttribute", false,
                 [&](Fake &x) { return *value = attribute(x, which), 0; });
}
int cuDevicePrimaryCtxRetain(CUctx_st **context, int device) {
    return entry("cuDevicePrimaryCtxRetain", false, [&](Fake &x) {
        auto &mine = x.primary[device];
        if (!mine) mine = std::make_unique<CUctx_st>();
        mine->device = device;
        x.retained[device]++;
        *context = mine.get();
        return 0;
    });
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    return entry("cuDevicePrimaryCtxRelease_v2", false, [&](Fake &x) {
        x.retained[device]--;
        return 0;
    });
}
int cuCtxGetCurrent(CUctx_st **context) {
    return entry("cuCtxGetCurrent", true, [&](Fake &) {
        *context = stack.empty() ? nullptr : stack.back();
        return 0;
    });
}
int cuCtxPushCurrent_v2(CUctx_st *context) {
    return entry("cuCtxPushCurrent_v2", true, [&](Fake &) {
        if (!context) return 1;
        stack.push_back(context);
        return 0;
    });
}
int cuCtxPopCurrent_v2(CUctx_st **context) {
    return entry("cuCtxPopCurrent_v2", true, [&](Fake &) {
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
        if (found == x.kernels.end()) found = x.kernels.find("*");
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
        return launch(x, function, {{gx, gy, gz}, {bx, by, bz}, shared, on, args});
    });
}
struct FakeAttribute {
    int id, unused, value[16];
};
struct FakeConfiguration {
    unsigned blocks[3], threads[3], shared;
    CUstream_st *stream;
    const FakeAttribute *attributes;
    unsigned count;
};
// Knows one attribute: the kernel waits by itself for those before it (6), and has it set.
int cuLaunchKernelEx(const FakeConfiguration *with, CUfunc_st *function, void **args, void **) {
    return in_context("cuLaunchKernelEx", [&](Fake &x) {
        if (with->count != 1 || with->attributes->id != 6 || with->attributes->value[0] != 1)
            return 1;
        const unsigned *b = with->blocks, *t = with->threads;
        return launch(x, function,
                      {{b[0], b[1], b[2]}, {t[0], t[1], t[2]}, with->shared, with->stream, args});
    });
}
// Tensor maps, which are described by what they have been made of.
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *dims,
                           const uint64_t *strides, const unsigned *box, const unsigned *steps,
                           int interleave, int swizzle, int, int fill) {
    return in_context("cuTensorMapEncodeTiled", [&](Fake &x) {
        if (interleave || fill || !make_map(map, rank, address, strides)) return 1;
        x.last_map = "boxes of type " + std::to_string(type) + numbers(" dims", dims, rank) +
                     numbers(" strides", strides, rank - 1) + numbers(" box", box, rank) +
                     numbers(" steps", steps, rank) + " swizzle " + std::to_string(swizzle);
        return 0;
    });
}
int cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *address, const uint64_t *dims,
                            const uint64_t *strides, const int *lower, const int *upper,
                            unsigned channels, unsigned places, const unsigned *steps,
                            int interleave, int swizzle, int, int fill) {
    return in_context("cuTensorMapEncodeIm2col", [&](Fake &x) {
        if (interleave || fill || !make_map(map, rank, address, strides)) return 1;
        x.last_map = "places of type " + std::to_string(type) + numbers(" dims", dims, rank) +
                     numbers(" strides", strides, rank - 1) + numbers(" lower", lower, rank - 2) +
                     numbers(" upper", upper, rank - 2) + " channels " + std::to_string(channels) +
                     " places " + std::to_string(places) + numbers(" steps", steps, rank) +
                     " swizzle " + std::to_string(swizzle);
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
int cuPointerGetAttribute(void *value, int which, Address address) {
    return in_context("cuPointerGetAttribute", [&](Fake &x) {
        constexpr int ordinal = 9;
        const bool on_device = find(x.blocks, address, 1);
        if (which == ordinal && on_device) {
            *static_cast<int *>(value) = std::prev(x.blocks.upper_bound(address))->second.device;
            return 0;
        }
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

int cuMemsetD8Async(Address at, unsigned char value, size_t bytes, CUstream_st *stream) {
    return in_context("cuMemsetD8Async", [&](Fake &x) {
        uint8_t *to = find(x.blocks, at, bytes);
        if (!to) return 1;
        stream_of(stream)->queue.push_back([=] { std::memset(to, value, bytes); });
        return 0;
    });
}
int cuMemcpy2DAsync_v2(const FakeCopy2D *c, CUstream_st *stream) {
    return in_context("cuMemcpy2DAsync_v2", [&](Fake &x) {
        Side src{c->src_kind == 1 ? c->src_host : nullptr, c->src_device, c->src_pitch};
        Side dst{c->dst_kind == 1 ? c->dst_host : nullptr, c->dst_device, c->dst_pitch};
        return copy(x, stream, src, dst, c->width, c->height);
    });
}
// A map of the driver of tests says where the array is, and how many bytes its rows are apart.
int cuStreamSynchronize(CUstream_st *stream) {
    return in_context("cuStreamSynchronize",
                      [&](Fake &x) { return drain(*stream_of(stream)), x.broken; });
}
int cuEventCreate(CUevent_st **event, unsigned flags) {
    return in_context("cuEventCreate", [&](Fake &x) {
        auto made = std::make_shared<CUevent_st>();
        made->has_time = !(flags & 2);
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
        // It may be destroyed before it happens.
        event->stream->queue.push_back([kept = x.events[event]] {
            kept->done = true;
            kept->at = fake().clock;
        });
        return 0;
    });
}
int cuStreamWaitEvent(CUstream_st *stream, CUevent_st *event, unsigned) {
    return in_context("cuStreamWaitEvent", [&](Fake &x) {
        if (!x.events.count(event)) return 400;
        stream_of(stream)->queue.push_back([kept = x.events[event]] { reach(*kept); });
        return 0;
    });
}
int cuEventElapsedTime(float *ms, CUevent_st *start, CUevent_st *stop) {
    return in_context("cuEventElapsedTime", [&](Fake &x) {
        if (!x.events.count(start) || !x.events.count(stop)) return 400;
        if (!start->has_time || !stop->has_time) return 400;
        if (!start->done || !stop->done) return 600;
        *ms = float(stop->at - start->at);
        return 0;
    });
}
int cuEventSynchronize(CUevent_st *event) {
    return in_context("cuEventSynchronize", [&](Fake &x) {
        if (!x.events.count(event)) return 400;
        reach(*event);
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
        block->second.pool->kept += block->second.size;
        x.leaving[address] = std::move(block->second);
        x.blocks.erase(block);
        stream_of(stream)->queue.push_back([address] { fake().leaving.erase(address); });
        return 0;
    });
}
}
