#include "base/float16.h"
#include "runtime/tessera_runtime.h"
#include <bit>
#include <cmath>

namespace tessera {

double rounded_to_odd(long double value) {
    double nearest = double(value);
    if (nearest == value || std::isnan(value)) return nearest;
    bool too_large = std::fabs((long double)nearest) > std::fabs(value);
    return std::bit_cast<double>((std::bit_cast<uint64_t>(nearest) - too_large) | 1);
}

float16_t::float16_t(float value) : data(tessera_f32_to_f16(value)) {}
float16_t::float16_t(double value) : data(tessera_f64_to_f16(value)) {}
float16_t float16_t::from_bits(uint16_t bits) {
    float16_t h;
    h.data = bits;
    return h;
}
float16_t::operator float() const { return tessera_f16_to_f32(data); }

bfloat16_t::bfloat16_t(float value) : data(tessera_f32_to_bf16(value)) {}
bfloat16_t::bfloat16_t(double value) : data(tessera_f64_to_bf16(value)) {}
bfloat16_t bfloat16_t::from_bits(uint16_t bits) {
    bfloat16_t b;
    b.data = bits;
    return b;
}
bfloat16_t::operator float() const { return tessera_bf16_to_f32(data); }

}  // namespace tessera
