#include "lang/jit_shared_runtime.h"
#include "driver/call_context.h"
#include "driver/compile.h"

namespace tessera {

JITHandlers JITSharedRuntime::set_default_handlers(const JITHandlers &handlers) {
    return driver::set_default_handlers(handlers);
}
void JITSharedRuntime::populate_jit_handlers(JITUserContext *context, const JITHandlers &handlers,
                                             Location at) {
    if (!context) throw CompileError(at, "populate_jit_handlers: the context is null");
    driver::populate_handlers(*context, handlers);
}
int JITSharedRuntime::set_num_threads(int n) { return tessera_set_num_threads(n); }
int JITSharedRuntime::get_num_threads() { return tessera_get_num_threads(); }
void JITSharedRuntime::release_all() {
    driver::clear_cache();
    tessera_shutdown_thread_pool();
}

}  // namespace tessera
