#include "algebra/interval.h"
#include "ir/equal.h"
#include <limits>

namespace tessera::algebra {

using namespace ir;

Interval Interval::nothing() {
    return {Expr(std::numeric_limits<int32_t>::max()), Expr(std::numeric_limits<int32_t>::min())};
}

bool Interval::is_nothing() const {
    if (!is_bounded()) return false;
    auto low = as_const_int(min), high = as_const_int(max);
    return low && high && *low > *high;
}

bool Interval::is_single_point(const Expr &e) const {
    return is_bounded() && equal(min, e) && equal(max, e);
}

Interval make_union(const Interval &a, const Interval &b) {
    if (a.is_nothing()) return b;
    if (b.is_nothing()) return a;
    Interval result;
    if (a.min.defined() && b.min.defined()) {
        result.min = equal(a.min, b.min) ? a.min : min(a.min, b.min);
    }
    if (a.max.defined() && b.max.defined()) {
        result.max = equal(a.max, b.max) ? a.max : max(a.max, b.max);
    }
    if (a.is_single_point() && b.is_single_point(a.min)) result.max = result.min;
    return result;
}

Interval make_intersection(const Interval &a, const Interval &b) {
    if (a.is_nothing()) return a;
    if (b.is_nothing()) return b;
    Interval result = a;
    if (!a.min.defined()) {
        result.min = b.min;
    } else if (b.min.defined() && !equal(a.min, b.min)) {
        result.min = max(a.min, b.min);
    }
    if (!a.max.defined()) {
        result.max = b.max;
    } else if (b.max.defined() && !equal(a.max, b.max)) {
        result.max = min(a.max, b.max);
    }
    return result;
}

}  // namespace tessera::algebra
