#pragma once
#include "driver/jit_context.h"
#include "runtime/tessera_runtime.h"
#include <span>

namespace tessera::driver {

// An argument of compiled code that is a buffer.
struct PassedBuffer {
    tessera_buffer_t *buffer;
    bool is_input;
};

// The runtime that a loaded library calls: one within it, or that of this process. What it reports,
// prints and traces goes to the handlers of the call that it is done for, and its work on a GPU to
// that call's stream and context. It is there as long as the process is, as its library is.
class LoadedRuntime {
public:
    // Returns that of a library, as dlopen() has given it.
    static const LoadedRuntime &of(void *library);

    // Calls compiled code that takes these arguments. Where the runtime is the library's own, and
    // `uses_devices`, it gets the memory that buffers have on a GPU as if it were its own: it stays
    // this process's, which also allocates what is missing. The context is that of a live
    // CallContext. Returns the code's result.
    int call(JITUserContext *context, int (*argv)(void *const *), std::span<void *> args,
             std::span<const PassedBuffer> buffers, bool uses_devices) const;

private:
    explicit LoadedRuntime(void *library);
    int call_on_device(JITUserContext *context, int (*argv)(void *const *), std::span<void *> args,
                       std::span<const PassedBuffer> buffers) const;

    bool is_own = false;                                    // the library's
    const tessera_device_interface_t *interface = nullptr;  // of GPUs, where it is the library's
    int (*copy_to_host)(void *, tessera_buffer_t *) = nullptr;
    int (*device_free)(void *, tessera_buffer_t *) = nullptr;
};

}  // namespace tessera::driver
