#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace tessera::autoscheduler {

// Says how a number grows with a variable. A quotient stays the same for some values of the
// variable, and then steps:
//
//     x / 2     {.mean = 0.5, .within = 0, .period = 2}
//     x % 4     {.mean = unknown, .within = 1, .period = 4, .repeats = true}
struct Growth {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    double mean = 0;     // per 1 that the variable grows by; unknown: not always the same
    double within = 0;   // the same between one multiple of the period and the next
    int64_t period = 1;  // of the variable
    // The number is the same again where the variable has grown by the period.
    bool repeats = false;

    static Growth linear(double slope) { return {slope, slope, 1}; }
    static Growth of_data() { return linear(unknown); }
    // Return the growth of x / divisor and of x % divisor with x, and of a constant.
    static Growth of_quotient(int64_t divisor);
    static Growth of_rest(int64_t divisor);

    bool is_none() const { return mean == 0 && within == 0; }  // false where it is not a number
    Growth times(double factor) const { return {mean * factor, within * factor, period, repeats}; }
    friend bool operator==(const Growth &, const Growth &) = default;
};

Growth operator+(const Growth &a, const Growth &b);
Growth operator-(const Growth &a, const Growth &b);
// Returns the growth of a number with x, where it grows so with y, and y so with x.
Growth through(const Growth &outer, const Growth &inner);

// The growths of an index, per dimension and variable.
using Growths = std::vector<std::vector<Growth>>;

}  // namespace tessera::autoscheduler
