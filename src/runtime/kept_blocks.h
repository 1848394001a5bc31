#pragma once
#include <atomic>
#include <cstddef>

namespace tessera::runtime {

// Large blocks of memory that pipelines have given back, for the next ones that ask for as much:
// a block of a tile comes and goes thousands of times, and each time the system would give fresh
// pages, which take longer to come than many a tile takes to be computed.
//
// Any thread may call. None waits long for another one, or for one that fork() has left behind: it
// does without what is kept then.
class KeptBlocks {
public:
    // Smaller blocks the heap keeps by itself.
    static constexpr size_t smallest = 16 << 10;

    // A block of at least so many bytes, and not much larger, that was kept; null if there is none.
    // One that the same thread had is preferred: it may be in that core's cache.
    void *take(size_t bytes);
    // Keeps a block of std::aligned_alloc, and frees others, the oldest first, where all would be
    // more than the limit. Returns false if the block is not kept, and still the caller's.
    bool keep(void *block, size_t bytes);
    // Sets how many bytes are kept at most, frees what is too much, and returns the former limit.
    size_t set_limit(size_t bytes);
    // Frees the oldest, until no more than so many bytes are kept.
    void shrink_to(size_t bytes);

private:
    struct Block {
        void *memory;
        size_t bytes;
        const void *thread;
    };
    static constexpr size_t most_blocks = 64;
    class Lock;
    void *take_out(size_t i);

    std::atomic<bool> is_locked{false};
    Block blocks[most_blocks] = {};  // the oldest first
    size_t count = 0, bytes_kept = 0;
    size_t limit = size_t(128) << 20;
};

}  // namespace tessera::runtime
