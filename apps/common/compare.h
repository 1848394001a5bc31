// Comparison of two results: one pass over all values, the worst place named.
#pragma once

#include "common/image.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace tessera::apps {

// Says how far a result may be from the reference: |a - b| <= absolute + relative * |b|.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};

struct Difference {
    double largest = 0;
    size_t beyond = 0;  // values outside the tolerance
    std::string where;  // of the largest difference
};

// The difference between two images of the same size. Not-a-number equals nothing.
template<typename T>
Difference difference(const Image<T> &result, const Image<T> &reference, Tolerance tolerance) {
    if (result.width() != reference.width() || result.height() != reference.height() ||
        result.channels() != reference.channels() || result.count() != reference.count()) {
        throw std::runtime_error("the result and the reference differ in size");
    }
    Difference found;
    auto compare = [&](int x, int y, int c, int n) {
        double a = double(result(x, y, c, n)), b = double(reference(x, y, c, n));
        double distance = std::abs(a - b);
        if (!(distance <= tolerance.absolute + tolerance.relative * std::abs(b))) found.beyond++;
        if (distance <= found.largest) return;
        found.largest = distance;
        found.where = "(" + std::to_string(x) + ", " + std::to_string(y) + ", " +
                      std::to_string(c) + ", " + std::to_string(n) + "): " + std::to_string(a) +
                      " is not " + std::to_string(b);
    };
    for (int n = 0; n < result.count(); n++) {
        for (int c = 0; c < result.channels(); c++) {
            for_each_pixel(result.width(), result.height(),
                           [&](int x, int y) { compare(x, y, c, n); });
        }
    }
    return found;
}

// Print how far the result is from the reference; throw if that is too far.
template<typename T>
void check_close(const Image<T> &result, const Image<T> &reference, Tolerance tolerance) {
    Difference found = difference(result, reference, tolerance);
    std::printf("check: largest difference %g, %zu of %zu values beyond the tolerance\n",
                found.largest, found.beyond, result.size());
    if (found.beyond) throw std::runtime_error("differs from the reference at " + found.where);
}

}  // namespace tessera::apps
