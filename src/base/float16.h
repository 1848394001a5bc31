#pragma once
#include <compare>
#include <cstdint>

namespace tessera {

// Of the two doubles around a value that none is equal to, the one with an odd last bit: rounding
// that to 16 or 32 bits gives what rounding the value would have given.
double rounded_to_odd(long double value);

// IEEE 754 binary16. Arithmetic is done in float and rounded to nearest even; with a float, an
// integer or a double as the other operand the result is that of the language for floats.
class float16_t {
public:
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
    friend float16_t operator-(float16_t a) { return from_bits(uint16_t(a.data ^ 0x8000)); }
    float16_t &operator+=(float16_t b) { return *this = *this + b; }
    float16_t &operator-=(float16_t b) { return *this = *this - b; }
    float16_t &operator*=(float16_t b) { return *this = *this * b; }
    float16_t &operator/=(float16_t b) { return *this = *this / b; }

private:
    uint16_t data = 0;
};

// The upper half of an IEEE 754 binary32 ("brain float").
class bfloat16_t {
public:
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
    friend bfloat16_t operator-(bfloat16_t a) { return from_bits(uint16_t(a.data ^ 0x8000)); }
    bfloat16_t &operator+=(bfloat16_t b) { return *this = *this + b; }
    bfloat16_t &operator-=(bfloat16_t b) { return *this = *this - b; }
    bfloat16_t &operator*=(bfloat16_t b) { return *this = *this * b; }
    bfloat16_t &operator/=(bfloat16_t b) { return *this = *this / b; }

private:
    uint16_t data = 0;
};

}  // namespace tessera
