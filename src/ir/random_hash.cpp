#include "ir/random_hash.h"
#include "ir/operators.h"
#include <bit>

namespace tessera::ir {
namespace {

constexpr uint32_t step = 0x9E3779B1, first_factor = 0x7FEB352D, second_factor = 0x846CA68B;
constexpr uint32_t one_as_bits = 0x3F800000;

uint32_t scramble(uint32_t h) {
    h ^= h >> 16;
    h *= first_factor;
    h ^= h >> 15;
    h *= second_factor;
    return h ^ (h >> 16);
}

Expr bits_of(uint32_t value, int lanes) { return make_const(UInt(32, lanes), int64_t(value)); }

Expr xor_shifted(const Expr &h, uint32_t count) {
    Expr shifted = call(h.type(), Intrinsic::shift_right, {h, bits_of(count, h.type().lanes())});
    return call(h.type(), Intrinsic::bitwise_xor, {h, std::move(shifted)});
}

Expr scramble(Expr h) {
    int lanes = h.type().lanes();
    h = xor_shifted(h, 16) * bits_of(first_factor, lanes);
    h = xor_shifted(h, 15) * bits_of(second_factor, lanes);
    return xor_shifted(h, 16);
}

}  // namespace

uint32_t random_bits(std::span<const uint32_t> seeds) {
    uint32_t h = 0;
    for (uint32_t seed : seeds) h = scramble(h * step + seed);
    return h;
}

Expr random_bits(const std::vector<Expr> &seeds) {
    int lanes = 1;
    for (const Expr &seed : seeds) lanes = std::max(lanes, seed.type().lanes());
    Expr h = bits_of(0, lanes);
    for (const Expr &seed : seeds) {
        Expr bits = broadcast(cast(UInt(32), seed), seed.type().lanes() == lanes ? 1 : lanes);
        h = scramble(h * bits_of(step, lanes) + std::move(bits));
    }
    return h;
}

uint32_t random_value_bits(Type type, uint32_t bits) {
    if (!type.is_float()) return bits;
    return std::bit_cast<uint32_t>(std::bit_cast<float>(one_as_bits | bits >> 9) - 1.0f);
}

Expr expand_random(const IntrinsicCall &random) {
    Type t = random.type;
    if (t.bits() != 32 || t.is_bfloat()) throw InternalError(str("random of type ", t));
    Expr bits = random_bits(random.args);
    if (bits.type().lanes() != t.lanes()) bits = broadcast(std::move(bits), t.lanes());
    if (t.is_uint()) return bits;
    if (t.is_int()) return Reinterpret::make(t, std::move(bits));
    Expr mantissa = call(bits.type(), Intrinsic::shift_right, {bits, bits_of(9, t.lanes())});
    Expr in_one_to_two = call(bits.type(), Intrinsic::bitwise_or,
                              {std::move(mantissa), bits_of(one_as_bits, t.lanes())});
    return Reinterpret::make(t, std::move(in_one_to_two)) - make_float_const(t, 1.0);
}

}  // namespace tessera::ir
