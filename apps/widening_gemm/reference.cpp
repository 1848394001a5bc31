#include "widening_gemm/reference.h"

#include <bit>

namespace tessera::apps {

namespace {

template<typename Sum, typename A, typename B, typename Product>
Image<Sum> multiply(const Image<A> &a, const Image<B> &b, Product product) {
    Image<Sum> result(b.width(), a.height());
    for (int y = 0; y < a.height(); y++) {
        for (int k = 0; k < a.width(); k++) {
            for (int x = 0; x < b.width(); x++) result(x, y) += product(a(k, y), b(x, k));
        }
    }
    return result;
}

}  // namespace

Image<int32_t> widening_gemm_reference(const Image<uint8_t> &a, const Image<int8_t> &b) {
    return multiply<int32_t>(a, b, [](uint8_t u, int8_t s) { return int32_t(u) * int32_t(s); });
}

Image<float> widening_gemm_reference(const Image<uint16_t> &a, const Image<uint16_t> &b) {
    return multiply<float>(
        a, b, [](uint16_t u, uint16_t v) { return from_bfloat16(u) * from_bfloat16(v); });
}

uint16_t to_bfloat16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float from_bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

}  // namespace tessera::apps
