#include "base/error.h"
#include "base/str.h"
#include "driver/call_context.h"
#include "driver/run.h"
#include "lang/buffer.h"
#include "lang/device_interface.h"

// Buffers on devices, by way of the runtime.
namespace tessera {

namespace {

// Runs a function of the runtime that does `what` to the buffer `name`. RuntimeError with what it
// reports.
template<typename F>
int checked(const char *what, const std::string &name, JITUserContext *given, const Location &at,
            F function) {
    driver::CallContext context(given, {});
    const int code = function(static_cast<void *>(context.user_context()));
    try {
        context.rethrow();
        if (code) driver::check_result(code, str(what, " ", name), context);
    } catch (const RuntimeError &e) {
        throw RuntimeError(at, e.what());
    }
    return code;
}

}  // namespace

DeviceInterface detail::device_of(DeviceAPI api, const Target &target, const Location &at) {
    static const Target any("host-cuda");
    return get_device_interface_for_device_api(api, target.has_unknowns() ? any : target, at);
}

void BufferContents::throw_is_on_device(const Location &at) const {
    throw RuntimeError(at, str("the newest contents of buffer ", name,
                               " are on a device; call copy_to_host() before they are used here"));
}

int BufferContents::copy_to_device(DeviceInterface device, JITUserContext *context,
                                   const Location &at) {
    return checked("copy_to_device of", name, context, at,
                   [&](void *c) { return tessera_copy_to_device(c, &raw, device); });
}

int BufferContents::copy_to_host(JITUserContext *context, const Location &at) {
    if (!(raw.flags & tessera_buffer_flag_device_dirty)) return 0;
    return checked("copy_to_host of", name, context, at,
                   [&](void *c) { return tessera_copy_to_host(c, &raw); });
}

int BufferContents::device_malloc(DeviceInterface device, JITUserContext *context,
                                  const Location &at) {
    return checked("device_malloc of", name, context, at,
                   [&](void *c) { return tessera_device_malloc(c, &raw, device); });
}

int BufferContents::device_free(JITUserContext *context, const Location &at) {
    if (!raw.device) return 0;
    const int code = checked("device_free of", name, context, at, [&](void *c) {
        switch (device_ownership) {
        case BufferDeviceOwnership::Cropped: return tessera_device_release_crop(c, &raw);
        case BufferDeviceOwnership::WrappedNative: return tessera_device_detach_native(c, &raw);
        case BufferDeviceOwnership::Allocated:
        case BufferDeviceOwnership::AllocatedDeviceAndHost:
        case BufferDeviceOwnership::Unmanaged: break;
        }
        return tessera_device_free(c, &raw);
    });
    device_ownership = BufferDeviceOwnership::Allocated;  // what it may get next
    return code;
}

int BufferContents::device_sync(JITUserContext *context, const Location &at) {
    if (!raw.device) return 0;
    return checked("device_sync of", name, context, at,
                   [&](void *c) { return tessera_device_sync(c, &raw); });
}

int BufferContents::device_wrap_native(DeviceInterface device, uint64_t handle,
                                       JITUserContext *context, const Location &at) {
    const int code = checked("device_wrap_native of", name, context, at, [&](void *c) {
        return tessera_device_wrap_native(c, &raw, handle, device);
    });
    device_ownership = BufferDeviceOwnership::WrappedNative;
    return code;
}

int BufferContents::device_detach_native(JITUserContext *context, const Location &at) {
    if (!raw.device) return 0;
    const int code = checked("device_detach_native of", name, context, at,
                             [&](void *c) { return tessera_device_detach_native(c, &raw); });
    device_ownership = BufferDeviceOwnership::Allocated;
    return code;
}

// Takes an alias of all the memory of the same box, instead of the handle that was copied.
void BufferContents::share_device_memory(const BufferContents &owner) {
    raw.device = 0;
    raw.device_interface = nullptr;
    raw.flags = owner.raw.flags & ~uint64_t(tessera_buffer_flag_device_dirty);
    device_ownership = BufferDeviceOwnership::Allocated;
    if (!owner.raw.device) return;
    checked("an alias of", name, nullptr, {},
            [&](void *c) { return tessera_device_crop(c, &owner.raw, &raw); });
    device_ownership = BufferDeviceOwnership::Cropped;
}

void BufferContents::crop_device_memory(const Shape &to) {
    tessera_buffer_t part = raw;
    Shape dims = to;
    part.dim = dims.data();
    part.device = 0;
    part.device_interface = nullptr;
    part.flags &= ~uint64_t(tessera_buffer_flag_device_dirty);
    checked("a crop of", name, nullptr, {},
            [&](void *c) { return tessera_device_crop(c, &raw, &part); });
    release_device_memory();
    raw.device = part.device;
    raw.device_interface = part.device_interface;
    raw.flags = part.flags;
    device_ownership = BufferDeviceOwnership::Cropped;
}

// The runtime's error handler reports whatever goes wrong.
void BufferContents::release_device_memory() {
    if (!raw.device) return;
    switch (device_ownership) {
    case BufferDeviceOwnership::Allocated:
    case BufferDeviceOwnership::AllocatedDeviceAndHost: tessera_device_free(nullptr, &raw); break;
    case BufferDeviceOwnership::Cropped: tessera_device_release_crop(nullptr, &raw); break;
    case BufferDeviceOwnership::WrappedNative: tessera_device_detach_native(nullptr, &raw); break;
    case BufferDeviceOwnership::Unmanaged: break;
    }
    raw.device = 0;
}

}  // namespace tessera
