#include "runtime/cuda_context.h"
#include <algorithm>
#include <atomic>
#include <map>
#include <unordered_map>

namespace tessera::cuda {

namespace {

std::atomic<bool> reuse{true};

// The pool takes 3.8 us to give a block and take it back, a launch 4 (H100, driver 580): what the
// next temporaries of a pipeline may be is kept out of it, unless it is so large that nobody sees
// that.
constexpr uint64_t most_freed_bytes = uint64_t(64) << 20;

struct Allocation {
    Address handle = 0;  // the buffer's; the memory may begin before
    uint64_t bytes = 0;
    Context context = nullptr;
    Stream stream = nullptr;
    Pool pool = nullptr;        // that it is from, if any
    bool is_temporary = false;  // only the stream above uses it
    int uses = 1;               // the buffer and its aliases
};

struct Aliases {
    Address base = 0;
    int count = 0;  // at one address
};

// All memory of buffers, by where it begins, and the aliases of parts of it, by their address.
struct Registry {
    std::mutex mutex;
    std::map<Address, Allocation> allocations;
    std::unordered_map<Address, Aliases> aliases;

    std::map<Address, Allocation>::iterator holding(Address address) {
        auto next = allocations.upper_bound(address);
        if (next == allocations.begin()) return allocations.end();
        --next;
        return address - next->first < next->second.bytes ? next : allocations.end();
    }
};
Registry &registry() {
    static auto &all = *new Registry();
    return all;
}

Result allocate_in(const Scope &scope, uint64_t bytes, Pool pool, Address &base) {
    const Driver &d = scope.driver();
    return pool ? d.allocate_from_pool(&base, size_t(bytes), pool, scope.stream())
                : d.allocate(&base, size_t(bytes));
}

// Freed memory of just so many bytes, which the scope's stream may use; 0 if there is none.
Address take_freed(const Scope &scope, uint64_t bytes) {
    if (scope.stream()) return 0;
    State &state = scope.state();
    std::lock_guard lock(state.mutex);
    for (int i = state.freed.count; i-- > 0;) {
        if (state.freed.blocks[i].bytes == bytes) return state.freed.remove(i);
    }
    return 0;
}

// Freed memory is only the system's again when all that was before in its stream is done.
void give_back_unused(const Scope &scope) {
    State &state = scope.state();
    if (!state.pool) return;
    free_to_pool(scope.driver(), state);
    scope.driver().context_synchronize();
    scope.driver().trim_pool(state.pool, 0);
}

int allocate(void *user_context, const tessera_buffer_t &buffer, uint64_t &handle) {
    Scope scope(user_context);
    if (scope.error()) return scope.error();
    const uint64_t bytes = std::max<uint64_t>(tessera_buffer_size_in_bytes(&buffer), 1);
    const Pool pool = reuse.load(std::memory_order_relaxed) ? scope.state().pool : nullptr;
    Address base = pool ? take_freed(scope, bytes) : 0;
    Result r = base ? result::success : allocate_in(scope, bytes, pool, base);
    if (r == result::out_of_memory) {
        give_back_unused(scope);
        r = allocate_in(scope, bytes, pool, base);
    }
    if (r) {
        return scope.check(tessera_error_code_device_malloc_failed, r,
                           Message() << "allocating " << bytes << " bytes on the GPU");
    }
    handle = base + uint64_t(-lowest_byte(buffer));
    Registry &all = registry();
    std::lock_guard lock(all.mutex);
    const bool is_temporary = buffer.get_flag(tessera_buffer_flag_temporary);
    all.allocations[base] = {handle,       bytes, scope.state().context, scope.stream(), pool,
                             is_temporary, 1};
    return 0;
}

// The stream of the call is the only one that may still use the memory.
bool is_ordered(const Scope &scope, const Allocation &memory) {
    return scope.has_context() && memory.context == scope.state().context &&
           memory.stream == scope.stream() &&
           (scope.stream() || memory.is_temporary || !scope.state().has_streams);
}

Result free_when_done(const Driver &d, const Allocation &memory, Address base) {
    const Current current(d, memory.context);
    if (Result r = current.result()) return r;
    if (!memory.pool) return d.free(base);  // waits
    if (Result r = d.context_synchronize()) return r;
    return d.free_to_pool(base, nullptr);
}

// Keeps what only the scope's stream may still use, or gives it, or what was freed before it, to
// the pool.
Result free_in_order(const Scope &scope, const Allocation &memory, Address base) {
    const bool keep = !scope.stream() && memory.bytes <= most_freed_bytes &&
                      reuse.load(std::memory_order_relaxed);
    if (keep) {
        std::lock_guard lock(scope.state().mutex);
        FreedMemory &freed = scope.state().freed;
        const Address oldest = freed.count == freed.most ? freed.remove(0) : 0;
        freed.blocks[freed.count++] = {base, memory.bytes};
        if (!oldest) return result::success;
        base = oldest;
    }
    return scope.driver().free_to_pool(base, scope.stream());
}

int free_memory(void *user_context, const Allocation &memory, Address base) {
    Scope scope(user_context, Enter::ToFree);
    if (scope.error()) return scope.error();
    const Result r = memory.pool && is_ordered(scope, memory)
                         ? free_in_order(scope, memory, base)
                         : free_when_done(scope.driver(), memory, base);
    if (!r || is_gone(r)) return 0;
    return scope.check(tessera_error_code_device_free_failed, r,
                       Message() << "freeing " << memory.bytes << " bytes on the GPU");
}

// Takes the memory out of the registry if that was its last use.
bool is_last_use(Registry &all, std::map<Address, Allocation>::iterator at, Address &base,
                 Allocation &memory) {
    if (--at->second.uses > 0) return false;
    base = at->first;
    memory = at->second;
    all.allocations.erase(at);
    return true;
}

int free(void *user_context, uint64_t handle) {
    Registry &all = registry();
    Allocation memory;
    Address base = 0;
    {
        std::unique_lock lock(all.mutex);
        auto at = all.holding(handle);
        if (at == all.allocations.end() || at->second.handle != handle) {
            lock.unlock();
            return (Message() << "Cannot free a buffer's memory on the GPU: it was not allocated "
                                 "for a buffer, or has been freed already; what was wrapped is to "
                                 "be detached, what was cropped to be released")
                .raise(user_context, tessera_error_code_device_free_failed);
        }
        if (!is_last_use(all, at, base, memory)) return 0;
    }
    return free_memory(user_context, memory, base);
}

int share(void *, uint64_t handle, uint64_t alias) {
    Registry &all = registry();
    std::lock_guard lock(all.mutex);
    auto at = all.holding(handle);
    if (at == all.allocations.end()) return 0;  // somebody else's
    at->second.uses++;
    Aliases &aliases = all.aliases[alias];
    aliases.base = at->first;
    aliases.count++;
    return 0;
}

int unshare(void *user_context, uint64_t alias) {
    Registry &all = registry();
    Allocation memory;
    Address base = 0;
    {
        std::lock_guard lock(all.mutex);
        auto aliases = all.aliases.find(alias);
        if (aliases == all.aliases.end()) return 0;
        auto at = all.allocations.find(aliases->second.base);
        if (--aliases->second.count == 0) all.aliases.erase(aliases);
        if (at == all.allocations.end() || !is_last_use(all, at, base, memory)) return 0;
    }
    return free_memory(user_context, memory, base);
}

int sync(void *user_context) {
    Scope scope(user_context);
    if (scope.error()) return scope.error();
    return scope.check(tessera_error_code_device_sync_failed,
                       scope.driver().synchronize(scope.stream()),
                       Message() << "waiting for what runs on the GPU");
}

constexpr tessera_device_interface_impl_t impl = {
    allocate, free, share, unshare, sync, release, copy,
};

constexpr tessera_device_interface_t device_interface = {
    tessera_device_malloc,
    tessera_device_free,
    tessera_device_sync,
    tessera_device_release,
    tessera_copy_to_host,
    tessera_copy_to_device,
    tessera_device_and_host_malloc,
    tessera_device_and_host_free,
    tessera_device_buffer_copy,
    tessera_device_crop,
    tessera_device_slice,
    tessera_device_release_crop,
    tessera_device_wrap_native,
    tessera_device_detach_native,
    compute_capability,
    &impl,
};

}  // namespace

void free_to_pool(const Driver &driver, State &state) {
    std::lock_guard lock(state.mutex);
    while (state.freed.count) driver.free_to_pool(state.freed.remove(0), nullptr);
}

bool has_allocations(Context context) {
    Registry &all = registry();
    std::lock_guard lock(all.mutex);
    return std::any_of(all.allocations.begin(), all.allocations.end(),
                       [&](const auto &at) { return at.second.context == context; });
}

}  // namespace tessera::cuda

using namespace tessera::cuda;

extern "C" {

const tessera_device_interface_t *tessera_cuda_device_interface(void) { return &device_interface; }

int tessera_cuda_wrap_device_ptr(void *user_context, tessera_buffer_t *buffer, uint64_t pointer) {
    return tessera_device_wrap_native(user_context, buffer, pointer, &device_interface);
}

int tessera_cuda_detach_device_ptr(void *user_context, tessera_buffer_t *buffer) {
    return tessera_device_detach_native(user_context, buffer);
}

uint64_t tessera_cuda_get_device_ptr(void *, tessera_buffer_t *buffer) {
    return buffer && buffer->device_interface == &device_interface ? buffer->device : 0;
}

int tessera_cuda_release_unused_device_allocations(void *user_context) {
    if (!driver_in_use()) return 0;
    Scope scope(user_context, Enter::IfThere);
    if (scope.has_context()) give_back_unused(scope);
    return scope.error();
}

int tessera_reuse_device_allocations(void *user_context, bool on) {
    reuse.store(on, std::memory_order_relaxed);
    return on ? 0 : tessera_cuda_release_unused_device_allocations(user_context);
}

bool tessera_can_reuse_device_allocations(void *) { return reuse.load(std::memory_order_relaxed); }
}
