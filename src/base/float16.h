#pragma once
#include <compare>
#include <cstdint>

namespace tessera {

// IEEE 754 binary16. Arithmetic is done in float and rounded to nearest even.
class float16_t {
public:
    float16_t() = default;
    explicit float16_t(float value);
    explicit float16_t(double value) : float16_t(float(value)) {}
    explicit float16_t(int value) : float16_t(float(value)) {}
    static float16_t from_bits(uint16_t bits);

    operator float() const;
    uint16_t to_bits() const { return data; }

private:
    uint16_t data = 0;
};

// The upper half of an IEEE 754 binary32 ("brain float").
class bfloat16_t {
public:
    bfloat16_t() = default;
    explicit bfloat16_t(float value);
    explicit bfloat16_t(double value) : bfloat16_t(float(value)) {}
    explicit bfloat16_t(int value) : bfloat16_t(float(value)) {}
    static bfloat16_t from_bits(uint16_t bits);

    operator float() const;
    uint16_t to_bits() const { return data; }

private:
    uint16_t data = 0;
};

}  // namespace tessera
