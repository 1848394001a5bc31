#pragma once
#include "base/float16.h"
#include "runtime/tessera_runtime.h"
#include <cstdint>
#include <ostream>
#include <source_location>
#include <string>
#include <type_traits>

namespace tessera {

namespace ir {
class Expr;
}

// The values are those of the runtime's tessera_type_t.
enum class TypeCode : uint8_t {
    Int = 0,
    UInt = 1,
    Float = 2,
    Handle = 3,
    BFloat = 4,
    Float8E4M3 = 5,
    Float8E5M2 = 6
};
constexpr bool operator==(TypeCode a, tessera_type_code_t b) { return int(a) == int(b); }

[[noreturn]] void refuse_type(TypeCode code, int bits, int lanes, const std::source_location &at);

// The type of a value: `lanes` elements of `bits` bits each. Bool is UInt(1).
struct Type {
    TypeCode type_code = TypeCode::Handle;
    uint8_t element_bits = 0;  // 0: no type
    uint16_t lane_count = 1;

    constexpr Type() = default;
    // CompileError if there is no such type.
    constexpr Type(TypeCode code, int bits, int lanes = 1,
                   const std::source_location &at = std::source_location::current())
        : Type(unchecked(code, bits, lanes)) {
        if (!exists(code, bits) || !may_have_lanes(lanes)) refuse_type(code, bits, lanes, at);
    }

    constexpr Type(tessera_type_code_t code, int bits, int lanes = 1,
                   const std::source_location &at = std::source_location::current())
        : Type(TypeCode(code), bits, lanes, at) {}
    // The runtime's type is the same data.
    constexpr Type(const tessera_type_t &t) : Type(unchecked(TypeCode(t.code), t.bits, t.lanes)) {}
    constexpr operator tessera_type_t() const { return {int(type_code), element_bits, lane_count}; }

    static constexpr TypeCode Int = TypeCode::Int, UInt = TypeCode::UInt, Float = TypeCode::Float,
                              BFloat = TypeCode::BFloat, Handle = TypeCode::Handle;

    constexpr TypeCode code() const { return type_code; }
    constexpr int bits() const { return element_bits; }
    constexpr int lanes() const { return lane_count; }
    constexpr int bytes() const { return (element_bits + 7) / 8; }  // of one element

    // Integers of 8, 16, 32 or 64 bits; an unsigned one may have 1. Floats of 16, 32 or 64; bfloats
    // of 16; float8 of 8; handles of 64.
    static constexpr bool exists(TypeCode code, int bits) {
        if (is_float8(code)) return bits == 8;
        if (bits == 8) return code == TypeCode::Int || code == TypeCode::UInt;
        if (bits == 1) return code == TypeCode::UInt;
        if (bits == 16) return code != TypeCode::Handle;
        if (bits == 32) return code != TypeCode::Handle && code != TypeCode::BFloat;
        return bits == 64 && code != TypeCode::BFloat;
    }
    static constexpr bool may_have_lanes(int n) { return n >= 1 && n <= UINT16_MAX; }
    // For what memory claims to hold, and what is checked where it is used.
    static constexpr Type unchecked(TypeCode code, int bits, int lanes) {
        Type t;
        t.type_code = code;
        t.element_bits = uint8_t(bits);
        t.lane_count = uint16_t(lanes);
        return t;
    }

    static constexpr bool is_float8(TypeCode code) {
        return code == TypeCode::Float8E4M3 || code == TypeCode::Float8E5M2;
    }

    constexpr bool defined() const { return element_bits != 0; }
    constexpr bool is_int() const { return type_code == TypeCode::Int; }
    constexpr bool is_uint() const { return type_code == TypeCode::UInt; }
    constexpr bool is_int_or_uint() const { return is_int() || is_uint(); }
    constexpr bool is_float() const {
        return type_code == TypeCode::Float || is_bfloat() || is_float8();
    }
    constexpr bool is_bfloat() const { return type_code == TypeCode::BFloat; }
    constexpr bool is_float8() const { return is_float8(type_code); }
    constexpr bool is_handle() const { return type_code == TypeCode::Handle; }
    constexpr bool is_bool() const { return is_uint() && element_bits == 1; }
    // Returns true if both are handles, or neither is: what a handle points to does not matter.
    constexpr bool same_handle_type(const Type &other) const {
        return is_handle() == other.is_handle();
    }
    constexpr bool is_scalar() const { return lane_count == 1; }
    constexpr bool is_vector() const { return lane_count != 1; }

