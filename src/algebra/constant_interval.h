#pragma once
#include "ir/type.h"
#include <cstdint>
#include <limits>

namespace tessera::algebra {

// Integers from min to max, both included. The extreme values of int64 stand for "unbounded", and
// arithmetic goes there where it would overflow.
struct ConstantInterval {
    static constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
    static constexpr int64_t highest = std::numeric_limits<int64_t>::max();
    int64_t min = lowest, max = highest;

    static ConstantInterval point(int64_t v) { return {v, v}; }
    // All values of a type narrower than 32 bits, or unsigned; the wider signed ones are taken for
    // the unbounded integers, because the arithmetic of coordinates does not overflow.
    static ConstantInterval of_type(Type t);

    bool has_min() const { return min != lowest; }
    bool has_max() const { return max != highest; }
    bool bounded() const { return has_min() && has_max(); }
    bool is_point() const { return min == max && bounded(); }
    bool contains(int64_t v) const { return v >= min && v <= max; }
    bool contains(const ConstantInterval &o) const { return o.min >= min && o.max <= max; }
    // Returns true if arithmetic that would have these values does not wrap in the type. Without an
    // upper end they may be beyond uint64 as well.
    bool fits(Type t) const {
        return of_type(t).contains(*this) && (has_max() || !t.is_uint() || t.bits() < 64);
    }
    friend bool operator==(const ConstantInterval &, const ConstantInterval &) = default;
};

// Returns true if both ends are known, and values of the type, also of one whose arithmetic is
// otherwise taken not to overflow.
bool fits_in(Type t, const ConstantInterval &i);

ConstantInterval operator+(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator-(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator*(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator/(const ConstantInterval &a, const ConstantInterval &b);  // Euclidean
ConstantInterval operator%(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval min(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval max(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval unite(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval intersect(const ConstantInterval &a, const ConstantInterval &b);

// Euclidean division and modulus; by zero gives zero.
int64_t euclidean_div(int64_t a, int64_t b);
int64_t euclidean_mod(int64_t a, int64_t b);
// Rounded towards minus infinity (plus infinity); b > 0.
inline int64_t floor_div(int64_t a, int64_t b) { return euclidean_div(a, b); }
inline int64_t ceil_div(int64_t a, int64_t b) { return -euclidean_div(-a, b); }

}  // namespace tessera::algebra
