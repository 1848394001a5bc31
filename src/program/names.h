#pragma once
#include "base/symbol.h"
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::program {

// A word for each symbol, different for different symbols, made from its text. The symbols that
// stand for their text (a user's Var("x")) get it before those that merely have it (a loop that a
// directive made); so the symbols are met first, in a run whose words are thrown away.
class Names {
public:
    // Identifiers are words that C++ and people can read; Texts stay as they are. The words of
    // `reserved` are not used.
    enum class Style { Identifiers, Texts };
    explicit Names(Style style, const std::vector<std::string> &reserved = {});

    const std::string &operator[](Symbol s);
    // Chooses the words anew, once all symbols that matter have been met.
    void assign_words();
    const std::vector<Symbol> &all() const { return met; }

private:
    void choose(Symbol s);
    Style style;
    std::vector<Symbol> met;
    std::unordered_map<Symbol, std::string> words;
    std::set<std::string> used;
};

// The words that are no names in C or C++.
std::vector<std::string> cpp_keywords();

}  // namespace tessera::program
