// Times of several implementations of one thing, taken in turns, so that whatever else the machine
// does meets all of them.
#pragma once

#include "cpu/implementation.h"

namespace tessera::bench {

struct Timing {
    std::string name;
    double best = 0, median = 0;  // milliseconds
    double ratio = 1;             // of this time over ours: the median over the rounds
    double busy = 0;              // processor time over time: how many threads worked
    double off = 0;               // difference from our result
};

struct Effort {
    double seconds = 3;  // for each implementation, about
    int least_rounds = 5;
};

// The first is ours. Those that fail, or compute something else, are left out with a line on
// stderr. Throws std::runtime_error if ours fails.
std::vector<Timing> measure(std::vector<Implementation> &implementations, int threads,
                            double tolerance, const Effort &effort);

}  // namespace tessera::bench
