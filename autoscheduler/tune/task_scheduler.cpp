#include "autoscheduler/tune/task_scheduler.h"
#include <algorithm>

namespace tessera::autoscheduler {
namespace {

// The milliseconds that one batch more is expected to save.
double expected_gain(const TuningTask &t) {
    constexpr size_t window = 3;
    constexpr double trust_in_history = 0.2, reachable = 0.5;
    const double now = t.history.back();
    const size_t back = std::min(window, t.history.size() - 1);
    const double before = t.history[t.history.size() - 1 - back];
    const double of_history = back > 0 ? (before - now) / double(back) : 0;
    // A time that n batches have come to falls about as 1 / n, and not below the limit.
    const double by_more =
        std::min(now / double(t.history.size()), reachable * std::max(0.0, now - t.least));
    return t.weight * (trust_in_history * of_history + (1 - trust_in_history) * by_more);
}

}  // namespace

int next_task(std::span<const TuningTask> tasks) {
    int best = -1;
    double most = -1;
    for (size_t i = 0; i < tasks.size(); i++) {
        if (tasks[i].is_done) continue;
        if (tasks[i].history.empty()) return int(i);
        const double gain = expected_gain(tasks[i]);
        if (gain <= most) continue;
        most = gain;
        best = int(i);
    }
    return best;
}

}  // namespace tessera::autoscheduler
