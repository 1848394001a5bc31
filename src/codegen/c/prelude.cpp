#include "codegen/c/prelude.h"
#include "base/error.h"
#include "base/str.h"
#include "codegen/c/helpers.h"
#include "codegen/c/types.h"
#include <cctype>
#include <sstream>

namespace tessera::codegen::c {
namespace {

std::string name_of(const std::string &what, Type t) {
    return str("tessera_", what, "_", t.element_of());
}

Type of_twice_the_bits(Type t) { return Type::unchecked(t.code(), 2 * t.bits(), 1); }

}  // namespace

void Prelude::define(const std::string &function) {
    definitions += str("static inline ", function, "\n\n");
}

std::string Prelude::filled(const std::string &pattern, Type t) {
    std::string result;
    for (size_t i = 0; i < pattern.size(); i++) {
        if (pattern[i] == '@') {
            std::string word;
            while (std::isalnum(uint8_t(pattern[i + 1])) || pattern[i + 1] == '_') {
                word += pattern[++i];
            }
            result += function(word, t);
            continue;
        }
        if (pattern[i] != '$') {
            result += pattern[i];
            continue;
        }
        switch (pattern[++i]) {
        case 'T': result += type(t); break;
        case 'B': result += str(t.bits()); break;
        case 'L': result += lowest(t); break;
        case 'H': result += highest(t); break;
        case 'V': result += type(t.with_code(TypeCode::UInt)); break;
        case 'W': result += wrapping_type(t); break;
        case 'D': result += type(of_twice_the_bits(t)); break;
        case 'F': result += function(str("tessera_from_", t)); break;
        case 'C': result += t.bits() == 32 ? "floorf" : "floor"; break;
        default: throw InternalError(str("a helper of C source has a $", pattern[i]));
        }
    }
    return result;
}

std::string Prelude::function(const std::string &what, Type t) {
    t = t.element_of();
    std::string name = name_of(what, t);
    if (!is_new(name)) return name;
    for (std::span<const HelperRow> rows : helpers_for(t)) {
        for (const HelperRow &row : rows) {
            if (row.name != what) continue;
            std::string definition = filled(row.text, t);  // defines what it calls before it
            define(definition);
            return name;
        }
    }
    throw InternalError(str("C source has no helper ", what, " for ", t));
}

std::string Prelude::function(const std::string &name) {
    if (!is_new(name)) return name;
    for (const WholeHelper &helper : whole_helpers()) {
        if (helper.name != name) continue;
        std::istringstream needs(helper.needs);
        for (std::string word; needs >> word;) function(word);
        define(helper.text);
        return name;
    }
    throw InternalError(str("C source has no helper ", name));
}

// A value that does not fit gives what an x86 gives, so that nothing traps.
std::string Prelude::truncation(Type from, Type to) {
    std::string name = str("tessera_truncate_", from.element_of(), "_", to.element_of());
    if (!is_new(name)) return name;
    std::string begin = str(scalar_type(to), " ", name, "(", scalar_type(from), " a) {\n");
    if (to == Int(32)) {
        define(begin + "    const double wide = a;\n"
                       "    return wide > -2147483649.0 && wide < 2147483648.0 ? (int32_t)a : "
                       "INT32_MIN;\n}");
    } else if (to == Int(64)) {
        define(begin + "    const double wide = a;\n"
                       "    return wide >= -0x1p63 && wide < 0x1p63 ? (int64_t)a : INT64_MIN;\n}");
    } else {
        std::string otherwise = truncation(from, Int(to.bits() < 32 ? 32 : 64));
        std::string is_large = to == UInt(64) ? "(double)a >= 0x1p63 && (double)a < 0x1p64 ? "
                                                "(uint64_t)a : "
                                              : "";
        define(
            str(begin, "    return ", is_large, "(", scalar_type(to), ")", otherwise, "(a);\n}"));
    }
    return name;
}

std::string Prelude::saturation(Type from, Type to) {
    std::string name = str("tessera_saturate_", from.element_of(), "_", to.element_of());
    if (!is_new(name)) return name;
    std::string begin = str(scalar_type(to), " ", name, "(", scalar_type(from), " a) {\n");
    int bits = to.bits() - (to.is_int() ? 1 : 0);
    if (to.is_bool()) {
        define(begin + "    return a > 0;\n}");
    } else {
        define(str(begin, "    const double wide = a;\n    if (wide >= 0x1p", bits, ") return ",
                   highest(to), ";\n    if (wide <= ", to.is_int() ? str("-0x1p", bits) : "0",
                   ") return ", lowest(to), ";\n    return wide == wide ? (", scalar_type(to),
                   ")a : 0;\n}"));
    }
    return name;
}

std::string Prelude::reinterpretation(Type from, Type to) {
    std::string name = str("tessera_bits_", from.element_of(), "_", to.element_of());
    if (!is_new(name)) return name;
    define(str(scalar_type(to), " ", name, "(", scalar_type(from), " a) {\n    ", scalar_type(to),
               " bits;\n    memcpy(&bits, &a, sizeof(bits));\n    return bits;\n}"));
    return name;
}

std::string Prelude::type(Type t) {
    if (t.bits() == 128) {  // signed ones are computed with as unsigned
        if (is_new("tessera_int128")) {
            definitions += "__extension__ typedef __int128 tessera_int128;\n"
                           "__extension__ typedef unsigned __int128 tessera_uint128;\n\n";
        }
        return type_name(t);
    }
    if (t.is_vector() && is_new(type_name(t))) definitions += struct_definition(t) + "\n";
    return type_name(t);
}

}  // namespace tessera::codegen::c
