#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace tessera::program {

using nlohmann::json;

// CompileError, with line and column, if the text is no JSON.
json parse_json(const std::string &text, const char *what);

// A JSON object that is read word by word. CompileError if a word is missing or its value is of
// another kind than required; and, at the end, if there are words that were never read.
class JsonObject {
public:
    JsonObject(const json &j, std::string what);

    bool has(const std::string &word) const { return object.contains(word); }
    std::vector<std::string> words() const;
    const json &at(const std::string &word);
    std::string text(const std::string &word);
    std::vector<std::string> texts(const std::string &word) { return texts(list(word), word); }
    int number(const std::string &word);
    std::vector<int> numbers(const std::string &word);
    bool flag(const std::string &word);
    void require_true(const std::string &word);
    const json &list(const std::string &word);
    void finish() const;

    static std::vector<std::string> texts(const json &j, const std::string &word);

private:
    const json &object;
    std::string what;
    std::set<std::string> words_read;
};

}  // namespace tessera::program
