#pragma once
#include <optional>
#include <vector>

namespace tessera::autoscheduler {

// Holds the times of one schedule, in milliseconds.
struct Times {
    double alone = 0;     // when it was tried; 0: it has no time
    double in_turns = 0;  // beside the fastest others; 0: it was not; infinite: it failed

    // Returns the time that counts: in turns if it ran so. 0 if it has none, or failed in turns.
    double counted() const;
};

// Returns which of the schedules is the fastest; nothing if none has a time. Of those that ran in
// turns it is the one with the least time then: the time of a schedule that was tried may have been
// luck. Another one is the fastest only if, when it was tried, it took less than that one did.
std::optional<size_t> fastest_of(const std::vector<Times> &all);

}  // namespace tessera::autoscheduler
