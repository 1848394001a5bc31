#include "autoscheduler/growth.h"
#include <cmath>
#include <numeric>

namespace tessera::autoscheduler {

namespace {

// Beyond what any schedule has side by side.
constexpr int64_t longest_period = 1 << 20;

bool is_whole(double v) { return std::isfinite(v) && v == std::floor(v) && std::abs(v) < 1e9; }

// After so many steps of a number that is taken in periods.
int64_t period_through(int64_t outer, int64_t step) { return outer / std::gcd(outer, step); }

int64_t limited(int64_t period) { return period > longest_period ? longest_period : period; }

}  // namespace

Growth Growth::of_quotient(int64_t divisor) { return {1 / double(divisor), 0, divisor}; }

Growth Growth::of_rest(int64_t divisor) { return {unknown, 1, divisor, true}; }

Growth operator+(const Growth &a, const Growth &b) {
    const int64_t period = std::lcm(a.period, b.period);
    const bool repeats = (a.repeats || a.is_none()) && (b.repeats || b.is_none()) &&
                         (a.repeats || b.repeats) && period <= longest_period;
    return {a.mean + b.mean, a.within + b.within, limited(period), repeats};
}

Growth operator-(const Growth &a, const Growth &b) { return a + b.times(-1); }

Growth through(const Growth &outer, const Growth &inner) {
    if (outer.is_none() || inner.is_none()) return {};
    const double mean = outer.mean * inner.mean;
    if (outer.period == 1) return {mean, outer.within * inner.within, inner.period, inner.repeats};
    if (inner.repeats)  // and so does what is made of it, whatever happens in between
        return {Growth::unknown, Growth::unknown, inner.period, true};
    if (inner.within == 0) {  // it has steps, and whole ones stay so
        if (outer.within != 0) return {mean, 0, inner.period};
        const double step = inner.mean * double(inner.period);
        const int64_t periods =
            is_whole(step) ? period_through(outer.period, int64_t(step)) : outer.period;
        return {mean, 0, limited(inner.period * periods)};
    }
    if (inner.period > 1 || !is_whole(inner.mean))
        return {mean, Growth::unknown, limited(inner.period * outer.period)};
    const auto slope = int64_t(inner.mean);
    const int64_t period = period_through(outer.period, slope);
    if (period == 1) return Growth::linear(mean);
    const bool divides = outer.period % slope == 0;
    return {mean, divides ? outer.within * double(slope) : Growth::unknown, period, outer.repeats};
}

}  // namespace tessera::autoscheduler
