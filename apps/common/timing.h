// Time as the apps and benchmarks report it.
#pragma once

#include <functional>

namespace tessera::apps {

// Milliseconds.
struct Times {
    double best = 0;
    double median = 0;
    int count = 0;
};

// Returns how long one call takes, in milliseconds.
double milliseconds(const std::function<void()> &work);

// Call `work` `count` times and time each call.
Times measure(int count, const std::function<void()> &work);

}  // namespace tessera::apps
