#include "runtime/kept_blocks.h"
#include <cstdlib>

namespace tessera::runtime {

// Of what is kept: false where another thread has it for too long.
class KeptBlocks::Lock {
public:
    explicit Lock(std::atomic<bool> &flag, int most_tries = 1000) : flag(flag) {
        for (int i = 0; i < most_tries && !is_held; i++) {
            is_held = !flag.load(std::memory_order_relaxed) &&
                      !flag.exchange(true, std::memory_order_acquire);
        }
    }
    ~Lock() {
        if (is_held) flag.store(false, std::memory_order_release);
    }
    Lock(const Lock &) = delete;
    explicit operator bool() const { return is_held; }

private:
    std::atomic<bool> &flag;
    bool is_held = false;
};

// Blocks that are freed when the lock is no longer held, which is declared after this: the system
// may take milliseconds.
class KeptBlocks::Freeing {
public:
    void add(void *block) { blocks[count++] = block; }
    Freeing() = default;
    ~Freeing() {
        for (size_t i = 0; i < count; i++) std::free(blocks[i]);
    }
    Freeing(const Freeing &) = delete;

private:
    void *blocks[most_blocks];
    size_t count = 0;
};

namespace {

// So long waits who cannot do without: nobody holds the lock for longer, unless fork() has left it.
constexpr int very_many_tries = 100'000'000;

uint64_t this_thread() {
    static std::atomic<uint64_t> threads{0};
    static thread_local const uint64_t number = ++threads;
    return number;
}

}  // namespace

void KeptBlocks::remove(size_t i) {
    bytes_kept -= blocks[i].bytes;
    count--;
    for (; i < count; i++) blocks[i] = blocks[i + 1];
}

void KeptBlocks::free_oldest(size_t bytes_to_stay, Freeing &freeing) {
    while (bytes_kept > bytes_to_stay) {
        freeing.add(blocks[0].memory);
        remove(0);
    }
}

void *KeptBlocks::take(size_t bytes) {
    if (bytes < smallest) return nullptr;
    const Lock lock(is_locked);
    if (!lock) return nullptr;
    size_t found = count;
    for (size_t i = count; i-- > 0;) {
        const Block &b = blocks[i];
        if (b.bytes < bytes || b.bytes / 2 > bytes) continue;
        const bool is_own = b.thread == this_thread();
        if (found == count || is_own) found = i;
        if (is_own) break;
    }
    if (found == count) return nullptr;
    void *memory = blocks[found].memory;
    remove(found);
    return memory;
}

bool KeptBlocks::keep(void *block, size_t bytes) {
    if (bytes < smallest) return false;
    Freeing freeing;
    const Lock lock(is_locked);
    if (!lock || bytes > limit) return false;
    if (count == most_blocks) free_oldest(bytes_kept - 1, freeing);
    free_oldest(limit - bytes, freeing);
    blocks[count++] = {block, bytes, this_thread()};
    bytes_kept += bytes;
    return true;
}

size_t KeptBlocks::set_limit(size_t bytes) {
    Freeing freeing;
    const Lock lock(is_locked, very_many_tries);
    const size_t former = limit;
    if (!lock) return former;
    limit = bytes;
    free_oldest(limit, freeing);
    return former;
}

void KeptBlocks::free_all() {
    Freeing freeing;
    const Lock lock(is_locked, very_many_tries);
    if (lock) free_oldest(0, freeing);
}

}  // namespace tessera::runtime
