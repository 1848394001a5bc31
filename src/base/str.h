#pragma once
#include <sstream>
#include <string>
#include <vector>

namespace tessera {

// Concatenate anything printable. (g++ 12 has no std::format.)
template<typename... Args>
std::string str(const Args &...args) {
    std::ostringstream out;
    (out << ... << args);
    return out.str();
}

// The items' texts with a separator between them.
template<typename Range>
std::string join(const Range &items, const char *separator = ", ") {
    std::ostringstream out;
    bool first = true;
    for (const auto &item : items) {
        if (!first) out << separator;
        out << item;
        first = false;
    }
    return out.str();
}

// The candidate that is most like `word`, or "" if none is close: for "did you mean ...".
std::string closest_match(const std::string &word, const std::vector<std::string> &candidates);

// The end of a message that refuses `word`, which is none of `all`: "; did you mean blur?; there
// are blur, unsharp". `intro` comes before the list ("it has", say); by default it is "there are".
std::string choices_text(const std::string &word, const std::vector<std::string> &all,
                         const char *intro = nullptr);

}  // namespace tessera
