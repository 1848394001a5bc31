#pragma once
#include "driver/jit_context.h"

namespace tessera {

// What all pipelines of this process share.
class JITSharedRuntime {
public:
    // For pipelines that have no handlers of their own; returns the ones before.
    static JITHandlers set_default_handlers(const JITHandlers &handlers);
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
