#include "codegen/c/types.h"
#include "base/str.h"
#include "ir/float_bits.h"
#include <charconv>
#include <cmath>

namespace tessera::codegen::c {

std::string scalar_type(Type t) {
    if (t.is_handle()) return "void *";
    if (t.is_bool()) return "bool";
    if (t.is_float() && t.bits() > 16) return t.bits() == 32 ? "float" : "double";
    if (t.bits() == 128) return t.is_int() ? "tessera_int128" : "tessera_uint128";
    return str(t.is_int() ? "int" : "uint", t.bits(), "_t");
}

std::string type_name(Type t) { return t.is_scalar() ? scalar_type(t) : to_string(t); }

std::string struct_definition(Type t) {
    return str("typedef struct {\n    ",
               declaration(scalar_type(t), str("v[", t.lanes(), "]"), false), ";\n} ", type_name(t),
               ";\n");
}

std::string declaration(const std::string &type, const std::string &name, bool is_const) {
    if (type.back() == '*') return str(type, is_const ? "const " : "", name);
    return str(is_const ? "const " : "", type, " ", name);
}

std::string wrapping_type(Type t) {
    if (t.bits() == 128) return scalar_type(t.with_code(TypeCode::UInt));
    return t.bits() <= 32 ? "uint32_t" : "uint64_t";
}

std::string literal(Type t, int64_t value) {
    if (t.is_bool()) return value & 1 ? "true" : "false";
    if (t.is_uint() && t.bits() == 64) return str("UINT64_C(", uint64_t(value), ")");
    if (t.is_uint()) return str(uint64_t(value) & t.max_uint(), t.bits() == 32 ? "u" : "");
    if (t.bits() >= 32 && value == t.min_int()) return str("INT", t.bits(), "_MIN");
    if (t.bits() == 64)
        return str(value < 0 ? "(-" : "", "INT64_C(", std::abs(value), ")", value < 0 ? ")" : "");
    return value < 0 ? str("(", value, ")") : str(value);
}

std::string float_literal(Type t, double value) {
    if (t.bits() <= 16) return str(ir::bits_of_float(t, value));
    bool is_single = t.bits() == 32;
    if (std::isnan(value)) return is_single ? "NAN" : "((double)NAN)";
    if (std::isinf(value)) {
        return str(value < 0 ? "(-" : "(", is_single ? "" : "(double)", "INFINITY)");
    }
    char text[64];
    auto end = is_single ? std::to_chars(text, text + sizeof(text), float(value))
                         : std::to_chars(text, text + sizeof(text), value);
    std::string digits(text, end.ptr);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    if (is_single) digits += "f";
    return std::signbit(value) ? str("(", digits, ")") : digits;
}

std::string lowest(Type t) {
    if (t.is_uint()) return "0";
    return t.bits() >= 32 ? str("INT", t.bits(), "_MIN") : str("(", t.min_int(), ")");
}

std::string highest(Type t) {
    if (t.is_bool()) return "true";
    return str(t.is_int() ? "INT" : "UINT", t.bits(), "_MAX");
}

std::string string_literal(const std::string &text) {
    std::string quoted = "\"";
    for (char c : text) {
        auto byte = static_cast<unsigned char>(c);
        if (c == '\\' || c == '"' || c == '?') {  // two question marks may begin a trigraph
            quoted += {'\\', c};
        } else if (byte < 32 || byte >= 127) {
            quoted += {'\\', char('0' + byte / 64), char('0' + byte / 8 % 8), char('0' + byte % 8)};
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

}  // namespace tessera::codegen::c
