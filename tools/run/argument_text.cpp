#include "argument_text.h"
#include "base/error.h"
#include "files/array.h"
#include "files/number.h"
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace tessera::run {
namespace {

using files::name_of;

template<typename T> std::optional<T> whole_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    T value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> words(1);
    for (char c : text) {
        if (c == separator) {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

// An integer of up to 64 bits, or nothing.
std::optional<long double> integer(const std::string &text) {
    if (auto i = whole_number<int64_t>(text)) return static_cast<long double>(*i);
    if (auto u = whole_number<uint64_t>(text)) return static_cast<long double>(*u);
    return std::nullopt;
}

long double integer_of(tessera_type_t type, const std::string &text) {
    if (type.bits == 1 && text == "true") return 1;
    if (type.bits == 1 && text == "false") return 0;
    auto value = integer(text);
    if (!value) throw RuntimeError(str("'", text, "' is no ", name_of(type)));
    if (*value < files::lowest_of(type) || *value > files::highest_of(type)) {
        throw RuntimeError(str(text, " is no ", name_of(type), ", which goes from ",
                               files::number_text(type, files::lowest_of(type)), " to ",
                               files::number_text(type, files::highest_of(type))));
    }
    return *value;
}

long double float_of(tessera_type_t type, const std::string &text) {
    char *end = nullptr;
    long double value = std::strtold(text.c_str(), &end);
    bool whole = !text.empty() && end == text.c_str() + text.size() && text[0] != ' ';
    if (!whole) throw RuntimeError(str("'", text, "' is no ", name_of(type)));
    const bool is_above_all = std::isinf(value) && text.find_first_of("iI") == std::string::npos;
    if (is_above_all || files::is_too_large(type, value)) {
        throw RuntimeError(str(text, " is too large for ", name_of(type)));
    }
    return value;
}

std::optional<Scalar> of_metadata(tessera_type_t type, const tessera_scalar_value_t *value) {
    if (!value) return std::nullopt;
    Scalar scalar;
    std::memcpy(scalar.bytes, value, sizeof(scalar.bytes));
    if (type.bits == 1) scalar.bytes[0] = scalar.bytes[0] != 0;
    return scalar;
}

void parse_size(InputText &input, const std::string &text) {
    using Size = InputText::Size;
    if (text == "auto") {
        input.size = Size::Auto;
    } else if (text == "estimate") {
        input.size = Size::Estimate;
    } else if (text == "estimate_then_auto") {
        input.size = Size::EstimateOrAuto;
    } else if (text.starts_with('[')) {
        input.size = Size::Given;
        input.extents = parse_extents(text);
    } else {
        throw RuntimeError(str("'", text,
                               "' is no size; it may be [100,200], auto, estimate or "
                               "estimate_then_auto"));
    }
}

}  // namespace

std::vector<int> parse_extents(const std::string &text) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
        throw RuntimeError(str("'", text, "' is no list of extents, such as [640,480,3]"));
    }
    std::vector<int> extents;
    if (text == "[]") return extents;
    for (const std::string &word : split(text.substr(1, text.size() - 2), ',')) {
        auto extent = whole_number<int>(word);
        if (!extent || *extent < 0) {
            throw RuntimeError(str("'", word, "' in ", text, " is no extent"));
        }
        extents.push_back(*extent);
    }
    return extents;
}

Scalar parse_scalar(tessera_type_t type, const std::string &text) {
    Scalar scalar;
    if (type.code == tessera_type_handle) {
        if (text != "null") throw RuntimeError("a pointer can only be null");
        return scalar;
    }
    long double value = files::is_integer(type) ? integer_of(type, text) : float_of(type, text);
    files::store_number(type, scalar.bytes, value);
    return scalar;
}

std::optional<Scalar> scalar_from(const ArgumentInfo &about, const std::string &text) {
    std::vector<std::string> words = split(text, ',');
    bool named = true;
    for (const std::string &w : words) named = named && (w == "default" || w == "estimate");
    if (!named) return parse_scalar(about.type, text);
    for (const std::string &w : words) {
        auto value =
            of_metadata(about.type, w == "default" ? about.scalar_def : about.scalar_estimate);
        if (value) return value;
    }
    return std::nullopt;
}

InputText parse_input(const std::string &text) {
    using Fill = InputText::Fill;
    InputText input;
    size_t colon = text.find(':');
    std::string word = text.substr(0, colon);
    std::string rest = colon == std::string::npos ? "auto" : text.substr(colon + 1);
    if (word == "zero" || word == "identity") {
        input.fill = word == "zero" ? Fill::Zero : Fill::Identity;
    } else if (word == "constant" || word == "random") {
        bool random = word == "random";
        input.fill = random ? Fill::Random : Fill::Constant;
        size_t end = rest.find(':');
        std::string value = rest.substr(0, end);
        // A random buffer's seed may be left out: random:[100,200].
        bool is_size = random && end == std::string::npos && !whole_number<uint64_t>(value);
        if (!is_size) rest = end == std::string::npos ? "auto" : rest.substr(end + 1);
        if (!random && colon == std::string::npos) {
            throw RuntimeError("constant wants a value, as in constant:7:[100,200]");
        }
        input.value = value;
        if (random && !is_size) {
            input.seed = whole_number<uint64_t>(value);
            if (!input.seed) throw RuntimeError(str("'", value, "' is no seed, a whole number"));
        }
    } else {
        input.path = text;
        return input;
    }
    parse_size(input, rest);
    return input;
}

}  // namespace tessera::run
