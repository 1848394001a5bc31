#include "base/float16.h"
#include <bit>

namespace tessera {
namespace {

uint16_t half_from_float(float value) {
    uint32_t f = std::bit_cast<uint32_t>(value);
    uint32_t sign = (f >> 16) & 0x8000;
    uint32_t magnitude = f & 0x7FFFFFFF;
    if (magnitude > 0x7F800000) return uint16_t(sign | 0x7E00 | ((magnitude >> 13) & 0x3FF));
    if (magnitude >= 0x47800000) return uint16_t(sign | 0x7C00);
    if (magnitude < 0x38800000) {  // subnormal: let float addition round it
        float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000));
    }
    uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1) - 0x38000000;
    return uint16_t(sign | (rounded >> 13));
}

float float_from_half(uint16_t bits) {
    uint32_t sign = uint32_t(bits & 0x8000) << 16;
    uint32_t exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000 | (fraction << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    float magnitude = float(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t bfloat_from_float(float value) {
    uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7FFFFFFF) > 0x7F800000) return uint16_t((f >> 16) | 0x40);
    return uint16_t((f + 0x7FFF + ((f >> 16) & 1)) >> 16);
}

}  // namespace

float16_t::float16_t(float value) : data(half_from_float(value)) {}
float16_t float16_t::from_bits(uint16_t bits) {
    float16_t h;
    h.data = bits;
    return h;
}
float16_t::operator float() const { return float_from_half(data); }

bfloat16_t::bfloat16_t(float value) : data(bfloat_from_float(value)) {}
bfloat16_t bfloat16_t::from_bits(uint16_t bits) {
    bfloat16_t b;
    b.data = bits;
    return b;
}
bfloat16_t::operator float() const { return std::bit_cast<float>(uint32_t(data) << 16); }

}  // namespace tessera
