#include "ir/cpp_name.h"
#include "base/str.h"
#include <algorithm>
#include <optional>

namespace tessera::ir {
namespace {

// Writes S_, S0_, ... for what has been written before.
class Substitutions {
public:
    std::optional<std::string> find(const std::string &what) const {
        auto found = std::ranges::find(seen, what);
        if (found == seen.end()) return {};
        return found == seen.begin() ? "S_" : str("S", base_36(found - seen.begin() - 1), "_");
    }
    void add(const std::string &what) { seen.push_back(what); }

private:
    static std::string base_36(long n) {
        const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        return (n >= 36 ? base_36(n / 36) : "") + digits[n % 36];
    }
    std::vector<std::string> seen;
};

// Types of one letter are never substituted.
std::string encoded(const std::string &type, Substitutions &substitutions) {
    if (type.size() == 1) return type;
    if (auto before = substitutions.find(type)) return *before;
    bool is_compound = type[0] == 'P' || type[0] == 'K';
    std::string text =
        is_compound ? type.substr(0, 1) + encoded(type.substr(1), substitutions) : type;
    substitutions.add(type);
    return text;
}

}  // namespace

std::vector<std::string> parts_of_name(const std::string &qualified) {
    std::vector<std::string> parts;
    size_t begin = 0;
    for (size_t end = 0; (end = qualified.find("::", begin)) != std::string::npos;
         begin = end + 2) {
        parts.push_back(qualified.substr(begin, end - begin));
    }
    parts.push_back(qualified.substr(begin));
    return parts;
}

std::string cpp_scalar(Type t) {
    if (t.is_handle()) return "Pv";
    if (t.is_bool()) return "b";
    if (t.is_float() && t.bits() >= 32) return t.bits() == 32 ? "f" : "d";
    bool is_signed = t.is_int();
    switch (t.bits()) {
    case 8: return is_signed ? "a" : "h";
    case 16: return is_signed ? "s" : "t";
    case 32: return is_signed ? "i" : "j";
    default: return is_signed ? "l" : "m";
    }
}

std::string mangled_name(const std::string &qualified, const std::vector<std::string> &parameters) {
    Substitutions substitutions;
    std::vector<std::string> parts = parts_of_name(qualified);
    std::string name;
    for (size_t i = 0; i < parts.size(); i++) {
        name += str(parts[i].size(), parts[i]);
        // Each namespace may be substituted, the function may not.
        if (i + 1 < parts.size()) substitutions.add("N" + name);
    }
    if (parts.size() > 1) name = str("N", name, "E");
    std::string types;
    for (const std::string &type : parameters) types += encoded(type, substitutions);
    return str("_Z", name, types.empty() ? "v" : types);
}

}  // namespace tessera::ir
