#pragma once
#include <atomic>
#include <cstdint>

namespace tessera::program {

// Counts the changes of a part of a program, so that whoever has compiled it can see that nothing
// has changed since. Any thread may ask.
class Version {
public:
    void note_change() { changes.fetch_add(1, std::memory_order_acq_rel); }
    uint64_t count() const { return changes.load(std::memory_order_acquire); }

private:
    std::atomic<uint64_t> changes{0};
};

}  // namespace tessera::program
