#pragma once
#include "runtime/tessera_runtime.h"

namespace tessera {

struct JITUserContext;

// The functions that a pipeline in this process calls instead of the runtime's own; null: as the
// pipeline has it, else as the process has it. `custom_error` replaces the RuntimeError that a
// failure throws otherwise. The call throws what a handler has thrown when it has ended; of several
// calls at once with one context, the one that ends first does.
struct JITHandlers {
    void (*custom_print)(JITUserContext *, const char *) = nullptr;
    void *(*custom_malloc)(JITUserContext *, size_t) = nullptr;
    void (*custom_free)(JITUserContext *, void *) = nullptr;
    int (*custom_do_task)(JITUserContext *, int (*)(JITUserContext *, int, uint8_t *), int,
                          uint8_t *) = nullptr;
    int (*custom_do_par_for)(JITUserContext *, int (*)(JITUserContext *, int, uint8_t *), int, int,
                             uint8_t *) = nullptr;
    void (*custom_error)(JITUserContext *, const char *) = nullptr;
    int32_t (*custom_trace)(JITUserContext *, const tessera_trace_event_t *) = nullptr;
    // The context and stream of kernels and copies on a GPU: tessera_runtime_cuda.h says what
    // these are asked. `context` and `stream` are a CUcontext and a CUstream.
    int32_t (*custom_cuda_acquire_context)(JITUserContext *, void **context, bool create) = nullptr;
    int32_t (*custom_cuda_release_context)(JITUserContext *) = nullptr;
    int32_t (*custom_cuda_get_stream)(JITUserContext *, void *context, void **stream) = nullptr;
    // These would find the driver of a device. They are not called: it is found once for the
    // process.
    void *(*custom_get_symbol)(const char *name) = nullptr;
    void *(*custom_load_library)(const char *name) = nullptr;
    void *(*custom_get_library_symbol)(void *library, const char *name) = nullptr;
};

// Handed to realize(); a struct that begins with it can carry data of the user's to the handlers.
struct JITUserContext {
    JITHandlers handlers;
    void *user_context = nullptr;  // the user's own; nothing reads it
};

}  // namespace tessera
