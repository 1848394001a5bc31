#include "algebra/constant_interval.h"
#include <algorithm>

namespace tessera::algebra {
namespace {

__extension__ using Wide = __int128;

int64_t saturate(Wide v) {
    return int64_t(std::clamp<Wide>(v, ConstantInterval::lowest, ConstantInterval::highest));
}

bool infinite(int64_t v) { return v == ConstantInterval::lowest || v == ConstantInterval::highest; }

// Bounds multiply as numbers of the extended line, where 0 * infinity is 0.
int64_t multiply(int64_t a, int64_t b) {
    if (a == 0 || b == 0) return 0;
    int64_t product = 0;
    bool fits = !infinite(a) && !infinite(b) && !__builtin_mul_overflow(a, b, &product);
    if (fits) return product;
    return (a < 0) == (b < 0) ? ConstantInterval::highest : ConstantInterval::lowest;
}

int64_t divide(int64_t a, int64_t b) {
    if (infinite(b)) return a < 0 ? (b < 0 ? 1 : -1) : 0;
    if (infinite(a))
        return (a < 0) == (b < 0) ? ConstantInterval::highest : ConstantInterval::lowest;
    return euclidean_div(a, b);
}

// Quotients by positive divisors only.
ConstantInterval divide_by_positive(const ConstantInterval &a, const ConstantInterval &b) {
    int64_t q[] = {divide(a.min, b.min), divide(a.min, b.max), divide(a.max, b.min),
                   divide(a.max, b.max)};
    auto [low, high] = std::minmax_element(std::begin(q), std::end(q));
    return {*low, *high};
}

ConstantInterval negate(const ConstantInterval &a) { return ConstantInterval::point(0) - a; }

}  // namespace

bool fits_in(Type t, const ConstantInterval &i) {
    const Type element = t.element_of();
    return i.bounded() && element.can_represent(i.min) && element.can_represent(i.max);
}

int64_t euclidean_div(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return a == ConstantInterval::lowest ? ConstantInterval::highest : -a;
    int64_t q = a / b;
    return a % b < 0 ? (b > 0 ? q - 1 : q + 1) : q;
}

int64_t euclidean_mod(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    int64_t r = a % b;
    return r < 0 ? (b > 0 ? r + b : r - b) : r;
}

ConstantInterval ConstantInterval::of_type(Type t) {
    if (t.is_uint()) return {0, t.bits() == 64 ? highest : int64_t(t.max_uint())};
    if (t.is_int() && t.bits() < 32) return {t.min_int(), t.max_int()};
    return {};
}

ConstantInterval operator+(const ConstantInterval &a, const ConstantInterval &b) {
    ConstantInterval r;
    if (a.has_min() && b.has_min()) r.min = saturate(Wide(a.min) + b.min);
    if (a.has_max() && b.has_max()) r.max = saturate(Wide(a.max) + b.max);
    return r;
}

ConstantInterval operator-(const ConstantInterval &a, const ConstantInterval &b) {
    ConstantInterval r;
    if (a.has_min() && b.has_max()) r.min = saturate(Wide(a.min) - b.max);
    if (a.has_max() && b.has_min()) r.max = saturate(Wide(a.max) - b.min);
    return r;
}

ConstantInterval operator*(const ConstantInterval &a, const ConstantInterval &b) {
    if (b.is_point()) {
        int64_t p = multiply(a.min, b.min), q = multiply(a.max, b.min);
        return {std::min(p, q), std::max(p, q)};
    }
    int64_t p[] = {multiply(a.min, b.min), multiply(a.min, b.max), multiply(a.max, b.min),
                   multiply(a.max, b.max)};
    auto [low, high] = std::minmax_element(std::begin(p), std::end(p));
    return {*low, *high};
}

ConstantInterval operator/(const ConstantInterval &a, const ConstantInterval &b) {
    ConstantInterval r;
    bool any = false;
    auto add = [&](const ConstantInterval &part) {
        r = any ? unite(r, part) : part;
        any = true;
    };
    if (b.contains(0)) add(ConstantInterval::point(0));
    if (b.max > 0) add(divide_by_positive(a, {std::max<int64_t>(b.min, 1), b.max}));
    if (b.min < 0) {
        ConstantInterval magnitude = negate({b.min, std::min<int64_t>(b.max, -1)});
        add(negate(divide_by_positive(a, magnitude)));
    }
    return r;
}

ConstantInterval operator%(const ConstantInterval &a, const ConstantInterval &b) {
    ConstantInterval r{0, ConstantInterval::highest};
    if (b.bounded()) {
        int64_t largest =
            std::max(multiply(b.max, b.max > 0 ? 1 : -1), multiply(b.min, b.min > 0 ? 1 : -1));
        r.max = std::max<int64_t>(0, largest - 1);
    }
    if (a.min >= 0) r.max = std::min(r.max, a.max);
    // The operand itself, where it is below every divisor.
    if (a.min >= 0 && b.min > a.max) return a;
    return r;
}

ConstantInterval min(const ConstantInterval &a, const ConstantInterval &b) {
    return {std::min(a.min, b.min), std::min(a.max, b.max)};
}
ConstantInterval max(const ConstantInterval &a, const ConstantInterval &b) {
    return {std::max(a.min, b.min), std::max(a.max, b.max)};
}
ConstantInterval unite(const ConstantInterval &a, const ConstantInterval &b) {
    return {std::min(a.min, b.min), std::max(a.max, b.max)};
}
ConstantInterval intersect(const ConstantInterval &a, const ConstantInterval &b) {
    ConstantInterval r{std::max(a.min, b.min), std::min(a.max, b.max)};
    return r.min <= r.max ? r : a;  // contradictory facts: unreachable code
}

}  // namespace tessera::algebra
