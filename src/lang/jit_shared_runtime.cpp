#include "lang/jit_shared_runtime.h"
#include "driver/call_context.h"
#include "driver/compile.h"
#include "runtime/symbols.h"
#include "runtime/tessera_runtime_cuda.h"
#include <algorithm>

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
bool JITSharedRuntime::keep_on_disk(bool on) { return driver::keep_on_disk(on); }
void JITSharedRuntime::reuse_device_allocations(bool on) {
    tessera_reuse_device_allocations(nullptr, on);
}
void *JITSharedRuntime::find_symbol(const std::string &name) {
    const auto symbols = tessera_runtime_symbols();
    const auto found = std::ranges::find(symbols, name, &RuntimeSymbol::name);
    return found == symbols.end() ? nullptr : found->address;
}
void JITSharedRuntime::release_all() {
    driver::clear_cache();
    tessera_device_release(nullptr, tessera_cuda_device_interface());
    tessera_shutdown_thread_pool();
}

}  // namespace tessera
