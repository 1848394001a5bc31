#include "codegen/c/helpers.h"

namespace tessera::codegen::c {
namespace {

// Division is Euclidean; by zero it gives zero. (a ^ sign) / |b| ^ sign is floor(a / |b|).
constexpr HelperRow for_signed[] = {
    {"div", R"($T @div($T a, $T b) {
    const $W sign = a < 0 ? ~($W)0 : 0, size = b < 0 ? 0 - ($W)b : ($W)b;
    if (b == 0) return 0;
    const $W quotient = ((($W)a ^ sign) / size) ^ sign;
    return ($T)(b < 0 ? 0 - quotient : quotient);
})"},
    {"mod", R"($T @mod($T a, $T b) {
    return b == 0 ? 0 : ($T)(($W)a - ($W)@div(a, b) * ($W)b);
})"},
    {"quotient", R"($T @quotient($T a, $T b) {
    if (b == 0) return 0;
    return b == -1 ? ($T)(0 - ($W)a) : ($T)(a / b);
})"},
    {"remainder", R"($T @remainder($T a, $T b) {
    return b == 0 || b == -1 ? 0 : ($T)(a % b);
})"},
    {"abs", R"($V @abs($T a) {
    return a < 0 ? ($V)(0 - ($W)a) : ($V)a;
})"},
    {"absd", R"($V @absd($T a, $T b) {
    return a < b ? ($V)(($W)b - ($W)a) : ($V)(($W)a - ($W)b);
})"},
    {"right", R"($T @right($T a, uint64_t n) {
    return ($T)(a >> (n < $B ? n : $B - 1));
})"},
    {"saturating_add", R"($T @saturating_add($T a, $T b) {
    if (b > 0 ? a > $H - b : a < $L - b) return b > 0 ? $H : $L;
    return ($T)(a + b);
})"},
    {"saturating_sub", R"($T @saturating_sub($T a, $T b) {
    if (b > 0 ? a < $L + b : a > $H + b) return b > 0 ? $L : $H;
    return ($T)(a - b);
})"},
    {"clamped", R"($T @clamped($D a) {
    return a > $H ? $H : a < $L ? $L : ($T)a;
})"},
    {"rounded_to_odd", R"($T @rounded_to_odd($T a) {
    const $T past = a >> 52;
    const uint64_t bits = (uint64_t)a;
    if (past == 0 || past == -1) return a;
    return ($T)((bits | ((bits & 2047) + 2047)) & ~(uint64_t)2047);
})"},
};

constexpr HelperRow for_unsigned[] = {
    {"div", R"($T @div($T a, $T b) {
    return b == 0 ? 0 : ($T)(a / b);
})"},
    {"mod", R"($T @mod($T a, $T b) {
    return b == 0 ? 0 : ($T)(a % b);
})"},
    {"absd", R"($T @absd($T a, $T b) {
    return ($T)(a < b ? b - a : a - b);
})"},
    {"right", R"($T @right($T a, uint64_t n) {
    return n < $B ? ($T)(a >> n) : 0;
})"},
    {"saturating_add", R"($T @saturating_add($T a, $T b) {
    const $T sum = ($T)(a + b);
    return sum < a ? $H : sum;
})"},
    {"saturating_sub", R"($T @saturating_sub($T a, $T b) {
    return a < b ? 0 : ($T)(a - b);
})"},
    {"clamped", R"($T @clamped($D a) {
    return a > $H ? $H : ($T)a;
})"},
    {"rounded_to_odd", R"($T @rounded_to_odd($T a) {
    return a >> 52 == 0 ? a : (a | ((a & 2047) + 2047)) & ~(uint64_t)2047;
})"},
};

