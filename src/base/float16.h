#pragma once
#include <compare>
#include <concepts>
#include <cstdint>

namespace tessera {

// Returns the double with an odd last bit of the two around a value that none is equal to: rounding
// that to 16 or 32 bits gives what rounding the value would have given.
double rounded_to_odd(long double value);

// Floats that fewer bits than a float's hold. Arithmetic is done in float and rounded to nearest
// even; with a float, an integer or a double as the other operand the result is that of the
// language for floats.
template<typename Self, std::unsigned_integral Bits, int mantissa, Bits exponent>
class NarrowFloat {
public:
    // The bits, from the top: the sign, the exponent, the mantissa.
    static constexpr int mantissa_bits = mantissa;
    static constexpr Bits exponent_mask = exponent, mantissa_mask = (1 << mantissa) - 1,
                          sign_mask = Bits(~(exponent_mask | mantissa_mask));

    static Self from_bits(Bits bits) {
        Self s;
        s.data = bits;
        return s;
    }
    Bits to_bits() const { return data; }

    friend Self operator+(Self a, Self b) { return Self(float(a) + float(b)); }
    friend Self operator-(Self a, Self b) { return Self(float(a) - float(b)); }
    friend Self operator*(Self a, Self b) { return Self(float(a) * float(b)); }
    friend Self operator/(Self a, Self b) { return Self(float(a) / float(b)); }
    friend Self operator-(Self a) { return from_bits(Bits(a.data ^ sign_mask)); }
    Self &operator+=(Self b) { return self() = self() + b; }
    Self &operator-=(Self b) { return self() = self() - b; }
    Self &operator*=(Self b) { return self() = self() * b; }
    Self &operator/=(Self b) { return self() = self() / b; }

    static Self make_from_bits(Bits bits) { return from_bits(bits); }
    static Self make_zero() { return from_bits(0); }
    static Self make_negative_zero() { return from_bits(sign_mask); }
    static Self make_infinity() { return from_bits(exponent_mask); }
    static Self make_negative_infinity() { return from_bits(sign_mask | exponent_mask); }
    static Self make_nan() { return from_bits(exponent_mask | (mantissa_mask + 1) / 2); }
    bool is_nan() const { return is_special() && (data & mantissa_mask) != 0; }
    bool is_infinity() const { return is_special() && (data & mantissa_mask) == 0; }
    bool is_negative() const { return (data & sign_mask) != 0; }
    bool is_zero() const { return (data & ~sign_mask) == 0; }

private:
    Self &self() { return static_cast<Self &>(*this); }
    bool is_special() const { return (data & exponent_mask) == exponent_mask; }
    Bits data = 0;
};

// IEEE 754 binary16.
class float16_t : public NarrowFloat<float16_t, uint16_t, 10, 0x7c00> {
public:
    float16_t() = default;
    explicit float16_t(float value);
    explicit float16_t(double value);
    explicit float16_t(int value) : float16_t(float(value)) {}
    operator float() const;
};

// The upper half of an IEEE 754 binary32 ("brain float").
class bfloat16_t : public NarrowFloat<bfloat16_t, uint16_t, 7, 0x7f80> {
public:
    bfloat16_t() = default;
    explicit bfloat16_t(float value);
    explicit bfloat16_t(double value);
    explicit bfloat16_t(int value) : bfloat16_t(double(value)) {}
    operator float() const;
};

// The floats of 8 bits of the Open Compute Project (OFP8, revision 1.0). What is too large for one,
// infinities too, becomes its largest finite value, as NVIDIA's cvt.satfinite has it.

// Four bits of exponent, three of mantissa, at most 448; one NaN of each sign, no infinities.
class float8_e4m3_t : public NarrowFloat<float8_e4m3_t, uint8_t, 3, 0x78> {
public:
    float8_e4m3_t() = default;
    explicit float8_e4m3_t(float value) : float8_e4m3_t(double(value)) {}
    explicit float8_e4m3_t(double value);
    explicit float8_e4m3_t(int value) : float8_e4m3_t(double(value)) {}
    operator float() const;
    static float8_e4m3_t make_infinity() = delete;
    static float8_e4m3_t make_negative_infinity() = delete;
    static float8_e4m3_t make_nan() { return from_bits(0x7f); }
    bool is_nan() const { return (to_bits() & 0x7f) == 0x7f; }
    bool is_infinity() const { return false; }
};

// Five bits of exponent, two of mantissa, at most 57344.
class float8_e5m2_t : public NarrowFloat<float8_e5m2_t, uint8_t, 2, 0x7c> {
public:
    float8_e5m2_t() = default;
    explicit float8_e5m2_t(float value) : float8_e5m2_t(double(value)) {}
    explicit float8_e5m2_t(double value);
    explicit float8_e5m2_t(int value) : float8_e5m2_t(double(value)) {}
    operator float() const;
};

template<typename T>
concept NarrowFloatType = std::same_as<T, float16_t> || std::same_as<T, bfloat16_t> ||
                          std::same_as<T, float8_e4m3_t> || std::same_as<T, float8_e5m2_t>;

}  // namespace tessera
