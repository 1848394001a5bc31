#include "program/json_object.h"
#include "base/error.h"
#include <algorithm>
#include <cstdint>

namespace tessera::program {

json parse_json(const std::string &text, const char *what) {
    try {
        return json::parse(text);
    } catch (const json::parse_error &e) {
        size_t byte = std::min(e.byte, text.size());
        std::string before = text.substr(0, byte > 0 ? byte - 1 : 0);
        auto line = std::count(before.begin(), before.end(), '\n') + 1;
        size_t column = before.size() - (before.rfind('\n') + 1) + 1;
        throw CompileError(str(what, " in JSON cannot be read: line ", line, ", column ", column,
                               " is not as JSON wants it"));
    } catch (const json::exception &e) {
        throw CompileError(str(what, " in JSON cannot be read: ", e.what()));
    }
}

namespace {

[[noreturn]] void wrong_kind(const std::string &word, const char *wanted, const json &j) {
    throw CompileError(str('"', word, "\" is to be ", wanted, ", but is ", j.dump()));
}

int to_number(const json &j, const std::string &word) {
    bool fits =
        j.is_number_integer() && j.get<int64_t>() >= INT32_MIN && j.get<int64_t>() <= INT32_MAX;
    if (!fits) wrong_kind(word, "an integer", j);
    return j.get<int>();
}

}  // namespace

JsonObject::JsonObject(const json &j, std::string what) : object(j), what(std::move(what)) {
    if (!j.is_object())
        throw CompileError(str(this->what, " is an object in JSON, not ", j.dump()));
}

std::vector<std::string> JsonObject::words() const {
    std::vector<std::string> result;
    for (const auto &[word, value] : object.items()) result.push_back(word);
    return result;
}

const json &JsonObject::at(const std::string &word) {
    words_read.insert(word);
    if (object.contains(word)) return object.at(word);
    std::string close = closest_match(word, words());
    bool other = !close.empty() && !words_read.count(close);
    throw CompileError(str(what, " has no \"", word, '"',
                           other ? str("; is it what \"", close, "\" is meant to be?") : ""));
}

std::string JsonObject::text(const std::string &word) {
    const json &j = at(word);
    if (!j.is_string()) wrong_kind(word, "a text", j);
    return j.get<std::string>();
}

std::vector<std::string> JsonObject::texts(const json &j, const std::string &word) {
    std::vector<std::string> result;
    bool right = j.is_array();
    for (size_t i = 0; right && i < j.size(); i++) {
        right = j[i].is_string();
        if (right) result.push_back(j[i].get<std::string>());
    }
    if (!right) wrong_kind(word, "a list of texts", j);
    return result;
}

int JsonObject::number(const std::string &word) { return to_number(at(word), word); }

std::vector<int> JsonObject::numbers(const std::string &word) {
    std::vector<int> result;
    for (const json &j : list(word)) result.push_back(to_number(j, word));
    return result;
}

bool JsonObject::flag(const std::string &word) {
    const json &j = at(word);
    if (!j.is_boolean()) wrong_kind(word, "true or false", j);
    return j.get<bool>();
}

void JsonObject::require_true(const std::string &word) {
    if (!flag(word)) throw CompileError(str('"', word, "\" can only be true; else leave it out"));
}

const json &JsonObject::list(const std::string &word) {
    const json &j = at(word);
    if (!j.is_array()) wrong_kind(word, "a list", j);
    return j;
}

void JsonObject::finish() const {
    for (const std::string &word : words()) {
        if (words_read.count(word)) continue;
        throw CompileError(str('"', word, "\" has no meaning here; the words of ", what, " are ",
                               join(words_read)));
    }
}

}  // namespace tessera::program
