#pragma once
#include <compare>
#include <cstdint>

namespace tessera {

// Returns the double with an odd last bit of the two around a value that none is equal to: rounding
// that to 16 or 32 bits gives what rounding the value would have given.
double rounded_to_odd(long double value);

// IEEE 754 binary16. Arithmetic is done in float and rounded to nearest even; with a float, an
// integer or a double as the other operand the result is that of the language for floats.
class float16_t {
public:
    // The bits, from the top: the sign, the exponent, the mantissa.
    static constexpr int mantissa_bits = 10;
    static constexpr uint16_t sign_mask = 0x8000, exponent_mask = 0x7c00, mantissa_mask = 0x03ff;

    float16_t() = default;
    explicit float16_t(float value);
    explicit float16_t(double value);
    explicit float16_t(int value) : float16_t(float(value)) {}
    static float16_t from_bits(uint16_t bits);

    operator float() const;
    uint16_t to_bits() const { return data; }

    friend float16_t operator+(float16_t a, float16_t b) { return float16_t(float(a) + float(b)); }
    friend float16_t operator-(float16_t a, float16_t b) { return float16_t(float(a) - float(b)); }
    friend float16_t operator*(float16_t a, float16_t b) { return float16_t(float(a) * float(b)); }
    friend float16_t operator/(float16_t a, float16_t b) { return float16_t(float(a) / float(b)); }
    friend float16_t operator-(float16_t a) { return from_bits(uint16_t(a.data ^ sign_mask)); }
    float16_t &operator+=(float16_t b) { return *this = *this + b; }
    float16_t &operator-=(float16_t b) { return *this = *this - b; }
    float16_t &operator*=(float16_t b) { return *this = *this * b; }
    float16_t &operator/=(float16_t b) { return *this = *this / b; }

    static float16_t make_from_bits(uint16_t bits) { return from_bits(bits); }
    static float16_t make_zero() { return from_bits(0); }
    static float16_t make_negative_zero() { return from_bits(sign_mask); }
    static float16_t make_infinity() { return from_bits(exponent_mask); }
    static float16_t make_negative_infinity() { return from_bits(sign_mask | exponent_mask); }
    static float16_t make_nan() { return from_bits(0x7e00); }
    bool is_nan() const { return is_special() && (data & mantissa_mask) != 0; }
    bool is_infinity() const { return is_special() && (data & mantissa_mask) == 0; }
    bool is_negative() const { return (data & sign_mask) != 0; }
    bool is_zero() const { return (data & ~sign_mask) == 0; }

private:
    bool is_special() const { return (data & exponent_mask) == exponent_mask; }
    uint16_t data = 0;
};

// The upper half of an IEEE 754 binary32 ("brain float").
class bfloat16_t {
public:
    // The bits, from the top: the sign, the exponent, the mantissa.
    static constexpr int mantissa_bits = 7;
    static constexpr uint16_t sign_mask = 0x8000, exponent_mask = 0x7f80, mantissa_mask = 0x007f;

    bfloat16_t() = default;
    explicit bfloat16_t(float value);
    explicit bfloat16_t(double value);
    explicit bfloat16_t(int value) : bfloat16_t(double(value)) {}
    static bfloat16_t from_bits(uint16_t bits);

    operator float() const;
    uint16_t to_bits() const { return data; }

    friend bfloat16_t operator+(bfloat16_t a, bfloat16_t b) {
        return bfloat16_t(float(a) + float(b));
    }
    friend bfloat16_t operator-(bfloat16_t a, bfloat16_t b) {
        return bfloat16_t(float(a) - float(b));
    }
    friend bfloat16_t operator*(bfloat16_t a, bfloat16_t b) {
        return bfloat16_t(float(a) * float(b));
    }
    friend bfloat16_t operator/(bfloat16_t a, bfloat16_t b) {
        return bfloat16_t(float(a) / float(b));
    }
    friend bfloat16_t operator-(bfloat16_t a) { return from_bits(uint16_t(a.data ^ sign_mask)); }
    bfloat16_t &operator+=(bfloat16_t b) { return *this = *this + b; }
    bfloat16_t &operator-=(bfloat16_t b) { return *this = *this - b; }
    bfloat16_t &operator*=(bfloat16_t b) { return *this = *this * b; }
    bfloat16_t &operator/=(bfloat16_t b) { return *this = *this / b; }

    static bfloat16_t make_from_bits(uint16_t bits) { return from_bits(bits); }
    static bfloat16_t make_zero() { return from_bits(0); }
    static bfloat16_t make_negative_zero() { return from_bits(sign_mask); }
    static bfloat16_t make_infinity() { return from_bits(exponent_mask); }
    static bfloat16_t make_negative_infinity() { return from_bits(sign_mask | exponent_mask); }
    static bfloat16_t make_nan() { return from_bits(0x7fc0); }
    bool is_nan() const { return is_special() && (data & mantissa_mask) != 0; }
    bool is_infinity() const { return is_special() && (data & mantissa_mask) == 0; }
    bool is_negative() const { return (data & sign_mask) != 0; }
    bool is_zero() const { return (data & ~sign_mask) == 0; }

private:
    bool is_special() const { return (data & exponent_mask) == exponent_mask; }
    uint16_t data = 0;
};

}  // namespace tessera
