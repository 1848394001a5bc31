#include "ir/type.h"
#include "base/error.h"
#include "base/str.h"
#include "ir/float_bits.h"
#include <cmath>
#include <iterator>
#include <limits>

namespace tessera {
namespace {

// Bits of significand of a floating type, the implicit one included.
int significand_bits(Type t) {
    if (t.is_bfloat()) return 8;
    if (t.is_float8()) return t.code() == TypeCode::Float8E4M3 ? 4 : 3;
    return t.bits() == 64 ? 53 : t.bits() == 32 ? 24 : 11;
}

int exponent_bits(Type t) {
    if (t.is_bfloat()) return 8;
    if (t.code() == TypeCode::Float8E4M3) return 4;
    return t.bits() == 64 ? 11 : t.bits() == 32 ? 8 : 5;
}

bool fits_exactly(Type t, uint64_t magnitude) {
    if (t.is_float() && t.bits() == 16 && !t.is_bfloat() && magnitude > 65504) return false;
    if (t.is_float8() && magnitude > (t.code() == TypeCode::Float8E4M3 ? 448 : 57344)) return false;
    while (magnitude && magnitude % 2 == 0) magnitude /= 2;
    return magnitude < (uint64_t(1) << significand_bits(t));
}

}  // namespace

bool Type::can_represent(Type other) const {
    if (lanes() != other.lanes()) return false;
    if (*this == other) return true;
    if (is_int()) {
        return (other.is_int() && other.bits() <= bits()) ||
               (other.is_uint() && other.bits() < bits());
    }
    if (is_uint()) return other.is_uint() && other.bits() <= bits();
    if (!is_float()) return false;
    if (other.is_float()) {
        return significand_bits(other) <= significand_bits(*this) &&
               exponent_bits(other) <= exponent_bits(*this);
    }
    int magnitude_bits = other.bits() - other.is_int();
    return other.is_int_or_uint() && magnitude_bits <= significand_bits(*this) &&
           magnitude_bits < (1 << (exponent_bits(*this) - 1));
}

bool Type::can_represent(int64_t value) const {
    if (is_int()) return value >= min_int() && value <= max_int();
    if (is_uint()) return value >= 0 && uint64_t(value) <= max_uint();
    if (!is_float()) return false;
    return fits_exactly(*this, value < 0 ? 0 - uint64_t(value) : uint64_t(value));
}

bool Type::can_represent(uint64_t value) const {
    if (is_int()) return value <= uint64_t(max_int());
    if (is_uint()) return value <= max_uint();
    return is_float() && fits_exactly(*this, value);
}

bool Type::can_represent(double value) const {
    if (is_int()) {
        return value >= -std::ldexp(1.0, bits() - 1) && value < std::ldexp(1.0, bits() - 1) &&
               value == std::floor(value);
    }
    if (is_uint()) {
        return value >= 0 && value < std::ldexp(1.0, bits()) && value == std::floor(value);
    }
    if (!is_float()) return false;
    return std::isnan(value) || ir::float_of_bits(*this, ir::bits_of_float(*this, value)) == value;
}

int64_t Type::min_int() const {
    return is_int() ? std::numeric_limits<int64_t>::min() >> (64 - bits()) : 0;
}

int64_t Type::max_int() const {
    if (is_int()) return std::numeric_limits<int64_t>::max() >> (64 - bits());
    return bits() == 64 ? std::numeric_limits<int64_t>::max() : int64_t(max_uint());
}

uint64_t Type::max_uint() const {
    return is_int() ? uint64_t(max_int()) : ~uint64_t(0) >> (64 - bits());
}

void refuse_type(TypeCode code, int bits, int lanes, const std::source_location &at) {
    const char *const names[] = {"Int",    "UInt",       "Float",     "Handle",
                                 "BFloat", "Float8E4M3", "Float8E5M2"};
    const char *name = size_t(code) < std::size(names) ? names[size_t(code)] : "Type";
    if (!Type::may_have_lanes(lanes)) {
        throw CompileError(
            at, str(name, " of ", lanes, " lanes: a vector has 1 to ", UINT16_MAX, " lanes"));
    }
    throw CompileError(at, str("there is no type ", name, "(", bits,
                               "); there are Int of 8, 16, 32 and 64 bits, UInt of 1, 8, 16, 32 "
                               "and 64, Float of 16, 32 and 64, BFloat(16), Float8E4M3(), "
                               "Float8E5M2(), and Handle(), of 64"));
}

std::ostream &operator<<(std::ostream &out, const Type &t) {
    if (!t.defined()) return out << "<no type>";
    switch (t.code()) {
    case TypeCode::Int: out << "int" << t.bits(); break;
    case TypeCode::UInt: t.is_bool() ? out << "bool" : out << "uint" << t.bits(); break;
    case TypeCode::Float: out << "float" << t.bits(); break;
    case TypeCode::BFloat: out << "bfloat" << t.bits(); break;
    case TypeCode::Float8E4M3: out << "float8_e4m3"; break;
    case TypeCode::Float8E5M2: out << "float8_e5m2"; break;
    case TypeCode::Handle: out << "handle"; break;
    }
    if (t.is_vector()) out << 'x' << t.lanes();
    return out;
}

std::string to_string(const Type &t) { return str(t); }

}  // namespace tessera
