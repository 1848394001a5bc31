#include "autoscheduler/fastest.h"
#include <cmath>
#include <cstddef>

namespace tessera::autoscheduler {

double Times::counted() const {
    if (in_turns <= 0) return alone;
    return std::isfinite(in_turns) ? in_turns : 0;
}

std::optional<size_t> fastest_of(const std::vector<Times> &all) {
    std::optional<size_t> best;
    for (size_t i = 0; i < all.size(); i++) {
        const double t = all[i].in_turns;
        if (t > 0 && std::isfinite(t) && (!best || t < all[*best].in_turns)) best = i;
    }
    for (size_t i = 0; i < all.size(); i++) {
        const Times &t = all[i];
        if (t.alone <= 0 || t.in_turns > 0) continue;
        if (!best || t.alone < all[*best].alone) best = i;
    }
    return best;
}

}  // namespace tessera::autoscheduler
