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
    TEST_CASE("a double is rounded once") {
        CHECK(float16_t(1.0 + 0x1p-11 + 0x1p-50).to_bits() == 0x3c01);
        CHECK(bfloat16_t(1.0 + 0x1p-8 + 0x1p-50).to_bits() == 0x3f81);
        CHECK(float16_t::from_bits(0x3c00) == 1.0f);
    }
}
