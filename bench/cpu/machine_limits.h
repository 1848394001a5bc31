// Measures what the machine can do at most, now: others use it, too, and its clock changes.
#pragma once

#include "cpu/problem.h"

#include <string>
#include <vector>

namespace tessera::bench {

// The limits are of all threads together.
struct Limits {
    struct Bandwidth {
        double bytes;  // of what is read and written, over all threads
        double bytes_per_second;
    };
    double float32 = 0, bfloat16 = 0, int8 = 0;  // operations per second; 0: no instructions for it
    std::vector<Bandwidth> copies;               // by size

    // The least time, in milliseconds, for so many operations, and for so many bytes of which each
    // is moved once.
    double milliseconds(double operations, Arithmetic arithmetic, double bytes) const;
    double operations_per_second(Arithmetic arithmetic) const;
};

Limits measure_limits(int threads);

}  // namespace tessera::bench
