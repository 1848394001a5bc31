#pragma once
#include "driver/jit_context.h"
#include "lang/location.h"
#include <string>

namespace tessera {

// The runtime that all pipelines of this process share.
class JITSharedRuntime {
public:
    // For pipelines that have no handlers of their own; returns the ones before.
    static JITHandlers set_default_handlers(const JITHandlers &handlers);
    // Completes the handlers of a context: by these, then by the default ones, then by the
    // runtime's own, so that they can be called. The error handler stays unset where nobody has
    // one, so that a failed call throws. CompileError if the context is null.
    static void populate_jit_handlers(JITUserContext *context, const JITHandlers &handlers,
                                      Location at = Here::current());
    // Sets the number of threads that run pipelines; 0: as many as the machine has. Returns the
    // former number.
    static int set_num_threads(int n);
    static int get_num_threads();
    // Results of memoized Funcs: there are none, and nothing to keep.
    static void memoization_cache_set_size(int64_t) {}
    static void memoization_cache_evict(uint64_t) {}
    // Says whether compiled pipelines are kept on disk, for later processes that compile the same:
    // in $TESSERA_CACHE_DIR, or in the folder tessera of $XDG_CACHE_HOME or ~/.cache, up to 512
    // MiB. They are not, to begin with. Returns what was said before.
    static bool keep_on_disk(bool on);
    // Says whether memory of devices that has been freed is kept for the next that ask for some. It
    // is, unless told otherwise; then what is kept is given back.
    static void reuse_device_allocations(bool on);
    // A function of the runtime's C interface; null if there is none of that name.
    static void *find_symbol(const std::string &name);
    // Forgets compiled code, ends the threads, and gives back what is kept for devices, but for
    // what Buffers have there. No pipeline may be running.
    static void release_all();
};

}  // namespace tessera
