#pragma once
#include "program/function.h"
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

}  // namespace tessera::program
