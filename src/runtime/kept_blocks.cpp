#include "runtime/kept_blocks.h"
#include <cstdlib>

namespace tessera::runtime {

// Of what is kept: false where another thread has it for too long.
class KeptBlocks::Lock {
public:
    explicit Lock(std::atomic<bool> &flag) : flag(flag) {
        constexpr int most_tries = 10'000;
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

namespace {

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
    const Lock lock(is_locked);
    if (!lock || bytes > limit) return false;
    while (count == most_blocks || bytes_kept + bytes > limit) {
        std::free(blocks[0].memory);
        remove(0);
    }
    blocks[count++] = {block, bytes, this_thread()};
    bytes_kept += bytes;
    return true;
}

size_t KeptBlocks::set_limit(size_t bytes) {
    const Lock lock(is_locked);
    if (!lock) return limit;
    const size_t former = limit;
    limit = bytes;
    while (bytes_kept > limit) {
        std::free(blocks[0].memory);
        remove(0);
    }
    return former;
}

}  // namespace tessera::runtime
