#include "check.h"
#include "base/str.h"
#include "convert.h"
#include "files/number.h"
#include <cmath>
#include <limits>

namespace tessera::run {
namespace {

long double distance(long double a, long double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<long double>::infinity();
    return std::fabs(a - b);
}

}  // namespace

Comparison compare(const files::Array &computed, const files::Array &expected, double tolerance,
                   double relative) {
    Comparison result;
    long double largest = 0;
    size_t bytes = size_t(computed.type.bytes()), worst = 0;
    auto at = [&](const files::Array &array, size_t i) {
        return files::number_at(array.type, array.bytes.data() + i * bytes);
    };
    for (size_t i = 0; i < computed.number_of_elements(); i++) {
        long double wanted = at(expected, i), off = distance(at(computed, i), wanted);
        // Only an equal infinity is near an infinity.
        bool near =
            std::isfinite(wanted) ? off <= tolerance + relative * std::fabs(wanted) : off == 0;
        if (!near) result.wrong++;
        if (off > largest) largest = off, worst = i;
    }
    if (largest == 0) return result;
    char off[40];
    std::snprintf(off, sizeof(off), "%.6Lg", largest);
    result.difference =
        str("the largest difference is ", off, ", at ", place_text(computed.extents, worst), ": ",
            files::number_text(computed.type, at(computed, worst)), " is computed, ",
            files::number_text(expected.type, at(expected, worst)), " expected");
    return result;
}

}  // namespace tessera::run
