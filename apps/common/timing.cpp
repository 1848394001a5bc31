#include "common/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace tessera::apps {

double milliseconds(const std::function<void()> &work) {
    auto start = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    return time.count();
}

Times measure(int count, const std::function<void()> &work) {
    std::vector<double> times;
    for (int i = 0; i < count; i++) times.push_back(milliseconds(work));
    std::sort(times.begin(), times.end());
    return {times.front(), times[times.size() / 2], count};
}

}  // namespace tessera::apps
