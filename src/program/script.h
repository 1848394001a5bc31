#pragma once
#include "program/function.h"
#include <set>
#include <unordered_map>
#include <variant>

namespace tessera::program {

// A schedule as a list of steps that, done in their order to the algorithm alone, give it: what is
// printed as C++ and written as JSON.
struct StageStep {
    int stage = 0;
    std::vector<size_t> path;  // into specializations of specializations; empty: the stage itself
    Written<StageDirective> written;
};
struct FuncStep {
    Written<FuncDirective> written;
};
// in(), or clone_in(): makes a function.
struct WrapStep {
    std::vector<Symbol> consumers;  // none: all
    Symbol made;
    bool is_clone = false;
};
struct Step {
    Symbol function;
    std::variant<StageStep, FuncStep, WrapStep> what;
};

struct Script {
    // The functions of the algorithm, without those that the schedule makes, producers first.
    std::vector<FunctionRef> algorithm;
    std::vector<FunctionRef> all;
    std::vector<Step> steps;
};

Script schedule_script(const std::vector<FunctionRef> &outputs);

// The reduction variables of the stage as the algorithm has them, before any rfactor.
std::vector<Symbol> reduction_of_algorithm(const Definition &d);

// A word for each symbol, different for different symbols, made from its text. The symbols that
// stand for their text (a user's Var("x")) get it before those that merely have it (a loop that a
// directive made); so the symbols are met first, in a run whose words are thrown away.
class Names {
public:
    // As C++ and people can read it, or the text as it is. The words of `reserved` are not used.
    enum class Style { Identifiers, Texts };
    explicit Names(Style style, const std::vector<std::string> &reserved = {});

    const std::string &operator[](Symbol s);
    // All symbols that matter have been met.
    void settle();
    const std::vector<Symbol> &all() const { return met; }

private:
    void choose(Symbol s);
    Style style;
    std::vector<Symbol> met;
    std::unordered_map<Symbol, std::string> words;
    std::set<std::string> used;
};

// Whether Symbol::interned(text) is this one.
bool stands_for_its_text(Symbol s);

}  // namespace tessera::program
