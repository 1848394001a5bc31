#include "fake_cuda_state.h"
#include <cstdlib>

namespace fake_driver {

std::recursive_mutex mutex;
thread_local std::vector<CUctx_st *> stack;

Fake &fake() {
    static auto *it = new Fake();
    return *it;
}

uint8_t *find(const std::map<Address, Block> &blocks, Address address, size_t bytes) {
    if (!(address & device_bit)) return nullptr;
    auto next = blocks.upper_bound(address);
    if (next == blocks.begin()) return nullptr;
    --next;
    Address offset = address - next->first;
    return offset + bytes <= next->second.size ? next->second.bytes.get() + offset : nullptr;
}

}  // namespace fake_driver

using namespace fake_driver;

extern "C" const FakeCuda *fake_cuda() {
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
        .fail_all =
            [](int result, bool contexts_too) {
                fake().broken = result;
                fake().contexts_are_broken = contexts_too;
            },
        .add_kernel = [](const FakeKernel &kernel) { fake().kernels[kernel.name] = kernel; },
        .memory = [](uint64_t address) -> void * {
            std::lock_guard lock(mutex);
            uint8_t *found = find(fake().blocks, address, 1);
            return found ? found : find(fake().leaving, address, 1);
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
        .last_map = [] { return fake().last_map.c_str(); },
        .dynamic_shared = [] { return fake().last_dynamic; },
        .retained = [](int device) { return fake().retained[device]; },
        .current = [] { return stack.empty() ? nullptr : stack.back(); },
        .new_context =
            [](int device) {
                std::lock_guard lock(mutex);
                // One after the other, all of them stay: a context that comes to lie where another
                // one was is taken for it, unless that has been released (tessera_runtime_cuda.h).
                static auto &all = *new std::deque<CUctx_st>();
                all.push_back({device, {}});
                fake().contexts.push_back(&all.back());
                return &all.back();
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
        .events = [] { return int(fake().events.size()); },
    };
    return &control;
}
