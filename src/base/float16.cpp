#include "base/float16.h"
#include "runtime/tessera_runtime.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tessera {

double rounded_to_odd(long double value) {
    double nearest = double(value);
    if (nearest == value || std::isnan(value)) return nearest;
    bool too_large = std::fabs((long double)nearest) > std::fabs(value);
    return std::bit_cast<double>((std::bit_cast<uint64_t>(nearest) - too_large) | 1);
}

namespace {

// Returns the bits of the float of 8 bits that is next to a value, to nearest even and at most the
// largest; `bias` is added to exponents.
template<typename F>
uint8_t rounded_to_8_bits(double value, int bias, uint8_t largest) {
    uint8_t sign = std::signbit(value) ? F::sign_mask : 0;
    if (std::isnan(value)) return sign | F::make_nan().to_bits();
    double size = std::fabs(value);
    if (size >= float(F::from_bits(largest))) return sign | largest;
    if (size == 0) return sign;
    int exponent = std::max(std::ilogb(size), 1 - bias);
    double units = std::nearbyint(std::ldexp(size, F::mantissa_bits - exponent));
    return uint8_t(sign | (((exponent + bias - 1) << F::mantissa_bits) + int(units)));
}

template<typename F>
float finite_value(F number, int bias) {
    int bits = number.to_bits(), exponent = (bits & F::exponent_mask) >> F::mantissa_bits;
    int units = (bits & F::mantissa_mask) + (exponent != 0 ? 1 << F::mantissa_bits : 0);
    float size = std::ldexp(float(units), std::max(exponent, 1) - bias - F::mantissa_bits);
    return number.is_negative() ? -size : size;
}

float quiet_nan(bool is_negative) {
    return std::copysign(std::numeric_limits<float>::quiet_NaN(), is_negative ? -1.0f : 1.0f);
}

constexpr int e4m3_bias = 7, e5m2_bias = 15;

}  // namespace

float16_t::float16_t(float value) : NarrowFloat(from_bits(tessera_f32_to_f16(value))) {}
float16_t::float16_t(double value) : NarrowFloat(from_bits(tessera_f64_to_f16(value))) {}
float16_t::operator float() const { return tessera_f16_to_f32(to_bits()); }

bfloat16_t::bfloat16_t(float value) : NarrowFloat(from_bits(tessera_f32_to_bf16(value))) {}
bfloat16_t::bfloat16_t(double value) : NarrowFloat(from_bits(tessera_f64_to_bf16(value))) {}
bfloat16_t::operator float() const { return tessera_bf16_to_f32(to_bits()); }

float8_e4m3_t::float8_e4m3_t(double value)
    : NarrowFloat(from_bits(rounded_to_8_bits<float8_e4m3_t>(value, e4m3_bias, 0x7e))) {}
float8_e4m3_t::operator float() const {
    return is_nan() ? quiet_nan(is_negative()) : finite_value(*this, e4m3_bias);
}

float8_e5m2_t::float8_e5m2_t(double value)
    : NarrowFloat(from_bits(rounded_to_8_bits<float8_e5m2_t>(value, e5m2_bias, 0x7b))) {}
float8_e5m2_t::operator float() const {
    if (is_nan()) return quiet_nan(is_negative());
    if (!is_infinity()) return finite_value(*this, e5m2_bias);
    return is_negative() ? -INFINITY : INFINITY;
}

}  // namespace tessera
