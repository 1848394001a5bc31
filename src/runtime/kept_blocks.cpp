#include "runtime/kept_blocks.h"
#include <cstdlib>
#include <cstring>

namespace tessera::runtime {

// Locks what is kept; false where another thread has it for too long. While it is held nothing is
// given back to the system, which may take milliseconds.
class KeptBlocks::Lock {
public:
    // A caller that cannot do without tries so often: nobody holds it for as long, unless fork()
    // has left it so.
    static constexpr int very_many_tries = 100'000'000;

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

namespace {

// Returns an address that is different in each thread.
const void *this_thread() {
    static thread_local const char here = 0;
    return &here;
}

}  // namespace

void *KeptBlocks::take_out(size_t i) {
    void *memory = blocks[i].memory;
    bytes_kept -= blocks[i].bytes;
    count--;
    std::memmove(&blocks[i], &blocks[i + 1], (count - i) * sizeof(Block));
    return memory;
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
    return found == count ? nullptr : take_out(found);
}

bool KeptBlocks::keep(void *block, size_t bytes) {
    if (bytes < smallest) return false;
    for (;;) {
        void *oldest = nullptr;
        {
            const Lock lock(is_locked);
            if (!lock || bytes > limit) return false;
            if (count < most_blocks && bytes_kept + bytes <= limit) {
                blocks[count++] = {block, bytes, this_thread()};
                bytes_kept += bytes;
                return true;
            }
            oldest = take_out(0);
        }
        std::free(oldest);
    }
}

void KeptBlocks::shrink_to(size_t bytes) {
    for (;;) {
        void *oldest = nullptr;
        {
            const Lock lock(is_locked, Lock::very_many_tries);
            if (!lock || bytes_kept <= bytes) return;
            oldest = take_out(0);
        }
        std::free(oldest);
    }
}

size_t KeptBlocks::set_limit(size_t bytes) {
    size_t former = 0;
    {
        const Lock lock(is_locked, Lock::very_many_tries);
        former = limit;
        if (lock) limit = bytes;
    }
    shrink_to(bytes);
    return former;
}

}  // namespace tessera::runtime
