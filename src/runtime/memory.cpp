#include "runtime/tessera_runtime.h"
#include <atomic>
#include <cstdlib>

namespace {

constexpr size_t alignment = 128;
constexpr uint64_t max_bytes = uint64_t(1) << 47;  // what an x86-64 process can address

void *default_malloc(void *, size_t bytes) {
    if (bytes > max_bytes) return nullptr;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    return std::aligned_alloc(alignment, rounded ? rounded : alignment);
}

void default_free(void *, void *p) { std::free(p); }

std::atomic<tessera_malloc_t> custom_malloc{default_malloc};
std::atomic<tessera_free_t> custom_free{default_free};

}  // namespace

extern "C" {

[[gnu::weak]] void *tessera_malloc(void *user_context, size_t bytes) {
    return custom_malloc.load(std::memory_order_relaxed)(user_context, bytes);
}

[[gnu::weak]] void tessera_free(void *user_context, void *p) {
    if (p) custom_free.load(std::memory_order_relaxed)(user_context, p);
}

tessera_malloc_t tessera_set_custom_malloc(tessera_malloc_t f) {
    return custom_malloc.exchange(f ? f : default_malloc);
}

tessera_free_t tessera_set_custom_free(tessera_free_t f) {
    return custom_free.exchange(f ? f : default_free);
}

void *tessera_default_malloc(void *user_context, size_t bytes) {
    return default_malloc(user_context, bytes);
}
void tessera_default_free(void *user_context, void *p) { default_free(user_context, p); }
}
