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
    // Forgets compiled code and ends the threads. No pipeline may be running.
    static void release_all();
};

}  // namespace tessera
