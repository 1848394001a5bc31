#include "ir/float_bits.h"
#include <bit>
#include <cmath>

namespace tessera::ir {
namespace {

// Calls f with a value of the C++ type of at most 16 bits.
template<typename F> auto with_narrow(Type t, F f) {
    if (t.is_bfloat()) return f(bfloat16_t());
    if (t.code() == TypeCode::Float8E4M3) return f(float8_e4m3_t());
    if (t.code() == TypeCode::Float8E5M2) return f(float8_e5m2_t());
    return f(float16_t());
}

}  // namespace

uint64_t bits_of_float(Type t, double value) {
    if (t.bits() == 64) return std::bit_cast<uint64_t>(value);
    if (t.bits() == 32) return std::bit_cast<uint32_t>(float(value));
    if (t.code() == TypeCode::Float8E5M2 && std::isinf(value)) {
        return value < 0 ? float8_e5m2_t::make_negative_infinity().to_bits()
                         : float8_e5m2_t::make_infinity().to_bits();
    }
    return with_narrow(t, [&](auto zero) { return uint64_t(decltype(zero)(value).to_bits()); });
}

double float_of_bits(Type t, uint64_t bits) {
    if (t.bits() == 64) return std::bit_cast<double>(bits);
    if (t.bits() == 32) return std::bit_cast<float>(uint32_t(bits));
    return with_narrow(t, [&](auto zero) {
        using T = decltype(zero);
        return double(float(T::from_bits(decltype(zero.to_bits())(bits))));
    });
}

double rounded_to(Type t, double value) {
    if (t.bits() == 64) return value;
    if (t.bits() == 32) return float(value);
    return with_narrow(t, [&](auto zero) { return double(float(decltype(zero)(value))); });
}

}  // namespace tessera::ir
