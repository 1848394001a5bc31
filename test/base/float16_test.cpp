#include "base/float16.h"
#include <doctest/doctest.h>
#include <type_traits>

using namespace tessera;

TEST_SUITE("float16") {
    TEST_CASE_TEMPLATE("arithmetic stays in the type and is rounded", T, float16_t, bfloat16_t,
                       float8_e4m3_t) {
        T a(3.0f), b(0.5f);
        static_assert(std::is_same_v<decltype(a + b), T>);
        static_assert(std::is_same_v<decltype(a + 1.0f), float>);
        CHECK(float(a + b) == 3.5f);
        CHECK(float(a - b) == 2.5f);
        CHECK(float(a * b) == 1.5f);
        CHECK(float(a / b) == 6.0f);
        CHECK(float(-a) == -3.0f);
        a += b;
        a *= b;
        a -= b;
        a /= b;
        CHECK(float(a) == 2.5f);
        CHECK(float(T(1.0f) / T(3.0f)) == float(T(1.0f / 3.0f)));
        CHECK(a > b);
        CHECK(a == T(2.5));
        CHECK(T(1) != T(2));
    }
    TEST_CASE_TEMPLATE("masks of bits are parts of the number", T, float16_t, bfloat16_t) {
        constexpr uint16_t one_unit = T::mantissa_mask & -T::mantissa_mask;
        static_assert((T::sign_mask | T::exponent_mask | T::mantissa_mask) == 0xffff);
        static_assert(T::mantissa_mask == (1 << T::mantissa_bits) - 1);
        const T infinity = T::make_from_bits(T::exponent_mask);
        CHECK(infinity.is_infinity());
        CHECK_FALSE(infinity.is_nan());
        CHECK(T::make_from_bits(T::exponent_mask | one_unit).is_nan());
        CHECK_FALSE(T::make_from_bits(T::exponent_mask | one_unit).is_infinity());
        CHECK(T::make_from_bits(T::sign_mask).is_zero());
        CHECK(T::make_from_bits(T::sign_mask).is_negative());
        const uint16_t one = T(1.0f).to_bits();
        CHECK(float(T::make_from_bits(one | one_unit)) ==
              1.0f + 1.0f / float(1 << T::mantissa_bits));
    }
    // Expected values are those of the tables of the OFP8 specification, revision 1.0.
    TEST_CASE("float8_e4m3_t has exponents from -6 to 8, no infinities, and one NaN of each sign") {
        using T = float8_e4m3_t;
        CHECK(float(T::from_bits(0x7e)) == 448);
        CHECK(float(T::from_bits(0x08)) == 0x1p-6f);
        CHECK(float(T::from_bits(0x07)) == 0.875f * 0x1p-6f);
        CHECK(float(T::from_bits(0x01)) == 0x1p-9f);
        CHECK(float(T::from_bits(0xb8)) == -1);
        CHECK(T::from_bits(0x7f).is_nan());
        CHECK(T::from_bits(0xff).is_nan());
        CHECK_FALSE(T::from_bits(0x78).is_nan());
        CHECK_FALSE(T::from_bits(0x78).is_infinity());
        CHECK(float(T::from_bits(0x78)) == 256);
        CHECK(T(464.0f).to_bits() == 0x7e);
        CHECK(T(-1e30f).to_bits() == 0xfe);
        CHECK(T(__builtin_inff()).to_bits() == 0x7e);
        CHECK(T(0x1p-10).to_bits() == 0);
        CHECK(T(0x1.8p-9).to_bits() == 2);
        CHECK(T(17.0f).to_bits() == T(16.0f).to_bits());
        CHECK(T(19.0f).to_bits() == T(20.0f).to_bits());
    }
    TEST_CASE("float8_e5m2_t has exponents from -14 to 15, infinities and NaNs") {
        using T = float8_e5m2_t;
        CHECK(float(T::from_bits(0x7b)) == 57344);
        CHECK(float(T::from_bits(0x04)) == 0x1p-14f);
        CHECK(float(T::from_bits(0x03)) == 0.75f * 0x1p-14f);
        CHECK(float(T::from_bits(0x01)) == 0x1p-16f);
        CHECK(T::from_bits(0x7c).is_infinity());
        CHECK(T::from_bits(0xfc).is_infinity());
        for (int bits = 0x7d; bits <= 0x7f; bits++) CHECK(T::from_bits(uint8_t(bits)).is_nan());
        CHECK(T(61440.0f).to_bits() == 0x7b);
        CHECK(T(-__builtin_inff()).to_bits() == 0xfb);
        CHECK(T(1.125f).to_bits() == T(1.0f).to_bits());
        CHECK(T(1.375f).to_bits() == T(1.5f).to_bits());
    }
    TEST_CASE("a double is rounded once") {
        CHECK(float16_t(1.0 + 0x1p-11 + 0x1p-50).to_bits() == 0x3c01);
        CHECK(bfloat16_t(1.0 + 0x1p-8 + 0x1p-50).to_bits() == 0x3f81);
        CHECK(float16_t::from_bits(0x3c00) == 1.0f);
    }
}
