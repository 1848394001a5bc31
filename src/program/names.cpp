#include "program/names.h"
#include "base/str.h"
#include <cctype>
#include <sstream>

namespace tessera::program {
namespace {

constexpr const char *keywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t "
    "char32_t class compl concept const consteval constexpr constinit const_cast continue co_await "
    "co_return co_yield decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
    "restrict return short signed sizeof static static_assert static_cast struct switch template "
    "this thread_local throw true try typedef typeid typename union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq _Bool _Atomic";

}  // namespace

Names::Names(Style style, const std::vector<std::string> &reserved)
    : style(style), used(reserved.begin(), reserved.end()) {}

const std::string &Names::operator[](Symbol s) {
    if (!words.count(s)) {
        met.push_back(s);
        choose(s);
    }
    return words[s];
}

void Names::choose(Symbol s) {
    std::string word = s.text();
    if (style == Style::Identifiers) {
        for (char &c : word) {
            if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
        }
        if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0]))) word = "_" + word;
    }
    std::string unique = word;
    for (int i = 1; !used.insert(unique).second; i++) unique = str(word, "_", i);
    words[s] = unique;
}

void Names::assign_words() {
    for (const auto &[s, word] : words) used.erase(word);
    words.clear();
    for (bool own : {true, false}) {
        for (Symbol s : met) {
            if (s.is_interned() == own) choose(s);
        }
    }
}

std::vector<std::string> cpp_keywords() {
    std::vector<std::string> all;
    std::istringstream words(keywords);
    for (std::string word; words >> word;) all.push_back(word);
    return all;
}

}  // namespace tessera::program
