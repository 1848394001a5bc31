#include "runtime/kept_blocks.h"
#include "runtime/tessera_runtime.h"
#include <atomic>
#include <cstdlib>

#ifdef __linux__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace {

constexpr size_t alignment = 128;
constexpr uint64_t max_bytes = uint64_t(1) << 47;  // what an x86-64 process can address

// Where the system gives huge pages to whoever asks, first touching a large block costs a fraction:
// one fault for every 2 MB instead of 4 KB. A hint; the block is as good without.
constexpr size_t large = size_t(4) << 20;

void ask_for_huge_pages([[maybe_unused]] void *block, [[maybe_unused]] size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
    const uintptr_t first = (uintptr_t(block) + page - 1) / page * page;
    const uintptr_t end = (uintptr_t(block) + bytes) / page * page;
    if (first < end) madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
#endif
}

// Never destroyed: others free memory while the process ends. Sanitizers want each block to be a
// fresh one, and without its size a block cannot be kept.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool keeps_blocks = true;
size_t bytes_of(void *block) { return malloc_usable_size(block); }
#else
constexpr bool keeps_blocks = false;
size_t bytes_of(void *) { return 0; }
#endif
constinit tessera::runtime::KeptBlocks kept;

void *default_malloc(void *, size_t bytes) {
    if (bytes > max_bytes) return nullptr;
    if (keeps_blocks) {
        if (void *block = kept.take(bytes)) return block;
    }
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void *block = std::aligned_alloc(alignment, rounded ? rounded : alignment);
    if (!block && keeps_blocks) {  // what is kept may be what is missing
        kept.shrink_to(0);
        block = std::aligned_alloc(alignment, rounded ? rounded : alignment);
    }
    if (block && bytes >= large) ask_for_huge_pages(block, bytes);
    return block;
}

void default_free(void *, void *p) {
    if (keeps_blocks && p && kept.keep(p, bytes_of(p))) return;
    std::free(p);
}

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

size_t tessera_set_kept_memory(size_t bytes) { return kept.set_limit(bytes); }

void *tessera_default_malloc(void *user_context, size_t bytes) {
    return default_malloc(user_context, bytes);
}
void tessera_default_free(void *user_context, void *p) { default_free(user_context, p); }
}
