#pragma once
#include <cstdint>
#include <vector>

namespace tessera::lower {

constexpr int warp_threads = 32;
constexpr int word_bytes = 4;      // of a bank
constexpr int widest_access = 16;  // bytes that a thread loads or stores at once

// Describes what the threads of one warp access at once in the memory of their block.
struct WarpAccess {
    struct Thread {
        int lane;                          // in the warp
        std::vector<int64_t> coordinates;  // of the first element, less those of the first thread
        friend bool operator==(const Thread &, const Thread &) = default;
    };
    std::vector<Thread> threads;  // that take part
    int bytes;                    // of each: 1, 2, 4, 8 or 16
    friend bool operator==(const WarpAccess &, const WarpAccess &) = default;
};

// Counts the requests to the memory. It has 32 banks of words of 4 bytes, each of which gives one
// word at a time, to all threads that want it. If each thread wants 8 bytes, half of the warp is
// served at a time; if 16 bytes, a quarter.
struct BankConflicts {
    int64_t requests = 0;
    int degree = 1;  // how many words of one bank are wanted at once at most
};

// Returns the conflicts in storage whose dimensions have these strides, in elements.
BankConflicts bank_conflicts(const WarpAccess &access, const std::vector<int64_t> &strides,
                             int element_bytes);

}  // namespace tessera::lower
