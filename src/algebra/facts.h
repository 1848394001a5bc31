#pragma once
#include "algebra/interval.h"
#include <unordered_map>
#include <vector>

namespace tessera::algebra {

// The facts that the caller knows and the algebra may rely on. If they are wrong, so are the
// results.
struct Facts {
    // Values that a variable can have.
    std::unordered_map<Symbol, Interval> intervals;
    // The known congruences of variables.
    std::unordered_map<Symbol, ir::Alignment> alignments;
    // Conditions that hold.
    std::vector<Expr> known_true;

    bool empty() const { return intervals.empty() && alignments.empty() && known_true.empty(); }

    // For chaining: Facts().holds(n > 0).between(x, 0, n - 1)
    Facts &between(Symbol s, Expr min, Expr max) {
        intervals[s] = {std::move(min), std::move(max)};
        return *this;
    }
    Facts &aligned(Symbol s, ir::Alignment a) {
        alignments[s] = a;
        return *this;
    }
    Facts &holds(Expr condition) {
        known_true.push_back(std::move(condition));
        return *this;
    }
};

// Returns the facts about the variables of an expression, and about those that these facts name. A
// simplifier would follow the ends of intervals through all others.
Facts facts_about(const Expr &e, const Facts &all);

}  // namespace tessera::algebra
