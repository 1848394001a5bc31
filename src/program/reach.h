#pragma once
#include "program/function.h"
#include <set>

namespace tessera::program {

// The functions that outputs reach, once wrappers are in place; producers first.
struct Reached {
    std::vector<FunctionRef> all;        // and what the wrappers wrap
    std::vector<FunctionRef> algorithm;  // without those that the schedule makes
    std::set<Symbol> names;              // without what only wrapped functions reach

    bool is_reached(Symbol consumer) const {
        return !consumer.defined() || names.count(consumer) > 0;
    }
};

Reached reach(const std::vector<FunctionRef> &outputs);

}  // namespace tessera::program
