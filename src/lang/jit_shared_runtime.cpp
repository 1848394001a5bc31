#include "lang/jit_shared_runtime.h"
#include "driver/compile.h"

namespace tessera {

JITHandlers JITSharedRuntime::set_default_handlers(const JITHandlers &handlers) {
    return driver::set_default_handlers(handlers);
}
int JITSharedRuntime::set_num_threads(int n) { return tessera_set_num_threads(n); }
int JITSharedRuntime::get_num_threads() { return tessera_get_num_threads(); }
void JITSharedRuntime::release_all() {
    driver::clear_cache();
    tessera_shutdown_thread_pool();
}

}  // namespace tessera