// A shift has a value for every count: `n` too large shifts all bits out, and a negative one
// shifts the other way.
constexpr HelperRow for_integers[] = {
    {"left", R"($T @left($T a, uint64_t n) {
    return n < $B ? ($T)(($W)a << n) : 0;
})"},
    {"shift_left", R"($T @shift_left($T a, int64_t n) {
    return n < 0 ? @right(a, 0 - (uint64_t)n) : @left(a, (uint64_t)n);
})"},
    {"shift_right", R"($T @shift_right($T a, int64_t n) {
    return n < 0 ? @left(a, 0 - (uint64_t)n) : @right(a, (uint64_t)n);
})"},
    {"rounding_right", R"($T @rounding_right($T a, uint64_t n) {
    return n == 0 ? a : ($T)(($W)@right(a, n) + (($W)@right(a, n - 1) & 1));
})"},
    {"rounding_shift_right", R"($T @rounding_shift_right($T a, int64_t n) {
    return n < 0 ? @left(a, 0 - (uint64_t)n) : @rounding_right(a, (uint64_t)n);
})"},
    {"rounding_shift_left", R"($T @rounding_shift_left($T a, int64_t n) {
    return n < 0 ? @rounding_right(a, 0 - (uint64_t)n) : @left(a, (uint64_t)n);
})"},
    {"popcount", R"($T @popcount($T a) {
    int n = 0;
    for ($V rest = ($V)a; rest != 0; rest = ($V)(rest & (rest - 1))) n++;
    return ($T)n;
})"},
    {"count_leading_zeros", R"($T @count_leading_zeros($T a) {
    int n = $B;
    for ($V rest = ($V)a; rest != 0; rest = ($V)(rest >> 1)) n--;
    return ($T)n;
})"},
    {"count_trailing_zeros", R"($T @count_trailing_zeros($T a) {
    int n = 0;
    if (a == 0) return $B;
    for ($V rest = ($V)a; (rest & 1) == 0; rest = ($V)(rest >> 1)) n++;
    return ($T)n;
})"},
    {"halving_add", R"($T @halving_add($T a, $T b) {
    return ($T)((a & b) + ((a ^ b) >> 1));
})"},
    {"rounding_halving_add", R"($T @rounding_halving_add($T a, $T b) {
    return ($T)((a | b) - ((a ^ b) >> 1));
})"},
    {"halving_sub", R"($T @halving_sub($T a, $T b) {
    return ($T)((a >> 1) - (b >> 1) - (~a & b & 1));
})"},
};

constexpr HelperRow for_numbers[] = {
    {"min", R"($T @min($T a, $T b) {
    return a < b ? a : b;
})"},
    {"max", R"($T @max($T a, $T b) {
    return a > b ? a : b;
})"},
    {"load", R"($T @load(const void *base, int64_t index) {
    $T value;
    memcpy(&value, (const uint8_t *)base + index * (int64_t)sizeof(value), sizeof(value));
    return value;
})"},
    {"store", R"(void @store(void *base, int64_t index, $T value) {
    memcpy((uint8_t *)base + index * (int64_t)sizeof(value), &value, sizeof(value));
})"},
};

// A byte in memory, which may be any.
constexpr HelperRow for_bools[] = {
    {"load", R"(bool @load(const void *base, int64_t index) {
    return ((const uint8_t *)base)[index] != 0;
})"},
    {"store", R"(void @store(void *base, int64_t index, bool value) {
    ((uint8_t *)base)[index] = value;
})"},
};

constexpr HelperRow for_floats[] = {
    {"min", R"($T @min($T a, $T b) {
    return a < b || b != b ? a : b;
})"},
    {"max", R"($T @max($T a, $T b) {
    return a > b || b != b ? a : b;
})"},
    {"mod", R"($T @mod($T a, $T b) {
    return a - b * $C(a / b);
})"},
};

constexpr HelperRow for_halves[] = {
    {"min", R"($T @min($T a, $T b) {
    return $F(a) < $F(b) || $F(b) != $F(b) ? a : b;
})"},
    {"max", R"($T @max($T a, $T b) {
    return $F(a) > $F(b) || $F(b) != $F(b) ? a : b;
})"},
};

