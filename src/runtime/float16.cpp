#include "runtime/tessera_runtime.h"
#include <bit>
#include <cmath>

namespace {

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }
float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

// `value` >> `shift`, to nearest, ties to even.
uint32_t shift_right_rounded(uint32_t value, int shift) {
    uint32_t half = 1u << (shift - 1);
    uint32_t rest = value & ((half << 1) - 1);
    uint32_t result = value >> shift;
    bool up = rest > half || (rest == half && (result & 1));
    return result + up;
}

// To the neighbour whose last bit is 1, unless exact: rounding that to fewer bits is then the same
// as rounding the double itself.
float round_to_odd(double value) {
    float nearest = float(value);
    if (std::isnan(value) || double(nearest) == value) return nearest;
    uint32_t magnitude = bits_of(std::fabs(nearest));
    if (double(std::fabs(nearest)) > std::fabs(value)) magnitude--;
    return std::copysign(from_bits(magnitude | 1), float(std::copysign(1.0, value)));
}

}  // namespace

extern "C" {

float tessera_f16_to_f32(uint16_t bits) {
    uint32_t sign = uint32_t(bits & 0x8000) << 16;
    uint32_t exponent = (bits >> 10) & 31;
    uint32_t fraction = bits & 0x3ff;
    if (exponent == 31) return from_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) {
        float magnitude = float(fraction) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

double tessera_f16_to_f64(uint16_t bits) { return tessera_f16_to_f32(bits); }

uint16_t tessera_f32_to_f16(float value) {
    uint32_t bits = bits_of(value);
    uint16_t sign = uint16_t(bits >> 16) & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return uint16_t(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
    if (magnitude >= 0x47800000) return uint16_t(sign | 0x7c00);  // 65536 and up
    int exponent = int(magnitude >> 23) - 112;
    if (exponent > 0) {
        return uint16_t(sign | shift_right_rounded(magnitude - (112u << 23), 13));
    }
    if (exponent < -10) return sign;  // below half of the smallest
    uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
    return uint16_t(sign | shift_right_rounded(fraction, 14 - exponent));
}

uint16_t tessera_f64_to_f16(double value) { return tessera_f32_to_f16(round_to_odd(value)); }

float tessera_bf16_to_f32(uint16_t bits) { return from_bits(uint32_t(bits) << 16); }

double tessera_bf16_to_f64(uint16_t bits) { return tessera_bf16_to_f32(bits); }

uint16_t tessera_f32_to_bf16(float value) {
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t(bits >> 16 | 0x40);
    return uint16_t(shift_right_rounded(bits, 16));
}

uint16_t tessera_f64_to_bf16(double value) { return tessera_f32_to_bf16(round_to_odd(value)); }
}