    constexpr Type with_lanes(int lanes) const { return unchecked(type_code, element_bits, lanes); }
    constexpr Type with_bits(int bits) const { return unchecked(type_code, bits, lane_count); }
    constexpr Type with_code(TypeCode code) const {
        return unchecked(code, element_bits, lane_count);
    }
    constexpr Type with_code(tessera_type_code_t code) const { return with_code(TypeCode(code)); }
    constexpr Type element_of() const { return with_lanes(1); }
    constexpr Type widen() const { return with_bits(element_bits * 2); }
    constexpr Type narrow() const { return with_bits(element_bits / 2); }

    // Returns true if every value of `other` is one of this type's.
    bool can_represent(Type other) const;
    bool can_represent(int64_t value) const;
    bool can_represent(uint64_t value) const;
    bool can_represent(double value) const;
    // Smallest and largest value of an integer type; UInt(64)'s maximum only fits max_uint.
    int64_t min_int() const;
    int64_t max_int() const;
    uint64_t max_uint() const;
    // Returns true if the value is the maximum of the type; never of a float or a handle.
    bool is_max(int64_t value) const { return is_int() && value == max_int(); }
    bool is_max(uint64_t value) const { return is_uint() && value == max_uint(); }
    bool is_min(int64_t value) const { return is_int() && value == min_int(); }
    bool is_min(uint64_t value) const { return is_uint() && value == 0; }
    // The largest and the smallest value as constants (ir/limits.cpp): infinite for floats, but 448
    // for Float8E4M3, which has no infinities.
    ir::Expr max() const;
    ir::Expr min() const;

    friend constexpr bool operator==(const Type &, const Type &) = default;
    friend constexpr bool operator==(const Type &a, const tessera_type_t &b) {
        return a == Type(b);
    }
    // An order, for maps.
    friend constexpr bool operator<(const Type &a, const Type &b) {
        return tessera_type_t(a) < tessera_type_t(b);
    }
};

// Throw CompileError, as Type() does, if there is no type of so many bits; 1 to 65535 lanes.
constexpr Type Int(int bits, int lanes = 1,
                   const std::source_location &at = std::source_location::current()) {
    return {TypeCode::Int, bits, lanes, at};
}
constexpr Type UInt(int bits, int lanes = 1,
                    const std::source_location &at = std::source_location::current()) {
    return {TypeCode::UInt, bits, lanes, at};
}
constexpr Type Float(int bits, int lanes = 1,
                     const std::source_location &at = std::source_location::current()) {
    return {TypeCode::Float, bits, lanes, at};
}
constexpr Type BFloat(int bits, int lanes = 1,
                      const std::source_location &at = std::source_location::current()) {
    return {TypeCode::BFloat, bits, lanes, at};
}
// The floats of 8 bits, float8_e4m3_t and float8_e5m2_t.
constexpr Type Float8E4M3(int lanes = 1,
                          const std::source_location &at = std::source_location::current()) {
    return {TypeCode::Float8E4M3, 8, lanes, at};
}
constexpr Type Float8E5M2(int lanes = 1,
                          const std::source_location &at = std::source_location::current()) {
    return {TypeCode::Float8E5M2, 8, lanes, at};
}
constexpr Type Bool(int lanes = 1,
                    const std::source_location &at = std::source_location::current()) {
    return {TypeCode::UInt, 1, lanes, at};
}
constexpr Type Handle(int lanes = 1,
                      const std::source_location &at = std::source_location::current()) {
    return {TypeCode::Handle, 64, lanes, at};
}

// "int32", "uint8x16", "float32", "bfloat16", "float8_e4m3", "bool", "handle".
std::ostream &operator<<(std::ostream &out, const Type &t);
std::string to_string(const Type &t);

// The Type of a C++ type: type_of<uint8_t>() is UInt(8). Pointers are handles.
template<typename T>
constexpr Type type_of() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, bool>) {
        return Bool();
    } else if constexpr (std::is_same_v<U, float16_t>) {
        return Float(16);
    } else if constexpr (std::is_same_v<U, bfloat16_t>) {
        return BFloat(16);
    } else if constexpr (std::is_same_v<U, float8_e4m3_t>) {
        return Float8E4M3();
    } else if constexpr (std::is_same_v<U, float8_e5m2_t>) {
        return Float8E5M2();
    } else if constexpr (std::is_floating_point_v<U>) {
        return Float(int(8 * sizeof(U)));
    } else if constexpr (std::is_pointer_v<U>) {
        return Handle();
    } else {
        static_assert(std::is_integral_v<U>, "no Tessera type stands for this C++ type");
        return Type(std::is_signed_v<U> ? TypeCode::Int : TypeCode::UInt, int(8 * sizeof(U)));
    }
}

}  // namespace tessera
