#include "interpret/oracle_device.h"
#include "runtime/device_impl.h"
#include <mutex>
#include <unordered_map>

namespace tessera::interpret {

namespace {

// Holds what functions in C have allocated, by handles.
struct Allocations {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::vector<uint8_t>> all;
};
Allocations &allocations() {
    static auto &it = *new Allocations();
    return it;
}

int allocate(void *, const tessera_buffer_t &buffer, uint64_t &handle) {
    std::vector<uint8_t> bytes(tessera_buffer_size_in_bytes(&buffer) + 1);
    handle = uint64_t(uintptr_t(bytes.data())) + uint64_t(-lowest_byte(buffer));
    Allocations &a = allocations();
    std::lock_guard lock(a.mutex);
    a.all[handle] = std::move(bytes);
    return 0;
}

int free(void *, uint64_t handle) {
    Allocations &a = allocations();
    std::lock_guard lock(a.mutex);
    a.all.erase(handle);
    return 0;
}

int copy(void *, const CopyPlan &plan, CopySide src, CopySide dst) {
    copy_on_host(plan, reinterpret_cast<const uint8_t *>(src.address),
                 reinterpret_cast<uint8_t *>(dst.address));
    return 0;
}

int compute_capability(void *, int *major, int *minor) {
    *major = *minor = 0;
    return 0;
}

constexpr tessera_device_interface_impl_t impl = {
    allocate,
    free,
    [](void *, uint64_t, uint64_t) { return 0; },
    [](void *, uint64_t) { return 0; },
    [](void *) { return 0; },
    [](void *) {},
    copy,
};

constexpr tessera_device_interface_t device = {
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

const tessera_device_interface_t *oracle_device() { return &device; }

}  // namespace tessera::interpret