constexpr const char *bits_of_float = R"(uint32_t tessera_bits(float a) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof(bits));
    return bits;
})";
constexpr const char *float_of_bits = R"(float tessera_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
})";
// `a` >> n, to nearest, ties to even.
constexpr const char *round_even = R"(uint32_t tessera_round_even(uint32_t a, int n) {
    const uint32_t half = 1u << (n - 1), rest = a & ((half << 1) - 1), kept = a >> n;
    return kept + (rest > half || (rest == half && (kept & 1) != 0));
})";
constexpr const char *from_half = R"(float tessera_from_float16(uint16_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, fraction = bits & 0x3ff;
    const uint32_t exponent = (bits >> 10) & 31;
    if (exponent == 31) return tessera_float(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) return (sign != 0 ? -1.0f : 1.0f) * (float)fraction * 0x1p-24f;
    return tessera_float(sign | (exponent + 112) << 23 | fraction << 13);
})";
constexpr const char *to_half = R"(uint16_t tessera_to_float16(float a) {
    const uint32_t bits = tessera_bits(a), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    const int exponent = (int)(size >> 23) - 112;
    if (size > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x3ff));
    if (size >= 0x47800000) return (uint16_t)(sign | 0x7c00);
    if (exponent > 0) {
        return (uint16_t)(sign | tessera_round_even(size - (112u << 23), 13));
    }
    if (exponent < -10) return (uint16_t)sign;
    return (uint16_t)(sign | tessera_round_even((size & 0x7fffff) | 0x800000, 14 - exponent));
})";
constexpr const char *from_bfloat = R"(float tessera_from_bfloat16(uint16_t bits) {
    return tessera_float((uint32_t)bits << 16);
})";
constexpr const char *to_bfloat = R"(uint16_t tessera_to_bfloat16(float a) {
    const uint32_t bits = tessera_bits(a);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)tessera_round_even(bits, 16);
})";
constexpr const char *from_e4m3 = R"(float tessera_from_float8_e4m3(uint8_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x80) << 24, size = bits & 0x7f;
    if (size == 0x7f) return tessera_float(sign | 0x7fc00000);
    if (size < 8) return (sign != 0 ? -1.0f : 1.0f) * (float)size * 0x1p-9f;
    return tessera_float(sign | ((size << 20) + (120u << 23)));
})";
constexpr const char *from_e5m2 = R"(float tessera_from_float8_e5m2(uint8_t bits) {
    return tessera_from_float16((uint16_t)(bits << 8));
})";
// `size` is that of the float, and `bias` how much larger its exponents are.
constexpr const char *to_float8 =
    R"(uint8_t tessera_to_float8(uint32_t size, int shift, int bias, uint8_t largest) {
    const int below = bias + 1 - (int)(size >> 23);
    uint32_t result = 0;
    if (size >= 0x7f800000) return largest;
    if (below <= 0) {
        result = tessera_round_even(size - ((uint32_t)bias << 23), shift);
    } else if (below + shift <= 24) {
        result = tessera_round_even((size & 0x7fffff) | 0x800000, shift + below);
    }
    return result < largest ? (uint8_t)result : largest;
})";
constexpr const char *to_e4m3 = R"(uint8_t tessera_to_float8_e4m3(float a) {
    const uint32_t bits = tessera_bits(a), sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return (uint8_t)(sign | 0x7f);
    return (uint8_t)(sign | tessera_to_float8(size, 20, 120, 0x7e));
})";
constexpr const char *to_e5m2 = R"(uint8_t tessera_to_float8_e5m2(float a) {
    const uint32_t bits = tessera_bits(a), sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return (uint8_t)(sign | 0x7e);
    return (uint8_t)(sign | tessera_to_float8(size, 21, 112, 0x7b));
})";
// The last bit says whether anything was cut off: rounding that once more is rounding `a`.
constexpr const char *round_to_odd = R"(float tessera_round_to_odd(double a) {
    const float nearest = (float)a;
    if ((double)nearest == a || a != a) return nearest;
    uint32_t bits = tessera_bits(nearest);
    if (fabs((double)nearest) > fabs(a)) bits--;
    return tessera_float(bits | 1);
})";
// Saturates, and says so for good.
constexpr const char *times = R"(uint64_t tessera_times(uint64_t a, uint64_t b) {
    if (a == UINT64_MAX || (b != 0 && a > (UINT64_MAX - 1) / b)) return UINT64_MAX;
    return a * b;
})";
// A region that ends before it begins has no elements; an extent below the least coordinate has
// overflowed.
constexpr const char *extent = R"(uint64_t tessera_extent(int64_t a) {
    return a < 0 && a >= -1073741824 ? 0 : (uint64_t)a;
})";
constexpr const char *prefetch = R"(void tessera_prefetch(const void *p) {
#if defined(__GNUC__)
    __builtin_prefetch(p, 0, 3);
#else
    (void)p;
#endif
})";

constexpr WholeHelper all_whole[] = {
    {"tessera_bits", bits_of_float, ""},
    {"tessera_float", float_of_bits, ""},
    {"tessera_round_even", round_even, ""},
    {"tessera_from_float16", from_half, "tessera_float"},
    {"tessera_to_float16", to_half, "tessera_bits tessera_round_even"},
    {"tessera_from_bfloat16", from_bfloat, "tessera_float"},
    {"tessera_to_bfloat16", to_bfloat, "tessera_bits tessera_round_even"},
    {"tessera_from_float8_e4m3", from_e4m3, "tessera_float"},
    {"tessera_from_float8_e5m2", from_e5m2, "tessera_from_float16"},
    {"tessera_to_float8", to_float8, "tessera_round_even"},
    {"tessera_to_float8_e4m3", to_e4m3, "tessera_bits tessera_to_float8"},
    {"tessera_to_float8_e5m2", to_e5m2, "tessera_bits tessera_to_float8"},
    {"tessera_round_to_odd", round_to_odd, "tessera_bits tessera_float"},
    {"tessera_times", times, ""},
    {"tessera_extent", extent, ""},
    {"tessera_prefetch", prefetch, ""},
};

}  // namespace

std::vector<std::span<const HelperRow>> helpers_for(Type t) {
    if (t.is_bool()) return {for_bools};
    if (t.is_float() && t.bits() <= 16) return {for_halves, for_numbers};
    if (t.is_float()) return {for_floats, for_numbers};
    if (t.is_int()) return {for_signed, for_integers, for_numbers};
    if (t.is_uint()) return {for_unsigned, for_integers, for_numbers};
    return {for_numbers};
}

std::span<const WholeHelper> whole_helpers() { return all_whole; }

}  // namespace tessera::codegen::c
