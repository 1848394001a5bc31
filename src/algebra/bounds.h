#pragma once
#include "algebra/facts.h"
#include <functional>
#include <unordered_map>
#include <utility>

namespace tessera::algebra {

// The values that variables may take. A variable that is not here is a point: itself.
class IntervalScope {
public:
    void bind(Symbol s, Interval i) { intervals[s] = std::move(i); }
    void unbind(Symbol s) { intervals.erase(s); }
    const Interval *find(Symbol s) const {
        auto found = intervals.find(s);
        return found == intervals.end() ? nullptr : &found->second;
    }
    bool empty() const { return intervals.empty(); }
    const std::unordered_map<Symbol, Interval> &all() const { return intervals; }

    // Returns the bounds of a Call (a Func's or image's), if set; may return everything().
    std::function<Interval(const ir::Call &)> call_bounds;
    // Other facts about variables.
    Facts facts;

private:
    std::unordered_map<Symbol, Interval> intervals;
};

// An interval that holds every value (every lane) of the expression while the variables of the
// scope run through their intervals; its ends are free of these variables and simplified.
// Integers narrower than 32 bits are bounded by their type at the latest. Takes time about linear
// in the size of the expression, let chains included.
Interval bounds_of_expr(const Expr &e, const IntervalScope &scope);
// Returns the bounds of both; shared subexpressions are visited once.
std::pair<Interval, Interval> bounds_of_exprs(const Expr &a, const Expr &b,
                                              const IntervalScope &scope);

}  // namespace tessera::algebra
