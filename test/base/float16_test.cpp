#include "base/float16.h"
#include <doctest/doctest.h>
#include <type_traits>

using namespace tessera;

TEST_SUITE("float16") {
    TEST_CASE_TEMPLATE("arithmetic stays in the type and is rounded", T, float16_t, bfloat16_t) {
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
    TEST_CASE("a double is rounded once") {
        CHECK(float16_t(1.0 + 0x1p-11 + 0x1p-50).to_bits() == 0x3c01);
        CHECK(bfloat16_t(1.0 + 0x1p-8 + 0x1p-50).to_bits() == 0x3f81);
        CHECK(float16_t::from_bits(0x3c00) == 1.0f);
    }
}
