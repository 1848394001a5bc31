#pragma once
#include "driver/jit_context.h"
#include "lang/location.h"

namespace tessera {

// The runtime that all pipelines of this process share.
class JITSharedRuntime {
public:
    // For pipelines that have no handlers of their own; returns the ones before.
    static JITHandlers set_default_handlers(const JITHandlers &handlers);
    // Completes the handlers of a context: by these, then by the default ones, then by the
    // runtime's own, so that they can be called. That of errors stays unset where nobody has one,
    // so that a failed call throws. CompileError if the context is null.
    static void populate_jit_handlers(JITUserContext *context, const JITHandlers &handlers,
                                      Location at = Here::current());
    // How many threads run pipelines; 0: as many as the machine has. Returns the former number.
    static int set_num_threads(int n);
    static int get_num_threads();
    // Results of memoized Funcs and memory on devices: there is neither, and nothing to keep.
    static void memoization_cache_set_size(int64_t) {}
    static void memoization_cache_evict(uint64_t) {}
    static void reuse_device_allocations(bool) {}
    // Forgets compiled code and ends the threads. No pipeline may be running.
    static void release_all();
};

}  // namespace tessera
