#include "describe.h"
#include "base/str.h"
#include "files/array.h"
#include "files/number.h"

namespace tessera::run {
namespace {

std::string scalar_text(tessera_type_t type, const tessera_scalar_value_t &value) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
    if (type.bits == 1) return value.u8 ? "true" : "false";
    return files::number_text(type, files::number_at(type, bytes));
}

std::string scalar_limits(const ArgumentInfo &a) {
    std::string text;
    auto add = [&](const char *what, const tessera_scalar_value_t *value) {
        if (value) text += str(", ", what, " ", scalar_text(a.type, *value));
    };
    add("default", a.scalar_def);
    add("at least", a.scalar_min);
    add("at most", a.scalar_max);
    add("estimate", a.scalar_estimate);
    return text;
}

std::string estimates(const ArgumentInfo &a) {
    if (!a.buffer_estimates) return "";
    std::vector<std::string> ranges;
    bool any = false;
    for (size_t d = 0; d < size_t(a.dimensions); d++) {
        const int64_t *min = a.buffer_estimates[2 * d], *extent = a.buffer_estimates[2 * d + 1];
        any = any || min || extent;
        std::string first = min ? str(*min) : "?";
        ranges.push_back(str("[", first, ", +", extent ? str(*extent) : "?", ")"));
    }
    return any ? str(", estimate ", join(ranges, " x ")) : "";
}

}  // namespace

void describe(std::ostream &out, const Function &f) {
    out << f.name() << ", for " << f.metadata->target << "\n";
    for (const ArgumentInfo &a : f.arguments()) {
        if (is_user_context(a)) {
            out << "  " << a.name << ": the program's own pointer; null here\n";
        } else if (is_scalar(a)) {
            out << "  " << a.name << ": " << files::name_of(a.type) << scalar_limits(a) << "\n";
        } else {
            out << "  " << a.name << ": " << (is_output(a) ? "output" : "input") << ", "
                << count_text(a.dimensions, "dimension") << " of " << files::name_of(a.type)
                << estimates(a) << "\n";
        }
    }
}

}  // namespace tessera::run
