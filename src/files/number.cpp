#include "files/number.h"
#include "base/error.h"
#include "base/float16.h"
#include "files/array.h"
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tessera::files {
namespace {

template<typename T> T load(const uint8_t *element) {
    T value;
    std::memcpy(&value, element, sizeof(value));
    return value;
}

template<typename T> void store(uint8_t *element, T value) {
    std::memcpy(element, &value, sizeof(value));
}

// Calls f with a value of the C++ type.
template<typename F> auto with_type(tessera_type_t type, F f) {
    auto is = [&](int code, int bits) { return type == tessera_type_t(code, bits); };
    if (is(tessera_type_uint, 1) || is(tessera_type_uint, 8)) return f(uint8_t());
    if (is(tessera_type_uint, 16)) return f(uint16_t());
    if (is(tessera_type_uint, 32)) return f(uint32_t());
    if (is(tessera_type_uint, 64)) return f(uint64_t());
    if (is(tessera_type_int, 8)) return f(int8_t());
    if (is(tessera_type_int, 16)) return f(int16_t());
    if (is(tessera_type_int, 32)) return f(int32_t());
    if (is(tessera_type_int, 64)) return f(int64_t());
    if (is(tessera_type_float, 16)) return f(float16_t());
    if (is(tessera_type_float, 32)) return f(float());
    if (is(tessera_type_float, 64)) return f(double());
    if (is(tessera_type_bfloat, 16)) return f(bfloat16_t());
    if (is(tessera_type_float8_e4m3, 8)) return f(float8_e4m3_t());
    if (is(tessera_type_float8_e5m2, 8)) return f(float8_e5m2_t());
    throw RuntimeError(str("elements of ", name_of(type), " are no numbers"));
}

}  // namespace

bool is_integer(tessera_type_t type) {
    return type.code == tessera_type_int || type.code == tessera_type_uint;
}

bool is_float(tessera_type_t type) {
    return !is_integer(type) && type.code != tessera_type_handle &&
           type.code <= tessera_type_float8_e5m2;
}

long double number_at(tessera_type_t type, const uint8_t *element) {
    return with_type(type, [&](auto zero) {
        auto value = load<decltype(zero)>(element);
        if constexpr (NarrowFloatType<decltype(zero)>) {
            return static_cast<long double>(float(value));
        } else {
            return static_cast<long double>(value);
        }
    });
}

void store_number(tessera_type_t type, uint8_t *element, long double value) {
    with_type(type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (NarrowFloatType<T>) {
            store(element, T(rounded_to_odd(value)));
        } else {
            store(element, static_cast<T>(value));
        }
    });
}

bool is_too_large(tessera_type_t type, long double value) {
    if (!std::isfinite(value)) return false;
    const bool saturates = type.bits == 8;
    uint8_t stored[8];
    store_number(type, stored, saturates ? 1e30L : value);
    const long double nearest = number_at(type, stored);
    return saturates ? std::fabs(value) > nearest : std::isinf(nearest);
}

long double lowest_of(tessera_type_t type) {
    return type.code == tessera_type_int ? -std::ldexp(1.0L, type.bits - 1) : 0.0L;
}

long double highest_of(tessera_type_t type) {
    return std::ldexp(1.0L, type.bits - (type.code == tessera_type_int)) - 1;
}

std::string number_text(tessera_type_t type, long double value) {
    char text[64];
    if (is_integer(type)) {
        std::snprintf(text, sizeof(text), "%.0Lf", value);
        return text;
    }
    for (int digits : {6, 9, 15, 17}) {
        std::snprintf(text, sizeof(text), "%.*Lg", digits, value);
        uint8_t stored[8];
        store_number(type, stored, std::strtold(text, nullptr));
        if (number_at(type, stored) == value) break;
    }
    return text;
}

}  // namespace tessera::files
