#include "runtime/half_libcalls.h"
#include "runtime/tessera_runtime.h"
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_SUITE("runtime half precision") {
    TEST_CASE("every half survives the way to float and back") {
        for (uint32_t bits = 0; bits < 65536; bits++) {
            float value = tessera_f16_to_f32(uint16_t(bits));
            if (std::isnan(value)) {
                CHECK(std::isnan(tessera_f16_to_f32(tessera_f32_to_f16(value))));
            } else {
                CHECK(tessera_f32_to_f16(value) == bits);
                CHECK(tessera_f64_to_f16(tessera_f16_to_f64(uint16_t(bits))) == bits);
            }
            float wide = tessera_bf16_to_f32(uint16_t(bits));
            if (!std::isnan(wide)) {
                CHECK(tessera_f32_to_bf16(wide) == bits);
                CHECK(tessera_f64_to_bf16(tessera_bf16_to_f64(uint16_t(bits))) == bits);
            }
        }
    }
    TEST_CASE("known values") {
        CHECK(tessera_f32_to_f16(1.0f) == 0x3c00);
        CHECK(tessera_f32_to_f16(-2.0f) == 0xc000);
        CHECK(tessera_f32_to_f16(65504.0f) == 0x7bff);
        CHECK(tessera_f32_to_f16(0x1p-24f) == 0x0001);
        CHECK(tessera_f32_to_f16(infinity) == 0x7c00);
        CHECK(tessera_f32_to_bf16(1.0f) == 0x3f80);
        CHECK(tessera_f32_to_bf16(-infinity) == 0xff80);
    }
    TEST_CASE("halfway between two neighbours lies the even one") {
        CHECK(tessera_f32_to_f16(1.0f + 0x1p-11f) == 0x3c00);
        CHECK(tessera_f32_to_f16(1.0f + 3 * 0x1p-11f) == 0x3c02);
        CHECK(tessera_f32_to_f16(1.0f + 0x1.002p-11f) == 0x3c01);
        CHECK(tessera_f32_to_f16(65519.0f) == 0x7bff);
        CHECK(tessera_f32_to_f16(65520.0f) == 0x7c00);
        CHECK(tessera_f32_to_f16(0x1p-25f) == 0);
        CHECK(tessera_f32_to_f16(0x1.8p-25f) == 1);
        CHECK(tessera_f32_to_bf16(1.0f + 0x1p-8f) == 0x3f80);
        CHECK(tessera_f32_to_bf16(1.0f + 3 * 0x1p-8f) == 0x3f82);
        CHECK(tessera_f32_to_bf16(std::numeric_limits<float>::max()) == 0x7f80);
    }
    TEST_CASE("a double is rounded once, not first to float") {
        double just_above_half = 1.0 + 0x1p-11 + 0x1p-50;
        CHECK(tessera_f64_to_f16(just_above_half) == 0x3c01);
        CHECK(tessera_f64_to_f16(-just_above_half) == 0xbc01);
        CHECK(tessera_f64_to_f16(1.0 + 3 * 0x1p-11 - 0x1p-50) == 0x3c01);
        CHECK(tessera_f64_to_bf16(1.0 + 0x1p-8 + 0x1p-50) == 0x3f81);
        CHECK(tessera_f64_to_f16(1e300) == 0x7c00);
        CHECK(tessera_f64_to_f16(-1e-300) == 0x8000);
    }
    TEST_CASE("the compiler's helpers convert the same") {
        using namespace tessera;
        CHECK(tessera_extendhfsf2(tessera_truncsfhf2(0.333f)) ==
              tessera_f16_to_f32(tessera_f32_to_f16(0.333f)));
        CHECK(tessera_extendhfsf2(tessera_truncdfhf2(1.0 + 0x1p-11 + 0x1p-50)) == 1.0f + 0x1p-10f);
        auto bits = [](HalfRegister h) {
            uint16_t result;
            std::memcpy(&result, &h, 2);
            return result;
        };
        CHECK(bits(tessera_truncsfbf2(1.0f)) == 0x3f80);
        CHECK(bits(tessera_truncdfbf2(1.0)) == 0x3f80);
    }
}
